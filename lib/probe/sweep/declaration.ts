/** A registry's `server.json`: the remote servers it declares, as tests. The file is written by anybody and proves nothing. */

import { TouchstoneError } from '../../errors.ts'
import { readJson } from '../../files.ts'
import { Connection, type ConnectOptions } from '../connect/connect.ts'
import type { ProbeResult } from '../connect/result.ts'

export type Remote = {
  url: string
  transport: 'streamable-http' | 'sse'
  /** Names of headers the declaration requires. The test sends none, so such a server is expected to ask for credentials. */
  requiredHeaders: string[]
}

/** What a `server.json` declares, of what a connection test needs. */
export class Declaration {
  readonly name: string
  readonly version: string | null
  readonly remotes: readonly Remote[]

  constructor(name: string, version: string | null, remotes: readonly Remote[]) {
    this.name = name
    this.version = version
    this.remotes = remotes
  }

  /**
   * Test every declared remote server, one after the other. A URL with a template left in braces is refused, as it stands.
   *
   * @returns one result per remote, in the order declared
   */
  async connect(options: Pick<ConnectOptions, 'signal'> = {}): Promise<ProbeResult[]> {
    const results: ProbeResult[] = []
    for (const { url, transport } of this.remotes) {
      results.push(await new Connection({ url, transport, local: false }, options.signal))
    }
    return results
  }
}

/**
 * Read a registry's `server.json` for the remote servers it declares.
 *
 * The registry's own wrapping (`{ server: {...} }`) and the older `transport_type` are read too. A declaration without remotes
 * (packages only) has none to test.
 *
 * @param source the parsed declaration, or the path of its file
 * @throws TouchstoneError `declaration_invalid` naming the field; `file_unreadable` and the `json_` codes for a file
 * @example
 * const d = declaration({ name: 'io.example/mcp', remotes: [{ type: 'sse', url: 'https://{tenant}.example.com/sse' }] })
 * d.remotes.length // 1
 * const results = await d.connect()
 * results[0].reason // 'brace'
 */
export function declaration(source: unknown): Declaration {
  const read = typeof source === 'string' ? readJson(source) : source
  const outer = object(read, 'the declaration')
  const server = outer['server'] === undefined ? outer : object(outer['server'], 'server')
  const remotes = server['remotes'] ?? []
  if (!Array.isArray(remotes)) throw invalid('an array', remotes, 'remotes')
  return new Declaration(
    text(server['name'], 'name'),
    typeof server['version'] === 'string' ? server['version'] : null,
    remotes.map(remote),
  )
}

function remote(value: unknown, i: number): Remote {
  const where = `remotes[${i}]`
  const fields = object(value, where)
  const transport = fields['type'] ?? fields['transport_type']
  if (transport !== 'streamable-http' && transport !== 'sse') {
    throw invalid('streamable-http or sse', transport, `${where}.type`)
  }
  const headers = fields['headers'] ?? []
  if (!Array.isArray(headers)) throw invalid('an array', headers, `${where}.headers`)
  const required = headers
    .map((each, h) => object(each, `${where}.headers[${h}]`))
    .filter((each) => each['isRequired'] === true)
  return {
    url: text(fields['url'], `${where}.url`),
    transport,
    requiredHeaders: required.map((each, h) => text(each['name'], `${where}.headers[${h}].name`)),
  }
}

function object(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('an object', value, where)
  return value as Record<string, unknown>
}

function text(value: unknown, where: string): string {
  if (typeof value !== 'string' || value === '') throw invalid('a text', value, where)
  return value
}

function invalid(expected: string, got: unknown, where: string): TouchstoneError {
  const said = got === undefined ? 'nothing' : (JSON.stringify(got) ?? String(got)).slice(0, 80)
  return new TouchstoneError('declaration_invalid', `expected ${expected}, got ${said}`, { where })
}
