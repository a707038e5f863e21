/**
 * Reading a provider's own audit export into records. The importer sees the export and nothing
 * else: no call, no case, no expectation. Every entry ends as a record, as skipped with a reason,
 * or is counted as not mapped.
 */
import { gotShape, onlyMembers } from '../../arguments.ts'
import { type Digest, digest, digestOf } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes } from '../../files.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { bindingOf, type Subject } from '../surface/binding.ts'
import { project } from '../surface/classifier.ts'
import { requestHash } from '../surface/observe.ts'
import { classifierOf } from '../surface/registry.ts'
import { actorHash, objectHash } from '../surface/target.ts'
import type { AuthenticityOptions, Effect, Importer, Refuted } from './importer.ts'
import { importerNamed } from './importers.ts'
import { type AuditRecord, type Authenticity, record, vouch } from './record.ts'
import { entriesOf, unpack } from './unpack.ts'

export type ImportOptions = {
  /** Name of the export for messages and records. */
  source?: string
  /**
   * Whose log it is, for logs that do not say so themselves, such as the organisation of an Okta
   * log.
   */
  scope?: string
  /**
   * Name of the server whose log it is: its records are for calls to that server alone. Default:
   * for calls to any.
   */
  server?: string
} & AuthenticityOptions

/** An effect that failed by the provider's own log. `code`: the provider's word for the failure. */
export type FailedEntry = Omit<AuditRecord, 'schema' | 'non_claims'> & { code: string }

export type Imported = {
  provider: string
  /** The server whose log it is, where that was said. */
  server?: string
  source: { name: string; digest: Digest; size_bytes: number }
  records: AuditRecord[]
  /** What the log says was tried and failed. It vouches for nothing, and may contradict a call. */
  failed: FailedEntry[]
  /** Entries that must not count, by line (NDJSON) or place in the list, from 1. */
  skipped: { line: number; reason: string }[]
  /**
   * Objects that failed or were taken back, by their hash: no record of another export about one of
   * them counts.
   */
  refuted: { object_hash: Digest; because: string; line: number }[]
  counts: {
    entries: number
    records: number
    skipped: number
    unmapped: { [kind: string]: number }
  }
  authenticity: Authenticity
}

/**
 * Import a provider's native export: a JSON array, the provider's envelope, or NDJSON, each also
 * gzipped.
 *
 * @param provider `github`, `kubernetes`, `cloudtrail`, `stripe`, `slack` or `okta`
 * @param input bytes or text of the export
 * @param options `source`: name of the export for messages and records
 * @throws TouchstoneError `argument_invalid` for an unknown provider, `export_invalid` and the
 *   `json_*` codes, with line and column, for bytes that are no such export
 * @example
 * const log = '[{"action":"public_key.create","_document_id":"e1","repo":"org/prod-repo","title":"ci-key","@timestamp":1767603600000}]'
 * importAudit('github', log).records[0].binding_digest
 * // 'sha256:31f2007b91477601789c8803c3e32912a8a4510851cc55397d49a65bbc5e4ec3'
 */
export function importAudit(
  provider: string,
  input: string | Uint8Array,
  options: ImportOptions = {},
): Imported {
  const importer = importerNamed(provider)
  onlyMembers(options, ['source', 'scope', 'server', 'digests', 'publicKey'], 'options')
  if (typeof input !== 'string' && !(input instanceof Uint8Array))
    throw new TouchstoneError('argument_invalid', `expected text or bytes, ${gotShape(input)}`, {
      where: 'input',
    })
  const name = options.source ?? `${provider} export`
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const source = { name, digest: digest(bytes), size_bytes: bytes.length }
  const authenticity: Authenticity = importer.authenticate
    ? vouch(importer.authenticate(bytes, options))
    : { method: 'none', verified: false, detail: 'the export carries no signature of its own' }
  const made: Imported = {
    provider: importer.provider,
    ...(options.server !== undefined && { server: options.server }),
    source,
    records: [],
    failed: [],
    skipped: [],
    refuted: [],
    counts: { entries: 0, records: 0, skipped: 0, unmapped: {} },
    authenticity,
  }
  const whole = new WholeExport()
  const list = entriesOf(unpack(bytes, name), name, importer, (line, reason) => {
    made.counts.entries++
    made.skipped.push({ line, reason })
  })
  for (const { entry, line, scope } of list) {
    made.counts.entries++
    if (!isObject(entry)) {
      made.skipped.push({ line, reason: 'the entry is no object' })
      continue
    }
    const reading = importer.read(entry, scope ?? options.scope ?? null)
    if ('refutes' in reading && reading.refutes) {
      whole.refute(reading.refutes, line)
      const { object, because } = reading.refutes
      made.refuted.push({ object_hash: objectHash(importer.provider, object), because, line })
    }
    const from = { importer, source, server: options.server, line, entry, authenticity }
    if ('skipped' in reading && reading.failed) {
      const { effect, code } = reading.failed
      for (const [one, subject] of completeOf(effect).kept) {
        const { schema: _, non_claims: __, ...rest } = recordOf(one, subject, from)
        made.failed.push({ ...rest, code })
      }
    }
    if ('skipped' in reading) made.skipped.push({ line, reason: reading.skipped })
    else if ('unmapped' in reading) countKind(made.counts.unmapped, reading.unmapped.slice(0, 80))
    else {
      const { kept, missing } = completeOf(reading)
      for (const [one, subject] of kept) whole.add(one, line, recordOf(one, subject, from))
      if (kept.length === 0 && missing !== null) made.skipped.push({ line, reason: missing })
    }
  }
  const { records, skipped } = whole.settled()
  made.records = records
  made.skipped = [...made.skipped, ...skipped].sort((a, b) => a.line - b.line)
  made.counts.records = made.records.length
  made.counts.skipped = made.skipped.length
  return made
}

/**
 * The records of an export, settled by all of it: an entry that failed or was taken back later in
 * the same export is none, and of several entries about one object only the first is one.
 */
class WholeExport {
  private readonly found: {
    line: number
    object: string | null
    kind: string
    record: AuditRecord
  }[] = []
  private readonly refuted = new Map<string, { line: number; because: string }>()

  add({ object = null, action_class, verb }: Effect, line: number, record: AuditRecord): void {
    const kind = `${action_class}\n${verb}`
    this.found.push({ line, object, kind, record })
  }

  refute({ object, because }: Refuted, line: number): void {
    this.refuted.set(object, { line, because })
  }

  settled(): { records: AuditRecord[]; skipped: Imported['skipped'] } {
    const records: AuditRecord[] = []
    const skipped: Imported['skipped'] = []
    const first = new Map<string, number>()
    for (const { line, object, kind, record } of this.found) {
      const refuted = object === null ? undefined : this.refuted.get(object)
      const key = `${kind}\n${object}`
      const earlier = object === null ? undefined : first.get(key)
      if (refuted)
        skipped.push({ line, reason: `taken back at line ${refuted.line}: ${refuted.because}` })
      else if (earlier !== undefined)
        skipped.push({ line, reason: `the same object as at line ${earlier}` })
      else {
        first.set(key, line)
        records.push(record)
      }
    }
    return { records, skipped }
  }
}

/** The effects of an entry that say all that a binding needs, and what the first of them lacks. */
function completeOf(reading: Effect): { kept: [Effect, Found][]; missing: string | null } {
  const found = [reading, ...(reading.also ?? [])].map((one) => [one, subjectFrom(one)] as const)
  const kept = found.flatMap(([one, subject]): [Effect, Found][] =>
    'missing' in subject ? [] : [[one, subject]],
  )
  const [[, first]] = found as [(typeof found)[number]]
  return { kept, missing: 'missing' in first ? first.missing : null }
}

/** What an entry says, as the classifier of its class projects it. */
function subjectFrom({ action_class, verb, values }: Effect): Found | { missing: string } {
  const one = classifierOf(action_class, verb)
  if (!one) return { missing: `no classifier declares ${action_class} ${verb}` }
  const { target } = project(one, values)
  const { all, any = [], agree = [] } = bindingOf(one, verb)
  const missing = all.find((name) => typeof target[name] !== 'string')
  if (missing) return { missing: `the entry does not say ${missing.replace(/_hash$/, '')}` }
  const taken = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = target[name]
      return value === undefined || value === null ? [] : [[name, value] as const]
    })
  return {
    subject: {
      action_class,
      verb,
      target: Object.fromEntries(taken([...all, ...any])) as Subject['target'],
    },
    attributes: Object.fromEntries(taken(agree)),
  }
}

type Found = { subject: Subject; attributes: JsonObject }

function recordOf(
  { record_id, occurred_at, request_ids = [], actor, object }: Effect,
  { subject, attributes }: Found,
  from: {
    importer: Importer
    source: Imported['source']
    server: string | undefined
    line: number
    entry: JsonObject
    authenticity: Authenticity
  },
): AuditRecord {
  const { name, digest } = from.source
  const provider = from.importer.provider
  return record({
    provider,
    record_id,
    subject,
    source: { name, digest, line: from.line, entry_digest: digestOf(from.entry) },
    ...(from.server !== undefined && { server: from.server }),
    ...(occurred_at && { occurred_at }),
    ...(request_ids.length > 0 && {
      request_ids: [...new Set(request_ids.map(requestHash))].sort(),
    }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
    ...(actor && { actor_hash: actorHash(provider, actor) }),
    ...(object && { object_hash: objectHash(provider, object) }),
    authenticity: from.authenticity,
  })
}

function countKind(counts: { [kind: string]: number }, kind: string): void {
  const value = (Object.hasOwn(counts, kind) ? (counts[kind] as number) : 0) + 1
  Object.defineProperty(counts, kind, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

/** Import a file. @throws TouchstoneError `file_unreadable`, and what `importAudit` throws. */
export function importAuditFile(
  provider: string,
  path: string,
  options: ImportOptions = {},
): Imported {
  return importAudit(provider, readBytes(path), { ...options, source: path })
}
