/**
 * A registry's `server.json`: the remote servers it declares, as tests. The file is written by
 * anybody and proves nothing.
 */
import { onlyMembers } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import { readJson } from '../../files.ts'
import { isObject } from '../../json.ts'
import { Connection, type ConnectOptions } from '../connect/connect.ts'
import type { ProbeResult } from '../connect/result.ts'

export type Remote = {
  /** With the defaults of its variables filled in; what has no default is left in braces. */
  url: string
  transport: 'streamable-http' | 'sse'
  /**
   * Names of headers the declaration requires. The test sends none, so such a server is expected to
   * ask for credentials.
   */
  requiredHeaders: string[]
  /** The URL as declared, when a default was filled in; null otherwise. */
  template: string | null
}

/** A remote that cannot be tested, and why. */
export type RemoteProblem = {
  where: string
  reason: 'transport_unknown' | 'no_url' | 'not_an_entry'
  /** What stood there, as JSON of at most 80 characters. */
  got: string
}

/** What a `server.json` declares, of what a connection test needs. */
export class Declaration {
  readonly name: string
  readonly version: string | null
  readonly remotes: readonly Remote[]
  /** Remotes that could not be read. They do not keep the others from being tested. */
  readonly problems: readonly RemoteProblem[]
  /**
   * What the registry says of this entry: `active`, `deprecated`, `deleted`; null when it says
   * nothing.
   */
  readonly status: string | null
  /** False when the registry says that there is a later version. */
  readonly latest: boolean

  constructor(
    data: Pick<Declaration, 'name' | 'version' | 'remotes' | 'problems' | 'status' | 'latest'>,
  ) {
    this.name = data.name
    this.version = data.version
    this.remotes = data.remotes
    this.problems = data.problems
    this.status = data.status
    this.latest = data.latest
  }

  /**
   * Test every declared remote server, one after the other. A URL with a template left in braces is
   * refused, as it stands.
   *
   * @returns one result per remote, in the order declared
   */
  async connect(options: Pick<ConnectOptions, 'signal'> = {}): Promise<ProbeResult[]> {
    onlyMembers(options, ['signal'], 'options')
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
 * Every schema version is read, the registry's own wrapping (`{ server: {...} }`) too. A
 * declaration without remotes (packages only) has none to test. A remote that cannot be read is in
 * `problems`.
 *
 * @param source the parsed declaration, or the path of its file
 * @throws TouchstoneError `declaration_invalid` for what is no declaration; `file_unreadable` and
 *   the `json_` codes for a file
 * @example
 * const d = declaration({ name: 'io.example/mcp', remotes: [{ type: 'sse', url: 'https://{tenant}.example.com/sse' }] })
 * d.remotes.length // 1
 * const results = await d.connect()
 * results[0].reason // 'brace'
 */
export function declaration(source: unknown): Declaration {
  const read = typeof source === 'string' ? readJson(source) : source
  if (!isObject(read)) throw invalid('an object', read, 'the declaration')
  if (Array.isArray(read['servers'])) {
    throw invalid('one server.json', 'a page of servers, which sweep takes', 'the declaration')
  }
  const { server = read } = read
  if (!isObject(server)) throw invalid('an object', server, 'server')
  const { name, remotes = [] } = server
  if (typeof name !== 'string' || name === '') throw invalid('a text', name, 'name')
  if (!Array.isArray(remotes)) throw invalid('an array', remotes, 'remotes')
  const each = remotes.map((value, i) => remoteOf(value, `remotes[${i}]`))
  return new Declaration({
    name: name.toWellFormed(),
    version: versionOf(server),
    remotes: each.filter((one) => 'url' in one),
    problems: each.filter((one) => 'reason' in one),
    ...registryOf(read, server),
  })
}

/** 2025-07-09 has the version in an object of its own. */
function versionOf(server: Record<string, unknown>): string | null {
  const detail = server['version_detail']
  const version = server['version'] ?? (isObject(detail) ? detail['version'] : null)
  return typeof version === 'string' ? version.toWellFormed() : null
}

/**
 * Where registries keep what they say of an entry: beside it, or in it, under names that changed.
 */
function registryOf(
  outer: Record<string, unknown>,
  server: Record<string, unknown>,
): Pick<Declaration, 'status' | 'latest'> {
  const official = 'io.modelcontextprotocol.registry/official'
  const metas = [outer['_meta'], server['_meta']].filter(isObject)
  const places = [
    ...metas.map((meta) => meta[official]),
    outer['x-io.modelcontextprotocol.registry'],
    server['version_detail'],
    server,
  ].filter(isObject)
  const first = (...names: string[]) =>
    places.flatMap((place) => names.map((name) => place[name])).find((value) => value !== undefined)
  const status = first('status')
  return {
    status: typeof status === 'string' ? status.slice(0, 32).toWellFormed() : null,
    latest: first('isLatest', 'is_latest') !== false,
  }
}

/** Other names under which registries and clients' configurations write the two transports. */
const TRANSPORTS: { [name: string]: Remote['transport'] } = {
  'streamable-http': 'streamable-http',
  streamable_http: 'streamable-http',
  streamableHttp: 'streamable-http',
  http: 'streamable-http',
  sse: 'sse',
}

/** The transport of a declared name; null for a name that is none of a remote server's. */
function transportOf(name: unknown): Remote['transport'] | null {
  return typeof name === 'string' && Object.hasOwn(TRANSPORTS, name)
    ? (TRANSPORTS[name] as Remote['transport'])
    : null
}

/**
 * One remote, or why it is none. Without a type it is streamable HTTP only if `untyped` says so.
 */
export function remoteOf(
  value: unknown,
  where: string,
  untyped: Remote['transport'] | null = null,
): Remote | RemoteProblem {
  if (!isObject(value)) return { where, reason: 'not_an_entry', got: said(value) }
  const { url } = value
  const type = value['type'] ?? value['transport_type'] ?? value['transport']
  const given = ['type', 'transport_type', 'transport'].some((name) => Object.hasOwn(value, name))
  if (typeof url !== 'string' || url === '') {
    return { where: `${where}.url`, reason: 'no_url', got: said(url) }
  }
  const transport = given ? transportOf(type) : untyped
  if (transport === null) {
    return { where: `${where}.type`, reason: 'transport_unknown', got: said(type) }
  }
  const filled = withDefaults(url, value['variables'])
  return {
    url: filled,
    transport,
    requiredHeaders: requiredHeaders(value['headers']),
    template: filled === url ? null : url,
  }
}

function requiredHeaders(headers: unknown): string[] {
  return (Array.isArray(headers) ? headers : [])
    .filter(isObject)
    .filter((header) => header['isRequired'] === true || header['is_required'] === true)
    .flatMap(({ name }) => (typeof name === 'string' && name !== '' ? [name] : []))
}

/** Fill in the defaults of a URL's variables. One without a default stays in its braces. */
function withDefaults(url: string, variables: unknown): string {
  if (!isObject(variables)) return url
  return url.replace(/\{([^{}]{1,100})\}/g, (braces, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : null
    const filled = isObject(variable) ? (variable['value'] ?? variable['default']) : null
    return typeof filled === 'string' ? filled : braces
  })
}

function said(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value)).slice(0, 80)
}

function invalid(expected: string, got: unknown, where: string): TouchstoneError {
  const shown = typeof got === 'string' ? got.slice(0, 80) : said(got)
  return new TouchstoneError('declaration_invalid', `expected ${expected}, got ${shown}`, { where })
}
