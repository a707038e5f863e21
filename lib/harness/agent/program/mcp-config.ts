/**
 * The servers of a trial as MCP clients are told of them.
 *
 * Forms as their makers document them: `mcpServers` in JSON (Claude Code, Cursor, Claude Desktop),
 * the same with `httpUrl` (Gemini CLI, Qwen Code), `servers` in JSON (VS Code), `mcp` in JSON
 * (OpenCode), `[mcp_servers.NAME]` in TOML (Codex).
 */
import type { JsonObject } from '../../../json.ts'

/** A program that speaks MCP on its standard input and output. */
export type StdioServer = { command: string; args: string[]; env: { [name: string]: string } }
export type HttpServer = { type: 'http'; url: string }
export type McpServers = { [name: string]: HttpServer | ({ type: 'stdio' } & StdioServer) }

/** Who reads which form; each is that of the maker's documentation. */
export const CONFIG_FORMATS = ['mcpServers', 'gemini', 'vscode', 'opencode', 'codex'] as const
export type ConfigFormat = (typeof CONFIG_FORMATS)[number]

/** The member of each form in JSON that holds the servers. */
export const SERVERS_MEMBER: { [format in ConfigFormat]: string | null } = {
  mcpServers: 'mcpServers',
  gemini: 'mcpServers',
  vscode: 'servers',
  opencode: 'mcp',
  codex: null,
}

/** The name that each form's file has where no other is asked for. */
export const CONFIG_FILES: { [format in ConfigFormat]: string } = {
  mcpServers: 'mcp.json',
  gemini: 'settings.json',
  vscode: 'mcp.json',
  opencode: 'opencode.json',
  codex: 'config.toml',
}

/**
 * The text of a configuration file.
 *
 * @param settings members of the file beside the servers; the form of Codex takes none
 */
export function configText(
  format: ConfigFormat,
  servers: McpServers,
  settings: JsonObject = {},
): string {
  if (format === 'codex') return tables(servers)
  return `${JSON.stringify({ ...settings, ...members(format, servers) }, null, 2)}\n`
}

/**
 * The same in one argument of a command line: a JSON object, or for Codex the value of
 * `mcp_servers` in TOML.
 */
export function inlineConfig(format: ConfigFormat, servers: McpServers): string {
  if (format !== 'codex') return JSON.stringify(members(format, servers))
  const entries = Object.entries(servers).map(([name, server]) => `${name}=${inline(server)}`)
  return `{${entries.join(',')}}`
}

type McpServer = McpServers[string]

function members(format: Exclude<ConfigFormat, 'codex'>, servers: McpServers): JsonObject {
  const each = (form: (server: McpServer) => JsonObject) =>
    Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, form(server)]))
  if (format === 'vscode') return { servers: each((server) => ({ ...server })) }
  // `url` is an address for server-sent events there.
  if (format === 'gemini')
    return {
      mcpServers: each(({ type: _, ...server }) =>
        'url' in server ? { httpUrl: server.url } : server,
      ),
    }
  if (format === 'opencode')
    return {
      mcp: each((server): JsonObject => {
        if (server.type === 'http') return { type: 'remote', url: server.url, enabled: true }
        const command = [server.command, ...server.args]
        return { type: 'local', command, environment: server.env, enabled: true }
      }),
    }
  return { mcpServers: each((server) => ({ ...server })) }
}

/** A JSON text without characters beyond the basic plane is a TOML basic string. */
const text = (value: string) => JSON.stringify(value)

/** Codex asks a person before it calls a tool, and without one it refuses. */
const APPROVED = 'default_tools_approval_mode'

function inline(server: McpServer): string {
  const rest = `${APPROVED}="approve"`
  if (server.type === 'http') return `{url=${text(server.url)},${rest}}`
  const env = Object.entries(server.env).map(([key, value]) => `${key}=${text(value)}`)
  const args = server.args.map(text).join(',')
  return `{command=${text(server.command)},args=[${args}],env={${env.join(',')}},${rest}}`
}

/** Names of servers are bare keys of TOML. */
function tables(servers: McpServers): string {
  return Object.entries(servers)
    .map(([name, server]) => {
      const head = `[mcp_servers.${name}]\n${APPROVED} = "approve"\n`
      if (server.type === 'http') return `${head}url = ${text(server.url)}\n`
      const env = Object.entries(server.env).map(([key, value]) => `${key} = ${text(value)}\n`)
      return [
        `${head}command = ${text(server.command)}\nargs = [${server.args.map(text).join(', ')}]\n`,
        env.length > 0 ? `\n[mcp_servers.${name}.env]\n${env.join('')}` : '',
      ].join('')
    })
    .join('\n')
}
