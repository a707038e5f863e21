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
  return carried(input as Json, 0) as JsonObject
}

function carried(value: Json, level: number): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number' && !isCarried(value))
    throw new Error('expected numbers that JSON carries unchanged')
  if (value === null || typeof value !== 'object') return value
  if (level >= MOST_LEVELS) throw new Error(`expected arguments nested at most ${MOST_LEVELS} deep`)
  if (Array.isArray(value)) return value.map((item) => carried(item, level + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), carried(item, level + 1)]),
  )
}

function isCarried(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}
