/** Looking into an entry of an export: texts and times that may be missing or of another kind. */
import type { JsonObject } from '../../json.ts'
import { at } from '../surface/classifier.ts'

/** The text at a dotted path, or null where there is none or an empty one. */
export function textAt(entry: unknown, path: string): string | null {
  const value = at(entry, path)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A text, or a whole number as text: old exports write the same id either way. */
export function idAt(entry: unknown, path: string): string | null {
  const value = at(entry, path)
  return typeof value === 'number' && Number.isSafeInteger(value)
    ? String(value)
    : textAt(entry, path)
}

/** The texts among these. */
export function texts(...values: (string | null)[]): string[] {
  return values.filter((one) => one !== null)
}

/** Epoch seconds as ISO 8601, or null. */
export function secondsAt(entry: JsonObject, path: string): string | null {
  const value = at(entry, path)
  return typeof value === 'number' && Math.abs(value) < 1e11
    ? new Date(value * 1000).toISOString()
    : null
}

/** What a table of kinds has under a name. */
export function kindOf<T>(kinds: { [kind: string]: T }, name: string): T | undefined {
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined
}
