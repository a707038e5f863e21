/**
 * Latency, tokens, cost: measurements without an upper end, summed up and compared, with intervals
 * for other cases like these.
 */
import { boundedMean } from './bounded.ts'
import { tCdf, tQuantile } from './distribution.ts'
import { inside, list, numbers, optionsOf, share, sides as sidesOf } from './domain.ts'
import { signFlip } from './exact.ts'
import { clustered, familiesOf } from './families.ts'
import { median, quantileOfSorted } from './quantile.ts'
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

/** A figure of some measurements with its interval for other cases like these. */
export type MeasureFigure = { estimate: number; low: number; high: number }

/**
 * A quantile of all measurements, such as the median or the 95th percentile, with an interval for
 * other cases like these.
 *
 * The share of measurements at or below the estimate has an interval for other cases
 * (`boundedMean`); its ends are looked up among the measurements (Woodruff). Where that share
 * reaches beyond the largest measurement the upper end is not known: Infinity.
 *
 * @param cases            per case its measurements, finite; empty arrays leave the case out
 * @param q                in (0, 1)
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case; default: each case is a family of its own
 * @returns                ends are NaN for fewer than two families
 * @throws                 `argument_invalid`
 * @see                    Woodruff 1952; Francisco & Fuller 1991 for clusters; coverage:
 *   test/bench/README.md
 * @example
 * const f = quantileOver([[10, 12, 11], [14, 15, 13], [9, 10, 11], [20, 16, 18]], 0.5)
 * f.estimate // 12.5
 * f.high // Infinity
 */
export function quantileOver(
  cases: readonly (readonly number[])[],
  q: number,
  options: { level?: number; families?: readonly (string | undefined)[] } = {},
): MeasureFigure {
  share(q, 'q')
  inside(q, 'q')
  const level = inside(optionsOf(options, ['level', 'families']).level ?? 0.95, 'options.level')
  for (const [i, values] of list(cases, 'measurements, one list per case', 'cases').entries())
    numbers(values, `cases[${i}]`)
  const all = Float64Array.from(cases.flat()).sort()
  const estimate = quantileOfSorted(all, q)
  const trials = all.length
  // A family counts by its trials: the share is over measurements, not over cases.
  const families = [
    ...Map.groupBy(cases.keys(), (i) => options.families?.[i] ?? i).values(),
  ].flatMap((members) => {
    const values = members.flatMap((i) => cases[i] as readonly number[])
    const below = values.filter((value) => value <= estimate).length
    return values.length > 0 ? [{ cases: values.length, sum: below }] : []
  })
  if (families.length < 2) return { estimate, low: NaN, high: NaN }
  const ends = boundedMean(
    families.map(({ sum, cases: size }) => sum / size),
    { weights: families.map(({ cases: size }) => size), level },
  )
  const at = (end: number) => all[Math.max(0, Math.ceil(end * trials) - 1)] as number
  return {
    estimate,
    low: at(ends.low),
    high:
      ends.high > trials / (trials + 1)
        ? Infinity
        : (all[Math.floor(ends.high * trials)] ?? Infinity),
  }
}

/**
 * The mean of some measurements over cases, with an interval for other cases like these: Student's
 * t over families.
 *
 * @param cases            per case its measurements, finite; empty arrays leave the case out
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case; default: each case is a family of its own
 * @returns                ends are NaN for fewer than two families, or without a spread
 * @throws                 `argument_invalid`
 * @see                    R's t.test; known answers: fixtures/stats/continuous.json
 * @example
 * meanOver([[10, 12], [14, 16], [9, 11]]) // { estimate: 12, low: 5.42759, high: 18.57241 }
 */
export function meanOver(
  cases: readonly (readonly number[])[],
  options: { level?: number; families?: readonly (string | undefined)[] } = {},
): MeasureFigure {
  const level = inside(optionsOf(options, ['level', 'families']).level ?? 0.95, 'options.level')
  const usable = list(cases, 'measurements, one list per case', 'cases').map(
    (values, i) => numbers(values, `cases[${i}]`).length > 0,
  )
  const means = cases.filter((_, i) => usable[i]).map(mean)
  const names = (options.families ?? cases.map(() => undefined)).filter((_, i) => usable[i])
  const { error, df } = clustered(
    familiesOf(
      names.map((family) => ({ family })),
      means,
    ),
  )
  const estimate = mean(means)
  const reach = error > 0 ? tQuantile((1 + level) / 2, df) * error : NaN
  return { estimate, low: estimate - reach, high: estimate + reach }
}
