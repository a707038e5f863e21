/**
 * The servers of a trial as MCP clients are told of them.
 *
 * Forms as their makers document them: `mcpServers` in JSON (Claude Code, Cursor, Claude Desktop),
 * `servers` in JSON (VS Code), `[mcp_servers.NAME]` in TOML (Codex).
 */

/** A program that speaks MCP on its standard input and output. */
export type StdioServer = { command: string; args: string[]; env: { [name: string]: string } }
export type HttpServer = { type: 'http'; url: string }
export type McpServers = { [name: string]: HttpServer | ({ type: 'stdio' } & StdioServer) }

export type ConfigFormat = 'mcpServers' | 'vscode' | 'codex'

/** The name that each form's file has. */
export const CONFIG_FILES: { [format in ConfigFormat]: string } = {
  mcpServers: 'mcp.json',
  vscode: 'mcp.json',
  codex: 'config.toml',
}

/** The text of a configuration file. */
export function configText(format: ConfigFormat, servers: McpServers): string {
  if (format === 'codex') return toml(servers)
  const member = format === 'vscode' ? 'servers' : 'mcpServers'
  return `${JSON.stringify({ [member]: servers }, null, 2)}\n`
}

function toml(servers: McpServers): string {
  // A JSON text without characters beyond the basic plane is a TOML basic string; names of servers
  // are bare keys.
  const text = (value: string) => JSON.stringify(value)
  const tables = Object.entries(servers).map(([name, server]) => {
    const head = `[mcp_servers.${name}]`
    if (server.type === 'http') return `${head}\nurl = ${text(server.url)}\n`
    const env = Object.entries(server.env).map(([key, value]) => `${key} = ${text(value)}\n`)
    return [
      `${head}\ncommand = ${text(server.command)}\nargs = [${server.args.map(text).join(', ')}]\n`,
      env.length > 0 ? `\n[mcp_servers.${name}.env]\n${env.join('')}` : '',
    ].join('')
  })
  return tables.join('\n')
}
