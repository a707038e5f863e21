/**
 * One record, one call: which of the offered records goes to which of the asserting calls.
 *
 * Within a group of equal digest and provider, calls are served in order of run and sequence. First those whose answer names the
 * record's request id; then as many as the rest can serve. A call whose attribute (such as `read_only`) differs from the record's
 * does not take it. There is one attribute, so whether the remaining calls can all be served is a matter of counting, and a
 * further record can never take one away from a call that had one.
 */
import type { Digest } from '../../canonical.ts'

export type Offer = { index: number; attribute: string | null; requestIds: readonly Digest[] }
export type Match = { call: number; record: number; byRequest: boolean }

export function allocate(calls: readonly Offer[], records: readonly Offer[]): Match[] {
  const matches: Match[] = []
  const taken = new Set<number>()
  const served = new Set<number>()
  const byId = queues(records)
  for (const call of byId.size > 0 ? calls : []) {
    const record = named(call, byId, taken)
    if (!record) continue
    taken.add(record.index)
    served.add(call.index)
    matches.push({ call: call.index, record: record.index, byRequest: true })
  }
  const left = records.filter((record) => !taken.has(record.index))
  const accepted = accept(
    calls.filter((call) => !served.has(call.index)),
    left,
  )
  const byValue = new Map<string | null, Offer[]>()
  for (const record of left.toReversed()) {
    const list = byValue.get(record.attribute)
    if (list) list.push(record)
    else byValue.set(record.attribute, [record])
  }
  // Those with a value choose first, so that those without can take whatever is left.
  for (const call of accepted.filter((one) => one.attribute !== null)) {
    const record = byValue.get(call.attribute)?.pop() ?? byValue.get(null)?.pop()
    if (record) {
      taken.add(record.index)
      matches.push({ call: call.index, record: record.index, byRequest: false })
    }
  }
  const rest = left.filter((record) => !taken.has(record.index))
  for (const [i, call] of accepted.filter((one) => one.attribute === null).entries()) {
    const record = rest[i]
    if (record) matches.push({ call: call.index, record: record.index, byRequest: false })
  }
  return matches
}

/** The calls, first come first served, that can all have a record at once. */
function accept(calls: readonly Offer[], records: readonly Offer[]): Offer[] {
  const supply = new Map<string | null, number>()
  for (const { attribute } of records) supply.set(attribute, (supply.get(attribute) ?? 0) + 1)
  const joker = supply.get(null) ?? 0
  const demand = new Map<string, number>()
  let excess = 0
  const accepted: Offer[] = []
  for (const call of calls) {
    if (accepted.length === records.length) break
    if (call.attribute !== null) {
      const asked = (demand.get(call.attribute) ?? 0) + 1
      const over = asked > (supply.get(call.attribute) ?? 0) ? 1 : 0
      if (excess + over > joker) continue
      excess += over
      demand.set(call.attribute, asked)
    }
    accepted.push(call)
  }
  return accepted
}

/** Records by request id and attribute; `null` beside the id holds them all. */
function queues(records: readonly Offer[]): Map<string, Offer[]> {
  const byId = new Map<string, Offer[]>()
  const put = (key: string, record: Offer) => {
    const queue = byId.get(key)
    if (queue) queue.push(record)
    else byId.set(key, [record])
  }
  for (const record of records.toReversed()) {
    for (const id of record.requestIds) {
      put(`${id} any`, record)
      put(record.attribute === null ? `${id} none` : `${id} =${record.attribute}`, record)
    }
  }
  return byId
}

/** The first free record that names one of the call's request ids. Taken ones are dropped from their queue for good. */
function named(
  call: Offer,
  byId: Map<string, Offer[]>,
  taken: ReadonlySet<number>,
): Offer | undefined {
  for (const id of call.requestIds) {
    const keys =
      call.attribute === null ? [`${id} any`] : [`${id} =${call.attribute}`, `${id} none`]
    for (const key of keys) {
      const queue = byId.get(key)
      while (queue && queue.length > 0 && taken.has((queue.at(-1) as Offer).index)) queue.pop()
      const record = queue?.at(-1)
      if (record) return record
    }
  }
  return undefined
}
