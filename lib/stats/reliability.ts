/**
 * Reliability over repeats: would one of k trials pass (pass@k), would all k pass (pass^k), and
 * which cases flip.
 */
import { boundedMean } from './bounded.ts'
import { eachCase, inside, list, optionsOf, scores, whole } from './domain.ts'
import { familiesOf } from './families.ts'
import { mean } from './variance.ts'

const MAX = Number.MAX_SAFE_INTEGER

/**
 * Product of (n - c - i) / (n - i) for i < k: the share of k-subsets of n trials that hold none of
 * c chosen ones.
 */
function shareWithout(n: number, c: number, k: number): number {
  let product = 1
  for (let i = 0; i < k; i++) product *= Math.max(0, n - c - i) / (n - i)
  return product
}

/**
 * pass@k of one case: the probability that at least one of k trials passes, without bias.
 *
 * @param passed  whole, 0..trials
 * @param trials  whole, >= 0; errors of the infrastructure already left out
 * @param k       whole, >= 1
 * @returns       a probability; NaN when k > trials, for then it cannot be told
 * @throws        `argument_invalid` when an argument is outside its domain
 * @see           Chen et al. 2021 (arXiv 2107.03374), equation 1; known answers:
 *   fixtures/stats/reliability.json
 * @example
 * passAtK(1, 5, 2) // 0.4
 * passAtK(1, 5, 6) // NaN
 * passAtK(1, 5, 0) // throws argument_invalid
 */
export function passAtK(passed: number, trials: number, k: number): number {
  whole(k, 1, MAX, 'k')
  whole(trials, 0, MAX, 'trials')
  whole(passed, 0, trials, 'passed')
  return k > trials ? NaN : 1 - shareWithout(trials, passed, k)
}

/**
 * pass^k of one case: the probability that all of k trials pass, without bias. (passed / trials)^k
 * is too high.
 *
 * @param passed  whole, 0..trials
 * @param trials  whole, >= 0; errors of the infrastructure already left out
 * @param k       whole, >= 1
 * @returns       a probability; NaN when k > trials, for then it cannot be told
 * @throws        `argument_invalid` when an argument is outside its domain
 * @see           Yao et al. 2024 (tau-bench, arXiv 2406.12045), section 3; known answers:
 *   fixtures/stats/reliability.json
 * @example
 * passHatK(4, 5, 2) // 0.6
 * passHatK(5, 5, 6) // NaN
 */
export function passHatK(passed: number, trials: number, k: number): number {
  whole(k, 1, MAX, 'k')
  whole(trials, 0, MAX, 'trials')
  whole(passed, 0, trials, 'passed')
  return k > trials ? NaN : shareWithout(trials, trials - passed, k)
}

export type Reliability = {
  k: number
  /** Means over cases; NaN when no case has k trials. */
  passAtK: number
  passHatK: number
  /**
   * Interval of pass^k for other cases like these; NaN for fewer than two cases (or families) with
   * enough trials.
   */
  low: number
  high: number
  /** Cases with at least k trials (or `options.least`): those the means are over. */
  cases: number
  /** Cases with fewer than k trials: left out, not counted as 0 or 1. */
  short: number
  reason?: string
}

/**
 * pass@k and pass^k as means over cases, with an interval for pass^k.
 *
 * A curve over k must run over one set of cases, else it can rise: give the largest k as `least`.
 *
 * @param cases            one array per case with 0 (failed) or 1 (passed) for each usable trial
 * @param k                whole, >= 1
 * @param options.least    whole, >= k: cases with fewer trials are left out; default k
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case; default: each case is a family of its own
 * @throws                 `argument_invalid` for a score that is not 0 or 1, or a k below 1
 * @see                    Yao et al. 2024; the interval: `boundedMean`
 * @example
 * const r = reliability([[1, 1, 0], [1, 1, 1], [0, 1]], 2)
 * r.passHatK // 0.4444
 * r.high // 0.9163
 * reliability([[1, 1, 0], [1, 1, 1], [0, 1]], 2, { least: 3 }).cases // 2
 */
export function reliability(
  cases: readonly (readonly number[])[],
  k: number,
  options: { least?: number; level?: number; families?: readonly (string | undefined)[] } = {},
): Reliability {
  whole(k, 1, MAX, 'k')
  optionsOf(options, ['least', 'level', 'families'])
  const least = whole(options.least ?? k, k, MAX, 'options.least')
  const level = inside(options.level ?? 0.95, 'options.level')
  list(cases, 'arrays of 0 and 1, one per case', 'cases')
  const counted = cases.map((values, i) => ({
    trials: scores(values, `cases[${i}]`).length,
    passed: values.reduce((sum, value, j) => sum + whole(value, 0, 1, `cases[${i}][${j}]`), 0),
  }))
  const families = counted.map((_, i) => ({ family: options.families?.[i] }))
  const enough = counted.filter(({ trials }) => trials >= least)
  const short = cases.length - enough.length
  const each = enough.map(({ passed, trials }) => passHatK(passed, trials, k))
  const kin = familiesOf(
    families.filter((_, i) => (counted[i]?.trials ?? 0) >= least),
    each,
  )
  // The estimate of one case lies in [0, 1] and has no bias, so that their mean has the interval of
  // any bounded values.
  const { low, high } = boundedMean(
    kin.map(({ sum, cases }) => sum / cases),
    { weights: kin.map(({ cases }) => cases), level },
  )
  return {
    k,
    passAtK: mean(enough.map(({ passed, trials }) => passAtK(passed, trials, k))),
    passHatK: mean(each),
    low,
    high,
    cases: enough.length,
    short,
    ...(enough.length === 0 && { reason: `no case has ${least} trials` }),
    ...(enough.length > 0 &&
      short > 0 && { reason: `${short} of ${cases.length} cases have fewer than ${least} trials` }),
  }
}

export type Flips = {
  /** Share of the cases with two trials or more whose trials differ; NaN without such a case. */
  share: number
  /** Interval of the share for other cases and as many trials; NaN for fewer than two. */
  low: number
  high: number
  /** Their positions in the argument. */
  flipped: number[]
  cases: number
}

/**
 * The cases whose trials did not all score the same: those where one run tells least.
 *
 * @param cases  one array of scores in [0, 1] per case; cases with fewer than two trials are left
 *   out. The share grows with the number of trials, so compare it among equal numbers only
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.families the family of each case; default: each case is a family of its own
 * @throws       `argument_invalid` for a score outside [0, 1] or a bad option
 * @example
 * const f = flips([[1, 1], [1, 0], [0, 0], [1]])
 * f.share // 0.3333
 * f.flipped // [1]
 * f.high // 0.8975
 */
export function flips(
  cases: readonly (readonly number[])[],
  options: { level?: number; families?: readonly (string | undefined)[] } = {},
): Flips {
  eachCase(cases)
  const level = inside(optionsOf(options, ['level', 'families']).level ?? 0.95, 'options.level')
  const names = list(options.families ?? cases.map(() => undefined), 'names', 'options.families')
  whole(names.length, cases.length, cases.length, 'options.families.length')
  const counted = [...cases.keys()].filter((i) => (cases[i]?.length ?? 0) > 1)
  const flipped = counted.filter((i) => cases[i]?.some((value) => value !== cases[i]?.[0]))
  const isFlipped = new Set(flipped)
  const families = familiesOf(
    counted.map((i) => ({ family: names[i] })),
    counted.map((i) => (isFlipped.has(i) ? 1 : 0)),
  )
  const interval = boundedMean(
    families.map(({ sum, cases: size }) => sum / size),
    { weights: families.map(({ cases: size }) => size), level },
  )
  const share = counted.length === 0 ? NaN : flipped.length / counted.length
  return { share, ...interval, flipped, cases: counted.length }
}
