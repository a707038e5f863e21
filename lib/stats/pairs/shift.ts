/**
 * By how much is one sample larger than another? Two independent samples, no assumption about how
 * they are distributed.
 */
import { normalCdf } from '../distribution.ts'
import { inside, numbers, optionsOf } from '../domain.ts'
import { median } from '../quantile.ts'

export type Shift = {
  /**
   * Hodges-Lehmann: the median of all differences b - a, in the unit of the samples; NaN for an
   * empty sample.
   */
  shift: number
  /** Exact interval of the shift; NaN when the samples are too small for one at this level. */
  low: number
  high: number
  level: number
  /** Two-sided Mann-Whitney test. */
  p: number
  a: number
  b: number
  reason?: string
}

/**
 * Up to so many pairs the distribution of the statistic is counted exactly; beyond, it is all but
 * normal.
 */
const EXACT_PAIRS = 2_500

/**
 * The shift from sample a to sample b, with the interval that the Mann-Whitney test gives.
 *
 * @param a,b           measurements, finite, any unit; ties count as one half
 * @param options.level confidence in (0, 1), default 0.95
 * @throws              `argument_invalid` for a number that is not finite or a bad option
 * @see                 Hollander, Wolfe & Chicken 2014, section 4.3; known answers:
 *   fixtures/stats/shift.json
 * @example
 * const s = shift([1, 2, 3, 4], [11, 12, 13, 14])
 * s.shift // 10
 * s.p // 0.02857142857142857
 */
export function shift(
  a: readonly number[],
  b: readonly number[],
  options: { level?: number } = {},
): Shift {
  numbers(a, 'a')
  numbers(b, 'b')
  const level = inside(optionsOf(options, ['level']).level ?? 0.95, 'options.level')
  const sizes = { a: a.length, b: b.length }
  const none = { shift: NaN, low: NaN, high: NaN, level, p: NaN, ...sizes }
  if (a.length === 0 || b.length === 0) return { ...none, reason: 'a sample is empty' }
  const differences = new Float64Array(a.length * b.length)
  let at = 0
  let u = 0
  for (const x of a) {
    for (const y of b) {
      const difference = y - x
      differences[at++] = difference
      u += difference < 0 ? 1 : difference === 0 ? 0.5 : 0
    }
  }
  differences.sort()
  const atMost = distribution(a.length, b.length)
  const pairs = differences.length
  // The nearer tail, cut towards the middle when ties leave half a count.
  const tail = Math.ceil(Math.min(u, pairs - u))
  const p = Math.min(1, 2 * atMost(tail))
  let k = 0
  while (k < pairs / 2 && atMost(k) <= (1 - level) / 2) k++
  const found = { ...none, shift: median(Array.from(differences)), p }
  if (k === 0) return { ...found, reason: 'too few measurements for an interval at this level' }
  return {
    ...found,
    low: differences[k - 1] as number,
    high: differences[pairs - k] as number,
  }
}

/** P(U <= u) when both samples come from one distribution. */
function distribution(n: number, m: number): (u: number) => number {
  const pairs = n * m
  if (pairs > EXACT_PAIRS) {
    const deviation = Math.sqrt((pairs * (n + m + 1)) / 12)
    return (u) => normalCdf((u + 0.5 - pairs / 2) / deviation)
  }
  // Shares[u] of the ways to place i values among j: the last one stands above all j others, or it
  // is one of those.
  let rows: Float64Array[] = Array.from({ length: m + 1 }, () => Float64Array.of(1))
  for (let i = 1; i <= n; i++) {
    const next: Float64Array[] = [Float64Array.of(1)]
    for (let j = 1; j <= m; j++) {
      const counts = new Float64Array(i * j + 1)
      const [above, below] = [rows[j] as Float64Array, next[j - 1] as Float64Array]
      for (let u = 0; u < above.length; u++) counts[u + j] = ((above[u] as number) * i) / (i + j)
      for (let u = 0; u < below.length; u++)
        counts[u] = (counts[u] as number) + ((below[u] as number) * j) / (i + j)
      next.push(counts)
    }
    rows = next
  }
  const shares = rows[m] as Float64Array
  const upTo = new Float64Array(shares.length)
  let sum = 0
  for (let u = 0; u < shares.length; u++) upTo[u] = sum += shares[u] as number
  return (u) => (u < 0 ? 0 : (upTo[Math.min(u, pairs)] as number))
}
