/**
 * What a read's answer shows: the items of a list in one of the shapes that its classifier
 * declares, and whether the list is known to be whole.
 *
 * A list is whole only for a declared reason. A member that nobody declared, a word of paging,
 * truncation, filtering or error at any depth, or an argument that may filter makes it a part, and
 * then absence from it shows nothing.
 */
import { isObject, type Json, type JsonObject, parse } from '../../json.ts'
import {
  type Answer,
  at,
  type Classifier,
  isEmpty,
  project,
  type Read,
  type Whole,
} from './classifier.ts'

/** What a read showed: targets projected and redacted like those of calls. */
export type Shown = { complete: boolean; targets: JsonObject[] }

/** A tool's answer as data. `alone` is false where the result says more than this. */
export type Answered = { value: Json; alone: boolean }

/** What the tool answered: structured content first, else the first text that is JSON. */
export function answerOf(result: JsonObject | undefined): Answered | undefined {
  if (!result) return undefined
  const structured = result['structuredContent']
  if (isObject(structured)) return { value: unwrapped(structured), alone: true }
  const content = result['content']
  if (!Array.isArray(content)) return undefined
  for (const part of content) {
    if (!isObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') continue
    try {
      return { value: parse(part['text'], 'tool result'), alone: content.length === 1 }
    } catch {
      // Prose is no data, and text that means two things is not evidence.
    }
  }
  return undefined
}

/**
 * Structured content is an object, so servers built with FastMCP put an answer that is none under
 * `result`.
 */
function unwrapped(structured: JsonObject): Json {
  const [name, ...more] = Object.keys(structured)
  return name === 'result' && more.length === 0 ? (structured['result'] as Json) : structured
}

/**
 * The items that a read showed, or undefined where its answer is of no declared shape or says that
 * the read failed.
 *
 * @param peers the classifiers of the same class, each of which projects the items onto its own
 *   fields
 */
export function shownBy(
  one: Classifier,
  peers: readonly Classifier[],
  read: Read,
  args: JsonObject,
  answered: Answered | undefined,
): Shown | undefined {
  if (!answered) return undefined
  const { value, alone } = answered
  const shape = read.answers.find((shape) => isShaped(value, shape))
  if (!shape) return undefined
  if ((shape.failed ?? []).some(({ member, is }) => at(value, member) === is)) return undefined
  if (saysError(value, shape)) return undefined
  const found = at(value, shape.items) as Json
  const items = shape.single ? [found] : (found as Json[])
  const scope = project(one, args, { fields: one.scoped }).target
  const complete =
    alone &&
    !shape.single &&
    isWhole(one, read, shape, args, value, items) &&
    !hasStray(value, shape)
  return { complete, targets: items.map((item) => targetOf(item, shape, peers, scope)) }
}

function isShaped(value: Json, shape: Answer): boolean {
  const found = at(value, shape.items)
  return shape.single ? isObject(found) : Array.isArray(found)
}

/** What the read asked for places its items, unless an item says otherwise itself. */
function targetOf(
  item: Json,
  shape: Answer,
  peers: readonly Classifier[],
  scope: JsonObject,
): JsonObject {
  const shown: JsonObject = { ...scope }
  const from = shape.item === undefined ? item : (at(item, shape.item) as Json | undefined)
  for (const peer of peers) {
    const fields = shape.bare ?? []
    const seen = isObject(from)
      ? project(peer, from, { places: shape.from ?? {} })
      : typeof from === 'string'
        ? project(
            peer,
            { bare: from },
            { fields, places: Object.fromEntries(fields.map((name) => [name, ['bare']])) },
          )
        : { target: {} }
    for (const [name, value] of Object.entries(seen.target)) if (value !== null) shown[name] = value
  }
  return shown
}

function isWhole(
  one: Classifier,
  read: Read,
  shape: Answer,
  args: JsonObject,
  value: Json,
  items: readonly Json[],
): boolean {
  const reasons = shape.whole ?? []
  const scoped = one.fields.filter((field) => one.scoped.includes(field.name))
  const harmless = new Set([
    ...scoped.flatMap((field) => field.from),
    ...(read.arguments ?? []),
    ...(read.only ?? []).map(({ argument }) => argument),
    ...reasons.flatMap((reason) => ('size' in reason ? [...reason.size, ...reason.page] : [])),
  ])
  const asked = Object.keys(args).filter((name) => args[name] !== undefined && args[name] !== null)
  return (
    reasons.length > 0 &&
    asked.every((name) => harmless.has(name)) &&
    reasons.every((reason) => holds(reason, args, value, items.length))
  )
}

function holds(reason: Whole, args: JsonObject, value: Json, items: number): boolean {
  if ('unpaged' in reason) return true
  if ('empty' in reason) return isEmpty(at(value, reason.empty))
  if ('count' in reason) return at(value, reason.count) === items
  if ('member' in reason) return at(value, reason.member) === reason.is
  const given = (names: string[]) =>
    names.map((name) => args[name]).find((value) => value !== undefined && value !== null)
  const page = given(reason.page) ?? 1
  const size = Number(given(reason.size) ?? reason.standard)
  return (
    Number(page) === 1 &&
    Number.isSafeInteger(size) &&
    size > 0 &&
    items < Math.min(size, reason.most)
  )
}

const PAGING = new Set(
  'next cursor page paging pagination more truncated truncation incomplete partial continue continuation remaining marker filtered filter'.split(
    ' ',
  ),
)
const ERRORS = new Set('error errors warning warnings failure failures'.split(' '))

/** True for a member beside the list that nobody declared, and for a telling word at any depth. */
function hasStray(value: Json, shape: Answer): boolean {
  const declared = declaredIn(shape)
  const walk = (node: Json, path: string): boolean => {
    if (node === null || typeof node !== 'object') return false
    const below = path === shape.items && !(path === '' && !Array.isArray(node))
    if (below || Array.isArray(node)) return hasWord(node)
    return Object.entries(node).some(([name, member]) => {
      const own = path === '' ? name : `${path}.${name}`
      if (declared.read.has(own)) return false
      if (declared.beside.has(own)) return hasWord(member)
      const inside = [...declared.paths].some((one) => one.startsWith(`${own}.`))
      if (own === shape.items || inside) return walk(member, own)
      return true
    })
  }
  return walk(value, '')
}

/** True where the answer says, beside its list, that something went wrong. */
function saysError(value: Json, shape: Answer): boolean {
  if (!isObject(value)) return false
  const declared = declaredIn(shape)
  return Object.entries(value).some(
    ([name, member]) =>
      name !== shape.items &&
      !declared.read.has(name) &&
      wordsOf(name).some((word) => ERRORS.has(word)) &&
      !isEmpty(member),
  )
}

const known = new WeakMap<Answer, ReturnType<typeof declarations>>()

function declaredIn(shape: Answer): ReturnType<typeof declarations> {
  const found = known.get(shape) ?? declarations(shape)
  known.set(shape, found)
  return found
}

function declarations({ items, whole = [], failed = [], beside = [] }: Answer) {
  const read = new Set([
    ...whole.flatMap((reason) =>
      'empty' in reason
        ? [reason.empty]
        : 'count' in reason
          ? [reason.count]
          : 'member' in reason
            ? [reason.member]
            : [],
    ),
    ...failed.map(({ member }) => member),
  ])
  return { read, beside: new Set(beside), paths: new Set([items, ...read, ...beside]) }
}

function hasWord(node: Json): boolean {
  if (node === null || typeof node !== 'object') return false
  if (Array.isArray(node)) return node.some(hasWord)
  return Object.entries(node).some(
    ([name, member]) =>
      (!isEmpty(member) && wordsOf(name).some((word) => PAGING.has(word) || ERRORS.has(word))) ||
      hasWord(member),
  )
}

/** The words of a member's name: `hasNextPage` and `has_next_page` are has, next, page. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
}
