/**
 * Latency, tokens, cost: measurements without an upper end, summed up by a quantile or a mean, with
 * intervals for other cases like these.
 */
import { endBeyond } from './bounded.ts'
import { tQuantile } from './distribution.ts'
import { inside, list, numbers, optionsOf, share } from './domain.ts'
import { clustered, familiesOf } from './families.ts'
import { quantileOfSorted } from './quantile.ts'
import { mean, variance } from './variance.ts'

/** A figure of some measurements with its interval for other cases like these. */
export type MeasureFigure = { estimate: number; low: number; high: number }

/**
 * A quantile of all measurements, such as the median or the 95th percentile, with an interval for
 * other cases like these.
 *
 * A measurement lies beyond the upper end if even the cautious end of the share at or below it
 * (`boundedMean` over cases) has reached q, and below the lower end likewise: the test of each
 * value, inverted. Where no measurement says so much, the end is not known: Infinity above; below,
 * 0 where nothing is below 0, else -Infinity.
 *
 * @param cases            per case its measurements, finite; empty arrays leave the case out
 * @param q                in (0, 1)
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case; default: each case is a family of its own
 * @returns                ends are NaN for fewer than two families
 * @throws                 `argument_invalid`
 * @see                    Francisco & Fuller 1991 (quantiles of clusters by the inverted test);
 *   coverage: test/bench/README.md
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
  // A family counts by its trials: the share is over measurements, not over cases.
  const families = [...Map.groupBy(cases.keys(), (i) => options.families?.[i] ?? i).values()]
    .map((members) =>
      Float64Array.from(members.flatMap((i) => cases[i] as readonly number[])).sort(),
    )
    .filter((values) => values.length > 0)
  if (families.length < 2) return { estimate, low: NaN, high: NaN }
  const weights = families.map((values) => values.length)
  /** Whether the share below a value, itself included or not, is on one side of q for sure. */
  const sure = (value: number, side: 'low' | 'high') =>
    endBeyond(
      families.map((values) => countBelow(values, value, side === 'low') / values.length),
      q,
      side,
      { weights, level },
    )
  // The first value whose share has reached q for sure, and the last whose share has not for sure.
  const high = firstWhere(all.length, (i) => sure(all[i] as number, 'low'))
  const low = firstWhere(all.length, (i) => !sure(all[i] as number, 'high')) - 1
  const floor = (all[0] as number) >= 0 ? 0 : -Infinity
  return { estimate, low: low < 0 ? floor : (all[low] as number), high: all[high] ?? Infinity }
}

/** The first of some places where something holds that holds from there on; else their number. */
function firstWhere(count: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** How many sorted values lie below another, or at it where it is included. */
function countBelow(sorted: Float64Array, value: number, included: boolean): number {
  return firstWhere(sorted.length, (i) =>
    included ? (sorted[i] as number) > value : (sorted[i] as number) >= value,
  )
}

/** How much farther than Student's t the log-normal end may reach. */
const FARTHEST = 4

/**
 * The mean of some measurements over cases, with an interval for other cases like these: Student's
 * t over families.
 *
 * Times and costs are skewed, and a few cases seldom show the long ones: t then ends too low. Where
 * all are above 0, the upper end is the larger of that of t and that of a log-normal distribution
 * (Cox, with half the error), which is let out to four times t's reach; the lower end is not below
 * 0. Cases of another kind that were not drawn, such as one in ten that takes ten times as long,
 * are in no such interval.
 *
 * @param cases            per case its measurements, finite; empty arrays leave the case out
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case; default: each case is a family of its own
 * @returns                ends are NaN for fewer than two families, or without a spread
 * @throws                 `argument_invalid`
 * @see                    Student's t; Zhou & Gao 1997 (Cox's interval); known answers:
 *   fixtures/stats/figures.json; coverage: test/bench/README.md
 * @example
 * meanOver([[10, 12], [14, 16], [9, 11]]) // { estimate: 12, low: 5.42759, high: 26.15993 }
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
  const families = familiesOf(
    names.map((family) => ({ family })),
    means,
  )
  const { error, df } = clustered(families)
  const estimate = mean(means)
  const reach = error > 0 ? tQuantile((1 + level) / 2, df) * error : NaN
  const [low, high] = [estimate - reach, estimate + reach]
  if (Number.isNaN(reach) || !means.every((value) => value > 0)) return { estimate, low, high }
  const logs = families.map(({ sum, cases }) => Math.log(sum / cases))
  const spread = variance(logs)
  // With few cases that end is too low three times as often as the error that it is given.
  const upper = tQuantile((3 + level) / 4, df)
  const far = Math.sqrt(spread / logs.length + spread ** 2 / (2 * df)) * upper
  const skewed = Math.exp(mean(logs) + spread / 2 + far)
  return {
    estimate,
    low: Math.max(0, low),
    high: Math.max(high, Math.min(skewed, estimate + FARTHEST * reach)),
  }
}
