/**
 * What the reads of every run showed, by place and target.
 *
 * A place is a run, a server, a provider and what the read looked at. A read counts for a verb only
 * when the classifier names it among the reads that can show the effect of that verb.
 */
import { isObject, type JsonObject } from '../../json.ts'
import { type Agreed, agreedOf, agrees, bindingOf, type Projection } from '../surface/binding.ts'
import type { Classifier, Effect } from '../surface/classifier.ts'
import type { ReadDecision } from '../surface/decision.ts'
import { classifiersFor, effectOf, isReadVerb } from '../surface/registry.ts'
import { add, before, countOf, last, type Series } from './series.ts'

export type Observed = {
  decision: ReadDecision
  projection: Projection
  /** Another decision claims the same place, so what came after what cannot be told. */
  repeated: boolean
}

export type Write = Observed & { projection: Projection & { ok: true } }

/** One way in which writes of a class name their target: which fields, and which verb. */
export type Form = {
  kind: string
  verb: string
  provider: string
  /** Fields of the binding that these calls say, in order. */
  fields: string[]
  /** Fields of the binding that these calls do not say. */
  silent: string[]
  one: Classifier
  effect: Effect
  /** The reads that can show the effect, as one text. */
  reads: string
}

/**
 * Different values beside one target that are told apart. Where a target has more, no read confirms
 * it.
 */
const MAX_VARIANTS = 64

type Variants = { known: Map<string, { agree: Agreed; series: Series }>; crowded: boolean }

export class ReadIndex {
  private readonly forms = new Map<string, Map<string, Form>>()
  /** Items that name the target as the call does, neither more nor less, by further values. */
  private readonly exact = new Map<string, Variants>()
  /** Items that may be the target: everything that the call names agrees. */
  private readonly loose = new Map<string, Series>()
  private readonly whole = new Map<string, Series>()
  private readonly seen = new Map<string, Series>()
  /** Reads of which it cannot be told what they showed. */
  private readonly unclear = new Map<string, Series>()
  private readonly writes = new Map<string, Series>()
  private readonly undone = new Map<string, Series>()
  private readonly links = new Map<string, { seqs: number[]; keys: string[] }>()
  /** When reads were answered, by run and number. */
  private readonly times = new Map<string, number>()
  private readonly names = new Map<string, string>()
  private readonly count: (steps: number) => void

  constructor(count: (steps: number) => void = () => {}) {
    this.count = count
  }

  form(call: Write): void {
    const form = formOf(call)
    if (!form) return
    const known = this.forms.get(form.kind) ?? new Map<string, Form>()
    this.forms.set(form.kind, known.set(`${form.verb} ${form.fields}`, form))
  }

  read(call: Observed): void {
    const { decision } = call
    const { observation, action } = decision
    if (!observation || typeof action.resource_type !== 'string') return
    if (!isReadVerb(action.resource_type, action.verb)) return
    const at = timeOf(call)
    if (at !== null) this.times.set(`${observation.run_id}\n${observation.seq}`, at)
    const name = this.nameOf(decision)
    const asked = isObject(action.target) ? action.target : {}
    const forms = [...(this.forms.get(action.resource_type)?.values() ?? [])].filter(
      (form) => form.provider === asked['provider'] && canShow(form, name),
    )
    const { seq, read = { complete: false, targets: [] } } = observation
    const place = placeOf(decision)
    this.count(1 + read.targets.length * forms.length)
    for (const form of forms) {
      const scope = scopeKey(place, form, asked)
      add(this.seen, scope, seq)
      const identified = read.targets.every((target) => keyOf(place, form, form.fields, target))
      if (read.complete && identified) add(this.whole, scope, seq)
      if (!observation.read || !identified) add(this.unclear, scope, seq)
    }
    for (const target of read.targets) {
      const keys = forms.map((form) => ({ form, key: keyOf(place, form, form.fields, target) }))
      for (const { form, key } of keys) if (key !== null) this.show(form, key, target, seq)
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

  private show(form: Form, key: string, target: JsonObject, seq: number): void {
    const watched = `${form.verb}\n${form.reads}\n${key}`
    add(this.loose, watched, seq)
    if (form.silent.some((name) => typeof target[name] === 'string')) return
    const agree = agreedOf(form.one, form.verb, target)
    const variants = this.exact.get(watched) ?? { known: new Map(), crowded: false }
    this.exact.set(watched, variants)
    const text = JSON.stringify(agree)
    const found = variants.known.get(text) ?? { agree, series: { seqs: [], counts: [] } }
    if (variants.known.size >= MAX_VARIANTS && !variants.known.has(text)) variants.crowded = true
    else {
      variants.known.set(text, found)
      add(new Map([['', found.series]]), '', seq)
    }
  }

  /** When the read of that number in the call's run was answered; null where it is not told. */
  timeOf({ decision: { observation } }: Write, seq: number): number | null {
    return this.times.get(`${observation?.run_id}\n${seq}`) ?? null
  }

  write(call: Write): void {
    const own = formOf(call)
    if (!own) return
    const { decision, projection } = call
    const seq = decision.observation?.seq as number
    const place = placeOf(decision)
    const target = projection.subject.target
    const key = keyOf(place, own, own.fields, target) as string
    add(this.writes, `${key}\n${own.verb}`, seq)
    for (const form of this.forms.get(own.kind)?.values() ?? []) {
      this.count(1)
      if (!form.effect.undone?.includes(own.verb)) continue
      const link = this.links.get(`${key}\n${form.fields}`)
      const at = link ? before(link.seqs, seq) : -1
      const known = link && at >= 0 ? (link.keys[at] as string) : null
      const shared = sharedBy(form, own)
      const undoes = known ?? keyOf(place, form, shared, target)
      add(this.undone, `${form.verb}\n${undoes}`, seq)
    }
  }

  /** Everything that reads say about one call's target. */
  about(call: Write, form: Form) {
    const { decision, projection } = call
    const place = placeOf(decision)
    const target = projection.subject.target
    const key = keyOf(place, form, form.fields, target) as string
    const scope = scopeKey(
      place,
      form,
      isObject(decision.action.target) ? decision.action.target : {},
    )
    const watched = `${form.verb}\n${form.reads}\n${key}`
    const variants = this.exact.get(watched)
    const exact =
      variants && !variants.crowded
        ? [...variants.known.values()]
            .filter(({ agree }) => agrees(projection.agree, agree))
            .map(({ series }) => series)
        : []
    const undos = this.undoKeys(form, place, call, key).map((one) => this.undone.get(one))
    this.count(1 + exact.length)
    return {
      seen: this.seen.get(scope),
      whole: this.whole.get(scope),
      unclear: this.unclear.get(scope),
      loose: this.loose.get(watched),
      exact: {
        last: (below: number) =>
          exact.reduce((most, series) => Math.max(most, last(series, below)), -1),
        first: (above: number) =>
          exact.reduce(
            (least, { seqs }) => Math.min(least, seqs[before(seqs, above + 1) + 1] ?? Infinity),
            Infinity,
          ),
        count: (seq: number) => exact.reduce((sum, series) => sum + countOf(series, seq), 0),
      },
      equal: this.writes.get(`${key}\n${form.verb}`),
      undos: undos.filter((one) => one !== undefined),
    }
  }

  private undoKeys(form: Form, place: string, call: Write, key: string): string[] {
    const keys = [`${form.verb}\n${key}`]
    // A removal may name fewer fields than the write did, such as the repository and an id nobody
    // has linked to a title.
    for (const verb of form.effect.undone ?? []) {
      for (const other of this.forms.get(form.kind)?.values() ?? []) {
        if (other.verb !== verb) continue
        const shared = sharedBy(form, other)
        keys.push(`${form.verb}\n${keyOf(place, form, shared, call.projection.subject.target)}`)
      }
    }
    return [...new Set(keys)]
  }

  /** The tool's name without its prefix. */
  private nameOf({ tool, server }: ReadDecision): string {
    const key = `${server}\n${tool}`
    const known = this.names.get(key) ?? classifiersFor(tool, server ?? '').name
    this.names.set(key, known)
    return known
  }
}

/** When a call was answered, in milliseconds; null where it does not say so. */
export function timeOf({ decision: { observation } }: Observed): number | null {
  return observation?.at === undefined ? null : Date.parse(observation.at)
}

export function formOf(call: Write): Form | null {
  const { classifier: one, subject, provider } = call.projection
  const effect = effectOf(one, subject.verb)
  if (!effect) return null
  const { all, any = [] } = bindingOf(one, subject.verb)
  const fields = Object.keys(subject.target).sort()
  return {
    kind: subject.action_class,
    verb: subject.verb,
    provider,
    fields,
    silent: [...all, ...any].filter((name) => !fields.includes(name)),
    one,
    effect,
    reads: effect.shown.by === 'nothing' ? '' : effect.shown.reads.join(),
  }
}

function canShow({ effect: { shown } }: Form, read: string): boolean {
  return shown.by !== 'nothing' && shown.reads.includes(read)
}

/**
 * The fields by which a call takes back the effect of another: what both say, without the value
 * that one of them sets.
 */
function sharedBy(form: Form, undoing: Form): string[] {
  const set = [form, undoing].flatMap(({ effect: { shown } }) =>
    shown.by === 'value' ? [shown.member] : [],
  )
  return form.fields.filter((name) => undoing.fields.includes(name) && !set.includes(name))
}

/** Run and server of a call, as one text. */
function placeOf({ observation, server }: ReadDecision): string {
  return JSON.stringify([observation?.run_id, server])
}

/** The target's values of these fields as one text, or null when one is not there. */
function keyOf(
  place: string,
  form: Form,
  fields: readonly string[],
  target: JsonObject,
): string | null {
  const values: unknown[] = [place, form.kind, form.provider, fields]
  for (const name of fields) {
    const value = Object.hasOwn(target, name) ? target[name] : undefined
    if (typeof value !== 'string') return null
    values.push(value)
  }
  return JSON.stringify(values)
}

function scopeKey(place: string, form: Form, target: JsonObject): string {
  const { scoped } = form.one
  const scope = scoped.map((name) => (typeof target[name] === 'string' ? target[name] : null))
  return JSON.stringify([
    place,
    form.kind,
    form.provider,
    form.verb,
    form.fields,
    form.reads,
    scope,
  ])
}
