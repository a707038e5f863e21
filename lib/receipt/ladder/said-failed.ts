/**
 * Calls that assert success and of which the provider's own log says that they failed.
 *
 * An entry is about a call by what a record would be: provider, digest, server, actor, time,
 * request. It speaks against the call only where no other call can be meant, the calls that did not
 * assert success included, and where no record says that the same effect came about: what was
 * refused may have been tried again.
 */
import type { Failure } from '../audit/evidence.ts'
import type { ReadRecord } from '../audit/record.ts'
import { groupKey, type Judged } from '../surface/call.ts'
import { differenceOf, type Offer } from './join.ts'
import { refuse, type Window } from './refused-record.ts'

export type SaidFailed = {
  /** By the index of the only call that can be meant. */
  about: Map<number, Failure>
  /** One of several calls is meant, and which cannot be told. `calls`: their indexes. */
  unclear: { calls: number[]; failure: Failure }[]
}

/** Pairs of a group that are looked at one by one. */
const MAX_PAIRS = 40_000

/** Why a record that may not be offered says nothing of whether the effect came about. */
const UNTRUSTED: ReadonlySet<ReadRecord['reason']> = new Set([
  'schema_wrong',
  'record_malformed',
  'record_id_missing',
  'digest_malformed',
  'record_inconsistent',
  'not_projectable',
  'authenticity_failed',
  'taken_back',
  'outside_window',
] as const)

export function saidFailed(
  calls: readonly Judged[],
  records: readonly ReadRecord[],
  given: readonly Failure[],
  { window, toleranceMs }: { window: Window | null; toleranceMs: number },
  asking: (index: number) => Offer,
  offered: (record: ReadRecord, index: number) => Offer,
): SaidFailed {
  const made: SaidFailed = { about: new Map(), unclear: [] }
  if (given.length === 0) return made
  const failures = given.map(({ code, record }) => ({ code, record: { ...record } }))
  const byKey = new Map<string, { calls: number[]; records: Offer[]; failures: Failure[] }>()
  for (const [i, { projection, kind }] of calls.entries()) {
    if (!projection.ok || kind !== 'write') continue
    const key = groupKey(projection.provider, projection.digest)
    const group = byKey.get(key) ?? { calls: [], records: [], failures: [] }
    byKey.set(key, group)
    group.calls.push(i)
  }
  const groupOf = ({ provider, digest }: ReadRecord) => byKey.get(groupKey(provider, digest))
  refuse(
    failures.map(({ record }) => record),
    { window, used: new Set() },
    (one) => groupOf(one) !== undefined,
  )
  for (const [i, one] of records.entries())
    if (!UNTRUSTED.has(one.reason)) groupOf(one)?.records.push(offered(one, i))
  for (const one of failures)
    if (one.record.reason === null) groupOf(one.record)?.failures.push(one)
  const isOf = (call: Offer, record: Offer) => differenceOf(call, record, toleranceMs) === null
  for (const group of byKey.values()) {
    if (group.failures.length === 0) continue
    // Too many to try out: then nothing is said of a single one.
    const isMany =
      group.calls.length * Math.max(group.failures.length, group.records.length) > MAX_PAIRS
    const offers = group.calls.map(asking)
    // A retry is another request for the same effect.
    const tried = group.records.map((one) => ({ ...one, requestIds: [] }))
    const cameAbout = (call: Offer) =>
      isMany ? tried.length > 0 : tried.some((one) => isOf(call, one))
    const open = new Set(
      offers.filter((call) => calls[call.index]?.decision.asserted && !cameAbout(call)),
    )
    let isUnclear = false
    for (const failure of isMany ? group.failures.slice(0, 1) : group.failures) {
      const record = offered(failure.record, 0)
      const named = offers.filter((call) =>
        call.requestIds.some((id) => record.requestIds.includes(id)),
      )
      const meant = (named.length > 0 ? named : offers).filter(
        (call) => isMany || isOf(call, record),
      )
      if (!meant.some((call) => open.has(call))) continue
      const { index } = meant[0] as Offer
      if (meant.length > 1 && !isUnclear)
        made.unclear.push({ calls: meant.map(({ index }) => index), failure })
      else if (meant.length === 1 && !made.about.has(index)) made.about.set(index, failure)
      isUnclear ||= meant.length > 1
    }
  }
  return made
}
