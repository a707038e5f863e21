/**
 * The shape of a classifier. A classifier is data: which tools of a provider have which effect,
 * what of the arguments names the target, which later reads can show the effect, and which audit
 * entries record it.
 *
 * What is not declared here raises no level. A verb without reads is never `observed_confirmed`; a
 * list whose shape is not declared never shows that something is absent.
 */
import type { Json, JsonObject } from '../../json.ts'
import { exactHash, harmless, isSecretName, targetHash } from './target.ts'

/** How bad it is to be wrong about an effect, mildest first. */
export const IRREVERSIBILITY = [
  'two_way',
  'one_way_recoverable',
  'one_way_consequential',
  'one_way_terminal',
] as const
export type Irreversibility = (typeof IRREVERSIBILITY)[number]

export type Field = {
  /** Name in the target, such as `owner` or `key_title_hash`. */
  name: string
  /**
   * Argument names it may come from; the first one present wins. A dot goes into an object, `[]`
   * into a list of one.
   */
  from: string[]
  /**
   * `text` as it is, control characters replaced; `hash` under `domain`; `flag` a boolean; `amount`
   * an integer as text.
   */
  kind: 'text' | 'hash' | 'flag' | 'amount'
  /** Hash domain, for `hash` only. */
  domain?: string
  /**
   * `lower`: the provider documents the value as case-insensitive. Default: compared byte for byte.
   */
  fold?: 'lower'
  /** Write `null` where there is none. Default: leave the member out. */
  nullable?: boolean
  /**
   * Other names of a value -> the value. What is not named stays; `null` stands for a value that
   * says nothing.
   */
  named?: { [other: string]: string | null }
}

/**
 * What an argument must be. Without `is`: it must be absent, null, `''`, `false`, or an empty list
 * or object.
 */
export type Condition = { argument: string; is?: string | number | boolean }

/** A tool whose verb stands in an argument: the value of the argument -> the verb. */
export type ByArgument = { argument: string; verbs: { [value: string]: string } }

/**
 * A positive reason why a list is whole. A path goes into the answer, an argument is the read's
 * own.
 */
export type Whole =
  /**
   * The member is absent, null, `''`, `false`, or an empty list or object: no next page, not
   * truncated.
   */
  | { empty: string }
  /** The member has exactly this value. */
  | { member: string; is: string | number | boolean }
  /** The member is the number of items in the list. */
  | { count: string }
  /**
   * The first page holds fewer items than a page may hold. `size`, `page`: names of the arguments.
   */
  | { size: string[]; page: string[]; standard: number; most: number }
  /** The provider documents that this answer is never a page. The text is the reason. */
  | { unpaged: string }

/**
 * One native shape of a read's answer. A member that is not declared makes the list count as not
 * whole.
 */
export type Answer = {
  /**
   * Dotted path to the list of items, or to the item itself with `single`; `''` for the answer
   * itself.
   */
  items: string
  /** The answer holds one object and no list. */
  single?: true
  /** Dotted path inside an item to the object that holds its fields, such as `node`. */
  item?: string
  /** Where an item keeps a field, when not under the argument names in `fields`. */
  from?: { [field: string]: string[] }
  /** Fields that an item names when it is a bare text. */
  bare?: string[]
  /** Members beside the list that say nothing about it. A path covers all that is below it. */
  beside?: string[]
  /** All of these must hold, or the list may be a part. Default: never known to be whole. */
  whole?: Whole[]
  /** Members that say that the read failed although the call succeeded: it then shows nothing. */
  failed?: { member: string; is: string | number | boolean }[]
}

export type Read = {
  verb: string
  /** Native shapes, tried in this order: the first whose path is there is meant. */
  answers: Answer[]
  /**
   * Arguments that change nothing about which items are listed, besides scope, page and page size.
   */
  arguments?: string[]
  /** Conditions under which the tool is this read. */
  only?: Condition[]
}

/** How a later read shows the effect of a verb. */
export type Shown =
  /** The target is in the list. It must be an effect that makes the target. */
  | { by: 'presence'; reads: string[] }
  /** The target is in no item of a whole list. */
  | { by: 'absence'; reads: string[] }
  /**
   * The target has the value that the call set: `member` is a field. `is`: a value that the verb
   * implies.
   */
  | { by: 'value'; reads: string[]; member: string; is?: string }
  /** No read of this provider can show it. The text is the reason. */
  | { by: 'nothing'; because: string }

export type Binding = {
  /** Fields that enter the digest and must be there. */
  all: string[]
  /**
   * Fields that enter the digest when there: a side that says one never binds to a side that is
   * silent about it.
   */
  any?: string[]
  /**
   * Fields outside the digest: where both sides say one, they must agree. A silent side still
   * singles out the call.
   */
  agree?: string[]
}

export type Effect = {
  shown: Shown
  /**
   * Kinds of audit entries that record it, by the provider's own names; or the reason why none
   * does.
   */
  recorded: string[] | { none: string }
  /** Verbs after which the effect is gone. */
  undone?: string[]
  /** It puts an object into a set once, so that two equal calls leave one object. */
  once?: true
  /** What binds calls of this verb, where it is not what binds the others of the class. */
  binding?: Binding
}

export type Classifier = {
  category: string
  provider: string
  /**
   * Words in the names of servers that this is meant for, where tools of several providers share a
   * name. Default: the provider.
   */
  servers?: string[]
  /**
   * Only calls whose server or prefix holds one of `servers` are meant: the names of the tools
   * alone say too little.
   */
  strict?: true
  /** The `action_class` of the binding. */
  resource_type: string
  class: string
  /** Scope a credential would need, such as `repo:deploy_key:write`. */
  scope: string
  irreversibility: Irreversibility
  reason_code: string
  /** Name of the tool without any prefix -> verb. */
  tools: { [name: string]: string | ByArgument }
  /**
   * Conditions without which a call has not the effect of this class, such as a dry run that must
   * not be asked for.
   */
  only?: { [tool: string]: Condition[] }
  /** Values that a tool implies: tool -> argument -> value. */
  implied?: { [tool: string]: { [argument: string]: string } }
  /**
   * Verb -> how its effect can be shown. Every verb in `tools` has a row, here or in another
   * classifier of the class.
   */
  effects: { [verb: string]: Effect }
  fields: Field[]
  /**
   * Each row: at least one of these fields must be there, or the decision is incomplete with this
   * detail code.
   */
  required: { fields: string[]; detail: string }[]
  /** Target fields that an incomplete decision may keep. Default none. */
  kept?: string[]
  binding: Binding
  /** Fields that say what a read looks at, such as `owner` and `repo`. */
  scoped: string[]
  reads: { [name: string]: Read }
}

/**
 * Project values onto a classifier's fields. Only fields that the classifier names are ever copied;
 * a secret is dropped.
 *
 * @param options `fields`: which fields, default all; `places`: where a field stands, when not
 *   under its `from`
 */
export function project(
  one: Classifier,
  from: { [name: string]: unknown },
  options: { fields?: string[]; places?: { [field: string]: string[] } } = {},
): { target: JsonObject; sanitized: string[] } {
  const target: JsonObject = { provider: one.provider }
  const sanitized: string[] = []
  for (const field of one.fields) {
    if (options.fields && !options.fields.includes(field.name)) continue
    const made = projected(field, from, options.places?.[field.name] ?? field.from)
    if (made === undefined) {
      if (field.nullable) target[field.name] = null
      continue
    }
    target[field.name] = made
    if (field.kind === 'text' && typeof made === 'string' && made.includes('\ufffd'))
      sanitized.push(field.name)
  }
  return { target, sanitized }
}

function projected(
  field: Field,
  from: { [name: string]: unknown },
  places: string[],
): Json | undefined {
  for (const place of places) {
    if (isSecretName(place.slice(place.lastIndexOf('.') + 1))) continue
    const value = at(from, place)
    if (field.kind === 'flag') {
      if (typeof value === 'boolean') return value
    } else if (field.kind === 'amount') {
      if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
      if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return String(Number(value))
    } else {
      const found = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
      if (typeof found !== 'string' || found === '') continue
      const text = field.named && Object.hasOwn(field.named, found) ? field.named[found] : found
      if (typeof text !== 'string') continue
      if (field.kind === 'text') return harmless(text)
      // Half a surrogate pair has no UTF-8, so two different values would get one hash.
      if (!text.isWellFormed()) return undefined
      return hashOf(field, text)
    }
  }
  return undefined
}

/** The hash of a field's value, as it stands in targets and records. */
function hashOf(field: Pick<Field, 'name' | 'domain' | 'fold'>, value: string): string {
  const domain = field.domain ?? field.name
  return field.fold === 'lower' ? targetHash(domain, value) : exactHash(domain, value)
}

/**
 * Follow a dotted path through own members only. `[]` behind a step goes into a list of exactly one
 * element.
 */
export function at(from: unknown, path: string): unknown {
  let value = from
  for (const part of path === '' ? [] : path.split('.')) {
    const step = part.endsWith('[]') ? part.slice(0, -2) : part
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
    if (step === part) continue
    if (!Array.isArray(value) || value.length !== 1) return undefined
    value = value[0]
  }
  return value
}

/** The verb of a call, or null where the argument that says it says nothing that is known. */
export function verbOf(one: Classifier, tool: string, args: JsonObject): string | null {
  const verb = Object.hasOwn(one.tools, tool) ? one.tools[tool] : undefined
  if (verb === undefined || typeof verb === 'string') return verb ?? null
  const value = at(args, verb.argument)
  return typeof value === 'string' && Object.hasOwn(verb.verbs, value)
    ? (verb.verbs[value] as string)
    : null
}

/** True where every condition holds for the arguments of a call. */
export function meets(conditions: readonly Condition[] | undefined, args: JsonObject): boolean {
  return (conditions ?? []).every(({ argument, is }) => {
    const value = at(args, argument)
    return is === undefined ? isEmpty(value) : value === is
  })
}

/** Absent, null, `''`, `false`, or an empty list or object. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
