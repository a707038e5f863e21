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

const connection = get('mcp-connection@1.0')

export const SET = connection.set as unknown as ConnectionSet
export const SET_NAME = nameOf(connection)
export const CLIENT = SET.client
export const USER_AGENT = `${CLIENT.name}/${CLIENT.version}`

/** The set's limits, and `stepMs`: how long a step that the set gives no time of its own may take (ours). */
export type Limits = ConnectionSet['limits'] & { stepMs: number }
export const LIMITS: Limits = { ...SET.limits, stepMs: 2_000 }
