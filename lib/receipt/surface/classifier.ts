/**
 * Classifiers as data: which tool names mean which effect, what of the arguments names the target, which of it binds, and
 * which later reads could confirm it.
 */

import { TouchstoneError } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import { SHIPPED } from './providers.ts'
import { harmless, isSecretName, targetHash } from './target.ts'

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
  /** Argument names it may come from, first one present wins. A dot goes into an object. Also read in items of reads. */
  from: string[]
  /** `text` as it is with control characters replaced; `hash` under `domain`; `flag` a boolean; `amount` an integer as text. */
  kind: 'text' | 'hash' | 'flag' | 'amount'
  /** Hash domain, for `hash` only. */
  domain?: string
  /** Write `null` where there is none. Default: leave the member out. */
  nullable?: boolean
}

export type Read = {
  verb: string
  /** Dotted path to the list in the result; the item itself when it is no list. */
  items: string
  /** Where this read's items keep a field, when not under the names of `fields`. */
  from?: { [field: string]: string[] }
}

export type Classifier = {
  category: string
  provider: string
  /** The `action_class` of the binding. */
  resource_type: string
  class: string
  /** Scope a credential would need, such as `repo:deploy_key:write`. */
  scope: string
  irreversibility: Irreversibility
  reason_code: string
  /** Leaf of the tool name -> verb. */
  tools: { [leaf: string]: string }
  fields: Field[]
  /** Each row: at least one of these fields must be there, or the decision is incomplete with this detail code. */
  required: { fields: string[]; detail: string }[]
  /** Target fields that an incomplete decision may keep. Default none. */
  kept?: string[]
  /** What enters the digest. `some`: at least one must be there. `any`: taken when there. */
  binding: { all: string[]; some?: string[]; any?: string[] }
  /** A target field outside the digest that must agree where the call and the evidence both have it. */
  attribute?: string
  /** Verbs whose effect ends when the object goes away -> the verbs that take it away. */
  undone?: { [verb: string]: string[] }
  /** Verbs that take away: confirmed by a complete read that does not show the target. */
  removes?: string[]
  /** Verbs that put an object into a set once, so that two equal calls leave one object. */
  sets?: string[]
  /** Fields that say what a read looks at, such as `owner` and `repo`. */
  scoped: string[]
  reads: { [leaf: string]: Read }
}

/** Classifiers in the order of registration, and what is looked up in them. */
type Registry = {
  list: Classifier[]
  byLeaf: Map<string, Classifier[]>
  byBinding: Map<string, Classifier>
  readVerbs: Set<string>
}

let registered: Registry | undefined

/** The registry: the classifiers that ship, and those that were registered. Made when it is first asked. */
function registry(): Registry {
  registered ??= indexOf([...SHIPPED])
  return registered
}

function indexOf(list: Classifier[]): Registry {
  const made: Registry = { list, byLeaf: new Map(), byBinding: new Map(), readVerbs: new Set() }
  for (const one of list) {
    for (const leaf of [...Object.keys(one.tools), ...Object.keys(one.reads)])
      made.byLeaf.set(leaf, [...(made.byLeaf.get(leaf) ?? []), one])
    for (const { verb } of Object.values(one.reads))
      made.readVerbs.add(`${one.resource_type}\n${verb}`)
    for (const verb of Object.values(one.tools)) {
      const key = `${one.resource_type}\n${verb}`
      if (!made.byBinding.has(key)) made.byBinding.set(key, one)
    }
  }
  return made
}

/**
 * Register a classifier, so that `observe` knows its tools and `verify` can bind their calls.
 *
 * Registering the same category again replaces it, so a notebook cell can be run twice.
 *
 * @throws TouchstoneError `classifier_invalid` naming the member that is wrong
 */
export function classifier(definition: Classifier): Classifier {
  check(definition)
  const list = [...registry().list]
  const known = list.findIndex((one) => one.category === definition.category)
  if (known < 0) list.push(definition)
  else list[known] = definition
  registered = indexOf(list)
  return definition
}

/** Every registered classifier, in the order of registration. */
export function classifiers(): readonly Classifier[] {
  return registry().list
}

/** The classifier whose binding rule covers a class and verb. */
export function classifierOf(actionClass: string, verb: string): Classifier | undefined {
  return registry().byBinding.get(`${actionClass}\n${verb}`)
}

/** True for a verb that a classifier of this class declares as a read. */
export function isReadVerb(actionClass: unknown, verb: unknown): boolean {
  return (
    typeof actionClass === 'string' &&
    typeof verb === 'string' &&
    registry().readVerbs.has(`${actionClass}\n${verb}`)
  )
}

/** Classifiers that know a tool, by the text behind the last dot of its name. */
export function classifiersFor(tool: string, own?: readonly Classifier[]): Classifier[] {
  const leaf = leafOf(tool)
  if (!own) return registry().byLeaf.get(leaf) ?? []
  return own.filter((one) => Object.hasOwn(one.tools, leaf) || Object.hasOwn(one.reads, leaf))
}

/** The text behind the last dot: `github.add_deploy_key` -> `add_deploy_key`. */
export function leafOf(tool: string): string {
  return tool.slice(tool.lastIndexOf('.') + 1)
}

/**
 * Project values onto a classifier's fields. Only fields that the classifier names are ever copied; a secret is dropped.
 *
 * @param names which fields, default all
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
      const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
      if (typeof text !== 'string' || text === '') continue
      return field.kind === 'hash' ? targetHash(field.domain ?? field.name, text) : harmless(text)
    }
  }
  return undefined
}

/** Follow a dotted path through own members only. */
export function at(from: unknown, path: string): unknown {
  let value = from
  for (const step of path === '' ? [] : path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

function check(one: Classifier): void {
  const wrong = (where: string, expected: string, got: unknown): never => {
    throw new TouchstoneError(
      'classifier_invalid',
      `expected ${expected}, got ${typeof got === 'bigint' ? got : (JSON.stringify(got) ?? typeof got)}`,
      {
        where: `classifier ${typeof one?.category === 'string' ? one.category : '?'}: ${where}`,
      },
    )
  }
  if (one === null || typeof one !== 'object') wrong('definition', 'an object', one)
  for (const name of [
    'category',
    'provider',
    'resource_type',
    'class',
    'scope',
    'reason_code',
  ] as const) {
    if (typeof one[name] !== 'string' || one[name] === '') wrong(name, 'a text', one[name])
  }
  if (!IRREVERSIBILITY.includes(one.irreversibility))
    wrong('irreversibility', IRREVERSIBILITY.join(' | '), one.irreversibility)
  if (!Array.isArray(one.fields)) wrong('fields', 'a list', one.fields)
  const names = new Set<string>()
  for (const [i, field] of one.fields.entries()) {
    if (
      typeof field?.name !== 'string' ||
      field.name === '' ||
      names.has(field.name) ||
      field.name === 'provider'
    )
      wrong(`fields[${i}].name`, 'a name of its own', field?.name)
    if (!['text', 'hash', 'flag', 'amount'].includes(field.kind))
      wrong(`fields[${i}].kind`, 'text | hash | flag | amount', field.kind)
    if (field.kind === 'hash' && !/^[a-z0-9_]+$/.test(field.domain ?? ''))
      wrong(
        `fields[${i}].domain`,
        'a hash domain of lower-case letters, digits and _',
        field.domain,
      )
    if (
      !Array.isArray(field.from) ||
      field.from.length === 0 ||
      field.from.some((name) => typeof name !== 'string')
    )
      wrong(`fields[${i}].from`, 'argument names', field.from)
    if (field.from.every((name) => isSecretName(name)))
      wrong(`fields[${i}].from`, 'arguments that hold no secret', field.from)
    names.add(field.name)
  }
  const known = (where: string, list: unknown) => {
    if (!Array.isArray(list)) wrong(where, 'a list of field names', list)
    for (const name of list as unknown[])
      if (!names.has(name as string)) wrong(where, 'names out of fields', name)
  }
  if (!Array.isArray(one.required)) wrong('required', 'a list', one.required)
  for (const [i, row] of one.required.entries()) {
    known(`required[${i}].fields`, row?.fields)
    if (typeof row.detail !== 'string') wrong(`required[${i}].detail`, 'a code', row.detail)
  }
  known('binding.all', one.binding?.all)
  known('binding.some', one.binding.some ?? [])
  known('binding.any', one.binding.any ?? [])
  if (one.binding.all.length + (one.binding.some ?? []).length === 0)
    wrong('binding.all', 'at least one field', [])
  for (const name of [
    ...one.binding.all,
    ...(one.binding.some ?? []),
    ...(one.binding.any ?? []),
  ]) {
    if (one.fields.find((field) => field.name === name)?.kind === 'flag')
      wrong('binding', 'fields that are texts', name)
  }
  known('scoped', one.scoped)
  known('kept', one.kept ?? [])
  if (one.attribute !== undefined) known('attribute', [one.attribute])
  for (const [where, map] of [
    ['tools', one.tools],
    ['reads', one.reads],
  ] as const) {
    if (map === null || typeof map !== 'object' || Array.isArray(map))
      wrong(where, 'an object', map)
  }
  for (const [leaf, verb] of Object.entries(one.tools))
    if (typeof verb !== 'string' || leaf.includes('.'))
      wrong(`tools.${leaf}`, 'a verb for a name without dots', verb)
  for (const [leaf, read] of Object.entries(one.reads))
    if (typeof read?.verb !== 'string' || typeof read.items !== 'string')
      wrong(`reads.${leaf}`, '{ verb, items }', read)
  for (const [leaf, read] of Object.entries(one.reads)) {
    const writes = [
      one,
      ...registry().list.filter((other) => other.resource_type === one.resource_type),
    ]
    if (writes.some((other) => Object.values(other.tools).includes(read.verb)))
      wrong(`reads.${leaf}.verb`, 'a verb that no tool of the class writes with', read.verb)
  }
}
