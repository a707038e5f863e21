/**
 * One configuration over several cases: the mean over cases, with an interval for one of two
 * questions.
 *
 * "Run again" (`these`) asks about exactly these cases. "Other cases like these" (`like these`)
 * asks about others: trials of one case resemble each other, so 100 trials of 20 cases are not 100
 * independent facts, and an interval that pools them covers 58 to 93 % instead of 95 %
 * (test/bench/README.md).
 */

import { bootstrap } from './bootstrap.ts'
import { boundedMean } from './bounded.ts'
import { tQuantile } from './distribution.ts'
import { inside, list, optionsOf, scores, whole, word } from './domain.ts'
import { clustered, familiesOf, type Target } from './families.ts'
import { wilsonForm } from './interval.ts'
import type { Rng } from './random.ts'
import { sameCases } from './same-cases.ts'
import { mean, varianceSplit } from './variance.ts'

const METHODS = ['bounded', 'within cases', 'wilson', 't', 'bootstrap'] as const
export type RateMethod = (typeof METHODS)[number]

export type RateOptions = {
  target?: Target
  level?: number
  method?: RateMethod
  families?: readonly (string | undefined)[]
  rng?: Rng
}

export type Rate = {
  /** Mean over the cases' mean scores, in [0, 1]; NaN without a usable trial. */
  estimate: number
  /** The interval's ends, in [0, 1]; NaN where nothing is known. */
  low: number
  high: number
  level: number
  /** What the interval speaks about. */
  target: Target
  method: RateMethod
  /** Cases with at least one usable trial, and the families that they make. */
  cases: number
  families: number
  trials: number
  /** Cases without a usable trial: they are in no figure here. */
  missing: number
  /**
   * Standard error of the estimate when whole families are drawn; 0 is possible, the interval is
   * never of zero width.
   */
  standardError: number
  /** Share of the spread that lies between cases; NaN when undefined. */
  icc: number
  /** Trials divided by `effectiveN`. */
  designEffect: number
  /**
   * The number of independent trials these are worth, from the number of cases up to the number of
   * trials.
   */
  effectiveN: number
  /** Why a figure is undefined, or what was assumed. */
  reason?: string
}

/**
 * Mean score of one configuration over cases, and an interval.
 *
 * The default intervals assume no shape and are monotone: one more failure never raises an end. See
 * `boundedMean` for other cases, `sameCases` for these.
 *
 * @param cases            one array per case with the score in [0, 1] of each usable trial; lengths
 *   may differ, and an empty array is a case without a usable trial
 * @param options.target   `like these` (default): other cases; `these`: run again on the same
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case, for `like these`; default: each case is a family
 *   of its own
 * @param options.method   default by target: `bounded` or `within cases`. For comparison: `wilson`
 *   with the effective number of trials and `t`, which cover as little as 83 % near 0 and 1;
 *   `bootstrap` (hierarchical; `rng`)
 * @returns                a mean over cases, not over trials; NaN with a `reason` where undefined
 * @throws                 `argument_invalid` for a score outside [0, 1] or a bad option
 * @see                    Learned-Miller & Thomas 2020; Miller 2024 (arXiv 2411.00640) for the
 *   clustered error; coverage: test/bench/README.md
 * @example
 * const r = rate([[1, 1, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 1]])
 * r.estimate // 0.65
 * r.standardError // 0.1708
 * r.effectiveN // 8.8
 * rate([[1, 1, 1]]).low // NaN
 * rate([[1, 1, 1]], { target: 'these' }).low // 0.3275
 * rate([[2]]) // throws argument_invalid
 */
export function rate(cases: readonly (readonly number[])[], options: RateOptions = {}): Rate {
  list(cases, 'arrays of scores, one per case', 'cases')
  optionsOf(options, ['target', 'level', 'method', 'families', 'rng'])
  const level = inside(options.level ?? 0.95, 'options.level')
  const target = word(
    options.target ?? 'like these',
    ['like these', 'these'] as const,
    'options.target',
  )
  const method = word(
    options.method ?? (target === 'these' ? 'within cases' : 'bounded'),
    METHODS,
    'options.method',
  )
  const names = list(options.families ?? cases.map(() => undefined), 'names', 'options.families')
  whole(names.length, cases.length, cases.length, 'options.families.length')
  const usable = cases.map((values, i) => scores(values, `cases[${i}]`).length > 0)
  const used = cases.filter((_, i) => usable[i])
  const means = used.map(mean)
  const families = familiesOf(
    names.filter((_, i) => usable[i]).map((family) => ({ family })),
    means,
  )
  const trials = used.reduce((sum, values) => sum + values.length, 0)
  const estimate = mean(means)
  const result: Rate = {
    estimate,
    low: NaN,
    high: NaN,
    level,
    target,
    method,
    cases: used.length,
    families: families.length,
    trials,
    missing: cases.length - used.length,
    standardError: NaN,
    icc: NaN,
    designEffect: NaN,
    effectiveN: NaN,
  }
  if (used.length === 0) return { ...result, reason: 'no usable trial' }
  const { error } = clustered(families)
  result.standardError = error <= 1e-12 ? 0 : error
  if (method === 'within cases') Object.assign(result, sameCases(used, level))
  if (families.length < 2) {
    const reason =
      used.length === 1
        ? 'one case only: nothing is known about other cases'
        : 'one family of cases only: nothing is known about others'
    return method === 'within cases' ? result : { ...result, reason }
  }
  result.icc = varianceSplit(used).icc
  // Every case weighs the same, so one with few trials is not made up for by another with many:
  // were all trials independent, the mean over cases would still be worth no more than this, which
  // is all of them only where each case has as many.
  const most = used.length ** 2 / used.reduce((sum, values) => sum + 1 / values.length, 0)
  // For equal trials per case and 0/1 scores this is trials / (1 + (trials per case - 1) icc)
  // exactly.
  const worth = (estimate * (1 - estimate)) / result.standardError ** 2 + 1
  const flat = used.flat()
  const spread = flat.some((score) => score !== flat[0])
  const least = Math.min(most, families.length)
  result.effectiveN = spread ? Math.min(Math.max(worth, least), most) : least
  result.designEffect = trials / result.effectiveN
  if (method === 'within cases') return result
  if (!spread) result.reason = 'every trial scored the same: each case counts once'
  if (method === 'bounded') {
    const interval = boundedMean(
      families.map(({ sum, cases }) => sum / cases),
      { weights: families.map(({ cases }) => cases), level },
    )
    return Object.assign(result, interval)
  }
  const critical = tQuantile((1 + level) / 2, families.length - 1)
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
  return Object.assign(result, interval)
}
