/**
 * Ordered levels (asserted < observed_confirmed < verified): two distributions compared case by
 * case, without pretending that the steps between levels are equal.
 */
import { tQuantile } from '../distribution.ts'
import { inside, list, optionsOf, sides, whole } from '../domain.ts'
import { signFlip } from '../exact.ts'
import type { Rng } from '../random.ts'
import { mean, variance } from '../variance.ts'

/** One case: how many observations of a and of b reached each level, lowest level first. */
export type LevelPair = { id?: string; a: readonly number[]; b: readonly number[] }

export type OrdinalComparison = {
  /**
   * Probability of superiority, mean over cases: how often an observation of b is above one of a
   * from the same case, a tie counting half. 0.5 is no difference, 1 is b always above a.
   */
  superiority: number
  /** Interval for cases like these, in [0, 1]; NaN when undefined. */
  low: number
  high: number
  level: number
  /** Paired permutation test: labels swapped within cases, two-sided. */
  p: number
  method: 'enumerated' | 'sampled'
  /** Share of the observations at each level, mean over cases. */
  shares: { a: number[]; b: number[] }
  cases: number
  missing: number
  moved: number
  /** Of each pair given: its superiority, or null where it has no observation of one side. */
  each: (number | null)[]
  reason?: string
}

const MAX = Number.MAX_SAFE_INTEGER

/**
 * Are b's levels above a's? Paired by case.
 *
 * Swapping the labels a and b inside a case turns its superiority s into 1 - s, so the permutation
 * test is the sign-flip test of 2s - 1 (Cliff's delta per case).
 *
 * @param pairs          per case: counts by level, lowest first; all arrays equally long; whole
 *   numbers
 * @param options.level  confidence in (0, 1), default 0.95
 * @param options.rng    seeded source where the test must sample (more than 20 moved cases)
 * @throws               `argument_invalid` for counts that are not whole or arrays of different
 *   length
 * @see                  Vargha & Delaney 2000 (probability of superiority); Cliff 1993; known
 *   answers: fixtures/stats/ordinal.json
 * @example
 * compareLevels([{ a: [3, 2, 0], b: [1, 2, 2] }, { a: [1, 1, 3], b: [0, 1, 4] }]).superiority // 0.7
 */
export function compareLevels(
  pairs: readonly LevelPair[],
  options: { level?: number; rng?: Rng } = {},
): OrdinalComparison {
  sides(pairs)
  optionsOf(options, ['level', 'rng'])
  for (const [i, pair] of pairs.entries())
    for (const side of ['a', 'b'] as const)
      list(pair[side], 'counts, lowest level first', `pairs[${i}].${side}`)
  const level = inside(options.level ?? 0.95, 'options.level')
  const levels = pairs[0]?.a.length ?? 0
  const usable = pairs.map((pair, i) => {
    const totals = (['a', 'b'] as const).map((side) => {
      whole(pair[side].length, levels, levels, `pairs[${i}].${side}.length`)
      return pair[side].reduce(
        (sum, n, j) => sum + whole(n, 0, MAX, `pairs[${i}].${side}[${j}]`),
        0,
      )
    })
    return totals.every((total) => total > 0)
  })
  const used = pairs.filter((_, i) => usable[i])
  const deltas = used.map(({ a, b }) => 2 * superiority(a, b) - 1)
  const test = signFlip(deltas, { rng: options.rng })
  const center = mean(deltas)
  const error = Math.sqrt(variance(deltas) / used.length)
  const half = error > 0 ? tQuantile((1 + level) / 2, used.length - 1) * error : NaN
  const shares = (side: 'a' | 'b') =>
    Array.from({ length: levels }, (_, j) =>
      mean(
        used.map((pair) => (pair[side][j] as number) / pair[side].reduce((sum, n) => sum + n, 0)),
      ),
    )
  return {
    superiority: (center + 1) / 2,
    low: Math.max(0, (center - half + 1) / 2),
    high: Math.min(1, (center + half + 1) / 2),
    level,
    p: used.length === 0 ? NaN : test.p,
    method: test.method,
    shares: { a: shares('a'), b: shares('b') },
    cases: used.length,
    missing: pairs.length - used.length,
    moved: test.moved,
    each: pairs.map(({ a, b }, i) => (usable[i] ? superiority(a, b) : null)),
    ...(Number.isNaN(half) && {
      reason:
        used.length < 2
          ? 'fewer than two cases: nothing is known about other cases'
          : 'every case differed by the same: no spread to make an interval of',
    }),
  }
}

/** P(B > A) + P(B = A) / 2 for one observation of each, from counts by level. */
function superiority(a: readonly number[], b: readonly number[]): number {
  let below = 0
  let wins = 0
  let total = 0
  for (let j = 0; j < a.length; j++) {
    const atA = a[j] as number
    const atB = b[j] as number
    wins += atB * (below + atA / 2)
    below += atA
    total += atB
  }
  return wins / (below * total)
}
