/** The servers in a client's configuration (`mcp.json`), as targets of one's own. */
import { TouchstoneError } from '../../errors.ts'
import { readJson } from '../../files.ts'
import { isObject } from '../../json.ts'
import type { Command } from '../wire/command.ts'
import type { ConnectOptions } from './connect.ts'

export type Configured = {
  name: string
  target: string | Command
  /** `local: true`, and the transport and headers of a URL. */
  options: ConnectOptions
}

/**
 * Read the servers of a configuration: `{ mcpServers }` as most clients have it, or `{ servers }`.
 *
 * `${NAME}`, `${env:NAME}` and `${NAME:-default}` in its texts stand for variables of the
 * environment.
 *
 * @param path the file
 * @param environment default: that of this process
 * @throws TouchstoneError `config_invalid` naming the member; `file_unreadable` and the `json_`
 *   codes
 */
export function configured(
  path: string,
  environment: Record<string, string | undefined> = process.env,
): Configured[] {
  const read = readJson(path)
  const servers = isObject(read) ? (read['mcpServers'] ?? read['servers']) : null
  if (!isObject(servers)) throw invalid('an object mcpServers or servers', path)
  return Object.entries(servers).map(([name, server]) => {
    const where = `${path}: ${name}`
    if (!isObject(server)) throw invalid('an object', where)
    const text = (value: unknown, member: string) => {
      if (typeof value !== 'string' || value === '') throw invalid('a text', `${where}.${member}`)
      return expanded(value, environment, `${where}.${member}`)
    }
    const texts = (value: unknown, member: string): Record<string, string> => {
      if (value === undefined) return {}
      if (!isObject(value)) throw invalid('an object', `${where}.${member}`)
      const each = Object.entries(value).map(([key, one]) => {
        const plain = typeof one === 'number' || typeof one === 'boolean' ? String(one) : one
        return [key, plain === '' ? '' : text(plain, `${member}.${key}`)]
      })
      return Object.fromEntries(each)
    }
    if (server['command'] !== undefined) {
      const { args = [], cwd } = server
      if (!Array.isArray(args)) throw invalid('an array', `${where}.args`)
      const target: Command = {
        command: text(server['command'], 'command'),
        args: args.map((arg, i) => (arg === '' ? '' : text(arg, `args[${i}]`))),
        env: texts(server['env'], 'env'),
        ...(cwd === undefined ? {} : { cwd: text(cwd, 'cwd') }),
      }
      return { name, target, options: {} }
    }
    const transport = (server['type'] ?? server['transport']) === 'sse' ? 'sse' : 'streamable-http'
    const headers = texts(server['headers'], 'headers')
    const options: ConnectOptions = { local: true, transport, headers }
    return { name, target: text(server['url'], 'url'), options }
  })
}

function expanded(
  text: string,
  environment: Record<string, string | undefined>,
  where: string,
): string {
  return text.replace(
    /\$\{(?:env:)?([^}:]+)(?::-([^}]*))?\}/g,
    (whole, name: string, otherwise) => {
      const value = environment[name] ?? otherwise
      if (value === undefined) throw invalid(`${whole} to be set in the environment`, where)
      return value
    },
  )
}

function invalid(expected: string, where: string): TouchstoneError {
  return new TouchstoneError('config_invalid', `expected ${expected}, got something else`, {
    where,
  })
}
