/**
 * Which record is which call's. A record verifies a call only when it can be told that it is this
 * call's: when every way of giving out as many records as possible gives one to the call. Of two
 * equal calls and one record, neither is verified.
 *
 * The calls and records of a group share provider and digest. Where both sides say a further field,
 * a request id, a time, an actor or a server, they must agree. A record that names the request of
 * some of the calls is for those alone. An effect that was logged before the call is not the
 * call's.
 */
import type { Digest } from '../../canonical.ts'
import { type Agreed, agrees } from '../surface/binding.ts'

export type Offer = {
  index: number
  /** The server that was called, or whose log it is. */
  server: string | null
  agree: Agreed
  requestIds: readonly Digest[]
  actor: Digest | null
  /** Epoch milliseconds. */
  at: number | null
}

export type Match = { call: number; record: number; byRequest: boolean }

/** Why a record with the digest of a call is not the call's. */
export type Difference =
  | 'server_differs'
  | 'request_differs'
  | 'actor_differs'
  | 'time_differs'
  | 'attribute_differs'

export type Allocation = {
  matches: Match[]
  /**
   * Calls of which it cannot be told which has a record, with how many records there are for how
   * many calls.
   */
  ambiguous: Map<number, { records: number; calls: number }>
}

/** Pairs that are looked at one by one. A larger group is served where counting is enough. */
const MAX_PAIRS = 40_000

/**
 * How long before a call's answer the log may have its effect, in milliseconds: clocks differ by
 * five minutes at most (what Kerberos, RFC 4120, and AWS let pass), and a call lasts ten at most.
 */
export const NEAR_MS = 15 * 60 * 1000

/** @param toleranceMs how far the time of a record may lie from that of a call */
export function allocate(
  calls: readonly Offer[],
  records: readonly Offer[],
  toleranceMs: number,
): Allocation {
  const made: Allocation = { matches: [], ambiguous: new Map() }
  if (calls.length === 0 || records.length === 0) return made
  const named = byRequest(calls, records)
  for (const component of named.components) serve(component, true, toleranceMs, made)
  // A call that its own request does not serve may still be the one that a record without a request
  // id is about.
  const served = new Set(made.matches.map((match) => match.call))
  const left = calls.filter((call) => !served.has(call.index))
  serve({ calls: left, records: named.records }, false, toleranceMs, made)
  for (const { call } of made.matches) made.ambiguous.delete(call)
  return made
}

type Part = { calls: Offer[]; records: Offer[] }

/**
 * The parts of a group that request ids of both sides connect, and the records that name no request
 * of a call.
 */
function byRequest(
  calls: readonly Offer[],
  records: readonly Offer[],
): { records: Offer[]; components: Part[] } {
  const known = new Set(calls.flatMap((call) => call.requestIds))
  const parts = new Map<Digest, Part>()
  const put = (side: keyof Part, offer: Offer): boolean => {
    const ids = offer.requestIds.filter((id) => known.has(id))
    let whole: Part | undefined
    for (const id of ids) {
      const part = parts.get(id)
      if (!part || part === whole) continue
      if (!whole) whole = part
      else {
        // The smaller part joins the larger one, so that an offer changes its part few times.
        const [large, small] = sizeOf(whole) < sizeOf(part) ? [part, whole] : [whole, part]
        for (const one of [...small.calls, ...small.records])
          for (const id of one.requestIds) if (known.has(id)) parts.set(id, large)
        large.calls.push(...small.calls)
        large.records.push(...small.records)
        whole = large
      }
    }
    whole ??= { calls: [], records: [] }
    for (const id of ids) parts.set(id, whole)
    if (ids.length > 0) whole[side].push(offer)
    return ids.length > 0
  }
  for (const call of calls) put('calls', call)
  const free = records.filter((record) => !put('records', record))
  const components: Part[] = []
  for (const part of new Set(parts.values())) if (part.records.length > 0) components.push(part)
  return { records: free, components }
}

function sizeOf({ calls, records }: Part): number {
  return calls.length + records.length
}

function serve(
  { calls, records }: Part,
  byRequest: boolean,
  toleranceMs: number,
  into: Allocation,
) {
  if (calls.length === 0 || records.length === 0) return
  if (isUniform(calls, records, toleranceMs)) {
    if (records.length < calls.length) {
      for (const call of calls)
        into.ambiguous.set(call.index, { records: records.length, calls: calls.length })
      return
    }
    for (const [i, call] of calls.entries())
      into.matches.push({ call: call.index, record: (records[i] as Offer).index, byRequest })
    return
  }
  if (calls.length * records.length <= MAX_PAIRS) {
    servePairs(calls, records, byRequest, toleranceMs, into)
    return
  }
  const ordered = inOrder(calls, records, toleranceMs)
  if (ordered) {
    for (const [call, record] of ordered)
      into.matches.push({ call: call.index, record: record.index, byRequest })
    return
  }
  // Too many to try out: those that say the same on both sides are served among themselves.
  const parts = new Map<string, Part>()
  for (const [side, offers] of [['calls', calls] as const, ['records', records] as const])
    for (const offer of offers) {
      const key = JSON.stringify([Object.entries(offer.agree).sort(), offer.actor, offer.server])
      const part = parts.get(key) ?? { calls: [], records: [] }
      part[side].push(offer)
      parts.set(key, part)
    }
  const all = [...parts.values()]
  const first = all.map(({ calls, records }) => (calls[0] ?? records[0]) as Offer)
  for (const [i, part] of all.entries()) {
    const alone =
      all.length <= 64 && first.every((other, j) => i === j || !isAlike(first[i] as Offer, other))
    const small = part.calls.length * part.records.length <= MAX_PAIRS
    const isSure = () =>
      isUniform(part.calls, part.records, toleranceMs) ||
      inOrder(part.calls, part.records, toleranceMs) !== null
    if (alone && (small || isSure())) serve(part, byRequest, toleranceMs, into)
    else
      for (const call of part.calls)
        into.ambiguous.set(call.index, { records: records.length, calls: calls.length })
  }
}

/** By trying out: a maximum matching, and the calls that every maximum matching serves. */
function servePairs(
  calls: readonly Offer[],
  records: readonly Offer[],
  byRequest: boolean,
  toleranceMs: number,
  into: Allocation,
): void {
  const edges = calls.map((call) =>
    records.flatMap((record, i) => (differenceOf(call, record, toleranceMs) === null ? [i] : [])),
  )
  const owner: (number | undefined)[] = []
  const place = (call: number, tried: Set<number>): boolean =>
    (edges[call] as number[]).some((record) => {
      if (tried.has(record)) return false
      tried.add(record)
      const other = owner[record]
      if (other !== undefined && !place(other, tried)) return false
      owner[record] = call
      return true
    })
  const left = calls.flatMap((_, call) => (place(call, new Set()) ? [] : [call]))
  // A call that could give its record to one that has none is not sure of it.
  const unsure = new Set<number>(left)
  for (const call of unsure)
    for (const record of edges[call] as number[]) {
      const other = owner[record]
      if (other !== undefined) unsure.add(other)
    }
  const reached = new Set([...unsure].flatMap((call) => edges[call] as number[]))
  for (const call of unsure)
    if ((edges[call] as number[]).length > 0)
      into.ambiguous.set((calls[call] as Offer).index, {
        records: reached.size,
        calls: [...unsure].filter((one) => (edges[one] as number[]).length > 0).length,
      })
  for (const [record, call] of owner.entries())
    if (call !== undefined && !unsure.has(call))
      into.matches.push({
        call: (calls[call] as Offer).index,
        record: (records[record] as Offer).index,
        byRequest,
      })
}

/** Why a record is not a call's although their digests agree, or null. */
export function differenceOf(call: Offer, record: Offer, toleranceMs: number): Difference | null {
  if (call.server !== null && record.server !== null && call.server !== record.server)
    return 'server_differs'
  const [mine, theirs] = [call.requestIds, record.requestIds]
  const isRequest = mine.some((id) => theirs.includes(id))
  if (mine.length > 0 && theirs.length > 0 && !isRequest) return 'request_differs'
  if (call.actor !== null && record.actor !== null && call.actor !== record.actor)
    return 'actor_differs'
  if (call.at !== null && record.at !== null) {
    // The request that the answer names may have lasted longer.
    const before = isRequest ? toleranceMs : Math.min(toleranceMs, NEAR_MS)
    if (record.at - call.at > toleranceMs || call.at - record.at > before) return 'time_differs'
  }
  return agrees(call.agree, record.agree) ? null : 'attribute_differs'
}

function isAlike(one: Offer, other: Offer): boolean {
  const actors = one.actor === null || other.actor === null || one.actor === other.actor
  const servers = one.server === null || other.server === null || one.server === other.server
  return actors && servers && agrees(one.agree, other.agree)
}

/** True when every record may be every call's, so that counting them is enough. */
function isUniform(
  calls: readonly Offer[],
  records: readonly Offer[],
  toleranceMs: number,
): boolean {
  const [mine, theirs] = [saidBy(calls), saidBy(records)]
  if (differs(mine.values, theirs.values)) return false
  if (mine.least === Infinity || theirs.least === Infinity) return true
  const before = Math.min(toleranceMs, NEAR_MS)
  return theirs.most - mine.least <= toleranceMs && mine.most - theirs.least <= before
}

/**
 * A record for each call, where they differ in nothing but their times, which all of them have;
 * null where a call stays without one. The latest and the earliest time that a call takes rise with
 * its own, so the earliest record that is left is always the right one.
 */
function inOrder(
  calls: readonly Offer[],
  records: readonly Offer[],
  toleranceMs: number,
): [call: Offer, record: Offer][] | null {
  if (differs(saidBy(calls).values, saidBy(records).values)) return null
  if ([...calls, ...records].some((one) => one.at === null)) return null
  const byTime = (a: Offer, b: Offer) => (a.at as number) - (b.at as number)
  const left = records.toSorted(byTime)
  const before = Math.min(toleranceMs, NEAR_MS)
  const made: [Offer, Offer][] = []
  let next = 0
  for (const call of calls.toSorted(byTime)) {
    const at = call.at as number
    while (next < left.length && (left[next]?.at as number) < at - before) next++
    const record = left[next++]
    if (!record || (record.at as number) > at + toleranceMs) return null
    made.push([call, record])
  }
  return made
}

type Values = ReadonlyMap<string, ReadonlySet<string>>

/** Whether both sides say something of which not every value is the same. */
function differs(mine: Values, theirs: Values): boolean {
  return [...mine].some(([name, values]) => {
    const others = theirs.get(name)
    return others && (values.size > 1 || others.size > 1 || [...values][0] !== [...others][0])
  })
}

/** The different values of each thing that one side says, and the span of its times. */
function saidBy(offers: readonly Offer[]) {
  const values = new Map<string, Set<string>>()
  const say = (name: string, value: string) => {
    const known = values.get(name)
    if (known) known.add(value)
    else values.set(name, new Set([value]))
  }
  let least = Infinity
  let most = -Infinity
  for (const { agree, actor, server, requestIds, at } of offers) {
    for (const [name, value] of Object.entries(agree)) say(`agree ${name}`, value)
    if (actor !== null) say('actor', actor)
    if (server !== null) say('server', server)
    if (requestIds.length > 0) say('ids', requestIds.join())
    if (at === null) continue
    least = Math.min(least, at)
    most = Math.max(most, at)
  }
  return { values, least, most }
}
