/**
 * One configuration over several cases: the mean over cases, with an interval that counts cases and not trials.
 *
 * Trials of one case resemble each other, so 100 trials of 20 cases are not 100 independent facts. An interval that pools
 * them covers 70 to 84 % instead of 95 % (test/bench/README.md).
 */
import { bootstrap } from './bootstrap.ts'
import { tQuantile } from './distribution.ts'
import { inside, list, named, scores, word } from './domain.ts'
import { wilsonForm } from './interval.ts'
import type { Rng } from './random.ts'
import { mean, variance, varianceSplit } from './variance.ts'

export type RateMethod = 'wilson' | 't' | 'bootstrap'

export type Rate = {
  /** Mean over the cases' mean scores, in [0, 1]; NaN without a usable trial. */
  estimate: number
  /** The interval's ends, in [0, 1]; NaN for fewer than two cases. */
  low: number
  high: number
  level: number
  method: RateMethod
  /** Cases with at least one usable trial. */
  cases: number
  trials: number
  /** Cases without a usable trial: they are in no figure here. */
  missing: number
  /** Standard error of the estimate over cases; 0 is possible, the interval is never of zero width. */
  standardError: number
  /** Share of the spread that lies between cases; NaN when undefined. */
  icc: number
  /** Trials divided by `effectiveN`. */
  designEffect: number
  /** The number of independent trials these are worth, from the number of cases up to the number of trials. */
  effectiveN: number
  /** Why a figure is undefined, or what was assumed. */
  reason?: string
}

/**
 * Mean score of one configuration over cases, and an interval for cases like these.
 *
 * The default interval is Wilson's with the effective number of trials and a t quantile on cases - 1 degrees of freedom:
 * it holds near 0 and 1, where the plain t interval does not. Without any spread each case counts once.
 *
 * @param cases          one array per case with the score in [0, 1] of each usable trial; lengths may differ, and an empty
 *                       array is a case without a usable trial
 * @param options.level  confidence in (0, 1), default 0.95
 * @param options.method `wilson` (default), `t` (too narrow near 0 and 1), `bootstrap` (hierarchical, for display; needs `rng`)
 * @param options.rng    seeded source for the bootstrap
 * @returns              a mean over cases, not over trials; NaN with a `reason` where undefined
 * @throws               `argument_invalid` for a score outside [0, 1] or a bad option
 * @see                  Miller 2024 (arXiv 2411.00640) for the clustered error; Korn & Graubard 1998 for the effective
 *                       number with a t correction; coverage: test/bench/README.md
 * @example
 * const r = rate([[1, 1, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 1]])
 * r.estimate // 0.65
 * r.standardError // 0.1708
 * r.effectiveN // 8.8
 * rate([[1, 1, 1]]).low // NaN
 * rate([[2]]) // throws argument_invalid
 */
export function rate(
  cases: readonly (readonly number[])[],
  options: { level?: number; method?: RateMethod; rng?: Rng } = {},
): Rate {
  list(cases, 'arrays of scores, one per case', 'cases')
  named(options, 'options')
  const level = inside(options.level ?? 0.95, 'options.level')
  const method = word(
    options.method ?? 'wilson',
    ['wilson', 't', 'bootstrap'] as const,
    'options.method',
  )
  const used = cases.filter((values, i) => scores(values, `cases[${i}]`).length > 0)
  const means = used.map(mean)
  const trials = used.reduce((sum, values) => sum + values.length, 0)
  const estimate = mean(means)
  const result: Rate = {
    estimate,
    low: NaN,
    high: NaN,
    level,
    method,
    cases: used.length,
    trials,
    missing: cases.length - used.length,
    standardError: NaN,
    icc: NaN,
    designEffect: NaN,
    effectiveN: NaN,
  }
  if (used.length === 0) return { ...result, reason: 'no usable trial' }
  if (used.length === 1)
    return { ...result, reason: 'one case only: nothing is known about other cases' }
  const error = Math.sqrt(variance(means) / used.length)
  result.standardError = error > 1e-12 ? error : 0
  result.icc = varianceSplit(used).icc
  const flat = used.flat()
  const spread = flat.some((score) => score !== flat[0])
  // Every case weighs the same, so one with few trials is not made up for by another with many: were all trials independent, the
  // mean over cases would still be worth no more than this, which is all of them only where each case has as many.
  const most = used.length ** 2 / used.reduce((sum, values) => sum + 1 / values.length, 0)
  // For equal trials per case and 0/1 scores this is trials / (1 + (trials per case - 1) icc) exactly.
  const worth = (estimate * (1 - estimate)) / result.standardError ** 2 + 1
  result.effectiveN = spread ? Math.min(Math.max(worth, used.length), most) : used.length
  result.designEffect = trials / result.effectiveN
  const critical = tQuantile((1 + level) / 2, used.length - 1)
  let interval = { low: NaN, high: NaN }
  if (method === 'bootstrap') interval = bootstrap(used, { level, rng: options.rng }).interval
  if (method === 't' && result.standardError > 0) {
    interval.low = Math.max(0, estimate - critical * result.standardError)
    interval.high = Math.min(1, estimate + critical * result.standardError)
  }
  // Where the other two would have no width, they give way.
  if (Number.isNaN(interval.low)) {
    interval = wilsonForm(estimate, result.effectiveN, critical)
    result.method = 'wilson'
  }
  Object.assign(result, interval)
  if (!spread) result.reason = 'every trial scored the same: each case counts once'
  return result
}
