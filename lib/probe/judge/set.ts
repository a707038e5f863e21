/**
 * The published sets that a test can run, read from their own text: limits and client names are
 * never written down twice.
 */
import type { Digest } from '../../canonical.ts'
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import { get, type ScenarioSet } from '../../scenario/index.ts'

export type SetName = { id: string; version: string; digest: Digest }

/**
 * Which of the two protocols a test speaks: the one with `initialize`, or revision 2026-07-28,
 * which has no handshake.
 */
export type Era = 'legacy' | 'modern'

export type TaskId = 'handshake' | 'discover' | 'tool_list'

export type ConnectionSet = {
  id: string
  version: string
  title: string
  client: { name: string; version: string; protocolVersion: string }
  limits: {
    maxResponseBytes: number
    sessionCloseWaitMs?: number
    timeoutMs: number
    toolListPages: number
  }
  tasks: { id: TaskId; label: string }[]
  outcomes: { key: string; means: string }[]
  doesNotEstablish: string[]
}

/** A set that a connection test can run. */
export type Runnable = { name: SetName; era: Era; set: ConnectionSet; limits: Limits }

/**
 * The set's limits, and `stepMs`: how long a step that the set gives no time of its own may take
 * (ours).
 */
export type Limits = Required<ConnectionSet['limits']> & { stepMs: number }

/** What a result says of the set it ran. */
export function nameOf({ id, version, digest }: ScenarioSet): SetName {
  return { id, version, digest }
}

/** Sets that are connection tests, by `id@version`, and the protocol each one speaks. */
const ERAS: { [name: string]: Era } = {
  'mcp-connection@1.0': 'legacy',
  'mcp-connection-stateless@1.0': 'modern',
}

export const DEFAULT_SET = 'mcp-connection@1.0'

const runnable = new Map<string, Runnable>()

/**
 * The published connection test of this name.
 *
 * @param name `id@version`
 * @throws TouchstoneError `set_unknown` for a set that is not published, or that is no connection
 *   test
 */
export function connectionSet(name: string): Runnable {
  const known = runnable.get(name)
  if (known) return known
  const era = Object.hasOwn(ERAS, name) ? ERAS[name] : undefined
  if (era === undefined) {
    const names = Object.keys(ERAS)
    throw new TouchstoneError(
      'set_unknown',
      `expected ${names.join(' or ')}, ${gotWord(name, names)}`,
      { where: 'set' },
    )
  }
  const published = get(name)
  const set = published.set as unknown as ConnectionSet
  const limits = { sessionCloseWaitMs: 0, ...set.limits, stepMs: 2_000 }
  const made = { name: nameOf(published), era, set, limits }
  runnable.set(name, made)
  return made
}

/** The set whose tasks a test of this era has, whether or not it is the published test. */
export function setOfEra(era: Era): Runnable {
  return connectionSet(era === 'legacy' ? DEFAULT_SET : 'mcp-connection-stateless@1.0')
}

/** What is said of a set by its name, when it is one that runs here. */
export function setNamed({ id, version }: Pick<SetName, 'id' | 'version'>): Runnable {
  return connectionSet(`${id}@${version}`)
}

/**
 * What every request carries. Compression is not asked for, so that bytes on the wire are bytes
 * read.
 */
export function headersOf(
  client: ConnectionSet['client'],
  extra: Record<string, string> = {},
): Record<string, string> {
  return {
    'user-agent': `${client.name}/${client.version}`,
    'accept-encoding': 'identity',
    ...extra,
  }
}
