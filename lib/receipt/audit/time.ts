/**
 * Times as evidence gives them. A time without its distance from UTC is none: what it means would
 * depend on the machine that reads it, and so would whether a record lies inside a window.
 */

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)$/i
const DAY = /^\d{4}-\d\d-\d\d$/

/** Epoch milliseconds of an ISO 8601 time that says its distance from UTC, or null. */
export function instantOf(text: string): number | null {
  if (!INSTANT.test(text)) return null
  const at = Date.parse(text.replace(',', '.').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return Number.isNaN(at) ? null : at
}

/** Epoch milliseconds of a day's first moment in UTC, or null. */
export function dayOf(text: string): number | null {
  const at = DAY.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : at
}

/**
 * A provider's time, ISO 8601 or epoch milliseconds, as ISO 8601 in UTC; null where it gives none.
 */
export function isoOf(value: string | number | null): string | null {
  const at = typeof value === 'string' ? instantOf(value) : value
  return at === null || !(Math.abs(at) <= 8.64e15) ? null : new Date(at).toISOString()
}
