/**
 * The domains of the arguments in this folder: each check returns the value, or throws
 * `argument_invalid` naming the value, the domain and the place. An undefined estimator is not an
 * error: it is NaN with a reason.
 */
import { onlyMembers } from '../arguments.ts'
import { TouchstoneError } from '../errors.ts'

function fail(domain: string, value: unknown, where: string): never {
  throw new TouchstoneError('argument_invalid', `expected ${domain}, got ${shown(value)}`, {
    where,
  })
}

/** A value as it may stand in a message. Not every value has a text, and not every one is short. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  try {
    const text = JSON.stringify(value) ?? typeof value
    return text.length > 60 ? `${text.slice(0, 59)}…` : text
  } catch {
    return typeof value
  }
}

/**
 * Any number, NaN and the infinities too. Texts, true, false and null would be taken for numbers by
 * comparing or adding them.
 */
export function number(value: number, where: string): number {
  return typeof value === 'number' ? value : fail('a number', value, where)
}

/** A finite number. */
export function finite(value: number, where: string): number {
  return Number.isFinite(value) ? value : fail('a finite number', value, where)
}

/** A number above zero. */
export function positive(value: number, where: string): number {
  return typeof value === 'number' && value > 0 ? value : fail('a number above 0', value, where)
}

/** A number in [0, 1]. */
export function share(value: number, where: string): number {
  return typeof value === 'number' && value >= 0 && value <= 1
    ? value
    : fail('a number in [0, 1]', value, where)
}

/** A number strictly between 0 and 1: a confidence level, a power. */
export function inside(value: number, where: string): number {
  if (typeof value === 'number' && value > 0 && value < 1) return value
  return fail('a number strictly between 0 and 1', value, where)
}

/** A whole number from `low` to `high`. */
export function whole(value: number, low: number, high: number, where: string): number {
  if (Number.isSafeInteger(value) && value >= low && value <= high) return value
  return fail(
    high === Number.MAX_SAFE_INTEGER
      ? `a whole number >= ${low}`
      : `a whole number in ${low}..${high}`,
    value,
    where,
  )
}

/** How many random draws: more than this would fill the memory before they said more. */
export function drawCount(value: number, where: string): number {
  whole(value, 100, Number.MAX_SAFE_INTEGER, where)
  return whole(value, 100, 10_000_000, where)
}

/** A source of random numbers. A seed is none: `stats.rng(seed)` makes one. */
export function source<F extends () => number>(value: F, where: string): F {
  return typeof value === 'function'
    ? value
    : fail('a source of random numbers such as stats.rng(seed)', value, where)
}

/** One of a few words. */
export function word<W extends string>(value: W, words: readonly W[], where: string): W {
  return words.includes(value) ? value : fail(`one of ${words.join(', ')}`, value, where)
}

/** An object of named arguments. */
export function named<T extends object>(value: T, where: string): T {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  return fail('an object', value, where)
}

/** Named arguments of a call, and no others: a misspelt one would be passed over. */
export function optionsOf<T extends object>(value: T, names: readonly (keyof T & string)[]): T {
  onlyMembers(named(value, 'options'), names, 'options')
  return value
}

/** A list, of what its reader says. */
export function list<T>(values: readonly T[], of: string, where: string): readonly T[] {
  return Array.isArray(values) ? values : fail(`an array of ${of}`, values, where)
}

/** One entry per case with what belongs to both configurations. */
export function sides<T extends { a: unknown; b: unknown }>(
  pairs: readonly T[],
  where = 'pairs',
): readonly T[] {
  list(pairs, '{ a, b } per case', where)
  for (let i = 0; i < pairs.length; i++) named(pairs[i] as T, `${where}[${i}]`)
  return pairs
}

/** The scores of one case: every one in [0, 1]. */
export function scores(values: readonly number[], where: string): readonly number[] {
  if (!Array.isArray(values)) fail('an array of numbers in [0, 1]', values, where)
  for (let i = 0; i < values.length; i++) share(values[i] as number, `${where}[${i}]`)
  return values
}

/** The scores of several cases. */
export function eachCase<C extends readonly (readonly number[])[]>(cases: C, where = 'cases'): C {
  list(cases, 'arrays of scores, one per case', where)
  for (let i = 0; i < cases.length; i++) scores(cases[i] as readonly number[], `${where}[${i}]`)
  return cases
}

/** The scores of several cases under both configurations. */
export function eachPair<P extends { a: readonly number[]; b: readonly number[] }>(
  pairs: readonly P[],
): readonly P[] {
  for (const [i, pair] of sides(pairs).entries()) {
    scores(pair.a, `pairs[${i}].a`)
    scores(pair.b, `pairs[${i}].b`)
  }
  return pairs
}

/** Measurements: every one finite. */
export function numbers(values: readonly number[], where: string): readonly number[] {
  if (!Array.isArray(values)) fail('an array of numbers', values, where)
  for (let i = 0; i < values.length; i++) finite(values[i] as number, `${where}[${i}]`)
  return values
}
