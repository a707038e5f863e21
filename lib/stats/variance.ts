/**
 * Where the spread of the scores comes from: differences between cases, or differences between
 * trials of the same case.
 */
import { eachCase, list, number, numbers, optionsOf } from './domain.ts'

/**
 * Mean of some numbers; NaN of none.
 *
 * @example
 * mean([1, 2, 6]) // 3
 */
export function mean(values: readonly number[]): number {
  let sum = 0
  for (const value of list(values, 'numbers', 'values')) sum += number(value, 'values')
  return values.length === 0 ? NaN : sum / values.length
}

/**
 * Sample variance (divisor n - 1); NaN for fewer than two numbers.
 *
 * @example
 * variance([1, 2, 6]) // 7
 */
export function variance(values: readonly number[]): number {
  list(values, 'numbers', 'values')
  if (values.length < 2) return NaN
  const center = mean(values)
  let sum = 0
  for (const value of values) sum += (value - center) ** 2
  return sum / (values.length - 1)
}

export type VarianceSplit = {
  /** Variance of the cases' true means; an estimate below 0 is given as 0 with a reason. */
  between: number
  /** Variance of a trial around its case's mean. */
  within: number
  /** Mean squares of the one-way analysis of variance. */
  meanSquareBetween: number
  meanSquareWithin: number
  /**
   * Intraclass correlation: share of the spread that lies between cases. May be below 0. NaN when
   * undefined. Its interval is that of `iccInterval`: for 0/1 scores the usual one by F covers .39
   * to .96 of 95 %.
   */
  icc: number
  /**
   * 1 + (trials per case - 1) * icc: how many times more trials are needed than if all were
   * independent.
   */
  designEffect: number
  /** Trials divided by the design effect: the number of independent trials these are worth. */
  effectiveN: number
  cases: number
  trials: number
  reason?: string
}

/**
 * One-way analysis of variance over cases: how much of the spread lies between cases, and what the
 * repeats are worth.
 *
 * Unequal numbers of trials per case use the usual adjusted count n0 = (N - sum n_i^2 / N) / (M -
 * 1).
 *
 * @param cases  one array of scores in [0, 1] per case; empty arrays are left out
 * @throws       `argument_invalid` for a score outside [0, 1]
 * @see          Shrout & Fleiss 1979 (ICC(1,1)); Kish 1965 (design effect); known answers:
 *   fixtures/stats/variance.json
 * @example
 * const split = varianceSplit([[1, 1, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 1]])
 * split.icc // 0.3182
 * split.between // 0.0817
 */
export function varianceSplit(cases: readonly (readonly number[])[]): VarianceSplit {
  eachCase(cases)
  const used = cases.filter((values) => values.length > 0)
  const trials = used.reduce((sum, values) => sum + values.length, 0)
  const undefinedSplit = (reason: string): VarianceSplit => ({
    between: NaN,
    within: NaN,
    meanSquareBetween: NaN,
    meanSquareWithin: NaN,
    icc: NaN,
    designEffect: NaN,
    effectiveN: NaN,
    cases: used.length,
    trials,
    reason,
  })
  if (used.length < 2)
    return undefinedSplit('fewer than two cases: the spread between cases is unknown')
  if (trials === used.length)
    return undefinedSplit('one trial per case: the spread within a case is unknown')
  const grand = used.reduce((sum, values) => sum + mean(values) * values.length, 0) / trials
  let squaresBetween = 0
  let squaresWithin = 0
  let squaredCounts = 0
  for (const values of used) {
    const center = mean(values)
    squaresBetween += values.length * (center - grand) ** 2
    squaredCounts += values.length ** 2
    for (const value of values) squaresWithin += (value - center) ** 2
  }
  const meanSquareBetween = squaresBetween / (used.length - 1)
  const meanSquareWithin = squaresWithin / (trials - used.length)
  if (meanSquareBetween + meanSquareWithin < 1e-15) {
    return undefinedSplit('every trial scored the same: there is no spread to split')
  }
  const perCase = (trials - squaredCounts / trials) / (used.length - 1)
  const between = (meanSquareBetween - meanSquareWithin) / perCase
  const icc = between / (between + meanSquareWithin)
  const designEffect = 1 + (perCase - 1) * icc
  return {
    between: Math.max(0, between),
    within: meanSquareWithin,
    meanSquareBetween,
    meanSquareWithin,
    icc,
    designEffect,
    effectiveN: trials / designEffect,
    cases: used.length,
    trials,
    ...(between < 0 && {
      reason: 'the estimate of the spread between cases was below 0 and is given as 0',
    }),
  }
}

/**
 * Standard error of the mean over all observations when they come in clusters.
 *
 * `corrected` multiplies the variance by C / (C - 1), C clusters; with equal sizes it is then
 * sd(cluster means) / sqrt(C).
 *
 * @param clusters           one array of finite numbers per cluster; empty ones are left out
 * @param options.corrected  default true
 * @returns                  NaN for fewer than two clusters
 * @throws                   `argument_invalid` for a number that is not finite
 * @see                      Miller 2024 (arXiv 2411.00640), clustered standard errors; known
 *   answers: fixtures/stats/variance.json
 * @example
 * clusteredError([[1, 1, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 1]]) // 0.1708
 */
export function clusteredError(
  clusters: readonly (readonly number[])[],
  options: { corrected?: boolean } = {},
): number {
  list(clusters, 'arrays of numbers, one per cluster', 'clusters')
  optionsOf(options, ['corrected'])
  const used = clusters.filter((values, i) => numbers(values, `clusters[${i}]`).length > 0)
  if (used.length < 2) return NaN
  const all = used.flat()
  const center = mean(all)
  const squares = used.reduce(
    (sum, values) => sum + values.reduce((total, v) => total + v - center, 0) ** 2,
    0,
  )
  const correction = options.corrected === false ? 1 : used.length / (used.length - 1)
  return Math.sqrt(correction * squares) / all.length
}
