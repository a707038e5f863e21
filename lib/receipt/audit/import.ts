/**
 * Reading a provider's own audit export into records. The importer sees the export and nothing else: no call, no case, no
 * expectation. Every entry ends as a record, as skipped with a reason, or is counted as not mapped.
 */
import { gunzipSync } from 'node:zlib'
import { type Digest, digest, digestOf } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes } from '../../files.ts'
import type { Json, JsonObject } from '../../json.ts'
import { documentsIn } from '../../lines.ts'
import type { Subject } from '../surface/binding.ts'
import { isObject } from '../surface/decision.ts'
import { requestHash } from '../surface/observe.ts'
import { type CloudTrailOptions, cloudtrail, cloudtrailAuthenticity } from './cloudtrail.ts'
import { github } from './github.ts'
import { kubernetes } from './kubernetes.ts'
import { okta } from './okta.ts'
import { type AuditRecord, type Authenticity, record, vouch } from './record.ts'
import { slack } from './slack.ts'
import { stripe } from './stripe.ts'

/** What a provider's mapping makes of one entry. */
export type Mapped =
  | {
      record_id: string
      subject: Subject
      occurred_at?: string | null
      /** Raw ids; they are hashed before they go into the record. */
      request_ids?: string[]
      attributes?: JsonObject
    }
  /** An entry of a mapped kind that must not count, such as a failed one. */
  | { skipped: string }
  /** An entry of a kind that no classifier speaks of. */
  | { unmapped: string }

export type ProviderImporter = {
  /** Name in records, such as `aws` for CloudTrail. */
  provider: string
  /** The list of entries inside a document that is no array itself, or null when it is one entry. */
  unwrap(document: JsonObject): Json[] | null
  map(entry: JsonObject): Mapped
}

export const IMPORTERS: { [name: string]: ProviderImporter } = {
  github,
  kubernetes,
  cloudtrail,
  stripe,
  slack,
  okta,
}

export type Imported = {
  provider: string
  source: { name: string; digest: Digest; size_bytes: number }
  records: AuditRecord[]
  /** Entries that must not count, by line (NDJSON) or place in the list, from 1. */
  skipped: { line: number; reason: string }[]
  counts: {
    entries: number
    records: number
    skipped: number
    unmapped: { [kind: string]: number }
  }
  authenticity: Authenticity
}

/** Largest export that is unpacked, in bytes: a small gz must not fill the memory. */
export const MAX_EXPORT_BYTES = 1 << 30

/**
 * Import a provider's native export: a JSON array, the provider's envelope, or NDJSON, each also gzipped.
 *
 * @param provider `github`, `kubernetes`, `cloudtrail`, `stripe`, `slack` or `okta`
 * @param input bytes or text of the export
 * @param options `source`: name of the export for messages and records
 * @throws TouchstoneError `argument_invalid` for an unknown provider, `export_invalid` and the `json_*` codes, with line and
 *   column, for bytes that are no such export
 * @example
 * const log = '[{"action":"public_key.create","_document_id":"e1","repo":"org/prod-repo","title":"ci-key","@timestamp":1767603600000}]'
 * importAudit('github', log).records[0].binding_digest
 * // 'sha256:31f2007b91477601789c8803c3e32912a8a4510851cc55397d49a65bbc5e4ec3'
 */
export function importAudit(
  provider: string,
  input: string | Uint8Array,
  options: { source?: string } & CloudTrailOptions = {},
): Imported {
  const importer =
    typeof provider === 'string' && Object.hasOwn(IMPORTERS, provider)
      ? IMPORTERS[provider]
      : undefined
  if (!importer) {
    const names = Object.keys(IMPORTERS).join(', ')
    throw new TouchstoneError(
      'argument_invalid',
      `expected one of ${names}, got ${typeof provider === 'string' ? `"${provider}"` : typeof provider}`,
      { where: 'provider' },
    )
  }
  if (typeof input !== 'string' && !(input instanceof Uint8Array))
    throw new TouchstoneError('argument_invalid', `expected text or bytes, got ${typeof input}`, {
      where: 'input',
    })
  const name = options.source ?? `${provider} export`
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const source = { name, digest: digest(bytes), size_bytes: bytes.length }
  const authenticity =
    provider === 'cloudtrail'
      ? vouch(cloudtrailAuthenticity(bytes, options))
      : {
          method: 'none' as const,
          verified: false,
          detail: 'the export carries no signature of its own',
        }
  const made: Imported = {
    provider: importer.provider,
    source,
    records: [],
    skipped: [],
    counts: { entries: 0, records: 0, skipped: 0, unmapped: {} },
    authenticity,
  }
  for (const { entry, line } of entriesOf(unpack(bytes, name), name, importer)) {
    made.counts.entries++
    if (!isObject(entry)) {
      made.skipped.push({ line, reason: 'the entry is no object' })
      continue
    }
    const mapped = importer.map(entry)
    if ('skipped' in mapped) made.skipped.push({ line, reason: mapped.skipped })
    else if ('unmapped' in mapped) {
      const kind = mapped.unmapped.slice(0, 80)
      const known = Object.hasOwn(made.counts.unmapped, kind)
        ? (made.counts.unmapped[kind] as number)
        : 0
      Object.defineProperty(made.counts.unmapped, kind, {
        value: known + 1,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    } else {
      const { record_id, subject, occurred_at, request_ids = [], attributes } = mapped
      made.records.push(
        record({
          provider: importer.provider,
          record_id,
          subject,
          source: { name, digest: source.digest, line, entry_digest: digestOf(entry) },
          ...(occurred_at && { occurred_at }),
          ...(request_ids.length > 0 && {
            request_ids: [...new Set(request_ids.map(requestHash))].sort(),
          }),
          ...(attributes && Object.keys(attributes).length > 0 && { attributes }),
          authenticity,
        }),
      )
    }
  }
  made.counts.records = made.records.length
  made.counts.skipped = made.skipped.length
  return made
}

/** Import a file. @throws TouchstoneError `file_unreadable`, and what `importAudit` throws. */
export function importAuditFile(
  provider: string,
  path: string,
  options: CloudTrailOptions = {},
): Imported {
  return importAudit(provider, readBytes(path), { ...options, source: path })
}

/** Bytes as they were before gzip, if they were gzipped. */
export function unpack(bytes: Uint8Array, name: string): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_EXPORT_BYTES })
  } catch (cause) {
    throw new TouchstoneError(
      'export_invalid',
      `expected gzip data, got ${(cause as Error).message}`,
      {
        where: name,
        cause,
      },
    )
  }
}

/** The entries of an export with their places. One document on several lines, or one document per line. */
export function* entriesOf(
  bytes: Uint8Array,
  name: string,
  importer: Pick<ProviderImporter, 'unwrap'>,
): Generator<{ entry: Json; line: number }> {
  for (const { value, line } of documentsIn(bytes, name)) {
    const list = Array.isArray(value) ? value : isObject(value) ? importer.unwrap(value) : null
    if (list) for (const [i, entry] of list.entries()) yield { entry, line: line ?? i + 1 }
    else if (line !== null || isObject(value)) yield { entry: value, line: line ?? 1 }
    else
      throw new TouchstoneError(
        'export_invalid',
        'expected audit entries, got another JSON value',
        { where: name },
      )
  }
}
