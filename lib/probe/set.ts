/** The published set that a test runs, read from its own text: limits and the client's name are never written down twice. */
import { type Digest, domainDigest, readBytes } from '../canonical.ts'

export type SetName = { id: string; version: string; digest: Digest }

type ConnectionSet = {
  id: string
  version: string
  title: string
  client: { name: string; version: string; protocolVersion: string }
  limits: { maxResponseBytes: number; sessionCloseWaitMs: number; timeoutMs: number; toolListPages: number }
  tasks: { id: 'handshake' | 'tool_list'; label: string }[]
  outcomes: { key: string; means: string }[]
  doesNotEstablish: string[]
}

export function load(id: string, version: string): { name: SetName; document: unknown } {
  const text = new TextDecoder().decode(
    readBytes(new URL(`../../scenarios/${id}/${version}.json`, import.meta.url).pathname),
  )
  return { name: { id, version, digest: domainDigest('assay-scenarios/v1', text) }, document: JSON.parse(text) }
}

const loaded = load('mcp-connection', '1.0')

export const SET = loaded.document as ConnectionSet
export const SET_NAME = loaded.name
export const CLIENT = SET.client
export const USER_AGENT = `${CLIENT.name}/${CLIENT.version}`

/** The set's limits, and `stepMs`: how long a step that the set gives no time of its own may take (ours). */
export type Limits = ConnectionSet['limits'] & { stepMs: number }
export const LIMITS: Limits = { ...SET.limits, stepMs: 2_000 }
