/** The published set that a test runs, read from its own text: limits and the client's name are never written down twice. */
import type { Digest } from '../canonical.ts'
import { get, type ScenarioSet } from '../scenario/index.ts'

export type SetName = { id: string; version: string; digest: Digest }

type ConnectionSet = {
  id: string
  version: string
  title: string
  client: { name: string; version: string; protocolVersion: string }
  limits: {
    maxResponseBytes: number
    sessionCloseWaitMs: number
    timeoutMs: number
    toolListPages: number
  }
  tasks: { id: 'handshake' | 'tool_list'; label: string }[]
  outcomes: { key: string; means: string }[]
  doesNotEstablish: string[]
}

/** What a result says of the set it ran. */
export function nameOf({ id, version, digest }: ScenarioSet): SetName {
  return { id, version, digest }
}

/** The set's limits, and `stepMs`: how long a step that the set gives no time of its own may take (ours). */
export type Limits = ConnectionSet['limits'] & { stepMs: number }

type ConnectionTest = { set: ConnectionSet; name: SetName; userAgent: string; limits: Limits }

let read: ConnectionTest | undefined

/** The set `mcp-connection 1.0`, read when first asked for. @throws TouchstoneError `set_unknown`, `set_altered` */
export function connectionTest(): ConnectionTest {
  if (read) return read
  const published = get('mcp-connection@1.0')
  const set = published.set as unknown as ConnectionSet
  read = {
    set,
    name: nameOf(published),
    userAgent: `${set.client.name}/${set.client.version}`,
    limits: { ...set.limits, stepMs: 2_000 },
  }
  return read
}
