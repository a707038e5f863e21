/**
 * `observed_confirmed`: what later reads of the same run and server say about a write.
 *
 * The level rests on the first read after the write that shows its effect, and on everything up to
 * that read: the sequence has no gap from the first call of the run, nothing took the effect back
 * in between, no read before the call showed the same or may have done so, and where both have a
 * time, the read was not answered before the call. What comes later contradicts, and does not take
 * the level back: an effect may not last. So a level never rises because a decision was left out.
 *
 * Every lookup is a map and a binary search, so the cost is O(n log n) in calls and shown items.
 */
import { type Form, formOf, type Observed, ReadIndex, timeOf, type Write } from './read-index.ts'
import { after, before, countOf, last } from './series.ts'

export type Contradiction = {
  kind:
    | 'read_does_not_show'
    | 'read_still_shows'
    | 'read_shows_other_value'
    | 'earlier_read_does_not_show'
    | 'later_read_does_not_show'
    | 'undone_before_read'
    | 'already_there'
    | 'already_absent'
    | 'too_few_shown'
    | 'provider_says_failed'
  /**
   * Sequence number of the read, or of the call that took the effect back. Null for an entry of the
   * provider's log.
   */
  seq: number | null
  detail: string
}

export type Confirmation = {
  confirmed: boolean
  /** Sequence number of the read that confirms. */
  by: number | null
  contradictions: Contradiction[]
  /** Why not, when nothing contradicts. */
  reason:
    | 'no_run'
    | 'place_disputed'
    | 'sequence_gap'
    | 'not_shown_by_reads'
    | 'no_read_after'
    | 'read_not_whole'
    | 'earlier_read_unclear'
    | 'order_disputed'
    | null
}

/**
 * What the reads among the calls say about each write, in the order of the calls; null for what is
 * no asserted write.
 */
export function confirm(
  calls: readonly Observed[],
  options: { count?: (steps: number) => void } = {},
): (Confirmation | null)[] {
  const index = new ReadIndex(options.count)
  const gaps = gapsOf(calls)
  const placed = calls.filter(
    (call) => call.decision.observation !== null && call.decision.asserted && !call.repeated,
  )
  placed.sort((a, b) => seqOf(a) - seqOf(b))
  // In a run without reads nothing can be confirmed or contradicted, so nothing of it needs an
  // index.
  const runs = new Set(
    placed.flatMap(({ decision: { observation } }) =>
      observation?.read ? [observation.run_id] : [],
    ),
  )
  const seen = placed.filter((call) => runs.has(call.decision.observation?.run_id ?? ''))
  for (const call of seen) if (isWrite(call)) index.form(call)
  for (const call of seen) index.read(call)
  for (const call of seen) if (isWrite(call)) index.write(call)
  return calls.map((call) => {
    if (!isWrite(call) || !call.decision.asserted) return null
    const { observation } = call.decision
    if (observation === null) return not('no_run')
    if (call.repeated) return not('place_disputed')
    const form = formOf(call)
    if (!form || form.effect.shown.by === 'nothing') return not('not_shown_by_reads')
    if (!runs.has(observation.run_id)) return not('no_read_after')
    return judge(index, call, form, gaps.get(observation.run_id) ?? Infinity)
  })
}

const UNCLEAR: Found = { by: null, contradictions: [], unclear: true }

/** Whole lists after a removal that are looked at: the first few may still come from a cache. */
const MAX_STALE = 8

function judge(index: ReadIndex, call: Write, form: Form, gap: number): Confirmation {
  const seq = call.decision.observation?.seq as number
  const about = index.about(call, form)
  const undo = about.undos.reduce(
    (least, { seqs }) => Math.min(least, after(seqs, seq) ?? Infinity),
    Infinity,
  )
  const bound = Math.min(undo, gap)
  const prior = Math.max(last(about.whole, seq), about.exact.last(seq), last(about.loose, seq))
  const touched = (since: number) =>
    about.undos.some(({ seqs }) => (after(seqs, since) ?? Infinity) < seq)
  const found =
    form.effect.shown.by === 'absence'
      ? absence(about, seq, bound, touched)
      : presence(about, form, seq, bound, prior, touched)
  const contradictions = [
    ...found.contradictions,
    ...laterThan(about, form, found.by ?? seq, undo, found.by !== null),
  ]
  if (found.by !== null && isDatedBefore(index, call, found.by))
    return { ...not('order_disputed'), contradictions }
  if (found.by !== null || contradictions.length > 0)
    return { confirmed: found.by !== null, by: found.by, contradictions, reason: null }
  if (found.unclear) return not('earlier_read_unclear')
  const decides = (at: number) => at > seq && at < undo
  if (
    gap < Infinity &&
    (decides(about.exact.last(Infinity)) || decides(last(about.whole, Infinity)))
  )
    return not('sequence_gap')
  if (undo < Infinity && last(about.seen, Infinity) > undo)
    return no('undone_before_read', undo, 'a later call took the effect back before any read')
  return not(last(about.seen, undo) > seq ? 'read_not_whole' : 'no_read_after')
}

/**
 * Whether a read was answered before the call was, by their times, though its number is a later
 * one: then it may be a read before the call, which shows nothing of its effect.
 */
function isDatedBefore(index: ReadIndex, call: Write, seq: number): boolean {
  const [read, own] = [index.timeOf(call, seq), timeOf(call)]
  return read !== null && own !== null && read < own
}

type About = ReturnType<ReadIndex['about']>
type Found = {
  by: number | null
  contradictions: Contradiction[]
  /** A read before the call may have shown the same. */
  unclear?: true
}

function absence(
  about: About,
  seq: number,
  bound: number,
  touched: (since: number) => boolean,
): Found {
  const { whole, loose } = about
  let by: number | null = null
  const first = before(whole?.seqs ?? [], seq + 1) + 1
  for (const at of whole?.seqs.slice(first, first + MAX_STALE) ?? []) {
    if (at >= bound) break
    if (countOf(loose, at) > 0) continue
    by = at
    break
  }
  // The last read before the call says whether there was something to remove.
  const prior = last(about.seen, seq)
  if (by === null || prior < 0 || countOf(loose, prior) > 0 || touched(prior))
    return { by, contradictions: [] }
  return countOf(whole, prior) > 0
    ? one('already_absent', prior, 'the target was already gone before the call')
    : UNCLEAR
}

function presence(
  about: About,
  form: Form,
  seq: number,
  bound: number,
  prior: number,
  touched: (since: number) => boolean,
): Found {
  const by = about.exact.first(seq)
  if (by >= bound) return { by: null, contradictions: [] }
  const unclear = last(about.unclear, seq)
  if (unclear > prior && !touched(unclear)) return UNCLEAR
  const base = prior < 0 || touched(prior) ? 0 : about.exact.count(prior)
  if (form.effect.once && base > 0)
    return one('already_there', prior, 'a read before the call already showed the target')
  const equal = about.equal?.seqs ?? []
  const claimed = before(equal, by) - before(equal, prior + 1)
  if (!form.effect.once && base + claimed > about.exact.count(by))
    return base > 0
      ? one('already_there', prior, 'a read before the call already showed the target')
      : one('too_few_shown', by, 'the read shows fewer such objects than calls claim to have made')
  const firstWhole = after(about.whole?.seqs ?? [], seq)
  const late = firstWhole !== undefined && firstWhole < by
  return {
    by,
    contradictions: late
      ? [
          {
            kind: 'earlier_read_does_not_show',
            seq: firstWhole,
            detail: 'an earlier whole list did not show it yet',
          },
        ]
      : [],
  }
}

/** What the last reads after a moment say against the effect. They take no level back. */
function laterThan(
  about: About,
  form: Form,
  from: number,
  undo: number,
  confirmed: boolean,
): Contradiction[] {
  const whole = last(about.whole, undo)
  const loose = last(about.loose, undo)
  const exact = about.exact.last(undo)
  if (Math.max(whole, loose) <= from) return []
  if (form.effect.shown.by === 'absence')
    return loose > from && loose >= whole
      ? [{ kind: 'read_still_shows', seq: loose, detail: 'a later read still shows the target' }]
      : []
  if (exact > from && exact >= whole) return []
  if (loose > from && loose >= whole)
    return [
      {
        kind: 'read_shows_other_value',
        seq: loose,
        detail: 'a later read shows the target with another value',
      },
    ]
  if (whole <= from) return []
  return [
    {
      kind: confirmed ? 'later_read_does_not_show' : 'read_does_not_show',
      seq: whole,
      detail: 'a later whole list does not show the target',
    },
  ]
}

/** The first number that is missing in each run, where one is missing. */
export function gapsOf(calls: readonly Observed[]): Map<string, number> {
  const seqs = new Map<string, number[]>()
  for (const { decision } of calls) {
    if (decision.observation === null) continue
    const { run_id: run, seq } = decision.observation
    const list = seqs.get(run)
    if (list) list.push(seq)
    else seqs.set(run, [seq])
  }
  const gaps = new Map<string, number>()
  for (const [run, list] of seqs) {
    list.sort((a, b) => a - b)
    let next = 0
    for (const seq of list) {
      if (seq > next) break
      if (seq === next) next++
    }
    if (next <= (list.at(-1) as number)) gaps.set(run, next)
  }
  return gaps
}

function one(kind: Contradiction['kind'], seq: number, detail: string): Found {
  return { by: null, contradictions: [{ kind, seq, detail }] }
}

function no(kind: Contradiction['kind'], seq: number, detail: string): Confirmation {
  return { confirmed: false, by: null, contradictions: [{ kind, seq, detail }], reason: null }
}

function not(reason: Confirmation['reason']): Confirmation {
  return { confirmed: false, by: null, contradictions: [], reason }
}

function isWrite(call: Observed): call is Write {
  return call.projection.ok
}

function seqOf(call: Observed): number {
  return call.decision.observation?.seq ?? -1
}
