/** Latency, tokens, cost: measurements without an upper end, compared by paired differences of case medians. */
import { inside, numbers, whole } from './domain.ts'
import { signFlip } from './exact.ts'
import { median, quantileOfSorted } from './quantile.ts'
import { type Rng, rng as seeded } from './random.ts'
import { mean } from './variance.ts'

/** One case's measurements under both configurations. */
export type MeasurePair = { id?: string; a: readonly number[]; b: readonly number[] }

export type MeasureComparison = {
  /** Mean over cases of (median of b - median of a), in the unit of the measurements; NaN without a usable case. */
  difference: number
  /** Percentile interval of the hierarchical bootstrap; NaN when it would have no width. */
  low: number
  high: number
  level: number
  /** Two-sided sign-flip test of the case differences. */
  p: number
  /** Means over cases of the medians. */
  a: number
  b: number
  cases: number
  missing: number
  moved: number
  draws: number
  reason?: string
}

/**
 * Does b take more than a? Paired by case, a median per case so that one slow trial does not decide.
 *
 * Cases are drawn, then the trials of both configurations inside each drawn case.
 *
 * @param pairs          per case: measurements of a and of b, finite, any unit; empty arrays leave the case out
 * @param options.level  confidence in (0, 1), default 0.95
 * @param options.draws  whole, >= 100, default 10,000
 * @param options.rng    default a fixed seed, so that the same data give the same interval
 * @throws               `argument_invalid` for a number that is not finite or a bad option
 * @see                  Davison & Hinkley 1997, section 3.8; known answers: fixtures/stats/continuous.json
 * @example
 * const c = compareMedians([{ a: [100, 120, 110], b: [150, 140, 900] }, { a: [80, 90, 70], b: [95, 90, 85] }])
 * c.difference // 25
 */
export function compareMedians(
  pairs: readonly MeasurePair[],
  options: { level?: number; draws?: number; rng?: Rng } = {},
): MeasureComparison {
  const level = inside(options.level ?? 0.95, 'options.level')
  const draws = whole(options.draws ?? 10_000, 100, Number.MAX_SAFE_INTEGER, 'options.draws')
  const random = options.rng ?? seeded('medians')
  const used = pairs.filter((pair, i) => {
    numbers(pair.a, `pairs[${i}].a`)
    numbers(pair.b, `pairs[${i}].b`)
    return pair.a.length > 0 && pair.b.length > 0
  })
  const differences = used.map((pair) => median(pair.b) - median(pair.a))
  const test = signFlip(differences)
  const result: MeasureComparison = {
    difference: mean(differences),
    low: NaN,
    high: NaN,
    level,
    p: used.length === 0 ? NaN : test.p,
    a: mean(used.map((pair) => median(pair.a))),
    b: mean(used.map((pair) => median(pair.b))),
    cases: used.length,
    missing: pairs.length - used.length,
    moved: test.moved,
    draws,
  }
  if (used.length < 2) return { ...result, reason: 'fewer than two cases: nothing is known about other cases' }
  const drawn = new Float64Array(draws)
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0
    for (let i = 0; i < used.length; i++) {
      const pair = used[Math.floor(random() * used.length)] as MeasurePair
      sum += drawnMedian(pair.b, random) - drawnMedian(pair.a, random)
    }
    drawn[draw] = sum / used.length
  }
  drawn.sort()
  const low = quantileOfSorted(drawn, (1 - level) / 2)
  const high = quantileOfSorted(drawn, (1 + level) / 2)
  if (!(high > low)) return { ...result, reason: 'no spread: a resample can only repeat what was seen' }
  return { ...result, low, high }
}

/** Median of as many draws with replacement. Few numbers per case: insertion keeps them in order. */
function drawnMedian(values: readonly number[], random: Rng): number {
  const n = values.length
  const sorted: number[] = []
  for (let k = 0; k < n; k++) {
    const value = values[Math.floor(random() * n)] as number
    let at = k
    for (; at > 0 && (sorted[at - 1] as number) > value; at--) sorted[at] = sorted[at - 1] as number
    sorted[at] = value
  }
  return ((sorted[(n - 1) >> 1] as number) + (sorted[n >> 1] as number)) / 2
}
