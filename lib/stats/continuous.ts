/**
 * Latency, tokens, cost: measurements without an upper end, compared, with an interval for other
 * cases like these.
 */
import { tCdf, tQuantile } from './distribution.ts'
import { inside, numbers, optionsOf, sides as sidesOf } from './domain.ts'
import { signFlip } from './exact.ts'
import { clustered, familiesOf } from './families.ts'
import { median } from './quantile.ts'
import { mean } from './variance.ts'

/** One case's measurements under both configurations. */
export type MeasurePair = {
  id?: string
  /** Cases of one family count as one draw. Default: each case is a family of its own. */
  family?: string
  a: readonly number[]
  b: readonly number[]
}

export type MeasureComparison = {
  /**
   * Mean over cases of (median of b - median of a), in the unit of the measurements; NaN without a
   * usable case.
   */
  difference: number
  /** Interval of Student's t over families of cases; NaN when it would have no width. */
  low: number
  high: number
  level: number
  /**
   * Two-sided p value of the same t test: at or below 1 - level exactly where the interval leaves
   * out 0.
   */
  p: number
  /** Two-sided sign-flip test of the case differences, which assumes no shape. */
  pSignFlip: number
  /** Means over cases of the medians. */
  a: number
  b: number
  cases: number
  missing: number
  moved: number
  reason?: string
}

/**
 * Does b take more than a? Paired by case, a median per case so that one slow trial does not
 * decide.
 *
 * What the trials add to the spread is in the spread of the case medians already, so that nothing
 * is drawn twice.
 *
 * @param pairs          per case: measurements of a and of b, finite, any unit; empty arrays leave
 *   the case out
 * @param options.level  confidence in (0, 1), default 0.95
 * @throws               `argument_invalid` for a number that is not finite or a bad option
 * @see                  R's t.test(paired = TRUE); known answers: fixtures/stats/continuous.json;
 *   coverage: test/bench/README.md
 * @example
 * const c = compareMedians([{ a: [100, 120, 110], b: [150, 140, 900] }, { a: [80, 90, 70], b: [95, 90, 85] }])
 * c.difference // 25
 */
export function compareMedians(
  pairs: readonly MeasurePair[],
  options: { level?: number } = {},
): MeasureComparison {
  sidesOf(pairs)
  optionsOf(options, ['level'])
  const level = inside(options.level ?? 0.95, 'options.level')
  const used = pairs.filter((pair, i) => {
    numbers(pair.a, `pairs[${i}].a`)
    numbers(pair.b, `pairs[${i}].b`)
    return pair.a.length > 0 && pair.b.length > 0
  })
  const differences = used.map((pair) => median(pair.b) - median(pair.a))
  const families = familiesOf(used, differences)
  const test = signFlip(families.map(({ sum }) => sum))
  const { error, df } = clustered(families)
  const difference = mean(differences)
  const result: MeasureComparison = {
    difference,
    low: NaN,
    high: NaN,
    level,
    p: NaN,
    pSignFlip: used.length === 0 ? NaN : test.p,
    a: mean(used.map((pair) => median(pair.a))),
    b: mean(used.map((pair) => median(pair.b))),
    cases: used.length,
    missing: pairs.length - used.length,
    moved: test.moved,
  }
  if (families.length < 2)
    return { ...result, reason: 'fewer than two cases: nothing is known about other cases' }
  // Equal differences may have a spread in their last bits.
  if (!(error > 1e-12 * Math.max(...differences.map(Math.abs))))
    return {
      ...result,
      reason: 'every case differed by the same: no spread to make an interval of',
    }
  const reach = tQuantile((1 + level) / 2, df) * error
  return {
    ...result,
    low: difference - reach,
    high: difference + reach,
    p: 2 * tCdf(-Math.abs(difference) / error, df),
  }
}
