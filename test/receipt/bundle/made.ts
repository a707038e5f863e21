/**
 * Bundles made by hand: bytes of tar and gzip, digests and RFC 8785 text without the code under test, so that each part can be
 * wrong alone.
 */
import { createHash } from 'node:crypto'
import { crc32, deflateRawSync } from 'node:zlib'

export type Payload = { [member: string]: unknown }
export type Event = { [member: string]: unknown }
export type Manifest = { [member: string]: unknown }

export const V0 = 'privileged-mcp-action/v0'
export const V1 = 'privileged-mcp-action/v1'

export const sha256 = (data: string | Uint8Array) =>
  `sha256:${createHash('sha256').update(data).digest('hex')}`

/** RFC 8785 text of values whose keys are ASCII and whose numbers are whole. */
export function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${jcs(item)}`).join(',')}}`
}

export const TARGET = `sha256:${'ab'.repeat(32)}`
const OTHER = `sha256:${'cd'.repeat(32)}`

export const decision = (change: Payload = {}): Payload => ({
  schema: 'assay.enforcement_decision.v0',
  decision: 'deny',
  reason: 'no_declared_allowance',
  drift_state: 'not_evaluated',
  tool: { name: 'add_deploy_key' },
  action: { target_digest: TARGET },
  fail_closed: true,
  non_claims: [
    'policy decision only; does not assert or verify the upstream side effect (stays asserted, E9 ladder)',
    'an allow is the decision to forward; it does not assert the call reached or was performed by the upstream (a transport failure surfaces as proxy_failed, not here)',
    'credential referenced by alias only, never the token or declared scopes',
    'deny is fail-closed caution and allow is a policy decision — neither is a maliciousness verdict',
    'not the observation artifact (assay.mcp_manifest_observed.v0) and not the mechanism artifact (assay.enforcement_health.v0)',
  ],
  ...change,
})

export const allow = (change: Payload = {}): Payload =>
  decision({ decision: 'allow', reason: 'allow', fail_closed: false, ...change })

export const observation = (change: Payload = {}): Payload => ({
  schema: 'assay.denied_call_observation.v0',
  call: { tool_name: 'add_deploy_key', target_digest: TARGET },
  caller_visible_error: { code: -32042, origin: 'assay-proxy', reason: 'no_declared_allowance' },
  caller_visible_response_digest: OTHER,
  non_claims: [
    'caller-visible proxy denial observation only; policy decision lives in assay.enforcement_decision.v0',
    'does not assert or verify the upstream side effect',
    'does not assert maliciousness, safety, approval, or whole-action trust',
    'must not be read as a replacement for the bound enforcement decision record',
  ],
  ...change,
})

/** An observation of v1 with its own marker. */
export const observation1 = (change: Payload = {}): Payload =>
  observation({
    schema: 'assay.denied_call_observation.v1',
    caller_visible_error: { code: -31999, origin: 'assay-proxy', reason: 'no_declared_allowance' },
    ...change,
  })

export const establish = (change: Payload = {}): Payload => ({
  schema: 'assay.manifest_establish.v0',
  establish_path: 'no_establish_needed',
  run_outcome: 'not_performed',
  establish_attempted: false,
  ...change,
})

export function contentHash(event: Event): string {
  const { specversion, type, datacontenttype, subject, data } = event
  return sha256(
    jcs({
      specversion,
      type,
      datacontenttype,
      ...(subject !== undefined && { subject }),
      data,
    }),
  )
}

/** An event with a right hash. A change of `assaycontenthash` stays. */
export function event(data: unknown, seq: number, change: Event = {}): Event {
  const made: Event = {
    specversion: '1.0',
    type: (data as Payload | null)?.['schema'],
    source: 'urn:test:gateway',
    id: `run-1:${seq}`,
    time: '2026-01-01T00:00:00Z',
    datacontenttype: 'application/json',
    assayrunid: 'run-1',
    assayseq: seq,
    data,
    ...change,
  }
  return { assaycontenthash: contentHash(made), ...made }
}

export const linesOf = (events: Event[]) => events.map((one) => `${JSON.stringify(one)}\n`).join('')

/** A manifest that fits these events. */
export function manifestOf(events: Event[], text: string | Uint8Array, change: Manifest = {}) {
  const bytes = Buffer.from(text)
  const root = sha256(events.map((one) => `${one['assaycontenthash']}\n`).join(''))
  return {
    schema_version: 1,
    bundle_id: root,
    run_root: root,
    run_id: 'run-1',
    event_count: events.length,
    producer: { name: 'hand', version: '1' },
    algorithms: {
      canon: 'jcs-rfc8785',
      hash: 'sha256',
      root: String.raw`sha256(concat(content_hash + "\n"))`,
    },
    files: {
      'events.ndjson': { path: 'events.ndjson', bytes: bytes.length, sha256: sha256(bytes) },
    },
    ...change,
  }
}

export type EntryParts = {
  name: string
  body?: string | Uint8Array
  /** USTAR's type flag, default `0`: a plain file. */
  type?: string
  link?: string
  /** The size that the header gives, default that of the body. */
  size?: number
  prefix?: string
}

/** One header and body of a USTAR archive. */
export function entry({ name, body = '', type = '0', link = '', size, prefix = '' }: EntryParts) {
  const bytes = Buffer.from(body)
  const header = Buffer.alloc(512)
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  header.write(name, 0, 100)
  octal(0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size ?? bytes.length, 124, 12)
  octal(0, 136, 12)
  header.write('        ', 148, 'latin1')
  header.write(type, 156, 'latin1')
  header.write(link, 157, 100)
  header.write('ustar\0', 257, 'latin1')
  header.write('00', 263, 'latin1')
  header.write(prefix, 345, 155)
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    'latin1',
  )
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}

export const END = Buffer.alloc(1024)

export const tar = (...entries: EntryParts[]) => Buffer.concat([...entries.map(entry), END])

/** One gzip member. Its checksum and size can be made wrong. */
export function gzip(
  bytes: Uint8Array,
  {
    crc = crc32(bytes),
    size = bytes.length,
    header = Buffer.from('1f8b08000000000000ff', 'hex'),
  } = {},
) {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc >>> 0, 0)
  trailer.writeUInt32LE(size >>> 0, 4)
  return Buffer.concat([header, deflateRawSync(bytes), trailer])
}

export type Parts = {
  payloads?: unknown[]
  events?: Event[]
  /** Instead of the lines of the events. */
  text?: string | Uint8Array
  manifest?: Manifest
  /** Instead of the manifest's JSON. */
  manifestText?: string | Uint8Array
}

/** The two files of a bundle. What is not given fits the rest. */
export function filesOf(parts: Parts) {
  const events = parts.events ?? (parts.payloads ?? [decision()]).map((data, i) => event(data, i))
  const text = parts.text ?? linesOf(events)
  const manifest =
    parts.manifestText ?? JSON.stringify(manifestOf(events, text, parts.manifest ?? {}))
  return [
    { name: 'manifest.json', body: manifest },
    { name: 'events.ndjson', body: text },
  ] as const
}

export const bundle = (parts: Parts = {}) => gzip(tar(...filesOf(parts)))
