/**
 * The domains of the arguments in this folder: each check returns the value, or throws `argument_invalid` naming the
 * value, the domain and the place. An undefined estimator is not an error: it is NaN with a reason.
 */
import { TouchstoneError } from '../errors.ts'

function fail(domain: string, value: unknown, where: string): never {
  const got = typeof value === 'number' ? String(value) : value === undefined ? 'nothing' : JSON.stringify(value)
  throw new TouchstoneError('argument_invalid', `expected ${domain}, got ${got}`, { where })
}

/** A finite number. */
export function finite(value: number, where: string): number {
  return Number.isFinite(value) ? value : fail('a finite number', value, where)
}

/** A number above zero. */
export function positive(value: number, where: string): number {
  return value > 0 ? value : fail('a number above 0', value, where)
}

/** A number in [0, 1]. */
export function share(value: number, where: string): number {
  return value >= 0 && value <= 1 ? value : fail('a number in [0, 1]', value, where)
}

/** A number strictly between 0 and 1: a confidence level, a power. */
export function inside(value: number, where: string): number {
  return value > 0 && value < 1 ? value : fail('a number strictly between 0 and 1', value, where)
}

/** A whole number from `low` to `high`. */
export function whole(value: number, low: number, high: number, where: string): number {
  if (Number.isSafeInteger(value) && value >= low && value <= high) return value
  return fail(
    high === Number.MAX_SAFE_INTEGER ? `a whole number >= ${low}` : `a whole number in ${low}..${high}`,
    value,
    where,
  )
}

/** One of a few words. */
export function word<W extends string>(value: W, words: readonly W[], where: string): W {
  return words.includes(value) ? value : fail(`one of ${words.join(', ')}`, value, where)
}

/** The scores of one case: every one in [0, 1]. */
export function scores(values: readonly number[], where: string): readonly number[] {
  if (!Array.isArray(values)) fail('an array of numbers in [0, 1]', values, where)
  for (let i = 0; i < values.length; i++) share(values[i] as number, `${where}[${i}]`)
  return values
}

/** Measurements: every one finite. */
export function numbers(values: readonly number[], where: string): readonly number[] {
  if (!Array.isArray(values)) fail('an array of numbers', values, where)
  for (let i = 0; i < values.length; i++) finite(values[i] as number, `${where}[${i}]`)
  return values
}
