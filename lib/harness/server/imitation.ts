/**
 * Answers of a server whose state is not seen, made without it: what a success would have said.
 *
 * The best pattern is a success of the same tool that was seen, with the values of that call
 * exchanged for those of this one. Where there is none, the tool's output schema says what an
 * answer is like.
 */
import type { Json, JsonObject } from '../../json.ts'
import type { CallToolResult, Tool } from '../wire/mcp.ts'

/** A success that was seen, and the arguments that it answered. */
export type Seen = { input: JsonObject; result: CallToolResult }

/** What a success of this call would say. */
export function imitated(tool: Tool, input: JsonObject, seen: Seen | undefined): CallToolResult {
  return seen ? fitted(seen.result, seen.input, input) : madeUp(tool, input)
}

/**
 * An answer to one call, made to fit another: values of the first in it are exchanged for those of
 * the other.
 */
export function fitted(result: CallToolResult, was: JsonObject, now: JsonObject): CallToolResult {
  const exchange = exchanger(pairs(was, now))
  const content = result.content.map((part) =>
    part.type === 'text' ? { ...part, text: textExchanged(part.text, exchange) } : part,
  )
  const { structuredContent } = result as { structuredContent?: JsonObject }
  return structuredContent === undefined
    ? { ...result, content }
    : { ...result, content, structuredContent: exchange(structuredContent) }
}

type Scalar = string | number | boolean
type Exchange = <T extends Json>(value: T) => T

/** The scalars of two values that stand at the same place and differ. */
function pairs(was: Json | undefined, now: Json | undefined): [Scalar, Scalar][] {
  if (was === undefined || now === undefined || was === null || now === null) return []
  if (typeof was !== 'object' || typeof now !== 'object')
    return typeof was !== 'object' && typeof now !== 'object' && was !== now ? [[was, now]] : []
  return Object.entries(was).flatMap(([key, value]) =>
    pairs(value as Json, (now as { [key: string]: Json })[key]),
  )
}

/**
 * Exchanges whole values anywhere, and texts and numbers inside texts. One pass: what was put in is
 * not exchanged again.
 */
function exchanger(differing: [Scalar, Scalar][]): Exchange {
  const whole = new Map(differing)
  // A truth value or a single character says nothing of where it came from.
  const inside = differing
    .filter(([was]) => typeof was === 'number' || (typeof was === 'string' && was.length > 1))
    .map(([was, now]): [string, string] => [String(was), String(now)])
    .sort(([a], [b]) => b.length - a.length)
  const texts = new Map(inside)
  const pattern = inside
    .map(([was]) => {
      const bare = was.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      return /^-?[\d.]+$/.test(was) ? `(?<![\\d.])${bare}(?![\\d.])` : bare
    })
    .join('|')
  const found = pattern === '' ? null : new RegExp(pattern, 'g')
  const exchange = (value: Json): Json => {
    if (typeof value !== 'object' && value !== null && typeof value !== 'boolean') {
      if (whole.has(value)) return whole.get(value) as Scalar
    }
    if (typeof value === 'string')
      return found ? value.replace(found, (one) => texts.get(one) ?? one) : value
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map(exchange)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, exchange(item)]))
  }
  return exchange as Exchange
}

/**
 * JSON in a text is exchanged value by value, so that quotes and escapes stay as they should be.
 */
function textExchanged(text: string, exchange: Exchange): string {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return exchange(text)
  }
  return JSON.stringify(exchange(value), null, /\n( +)/.exec(text)?.[1])
}

/** A success that never was: as the output schema says, with the arguments where they fit. */
function madeUp({ outputSchema }: Tool, input: JsonObject): CallToolResult {
  const schema = outputSchema as JsonObject | undefined
  if (!schema) return { content: [{ type: 'text', text: JSON.stringify({ ok: true, ...input }) }] }
  const structuredContent = valueFor(schema, input, schema) as JsonObject
  // FastMCP wraps what is no object, and its text is the bare value.
  const wrapped = schema['x-fastmcp-wrap-result'] === true
  const said: Json = wrapped ? (structuredContent['result'] ?? null) : structuredContent
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  return { content: [{ type: 'text', text }], structuredContent }
}

/** Nesting beyond this is cut: a schema may refer to itself. */
const DEEPEST = 6

function valueFor(
  schema: JsonObject,
  input: JsonObject,
  root: JsonObject,
  name = '',
  depth = 0,
): Json {
  if ('const' in schema) return schema['const'] as Json
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as Json
  const within = (part: JsonObject, property = name) =>
    valueFor(part, input, root, property, depth + 1)
  const referred = typeof schema['$ref'] === 'string' ? resolved(schema['$ref'], root) : null
  if (referred) return depth < DEEPEST ? within(referred) : null
  for (const word of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = (schema[word] ?? []) as JsonObject[]
    const branch = branches.find((one) => one['type'] !== 'null')
    if (branch) return depth < DEEPEST ? within(branch) : null
  }
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  const given = input[name]
  if (type === 'string') return typeof given === 'string' ? given : 'ok'
  if (type === 'number' || type === 'integer')
    return typeof given === 'number' ? given : Math.max(1, Number(schema['minimum'] ?? 1))
  if (type === 'boolean') return true
  if (type === 'array') return Array.isArray(given) ? given : []
  if (type !== 'object') return given ?? null
  const properties = (schema['properties'] ?? {}) as { [property: string]: JsonObject }
  // An object of which nothing is said takes anything.
  if (Object.keys(properties).length === 0)
    return schema['additionalProperties'] === false ? {} : { ok: true, ...input }
  const required = (schema['required'] ?? Object.keys(properties)) as string[]
  return Object.fromEntries(
    required.map((property) => [property, within(properties[property] ?? {}, property)]),
  )
}

/** The part of a schema that a local reference names. */
function resolved(reference: string, root: JsonObject): JsonObject | null {
  const path = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  const found = path.reduce<Json | undefined>(
    (from, key) => (from as JsonObject | undefined)?.[key],
    root,
  )
  return found !== null && typeof found === 'object' ? (found as JsonObject) : null
}
