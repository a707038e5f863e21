/**
 * Tab completion: members through call chains, names in scope, and strings (case ids,
 * configurations, file paths).
 *
 * Nothing that was typed is run. The words before the cursor are followed as property reads of
 * values that exist; a getter is read only when a class of Touchstone or the language declares it;
 * a call is followed by what its function says it returns.
 */
import type { Names } from '../code/evaluate.ts'
import { completePath } from './complete-path.ts'
import { awaitedType, find, membersOfType, type Typed, typeOf } from './sources.ts'

/** Candidates that replace `stub`, the end of the text. */
export type Completion = [candidates: string[], stub: string]

/** What stands round a string at the cursor, for a value that can complete it. */
export type StringContext = {
  /** Method that the string is an argument of. */
  method: string
  /** Counted from 0. */
  argument: number
  /** Text between the quote and the cursor. */
  text: string
}

/**
 * A value with this method offers strings for calls on it, such as case ids. It must be quick and
 * change nothing.
 */
export const COMPLETE_STRING = Symbol.for('touchstone.completeString')
/**
 * A function's own word on what it returns: a value whose members can be completed (a prototype, a
 * sample).
 */
export const RETURNS = Symbol.for('touchstone.returns')

const KEYWORDS = [
  'await ',
  'const ',
  'let ',
  'import ',
  'function ',
  'class ',
  'for ',
  'if ',
  'return ',
  'typeof ',
  'new ',
]

/** Complete the end of a text. */
export async function complete(text: string, scope: Names, cwd: string): Promise<Completion> {
  const open = openString(text)
  if (open) return completeString(text, open, scope, cwd)
  const path = /([\p{ID_Start}$_][\p{ID_Continue}$]*)?$/u.exec(text)?.[0] ?? ''
  const before = text.slice(0, text.length - path.length)
  const dot = /\?{0,1}\.\s*$/.exec(before)
  if (dot) {
    const chain = chainBefore(before.slice(0, dot.index))
    const known = chain && follow(chain, scope)
    return [known ? matching(membersOf(known), path) : [], path]
  }
  if (path === '' && before.trim() !== '' && !/[\s([{,=:;!&|?+*/<>-]$/.test(before)) return [[], '']
  const names = Object.keys(scope)
  if (path === '') return [names.filter((name) => name !== '_' && name !== '__'), '']
  const globals = Object.getOwnPropertyNames(globalThis)
  return [matching([...names, ...globals, ...KEYWORDS], path), path]
}

function matching(names: Iterable<string>, stub: string): string[] {
  return [...new Set(names)].filter((name) => name.startsWith(stub)).sort()
}

/**
 * One read or call of a chain; `awaited` when the chain so far stands behind an `await` in
 * parentheses.
 */
type Step = { name: string; called: boolean; awaited: boolean }

/** What is known about the end of a chain: its value, or the name of its type in the library. */
type Known = { value: unknown } | Typed

/**
 * The chain of reads and calls that a text ends in: `x = run.cases().a` gives run, cases(), a.
 * Undefined when it ends in something that only running it could tell.
 */
function chainBefore(text: string): Step[] | undefined {
  const steps: Step[] = []
  let at = text.length
  for (;;) {
    while (/\s/.test(text[at - 1] ?? '')) at--
    let called = false
    const closed = at
    while (text[at - 1] === ')') {
      const open = matchingOpen(text, at - 1)
      if (open === undefined) return undefined
      const group = !/[\p{ID_Continue}$)\]]\s*$|\?\.\s*$/u.test(text.slice(0, open))
      if (group) {
        const inside = text.slice(open + 1, at - 1)
        const chain = chainBefore(inside.replace(/^\s*await\b/, ''))
        if (!chain || at !== closed) return undefined
        chain.at(-1)!.awaited = /^\s*await\b/.test(inside)
        return [...chain, ...steps]
      }
      at = open
      called = true
      while (/\s/.test(text[at - 1] ?? '')) at--
    }
    const literal = called ? undefined : literalAt(text.slice(0, at))
    if (literal) return [{ name: literal, called: false, awaited: false }, ...steps]
    const name = /[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.exec(text.slice(0, at))?.[0]
    if (name === undefined) return undefined
    steps.unshift({ name, called, awaited: false })
    at -= name.length
    const dot = /\??\.\s*$/.exec(text.slice(0, at))
    if (!dot) {
      if (called && /\bnew\s*$/.test(text.slice(0, at))) steps[0]!.name = `new ${name}`
      return steps
    }
    at = dot.index
  }
}

/** What stands for a literal at the head of a chain, and what completes it. */
const LITERALS: Record<string, unknown> = { '""': '', '[]': [] }

function literalAt(text: string): string | undefined {
  if (/['"`]$/.test(text)) return '""'
  if (!text.endsWith(']')) return undefined
  const open = matchingOpen(text, text.length - 1)
  return open === undefined || /[\p{ID_Continue}$)\]]\s*$/u.test(text.slice(0, open))
    ? undefined
    : '[]'
}

function matchingOpen(text: string, close: number): number | undefined {
  let depth = 0
  let quote = ''
  for (let at = close; at >= 0; at--) {
    const character = text[at]!
    if (quote) {
      if (character === quote && text[at - 1] !== '\\') quote = ''
    } else if (/['"`]/.test(character)) quote = character
    else if (character === ')' || character === ']') depth++
    else if ((character === '(' || character === '[') && --depth === 0) return at
  }
  return undefined
}

function follow(steps: readonly Step[], scope: Names): Known | undefined {
  let at: Known | undefined
  for (const [i, { name, called, awaited }] of steps.entries()) {
    const before: Known | undefined = at
    const path = steps.slice(0, i + 1).map((step) => step.name)
    if (Object.hasOwn(LITERALS, name)) at = { value: LITERALS[name] }
    else if (name.startsWith('new ')) at = instanceOf(name.slice(4), scope)
    else if (i === 0)
      at = Object.hasOwn(scope, name) ? read(scope, name, true) : read(globalThis, name, true)
    else if (before && 'value' in before) at = read(before.value, name)
    else at = before && !before.promised ? typed(path, before.type, before.near) : undefined
    if (at && called && !name.startsWith('new '))
      at = 'value' in at ? returned(at.value, path, before, scope) : at
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

/** `new X()` has what X's prototype has. */
function instanceOf(name: string, scope: Names): Known | undefined {
  const made = Object.hasOwn(scope, name) ? read(scope, name, true) : read(globalThis, name, true)
  const value =
    typeof made?.value === 'function'
      ? (made.value as { prototype?: unknown }).prototype
      : undefined
  return value ? { value } : undefined
}

function typed(path: readonly string[], owner?: string, near?: string): Known | undefined {
  const entry = find(path, owner, near)
  return entry && typeOf(entry)
}

/** Read a property without running a getter that could do anything. */
function read(holder: unknown, name: string, lazy = false): { value: unknown } | undefined {
  let at: unknown = holder
  if (at === null || at === undefined) return undefined
  if (typeof at !== 'object' && typeof at !== 'function') at = Object.getPrototypeOf(at)
  while (at) {
    const described = Object.getOwnPropertyDescriptor(at, name)
    if (described) {
      if (!described.get) return { value: described.value }
      // A getter of the scope loads a namespace; a getter on a class prototype is one its author
      // calls a property.
      if (!lazy && Object.hasOwn(holder as object, name)) return undefined
      try {
        return { value: Reflect.get(holder as object, name) }
      } catch {
        return undefined
      }
    }
    if (lazy) return undefined
    at = Object.getPrototypeOf(at)
  }
  return undefined
}

/**
 * The namespace of the library that a function comes from, among those in scope. A function of the
 * session may have the same name as one of the library; only being the same one counts.
 */
export function namespaceOf(value: unknown, scope: Names): string | undefined {
  return Object.keys(scope).find((name) => {
    const held = read(scope, name, true)?.value
    return isNamespace(held) && Object.values(held).includes(value)
  })
}

/** `import * as name` gives one. */
export function isNamespace(value: unknown): value is Names {
  return Object.prototype.toString.call(value) === '[object Module]'
}

/** What calling a function would give, by its own word or its declared type; it is not called. */
function returned(
  called: unknown,
  path: readonly string[],
  receiver: Known | undefined,
  scope: Names,
): Known | undefined {
  if (typeof called !== 'function') return undefined
  const said = (called as { [RETURNS]?: unknown })[RETURNS]
  if (said !== undefined)
    return { value: typeof said === 'function' ? (said as () => unknown)() : said }
  const holder = receiver && 'value' in receiver ? receiver.value : undefined
  if (Array.isArray(holder) && LISTS.has(called.name)) return { value: [] }
  if (typeof holder === 'string' && TEXTS.has(called.name)) return { value: '' }
  const own = holder === null || holder === undefined ? undefined : classOf(holder)
  if (path.length > 1) return typed(path, own)
  const namespace = namespaceOf(called, scope)
  return namespace === undefined ? undefined : typed([namespace, called.name])
}

const LISTS = new Set([
  'filter',
  'map',
  'slice',
  'toSorted',
  'sort',
  'concat',
  'flat',
  'flatMap',
  'toReversed',
  'reverse',
  'with',
])
const TEXTS = new Set([
  'slice',
  'trim',
  'replace',
  'replaceAll',
  'toLowerCase',
  'toUpperCase',
  'padEnd',
  'padStart',
  'repeat',
])

function classOf(value: unknown): string | undefined {
  return (Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null)?.constructor
    ?.name
}

function membersOf(known: Known): string[] {
  if ('value' in known) return memberNames(known.value)
  if (known.promised) return memberNames(Promise.resolve())
  return known.type === 'Array' ? memberNames([]) : membersOfType(known.type, known.near)
}

function memberNames(value: unknown): string[] {
  const names: string[] = []
  let at: unknown =
    typeof value === 'object' || typeof value === 'function' ? value : Object.getPrototypeOf(value)
  while (at && at !== Object.prototype && at !== Function.prototype) {
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

type OpenString = { quote: string; start: number }

/** The string literal that the end of the text lies in. */
function openString(text: string): OpenString | undefined {
  let quote = ''
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (quote) {
      if (character === '\\') at++
      else if (character === quote || (character === '\n' && quote !== '`')) quote = ''
    } else if (/['"`]/.test(character)) {
      quote = character
      start = at + 1
    } else if (character === '/' && text[at + 1] === '/') {
      const end = text.indexOf('\n', at)
      if (end < 0) return undefined
      at = end
    }
  }
  return quote ? { quote, start } : undefined
}

async function completeString(
  text: string,
  open: OpenString,
  scope: Names,
  cwd: string,
): Promise<Completion> {
  const typed = text.slice(open.start)
  const call = callRound(text.slice(0, open.start - 1))
  if (call) {
    const receiver = call.steps.length > 1 ? follow(call.steps.slice(0, -1), scope) : undefined
    const method = call.steps.at(-1)!.name
    const target = follow(call.steps, scope)
    const context: StringContext = { method, argument: call.argument, text: typed }
    for (const known of [target, receiver]) {
      const holder = known && 'value' in known ? known.value : undefined
      const offer = (
        holder as { [COMPLETE_STRING]?: (context: StringContext) => unknown } | null | undefined
      )?.[COMPLETE_STRING]
      if (typeof offer !== 'function') continue
      const found = await offer.call(holder, context)
      if (Array.isArray(found)) {
        const fitting = found.filter(
          (one): one is string => typeof one === 'string' && one.startsWith(typed),
        )
        if (fitting.length > 0) return [fitting, typed]
      }
    }
  }
  return completePath(typed, cwd)
}

/** The call that the end of a text is an argument of. */
function callRound(text: string): { steps: Step[]; argument: number } | undefined {
  let depth = 0
  let argument = 0
  for (let at = text.length - 1; at >= 0; at--) {
    const character = text[at]!
    if (')]}'.includes(character)) depth++
    else if ('[{'.includes(character)) {
      if (depth-- === 0) depth = 0
    } else if (character === ',' && depth === 0) argument++
    else if (character === '(') {
      if (depth-- > 0) continue
      const steps = chainBefore(text.slice(0, at))
      return steps ? { steps, argument } : undefined
    }
  }
  return undefined
}
