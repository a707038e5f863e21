/**
 * The mean over other cases like these: an interval that assumes no shape, only that each case's
 * value lies in a known range.
 *
 * The cases are a sample of those that could have been drawn. Whatever was not drawn may be
 * anything in the range: each end of the interval therefore gives weight to one value that was not
 * seen, at that end of the range. So it does not shrink to nothing where all cases look alike, and
 * one more failure never raises an end.
 */
import { TouchstoneError } from '../errors.ts'
import { normalQuantile } from './distribution.ts'
import { inside, numbers, optionsOf, positive, whole } from './domain.ts'
import type { Interval } from './interval.ts'
import { weightedMeanCdf } from './weighted.ts'

/**
 * How many observations the value that was not seen stands for. With 1 the interval of 0/1 values
 * is Clopper and Pearson's, which covers at least 95 %; with 1/2 it is Jeffreys', which goes down
 * to 87 %. 0.8 covers at least 93.6 % of the time for any rate and 3 to 200 values, and is narrower
 * than 1 (test/bench/README.md).
 */
export const UNSEEN = 0.8

/**
 * Interval for the mean of values that lie in [low, high], with nothing else assumed about how they
 * are distributed.
 *
 * @param values   one per case (or per family of cases)
 * @param options.weights  what each value counts for in the mean, each above 0; default all the
 *   same
 * @param options.range    where a value can lie; default [0, 1]
 * @param options.level    confidence in (0, 1)
 * @returns        ends in the range; NaN for fewer than two values
 * @see            Learned-Miller & Thomas 2020 (A new confidence interval for the mean of a bounded
 *   random variable); Rubin 1981 (The Bayesian bootstrap); known answers:
 *   fixtures/stats/bounded.json
 * @example
 * boundedMean([1, 1, 1, 1, 1, 1, 1, 1]) // { low: 0.6627, high: 1 }
 * boundedMean([0.2, 0.4, 0.6, 0.8]) // { low: 0.1916, high: 0.8084 }
 */
export function boundedMean(
  values: readonly number[],
  options: {
    weights?: readonly number[] | undefined
    range?: readonly [number, number]
    level?: number
  } = {},
): Interval {
  optionsOf(options, ['weights', 'range', 'level'])
  const [least, most] = options.range ?? [0, 1]
  numbers(values, 'values')
  // A value that is computed may leave the range by a rounding.
  const slack = (most - least) * 1e-9
  for (let i = 0; i < values.length; i++)
    if (!((values[i] as number) >= least - slack && (values[i] as number) <= most + slack))
      throw new TouchstoneError(
        'argument_invalid',
        `expected a number in [${least}, ${most}], got ${values[i]}`,
        { where: `values[${i}]` },
      )
  if (options.weights) {
    numbers(options.weights, 'options.weights')
    whole(options.weights.length, values.length, values.length, 'options.weights.length')
    for (const [i, weight] of options.weights.entries()) positive(weight, `options.weights[${i}]`)
  }
  const tail = (1 - inside(options.level ?? 0.95, 'options.level')) / 2
  if (values.length < 2) return { low: NaN, high: NaN }
  const scaled = values.map((value) => (value - least) / (most - least))
  const low = lowerEnd(scaled, options.weights, tail)
  const high =
    1 -
    lowerEnd(
      scaled.map((value) => 1 - value),
      options.weights,
      tail,
    )
  return { low: least + low * (most - least), high: least + high * (most - least) }
}

/**
 * Whether the lower end of `boundedMean` is at or above a line, or the upper one at or below it:
 * a single look where the ends themselves take a search.
 */
export function endBeyond(
  values: readonly number[],
  line: number,
  side: 'low' | 'high',
  options: Parameters<typeof boundedMean>[1] = {},
): boolean {
  if (values.length < 2) return false
  const [least, most] = options.range ?? [0, 1]
  const tail = (1 - (options.level ?? 0.95)) / 2
  const scale = (value: number) =>
    side === 'low' ? (value - least) / (most - least) : (most - value) / (most - least)
  const at = scale(line)
  if (at <= 0) return true
  const { parts, mean } = partsOf(values.map(scale), options.weights)
  return mean >= at && below(parts, at) <= tail
}

type Parts = { value: number; weight: number; mass: number }[]

/** Values that weigh the same and are the same are counted together, beside the unseen one. */
function partsOf(
  values: readonly number[],
  weights: readonly number[] | undefined,
): { parts: Parts; mean: number } {
  const counted = new Map<string, Parts[number]>()
  let heaviest = 0
  let total = 0
  let sum = 0
  for (const [i, value] of values.entries()) {
    const weight = weights?.[i] ?? 1
    const key = `${value} ${weight}`
    const one = counted.get(key) ?? { value, weight, mass: 0 }
    one.mass++
    counted.set(key, one)
    heaviest = Math.max(heaviest, weight)
    total += weight
    sum += weight * value
  }
  // What was not seen may weigh as much as the heaviest that was.
  const parts = [{ value: 0, weight: heaviest, mass: UNSEEN }, ...counted.values()]
  return { parts, mean: sum / total }
}

/** How likely the weighted mean is at or below x: where a sum of gamma x gap is at or below 0. */
function below(parts: Parts, x: number): number {
  return weightedMeanCdf(
    parts.map(({ value, weight }) => weight * (value - x)),
    parts.map(({ mass }) => mass),
    0,
  )
}

/** The lower end for values in [0, 1]. */
function lowerEnd(
  values: readonly number[],
  weights: readonly number[] | undefined,
  tail: number,
): number {
  const { parts, mean } = partsOf(values, weights)
  if (mean <= 0) return 0
  const wanted = normalQuantile(tail)
  const gapTo = (x: number) =>
    normalQuantile(Math.min(1 - 1e-15, Math.max(1e-300, below(parts, x)))) - wanted
  // On the scale of the normal quantile the distribution is nearly a line, whose slope is about
  // one over the standard deviation: secants from there, kept between two points that hold the end.
  const { center, deviation } = momentsOf(parts)
  let [left, right] = [0, mean]
  let x = Math.min(Math.max(center + wanted * deviation, mean / 1000), mean)
  let slope = 1 / deviation
  let before: { x: number; at: number } | null = null
  for (let i = 0; i < 100 && right - left > 1e-11; i++) {
    const at = gapTo(x)
    if (Math.abs(at) < 1e-9) return x
    if (at < 0) left = x
    else right = x
    if (before !== null && at !== before.at) slope = (at - before.at) / (x - before.x)
    before = { x, at }
    const next = x - at / slope
    // A step that leaves the bracket halves it instead.
    x = next > left && next < right ? next : (left + right) / 2
  }
  return left
}

/** Mean and standard deviation of the weighted mean, as if the weights' own sum did not vary. */
function momentsOf(parts: Parts): { center: number; deviation: number } {
  let [total, sum] = [0, 0]
  for (const { value, weight, mass } of parts) {
    total += weight * mass
    sum += weight * mass * value
  }
  const center = sum / total
  let squares = 0
  for (const { value, weight, mass } of parts) squares += mass * (weight * (value - center)) ** 2
  return { center, deviation: Math.sqrt(squares) / total }
}
