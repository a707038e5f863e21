/**
 * `observed_confirmed`: what later reads of the same run say about a write.
 *
 * The last read that can decide, after the write and before anything took the effect back, has the word. A read that shows the
 * target confirms; a whole list without it contradicts. A target that was there before the write shows nothing about it. Every
 * lookup is a map and a binary search, so the cost is O(n log n) in calls and shown items.
 */
import type { JsonObject } from '../../json.ts'
import { agreedOf, agreedText, bindingOf, type Projection } from '../surface/binding.ts'
import type { Classifier } from '../surface/classifier.ts'
import { isObject, type ReadDecision } from '../surface/decision.ts'
import { effectOf, isReadVerb } from '../surface/registry.ts'

export type Contradiction = {
  kind:
    | 'read_does_not_show'
    | 'read_still_shows'
    | 'read_shows_other_value'
    | 'earlier_read_does_not_show'
    | 'undone_before_read'
    | 'already_there'
    | 'already_absent'
    | 'too_few_shown'
  /** Sequence number of the read, or of the call that took the effect back. */
  seq: number
  detail: string
}

export type Confirmation = {
  confirmed: boolean
  /** Sequence number of the read that confirms. */
  by: number | null
  contradictions: Contradiction[]
  /** Why not, when nothing contradicts. */
  reason: 'no_run' | 'place_disputed' | 'no_read_after' | 'read_not_whole' | null
}

export type Observed = {
  decision: ReadDecision
  projection: Projection
  /** Another decision claims the same place, so what came after what cannot be told. */
  repeated: boolean
}

type Write = Observed & { projection: Projection & { ok: true } }
type Series = { seqs: number[]; counts: number[] }
/** One way in which writes of a class name their target: which fields, and which verb. */
type Form = { kind: string; verb: string; fields: string[]; identity: string[]; one: Classifier }

/** What the reads among the calls say about each write, in the order of the calls; null for what is no asserted write. */
export function confirm(
  calls: readonly Observed[],
  options: { count?: (steps: number) => void } = {},
): (Confirmation | null)[] {
  const index = new ReadIndex(options.count)
  const placed = calls.filter(
    (call) => call.decision.observation !== null && call.decision.asserted && !call.repeated,
  )
  placed.sort((a, b) => seqOf(a) - seqOf(b))
  // In a run without reads nothing can be confirmed or contradicted, so nothing of it needs an index.
  const runs = new Set(
    placed.flatMap(({ decision: { observation } }) =>
      observation?.read ? [observation.run_id] : [],
    ),
  )
  const seen = placed.filter((call) => runs.has(call.decision.observation?.run_id ?? ''))
  for (const call of seen) if (isWrite(call)) index.form(call)
  for (const call of seen) if (call.decision.observation?.read) index.read(call)
  for (const call of seen) if (isWrite(call)) index.write(call)
  return calls.map((call) => {
    if (!isWrite(call) || !call.decision.asserted) return null
    const reason =
      call.decision.observation === null ? 'no_run' : call.repeated ? 'place_disputed' : null
    if (reason === null && !runs.has(call.decision.observation?.run_id ?? ''))
      return { confirmed: false, by: null, contradictions: [], reason: 'no_read_after' }
    if (reason !== null) return { confirmed: false, by: null, contradictions: [], reason }
    return index.judge(call)
  })
}

class ReadIndex {
  private readonly forms = new Map<string, Map<string, Form>>()
  private readonly shown = new Map<string, Series>()
  private readonly whole = new Map<string, Series>()
  private readonly seen = new Map<string, Series>()
  private readonly writes = new Map<string, Series>()
  private readonly undone = new Map<string, Series>()
  private readonly links = new Map<string, { seqs: number[]; keys: string[] }>()
  private readonly count: (steps: number) => void

  constructor(count: (steps: number) => void = () => {}) {
    this.count = count
  }

  form(call: Write): void {
    const form = formOf(call)
    const known = this.forms.get(form.kind) ?? new Map<string, Form>()
    this.forms.set(form.kind, known.set(`${form.verb} ${form.fields}`, form))
  }

  read(call: Observed): void {
    const { observation, action } = call.decision
    if (!observation?.read || typeof action.resource_type !== 'string') return
    if (!isReadVerb(action.resource_type, action.verb)) return
    const { run_id: run, seq, read } = observation
    const forms = [...(this.forms.get(action.resource_type)?.values() ?? [])]
    this.count(1 + read.targets.length * forms.length)
    const scope = isObject(action.target) ? action.target : {}
    for (const key of new Set(forms.map((form) => scopeKey(run, form, scope)))) {
      add(this.seen, key, seq)
      if (read.complete) add(this.whole, key, seq)
    }
    for (const target of read.targets) {
      const keys = forms.map((form) => ({ form, key: keyOf(run, form, form.fields, target) }))
      const noted = new Set<string>()
      for (const { form, key } of keys) {
        if (key === null || noted.has(key)) continue
        noted.add(key)
        add(this.shown, key, seq)
        add(this.shown, `${key}\n=${agreedText(agreedOf(form.one, form.verb, target)) ?? '?'}`, seq)
      }
      // An item that shows an id beside a title tells which title a later removal by id means.
      for (const a of keys) {
        for (const b of keys) {
          if (a.key === null || b.key === null || a.key === b.key) continue
          const link = this.links.get(`${a.key}\n${b.form.fields}`) ?? { seqs: [], keys: [] }
          link.seqs.push(seq)
          link.keys.push(b.key)
          this.links.set(`${a.key}\n${b.form.fields}`, link)
        }
      }
    }
  }

  write(call: Write): void {
    const own = formOf(call)
    const { run_id: run, seq } = call.decision.observation as { run_id: string; seq: number }
    const target = call.projection.subject.target
    const key = keyOf(run, own, own.fields, target) as string
    add(this.writes, `${key}\n${own.verb}`, seq)
    for (const form of this.forms.get(own.kind)?.values() ?? []) {
      this.count(1)
      if (!effectOf(form.one, form.verb)?.undone?.includes(own.verb)) continue
      const link = this.links.get(`${key}\n${form.fields}`)
      const at = link ? before(link.seqs, seq) : -1
      const known = link && at >= 0 ? (link.keys[at] as string) : null
      const shared = form.identity.filter((name) => target[name] !== undefined)
      const undoes = known ?? keyOf(run, form, shared, target)
      add(this.undone, `${form.verb}\n${undoes}`, seq)
    }
  }

  judge(call: Write): Confirmation {
    const form = formOf(call)
    const { run_id: run, seq } = call.decision.observation as { run_id: string; seq: number }
    const key = keyOf(run, form, form.fields, call.projection.subject.target) as string
    const scope = scopeKey(run, form, call.projection.subject.target)
    this.count(1)
    const undo = this.firstUndo(form, run, call, key, seq)
    const last = (series: Series | undefined, below: number) => {
      const at = series ? before(series.seqs, below) : -1
      return at < 0 ? -1 : (series?.seqs[at] as number)
    }
    const whole = last(this.whole.get(scope), undo)
    const shows = this.showing(call, key)
    const show = shows.last(undo)
    const other = last(this.shown.get(key), undo)
    const priorWhole = last(this.whole.get(scope), seq)
    const priorShow = shows.last(seq)
    const prior = Math.max(priorWhole, priorShow)
    const there = priorShow >= 0 && priorShow >= priorWhole ? shows.count(priorShow) : 0
    const removed = this.undoneWithin(form, run, call, key, prior, seq)
    const no = (kind: Contradiction['kind'], at: number, detail: string): Confirmation => ({
      confirmed: false,
      by: null,
      contradictions: [{ kind, seq: at, detail }],
      reason: null,
    })
    const decisive = Math.max(whole, show)
    if (decisive <= seq) {
      if (other > seq && other > whole)
        return no(
          'read_shows_other_value',
          other,
          `a later read shows the target with value beside`,
        )
      if (undo < Infinity && last(this.seen.get(scope), Infinity) > undo)
        return no('undone_before_read', undo, 'a later call took the effect back before any read')
      const seen = last(this.seen.get(scope), undo) > seq
      return {
        confirmed: false,
        by: null,
        contradictions: [],
        reason: seen ? 'read_not_whole' : 'no_read_after',
      }
    }
    if (effectOf(form.one, form.verb)?.shown.by === 'absence') {
      if (show >= whole) return no('read_still_shows', show, 'a later read still shows the target')
      if (prior >= 0 && there === 0 && !removed)
        return no('already_absent', prior, 'the target was already gone before the call')
      return { confirmed: true, by: whole, contradictions: [], reason: null }
    }
    if (show < whole) {
      if (other === whole)
        return no(
          'read_shows_other_value',
          other,
          `a later read shows the target with value beside`,
        )
      return no('read_does_not_show', whole, 'a later whole list does not show the target')
    }
    const base = removed ? 0 : there
    const same = this.writes.get(`${key}\n${form.verb}`)
    const nth = same ? before(same.seqs, seq + 1) - before(same.seqs, prior + 1) : 1
    if (effectOf(form.one, form.verb)?.once ? base > 0 : base > 0 && base + nth > shows.count(show))
      return no('already_there', prior, 'a read before the call already showed the target')
    if (!effectOf(form.one, form.verb)?.once && base + nth > shows.count(show))
      return no(
        'too_few_shown',
        show,
        'the read shows fewer such objects than calls claim to have made',
      )
    const firstWhole = after(this.whole.get(scope)?.seqs ?? [], seq)
    const late = firstWhole !== undefined && firstWhole < show && !shows.at(firstWhole)
    return {
      confirmed: true,
      by: show,
      contradictions: late
        ? [
            {
              kind: 'earlier_read_does_not_show',
              seq: firstWhole,
              detail: 'an earlier whole list did not show it yet',
            },
          ]
        : [],
      reason: null,
    }
  }

  /** Reads that show the target with the call's own attribute, or without saying which. */
  private showing(call: Write, key: string) {
    const value = agreedText(call.projection.agree)
    const series = (
      value === null
        ? [this.shown.get(key)]
        : [this.shown.get(`${key}\n=${value}`), this.shown.get(`${key}\n=?`)]
    ).filter((one) => one !== undefined)
    const countIn = (one: Series, seq: number) => {
      const at = before(one.seqs, seq + 1)
      return at >= 0 && one.seqs[at] === seq ? (one.counts[at] as number) : 0
    }
    return {
      last: (below: number) =>
        series.reduce((most, one) => {
          const at = before(one.seqs, below)
          return at < 0 ? most : Math.max(most, one.seqs[at] as number)
        }, -1),
      count: (seq: number) => series.reduce((sum, one) => sum + countIn(one, seq), 0),
      at: (seq: number) => series.some((one) => countIn(one, seq) > 0),
    }
  }

  private undoKeys(form: Form, run: string, call: Write, key: string): string[] {
    const keys = [`${form.verb}\n${key}`]
    // A removal may name fewer fields than the write did, such as the repository and an id nobody has linked to a title.
    for (const verb of effectOf(form.one, form.verb)?.undone ?? []) {
      for (const other of this.forms.get(form.kind)?.values() ?? []) {
        if (other.verb !== verb) continue
        const shared = form.identity.filter((name) => other.fields.includes(name))
        keys.push(`${form.verb}\n${keyOf(run, form, shared, call.projection.subject.target)}`)
      }
    }
    return [...new Set(keys)]
  }

  private firstUndo(form: Form, run: string, call: Write, key: string, seq: number): number {
    let first = Infinity
    for (const one of this.undoKeys(form, run, call, key))
      first = Math.min(first, after(this.undone.get(one)?.seqs ?? [], seq) ?? Infinity)
    return first
  }

  private undoneWithin(
    form: Form,
    run: string,
    call: Write,
    key: string,
    from: number,
    to: number,
  ): boolean {
    return this.undoKeys(form, run, call, key).some((one) => {
      const at = after(this.undone.get(one)?.seqs ?? [], from)
      return at !== undefined && at < to
    })
  }
}

function isWrite(call: Observed): call is Write {
  return call.projection.ok
}

function seqOf(call: Observed): number {
  return call.decision.observation?.seq ?? -1
}

function formOf(call: Write): Form {
  const { classifier: one, subject } = call.projection
  const { all, any: some = [] } = bindingOf(one, subject.verb)
  const fields = Object.keys(subject.target).sort()
  const identity = fields.filter(
    (name) => all.includes(name) || some.includes(name) || one.scoped.includes(name),
  )
  return { kind: subject.action_class, verb: subject.verb, fields, identity, one }
}

/** The target's values of these fields as one text, or null when one is not there. */
function keyOf(
  run: string,
  form: Form,
  fields: readonly string[],
  target: JsonObject,
): string | null {
  const values: unknown[] = [run, form.kind, fields]
  for (const name of fields) {
    const value = Object.hasOwn(target, name) ? target[name] : undefined
    if (typeof value !== 'string') return null
    values.push(value)
  }
  return JSON.stringify(values)
}

function scopeKey(run: string, form: Form, target: JsonObject): string {
  const scope = form.one.scoped.map((name) =>
    typeof target[name] === 'string' ? target[name] : null,
  )
  return JSON.stringify([run, form.kind, form.one.scoped, scope])
}

/** Sequence numbers come in ascending order; the same number again is counted. */
function add(map: Map<string, Series>, key: string, seq: number): void {
  const series = map.get(key)
  if (!series) map.set(key, { seqs: [seq], counts: [1] })
  else if (series.seqs.at(-1) === seq) series.counts[series.counts.length - 1]! += 1
  else {
    series.seqs.push(seq)
    series.counts.push(1)
  }
}

/** Index of the last number below a bound, -1 when there is none. */
function before(sorted: readonly number[], bound: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < bound) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The first number above a bound. */
function after(sorted: readonly number[], bound: number): number | undefined {
  return sorted[before(sorted, bound + 1) + 1]
}
