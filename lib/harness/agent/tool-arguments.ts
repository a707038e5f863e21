/**
 * What a model hands to a tool, as it may go on: an object of JSON that every wire carries and
 * every judge can read.
 *
 * Nothing that a model writes may keep its trial from being judged, and half a surrogate pair or a
 * thousand levels would.
 */
import type { Json, JsonObject } from '../../json.ts'

/** Far beyond any tool's arguments, and well below what canonical JSON takes. */
const MOST_LEVELS = 100

/**
 * The arguments, with half surrogate pairs replaced by U+FFFD as UTF-8 does.
 *
 * @throws Error what the model is told: no object, too deep, or a number beyond a double
 */
export function argumentsOf(input: unknown): JsonObject {
  if (input === null || typeof input !== 'object' || Array.isArray(input))
    throw new Error('expected the arguments to be an object')
  return carriedObject(input, 'arguments')
}

/**
 * An object as a line of the log can carry it, and the log's own reader takes it back.
 *
 * @param what it is, in the plural, for the error
 * @throws Error what the agent is told
 */
export function carriedObject(input: object, what: string): JsonObject {
  return carried(input, what, 0) as JsonObject
}

function carried(value: unknown, what: string, level: number): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') {
    if (isCarried(value)) return value
    throw new Error('expected numbers that JSON carries unchanged')
  }
  if (value === null || typeof value === 'boolean') return value
  if (typeof value !== 'object' || !(Array.isArray(value) || isPlain(value)))
    throw new Error(`expected ${what} of values that JSON carries, got ${nameOf(value)}`)
  if (level >= MOST_LEVELS) throw new Error(`expected ${what} nested at most ${MOST_LEVELS} deep`)
  if (Array.isArray(value))
    return Array.from(value, (item) => carried(item ?? null, what, level + 1))
  return Object.fromEntries(
    Object.entries(value)
      // As JSON leaves it out.
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key.toWellFormed(), carried(item, what, level + 1)]),
  )
}

/** An object without a class of its own, in whatever realm it was made. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function nameOf(value: unknown): string {
  const made = typeof value === 'object' && value?.constructor
  return typeof made === 'function' && made.name ? `a ${made.name}` : `a ${typeof value}`
}

function isCarried(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}
