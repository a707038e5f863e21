/** The intraclass correlation of 0/1 scores, with an interval for other cases like these. */
import { endBeyond } from './bounded.ts'
import { eachCase, inside, list, optionsOf, whole } from './domain.ts'
import { clustered, familiesOf } from './families.ts'
import type { Interval } from './interval.ts'
import { mean, variance } from './variance.ts'

/** Halvings of the unit interval: an end to within 1e-9. */
const STEPS = 30

/**
 * Interval for the share of the spread that lies between cases, for other cases like these; the
 * estimate that it belongs to is `varianceSplit(cases).icc`.
 *
 * At the true share rho, the variance within a case is on average 1 - rho times that of all trials.
 * A value of rho is outside where `boundedMean` of the differences, a case each, leaves out 0. So
 * no shape is assumed, and a case that was not drawn may have any rate: near 0 and 1 it takes many
 * cases to say anything.
 *
 * @param cases            one array of 0 and 1 per case; cases with fewer than two trials are left
 *   out
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case; default: each case is a family of its own
 * @returns                ends in [0, 1]; NaN for fewer than two cases (or families)
 * @throws                 `argument_invalid` for a score that is not 0 or 1, or a bad option
 * @see                    Godambe 1960 (estimating equations); Learned-Miller & Thomas 2020; known
 *   answers: fixtures/stats/icc.json; coverage: test/bench/README.md
 * @example
 * const cases = Array.from({ length: 20 }, (_, i) => (i % 2 ? [1, 1, 1, 1, 0] : [0, 0, 1, 0, 0]))
 * iccInterval(cases) // { low: 0.1557, high: 0.3333 }
 */
export function iccInterval(
  cases: readonly (readonly number[])[],
  options: { level?: number; families?: readonly (string | undefined)[] } = {},
): Interval {
  for (const [i, values] of eachCase(cases).entries())
    for (const [j, score] of values.entries()) whole(score, 0, 1, `cases[${i}][${j}]`)
  const level = inside(optionsOf(options, ['level', 'families']).level ?? 0.95, 'options.level')
  const names = list(options.families ?? cases.map(() => undefined), 'names', 'options.families')
  whole(names.length, cases.length, cases.length, 'options.families.length')
  const kin = names.flatMap((family, i) => ((cases[i]?.length ?? 0) > 1 ? [{ family }] : []))
  const used = cases.filter(({ length }) => length > 1)
  const rates = used.map(mean)
  const families = familiesOf(kin, rates)
  const weights = families.map((one) => one.cases)
  if (weights.length < 2) return { low: NaN, high: NaN }
  const middle = mean(rates)
  // The variance of all trials about the true mean, a case each: about the mean that was seen it is
  // less by that mean's own variance.
  const more = clustered(families).error ** 2
  const around = (rate: number) => rate * (1 - 2 * middle) + middle ** 2 + more
  const within = used.map(variance)
  const most = Math.max(
    ...used.map(({ length: n }) => variance(Array.from({ length: n }, (_, i) => i % 2))),
  )
  const ends = [around(0), around(1)]
  const beyond = (rho: number, side: 'low' | 'high') => {
    const differences = rates.map((rate, i) => (within[i] as number) - (1 - rho) * around(rate))
    const range = [-(1 - rho) * Math.max(...ends), most - (1 - rho) * Math.min(...ends)] as const
    const values = familiesOf(kin, differences).map(({ sum, cases: size }) => sum / size)
    return endBeyond(values, 0, side, { weights, range, level })
  }
  return {
    low: lastWhere((rho) => beyond(rho, 'high')),
    high: 1 - lastWhere((gap) => beyond(1 - gap, 'low')),
  }
}

/** The last place of the unit interval up to which something holds; 0 where it never does. */
function lastWhere(holds: (at: number) => boolean): number {
  let [low, high] = [0, 1]
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2
    if (holds(middle)) low = middle
    else high = middle
  }
  return low
}
