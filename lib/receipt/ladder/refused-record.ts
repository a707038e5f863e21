/** Records that may not count, and why: by themselves, against each other, and against a call. */
import type { Digest } from '../../canonical.ts'
import { isInconsistent, type ReadRecord } from '../audit/record.ts'
import type { Judged } from '../surface/call.ts'
import { idOf } from './ledger.ts'
import type { Binding, Rejection } from './report.ts'

export type Window = { from: number | null; to: number | null }

/** Mark the records that may not be offered, each with its reason. */
export function refuse(
  records: ReadRecord[],
  { window, used }: { window: Window | null; used: ReadonlySet<string> },
  binds: (record: ReadRecord) => boolean,
): void {
  const byId = new Map<string, ReadRecord[]>()
  const byObject = new Map<string, ReadRecord[]>()
  const reject = (one: ReadRecord, reason: ReadRecord['reason'], detail: string) =>
    Object.assign(one, { reason, detail })
  for (const one of records) {
    if (one.reason !== null) continue
    const id = idOf(one.provider, one.id)
    if (one.authenticity && one.authenticity.method !== 'none' && !one.authenticity.verified)
      reject(one, 'authenticity_failed', one.authenticity.detail)
    else if (used.has(id)) reject(one, 'already_used', 'an earlier receipt has used this record')
    else if (window && one.occurredAt === null)
      reject(one, 'time_unknown', 'a window is given and the record has no time')
    else if (window && isOutside(one.occurredAt as number, window))
      reject(one, 'outside_window', 'the record’s time lies outside the window')
    else {
      const same = byId.get(id)
      if (same) same.push(one)
      else byId.set(id, [one])
    }
  }
  for (const same of [...byId.values()].flatMap(byServer)) {
    const kept = keepOne(same, binds)
    const differ = same.some((one) => one.digest !== same[0]?.digest)
    for (const one of same)
      if (one !== kept)
        reject(
          one,
          'duplicate_record_id',
          differ ? 'the id stands for different entries' : 'the id was given before',
        )
    if (!kept || kept.object === null) continue
    const key = JSON.stringify([kept.provider, kept.class, kept.object])
    const about = byObject.get(key)
    if (about) about.push(kept)
    else byObject.set(key, [kept])
  }
  for (const same of [...byObject.values()].flatMap(byServer)) {
    const kept = keepOne(same, binds)
    for (const one of same)
      if (one !== kept)
        reject(
          one,
          'same_object',
          kept
            ? `${kept.id} is about the same object`
            : 'entries about one object bind to different calls',
        )
  }
}

/**
 * Ids are unique in one log. Where every entry says whose log it is of, those of different servers
 * are different.
 */
function byServer(same: ReadRecord[]): ReadRecord[][] {
  if (same.length === 1 || same.some((one) => one.server === null)) return [same]
  return [...Map.groupBy(same, (one) => one.server).values()]
}

/**
 * Of several entries one may count. Preferring one that binds keeps further records from lowering a
 * level. Where entries bind to different calls, none counts: choosing one would choose the call.
 */
function keepOne(
  same: readonly ReadRecord[],
  binds: (record: ReadRecord) => boolean,
): ReadRecord | undefined {
  if (same.length === 1) return same[0]
  const binding = same.filter(binds)
  if (new Set(binding.map((one) => one.digest)).size > 1) return undefined
  return binding[0] ?? same[0]
}

function isOutside(at: number, { from, to }: { from: number | null; to: number | null }): boolean {
  return (from !== null && at < from) || (to !== null && at > to)
}

export function bound(record: ReadRecord, digest: Digest): Binding {
  const { provider, id, authenticity } = record
  return { outcome: 'bound', provider, record_id: id, subject_digest: digest, authenticity }
}

export type Nearest = { any: ReadRecord | undefined; byClass: Map<string, ReadRecord> }

/**
 * The first record that nobody used, overall and per class: what a call without a record is
 * compared with.
 */
export function nearestOf(records: readonly ReadRecord[], used: ReadonlySet<number>): Nearest {
  const made: Nearest = { any: undefined, byClass: new Map() }
  for (const [i, one] of records.entries()) {
    if (used.has(i) || (one.reason !== null && !isInconsistent(one))) continue
    made.any ??= one
    if (!made.byClass.has(one.class)) made.byClass.set(one.class, one)
  }
  return made
}

/** The two checks of the spec, in their order: the record by itself, then against the call. */
export function unbound({ decision, projection, kind }: Judged, nearest: Nearest): Binding | null {
  if (kind === 'read') return null
  const kindOf = decision.action.resource_type
  const record =
    (typeof kindOf === 'string' ? nearest.byClass.get(kindOf) : undefined) ?? nearest.any
  if (!record) return null
  if (isInconsistent(record))
    return {
      outcome: 'record_inconsistent',
      record_id: record.id,
      recomputed: record.recomputed as Digest,
      declared: record.declared,
    }
  if (!decision.asserted)
    return { outcome: 'not_projectable', reason: 'side effect was not asserted' }
  if (!projection.ok) return { outcome: 'not_projectable', reason: projection.detail }
  // The same digest was refused on another ground, which the rejections name.
  if (record.digest === projection.digest) return null
  return {
    outcome: 'binds_different_call',
    record_id: record.id,
    record_digest: record.digest,
    call_digest: projection.digest,
  }
}

/**
 * Rejections by the digest they carry: one shared list per digest, so that many equal calls cost no
 * more than one.
 */
export function refusals(
  records: readonly ReadRecord[],
  used: ReadonlySet<number>,
  differences: ReadonlyMap<number, [string, string]>,
): Map<string, Map<string, Rejection>> {
  const made = new Map<string, Map<string, Rejection>>()
  for (const [i, one] of records.entries()) {
    if (used.has(i)) continue
    const [reason, detail] = one.reason
      ? [one.reason, one.detail]
      : (differences.get(i) ?? ['provider_mismatch', `the record is of provider ${one.provider}`])
    const key = one.declared
    const list = made.get(key) ?? new Map<string, Rejection>()
    made.set(key, list)
    const row = list.get(`${reason} ${detail}`) ?? { reason, detail, records: 0, record_ids: [] }
    list.set(`${reason} ${detail}`, row)
    row.records++
    if (row.record_ids.length < 5) row.record_ids.push(one.id)
  }
  return made
}

export function rejectionsOf(
  { decision, projection, kind }: Judged,
  refused: Map<string, Map<string, Rejection>>,
): Rejection[] {
  if (kind === 'read' || !decision.asserted) return []
  if (!projection.ok)
    return [{ reason: projection.reason, detail: projection.detail, records: 0, record_ids: [] }]
  return [...(refused.get(projection.digest)?.values() ?? [])]
}
