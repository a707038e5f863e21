/**
 * A chain followed to what it would give, without running any of it: properties that hold values
 * are read, never through a proxy; a getter of the library is followed by its declared type, and
 * only those that the language had before the session began are run; a call is followed by what its
 * function says it returns.
 */
import { types } from 'node:util'
import type { Names } from '../code/evaluate.ts'
import type { Step } from './chain.ts'
import { awaitedType, find, membersOfType, type Typed, typeOf } from './sources.ts'

/**
 * A function's own word on what it returns: a value whose members can be completed (a prototype, a
 * sample). A function there is such a value, and is not called.
 */
export const RETURNS = Symbol.for('touchstone.returns')

/** What is known about the end of a chain: its value, or the name of its type in the library. */
export type Known = { value: unknown } | Typed

/** What stands for a literal at the head of a chain, and what completes it. */
const LITERALS: Record<string, unknown> = { '""': '', '[]': [] }

export function follow(steps: readonly Step[], scope: Names): Known | undefined {
  let at: Known | undefined
  for (const [i, step] of steps.entries()) {
    const { name, called, awaited } = step
    const before: Known | undefined = at
    const path = steps.slice(0, i + 1).map((one) => one.name)
    if (step.index !== undefined) at = before && indexed(before, step.index)
    else if (Object.hasOwn(LITERALS, name)) at = { value: LITERALS[name] }
    else if (name.startsWith('new ')) at = instanceOf(name.slice(4), scope)
    else if (i === 0) at = named(name, scope)
    else if (before && 'value' in before) at = read(before.value, name)
    else if (before && !before.promised)
      at =
        before.type === 'Array'
          ? called
            ? listCall(name, before)
            : undefined
          : typed(path, before.type, before.near)
    else at = undefined
    if (at && called && 'value' in at && !name.startsWith('new '))
      at = returned(at.value, path, before, scope)
    if (at && 'type' in at && awaited) at = awaitedType(at)
    if (!at || ('value' in at && (at.value === undefined || at.value === null))) return undefined
  }
  return at
}

/**
 * The value that a path of names reads; undefined when there is none or reading it could do
 * something.
 */
export function valueAt(path: readonly string[], scope: Names): { value: unknown } | undefined {
  const known = follow(
    path.map((name) => ({ name, called: false, awaited: false })),
    scope,
  )
  return known && 'value' in known ? known : undefined
}

/** A name of the session, or of the language. */
function named(name: string, scope: Names): { value: unknown } | undefined {
  return own(Object.hasOwn(scope, name) ? scope : globalThis, name)
}

/** `new X()` has what X's prototype has. */
function instanceOf(name: string, scope: Names): Known | undefined {
  const made = named(name, scope)?.value
  if (typeof made !== 'function' || types.isProxy(made)) return undefined
  const value = Object.getOwnPropertyDescriptor(made, 'prototype')?.value as unknown
  return value ? { value } : undefined
}

function typed(path: readonly string[], owner?: string, near?: string): Known | undefined {
  const entry = find(path, owner, near)
  return entry && typeOf(entry)
}

const PRIMITIVES: Record<string, unknown> = { string: '', number: 0, boolean: false }

/** A type by its name; one of the language by a value of it. */
function ofType(type: Typed): Known {
  return !type.promised && Object.hasOwn(PRIMITIVES, type.type)
    ? { value: PRIMITIVES[type.type] }
    : type
}

/** An element of a list, or a member of an object by its key. `null`: some element. */
function indexed(known: Known, index: string | number | null): Known | undefined {
  if ('type' in known) {
    const of = known.type === 'Array' && !known.promised ? known.of : undefined
    return of === undefined ? undefined : ofType({ type: of, near: known.near, promised: false })
  }
  const { value } = known
  if (types.isProxy(value)) return undefined
  if (typeof value === 'string') return { value: '' }
  if (Array.isArray(value)) return own(value, typeof index === 'number' ? index : 0)
  if (ArrayBuffer.isView(value)) return { value: 0 }
  return typeof index === 'string' ? own(value, index) : undefined
}

/** The value of an own property, where it is no getter and its holder no proxy. */
export function own(
  holder: unknown,
  name: string | number | symbol,
): { value: unknown } | undefined {
  if (typeof holder !== 'object' && typeof holder !== 'function') return undefined
  if (holder === null || types.isProxy(holder)) return undefined
  const described = Object.getOwnPropertyDescriptor(holder, name)
  return described && 'value' in described ? { value: described.value } : undefined
}

/** Read a property without running a getter that could do anything. */
function read(holder: unknown, name: string): Known | undefined {
  let at: unknown = holder
  if (at === null || at === undefined) return undefined
  if (typeof at !== 'object' && typeof at !== 'function') at = Object.getPrototypeOf(at)
  for (; at; at = Object.getPrototypeOf(at)) {
    // A proxy runs its owner's code at each question.
    if (types.isProxy(at)) return undefined
    const described = Object.getOwnPropertyDescriptor(at, name)
    if (!described) continue
    const { get } = described
    if (!get) return { value: described.value }
    if (at === holder) return undefined
    if (INTRINSIC.has(get)) return { value: attempt(() => Reflect.apply(get, holder, [])) }
    const owner = nameOf(own(at, 'constructor')?.value)
    const entry = owner === undefined ? undefined : find([owner, name], owner)
    const type = entry?.of === owner && entry ? typeOf(entry) : undefined
    return type && ofType(type)
  }
  return undefined
}

/**
 * The getters that the language has, as they are before the session begins: they look at what only
 * the language can write. `flags` of an expression reads other properties, and is none of them.
 */
const INTRINSIC: ReadonlySet<() => unknown> = new Set(
  [Map, Set, RegExp, Symbol, ArrayBuffer, DataView, Object.getPrototypeOf(Uint8Array)].flatMap(
    (made: { prototype: object }) =>
      Object.entries(Object.getOwnPropertyDescriptors(made.prototype)).flatMap(([name, { get }]) =>
        get && name !== 'flags' ? [get] : [],
      ),
  ),
)

function attempt(get: () => unknown): unknown {
  try {
    return get()
  } catch {
    return undefined
  }
}

/**
 * The namespace of the library that a function comes from, among those in scope. A function of the
 * session may have the same name as one of the library; only being the same one counts.
 */
export function namespaceOf(value: unknown, scope: Names): string | undefined {
  return Object.keys(scope).find((name) => {
    const held = own(scope, name)?.value
    return isNamespace(held) && Object.values(held).includes(value)
  })
}

/** `import * as name` gives one. */
export function isNamespace(value: unknown): value is Names {
  return types.isModuleNamespaceObject(value)
}

/** What calling a function would give, by its own word or its declared type; it is not called. */
function returned(
  called: unknown,
  path: readonly string[],
  receiver: Known | undefined,
  scope: Names,
): Known | undefined {
  if (typeof called !== 'function' || types.isProxy(called)) return undefined
  const said = own(called, RETURNS)?.value
  if (said !== undefined) return { value: said }
  const holder = receiver && 'value' in receiver ? receiver.value : undefined
  const name = path.at(-1) as string
  if (Array.isArray(holder) && called === own(Array.prototype, name)?.value)
    return listCall(name, { value: holder })
  const itself = nameOf(called) ?? ''
  if (typeof holder === 'string' && TEXTS.has(itself)) return { value: '' }
  const made = holder === null || holder === undefined ? undefined : classOf(holder)
  if (path.length > 1) return typed(path, made)
  const namespace = namespaceOf(called, scope)
  return namespace === undefined ? undefined : typed([namespace, itself])
}

/** What a method of a list gives: elements as the list has them, one of them, or others. */
function listCall(name: string, list: Known): Known | undefined {
  if (SAME.has(name)) return list
  if (ONE.has(name)) return indexed(list, null)
  return OTHER.has(name) ? { value: [] } : undefined
}

const SAME = new Set(
  'filter slice toSorted sort concat toReversed reverse with toSpliced'.split(' '),
)
const ONE = new Set('find findLast at pop shift'.split(' '))
const OTHER = new Set('map flat flatMap'.split(' '))
const TEXTS = new Set(
  'slice trim replace replaceAll toLowerCase toUpperCase padEnd padStart repeat'.split(' '),
)

/** The name of a value's class. */
export function classOf(value: unknown): string | undefined {
  if (value === null || value === undefined || types.isProxy(value)) return undefined
  return nameOf(own(Object.getPrototypeOf(value), 'constructor')?.value)
}

/** The name that a function has, where it is a text. */
function nameOf(made: unknown): string | undefined {
  const name = typeof made === 'function' ? own(made, 'name')?.value : undefined
  return typeof name === 'string' ? name : undefined
}

export function membersOf(known: Known): string[] {
  if ('value' in known) return memberNames(known.value)
  if (known.promised) return memberNames(Promise.resolve())
  return known.type === 'Array' ? memberNames([]) : membersOfType(known.type, known.near)
}

function memberNames(value: unknown): string[] {
  const names: string[] = []
  let at: unknown =
    typeof value === 'object' || typeof value === 'function' ? value : Object.getPrototypeOf(value)
  while (at && at !== Object.prototype && at !== Function.prototype && !types.isProxy(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) && name !== 'constructor')
        names.push(name)
    }
    at = Object.getPrototypeOf(at)
  }
  if (typeof value === 'function')
    return names.filter(
      (name) => !['length', 'name', 'prototype', 'arguments', 'caller'].includes(name),
    )
  return names
}
