/**
 * Order statistics of some measurements: quantiles, the median, and the whole distribution as
 * steps.
 */
import { numbers, share } from './domain.ts'

/**
 * The value below which a share q of the numbers lies, linear between order statistics (type 7 of
 * Hyndman & Fan).
 *
 * @param values  finite numbers in any order
 * @param q       in [0, 1]
 * @returns       NaN of no numbers
 * @throws        `argument_invalid` for a number that is not finite or a q outside [0, 1]
 * @see           Hyndman & Fan 1996; R's quantile(type = 7); known answers:
 *   fixtures/stats/quantile.json
 * @example
 * quantile([4, 1, 3, 2], 0.5) // 2.5
 */
export function quantile(values: readonly number[], q: number): number {
  share(q, 'q')
  const sorted = Float64Array.from(numbers(values, 'values')).sort()
  return quantileOfSorted(sorted, q)
}

/** As `quantile`, of numbers that are ascending already. */
export function quantileOfSorted(sorted: Float64Array | readonly number[], q: number): number {
  if (sorted.length === 0) return NaN
  const position = q * (sorted.length - 1)
  const below = Math.floor(position)
  const low = sorted[below] as number
  return (
    low + (position - below) * ((sorted[Math.min(below + 1, sorted.length - 1)] as number) - low)
  )
}

/**
 * The middle number, or the mean of the middle two; NaN of no numbers.
 *
 * @throws  `argument_invalid` for a number that is not finite
 * @example
 * median([3, 1, 2]) // 2
 */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/**
 * The empirical distribution as steps: each different value, ascending, with the share of numbers
 * at or below it.
 *
 * @throws  `argument_invalid` for a number that is not finite
 * @example
 * ecdf([2, 1, 2, 5]) // [{ value: 1, share: 0.25 }, { value: 2, share: 0.75 }, { value: 5, share: 1 }]
 */
export function ecdf(values: readonly number[]): { value: number; share: number }[] {
  const sorted = Float64Array.from(numbers(values, 'values')).sort()
  const steps: { value: number; share: number }[] = []
  for (let i = 0; i < sorted.length; i++) {
    const value = sorted[i] as number
    if (value !== sorted[i + 1]) steps.push({ value, share: (i + 1) / sorted.length })
  }
  return steps
}
