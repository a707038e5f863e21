/**
 * Calls that assert success and of which the provider's own log says that they failed.
 *
 * An entry is about a call where both name one request, or where both name one actor and the entry
 * lies within `NEAR_MS` of the answer. It speaks against the call only where no other call can be
 * meant, the calls that did not assert success included. What was refused may have been tried
 * again: a success that was logged after the failure and near the answer is the retry. A request
 * that both sides name has none but itself.
 *
 * Where a success lies near the answer and before the failure, which of both is the call's cannot
 * be told: it is neither verified nor contradicted.
 *
 * An entry that could be the call's, and that nothing ties to it, is told without naming a call.
 */
import type { Digest } from '../../canonical.ts'
import type { Failure } from '../audit/evidence.ts'
import type { ReadRecord } from '../audit/record.ts'
import { groupKey, type Judged } from '../surface/call.ts'
import { differenceOf, NEAR_MS, type Offer } from './join.ts'
import { refuse, type Window } from './refused-record.ts'

export type SaidFailed = {
  /** By the index of the only call that can be meant. */
  about: Map<number, Failure>
  /** Indexes of calls with a success and a later failure, either of which may be the call's. */
  doubted: Set<number>
  /** Which of these calls is meant, by their indexes, or whether one is, cannot be told. */
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
  const made: SaidFailed = { about: new Map(), doubted: new Set(), unclear: [] }
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
  for (const { calls: indexes, records: successes, failures: entries } of byKey.values()) {
    if (entries.length === 0) continue
    const offers = indexes.map(asking)
    const byId = new Map<Digest, Offer[]>()
    for (const call of offers) for (const id of new Set(call.requestIds)) add(byId, id, call)
    // Too many to try out: then only a request names a single call, and one other entry is told.
    const isMany = offers.length * Math.max(entries.length, successes.length) > MAX_PAIRS
    const isRetried = retries(successes, toleranceMs, isMany)
    const isAsserted = (call: Offer) => calls[call.index]?.decision.asserted === true
    const loose: { failure: Failure; record: Offer; named: Offer[] }[] = []
    for (const failure of entries) {
      const record = offered(failure.record, 0)
      const named = [...new Set(record.requestIds.flatMap((id) => byId.get(id) ?? []))]
      const [call] = named
      if (!call || named.length > 1) loose.push({ failure, record, named })
      else if (
        isAsserted(call) &&
        !made.about.has(call.index) &&
        differenceOf(call, record, toleranceMs) === null &&
        !isRetried(call, record, 'request')
      )
        made.about.set(call.index, failure)
    }
    if (isMany) loose.splice(0, Infinity, ...latestOf(loose))
    let isUnclear = false
    for (const { failure, record, named } of loose) {
      const all = (named.length > 0 ? named : offers).filter(
        (call) => differenceOf(call, record, toleranceMs) === null,
      )
      const near = all.filter((call) => isNear(call, record, toleranceMs))
      const meant = near.length > 0 ? near : all
      const [call] = near
      // A success at any time.
      const undated = { ...record, at: null }
      if (call && near.length === 1 && isTied(call, record)) {
        if (!isAsserted(call) || made.about.has(call.index)) continue
        if (isRetried(call, undated, 'request') || isRetried(call, record, 'near')) continue
        if (!isRetried(call, undated, 'near')) {
          made.about.set(call.index, failure)
          continue
        }
        made.doubted.add(call.index)
      }
      // A call that did not assert success accounts for a failure beside a success.
      const entry = meant.every(isAsserted) ? record : undated
      if (isUnclear || !meant.some((one) => isAsserted(one) && !isRetried(one, entry, 'any')))
        continue
      made.unclear.push({ calls: meant.map(({ index }) => index), failure })
      isUnclear = true
    }
  }
  return made
}

/** False where the times of both are known and lie further apart than one request takes. */
function isNear(call: Offer, entry: Offer, toleranceMs: number): boolean {
  if (call.at === null || entry.at === null) return true
  return Math.abs(call.at - entry.at) <= Math.min(toleranceMs, NEAR_MS)
}

/** What is unknown ties nothing. */
function isTied(call: Offer, entry: Offer): boolean {
  return call.actor !== null && call.actor === entry.actor && call.at !== null && entry.at !== null
}

type Among = 'request' | 'near' | 'any'

/**
 * Whether a call that failed once succeeded when it was tried again: whether a success that could
 * be the call's was logged at or after the failure. A success without a time may have been.
 * `request`: in the very request. `near`: near the answer. `any`: at any time, by the same actor.
 */
function retries(successes: readonly Offer[], toleranceMs: number, isMany: boolean) {
  const bySuccessId = new Map<Digest, Offer[]>()
  for (const one of successes) for (const id of new Set(one.requestIds)) add(bySuccessId, id, one)
  // A retry is another request for the same effect.
  const others = successes.map((one) => ({ ...one, requestIds: [] }))
  const last = isMany ? latestOf(others.map((record) => ({ record }))).map((one) => one.record) : []
  const found = new Map<string, Map<Digest | null, number>>()
  const of = (call: Offer, among: Among): Offer[] => {
    if (among === 'request') return call.requestIds.flatMap((id) => bySuccessId.get(id) ?? [])
    return isMany ? last : others
  }
  return (call: Offer, failure: Offer, among: Among): boolean => {
    const key = `${among} ${call.index}`
    let latest = found.get(key)
    if (!latest) {
      latest = new Map()
      for (const one of of(call, among)) {
        if (differenceOf(call, one, toleranceMs) !== null) continue
        if (among === 'near' && !isNear(call, one, toleranceMs)) continue
        latest.set(one.actor, Math.max(latest.get(one.actor) ?? -Infinity, one.at ?? Infinity))
      }
      found.set(key, latest)
    }
    for (const [actor, at] of latest)
      if (actor === null || failure.actor === null || actor === failure.actor)
        if (at >= (failure.at ?? -Infinity)) return true
    return false
  }
}

/** The one with the latest time; one without a time comes last. */
function latestOf<One extends { record: Offer }>(list: readonly One[]): One[] {
  let latest: One | undefined
  for (const one of list)
    if (!latest || (one.record.at ?? Infinity) > (latest.record.at ?? Infinity)) latest = one
  return latest ? [latest] : []
}

function add(map: Map<Digest, Offer[]>, id: Digest, offer: Offer): void {
  const list = map.get(id)
  if (list) list.push(offer)
  else map.set(id, [offer])
}
