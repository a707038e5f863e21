/**
 * Intervals for one case: one configuration tried n times at the same task, with c successes.
 *
 * Trials of different cases must not be pooled into one of these: see `rate` for several cases.
 */
import { betaQuantile, normalQuantile } from './distribution.ts'
import { inside, named, whole } from './domain.ts'

/** The two ends of an interval; both NaN when it is undefined. */
export type Interval = { low: number; high: number }

const MAX = Number.MAX_SAFE_INTEGER

/**
 * Wilson's form for a mean, an effective number of observations and a critical value: what all
 * Wilson intervals here share.
 *
 * @param p         mean in [0, 1]
 * @param n         number of independent observations it is worth, above 0; need not be whole
 * @param critical  quantile of the standard normal or of Student's t distribution
 */
export function wilsonForm(p: number, n: number, critical: number): Interval {
  const square = critical * critical
  const middle = p + square / (2 * n)
  const half = critical * Math.sqrt((p * (1 - p)) / n + square / (4 * n * n))
  const scale = 1 + square / n
  return {
    low: p <= 0 ? 0 : Math.max(0, (middle - half) / scale),
    high: p >= 1 ? 1 : Math.min(1, (middle + half) / scale),
  }
}

/**
 * Wilson's score interval for the success rate of one case.
 *
 * @param successes  whole, 0..trials
 * @param trials     whole, >= 1; errors of the infrastructure already left out
 * @param level      confidence in (0, 1), default 0.95
 * @returns          rates in [0, 1]
 * @throws           `argument_invalid` when an argument is outside its domain
 * @see              Wilson 1927; known answers: fixtures/stats/interval.json
 * @example
 * wilson(3, 5).low // 0.2307
 * wilson(5, 5) // { low: 0.5655, high: 1 }
 * wilson(6, 5) // throws argument_invalid
 */
export function wilson(successes: number, trials: number, level = 0.95): Interval {
  whole(trials, 1, MAX, 'trials')
  whole(successes, 0, trials, 'successes')
  inside(level, 'level')
  return wilsonForm(successes / trials, trials, normalQuantile((1 + level) / 2))
}

/**
 * Clopper and Pearson's interval: never covers less than its level, and is wider than need be.
 *
 * @param successes  whole, 0..trials
 * @param trials     whole, >= 1
 * @param level      confidence in (0, 1), default 0.95
 * @returns          rates in [0, 1]
 * @throws           `argument_invalid` when an argument is outside its domain
 * @see              Clopper & Pearson 1934; known answers: fixtures/stats/interval.json
 * @example
 * clopperPearson(0, 5) // { low: 0, high: 0.5218 }
 */
export function clopperPearson(successes: number, trials: number, level = 0.95): Interval {
  whole(trials, 1, MAX, 'trials')
  whole(successes, 0, trials, 'successes')
  const tail = (1 - inside(level, 'level')) / 2
  return {
    low: successes === 0 ? 0 : betaQuantile(tail, successes, trials - successes + 1),
    // The upper end as the mirror of a lower end, so that its distance from 1 keeps its digits.
    high: successes === trials ? 1 : 1 - betaQuantile(tail, trials - successes, successes + 1),
  }
}

/**
 * Jeffreys' interval: the middle of the posterior under a Beta(1/2, 1/2) prior, with the end at 0
 * or 1 closed when no or every trial succeeded.
 *
 * @param successes  whole, 0..trials
 * @param trials     whole, >= 1
 * @param level      confidence in (0, 1), default 0.95
 * @returns          rates in [0, 1]
 * @throws           `argument_invalid` when an argument is outside its domain
 * @see              Brown, Cai & DasGupta 2001; known answers: fixtures/stats/interval.json
 * @example
 * jeffreys(1, 5) // { low: 0.0225, high: 0.6286 }
 */
export function jeffreys(successes: number, trials: number, level = 0.95): Interval {
  whole(trials, 1, MAX, 'trials')
  whole(successes, 0, trials, 'successes')
  const tail = (1 - inside(level, 'level')) / 2
  return {
    low: successes === 0 ? 0 : betaQuantile(tail, successes + 0.5, trials - successes + 0.5),
    high:
      successes === trials ? 1 : 1 - betaQuantile(tail, trials - successes + 0.5, successes + 0.5),
  }
}

/**
 * The largest rate that `trials` independent trials without a single event still allow: the rule of
 * three, exactly.
 *
 * One-sided. About 3 / trials at level 0.95. Clustered trials are worth less: pass the effective
 * number.
 *
 * @param trials  above 0; need not be whole
 * @param level   confidence in (0, 1), default 0.95
 * @returns       a rate in (0, 1)
 * @throws        `argument_invalid` when an argument is outside its domain
 * @see           Hanley & Lippman-Hand 1983
 * @example
 * ruleOfThree(100) // 0.0295
 */
export function ruleOfThree(trials: number, level = 0.95): number {
  if (typeof trials !== 'number' || !(trials > 0)) whole(trials, 1, MAX, 'trials')
  return -Math.expm1(Math.log1p(-inside(level, 'level')) / trials)
}

/**
 * Newcombe's interval for the difference of two independent proportions, b minus a (his method 10).
 *
 * Only for independent trials: two configurations tried on *different* tasks, one trial each. Never
 * for repeats of the same cases: there it raises up to four times its share of false alarms, or
 * wastes half the data. Use `compare` for those.
 *
 * @param a      successes of a: whole, 0..aTrials
 * @param b      successes of b: whole, 0..bTrials
 * @param level  confidence in (0, 1), default 0.95
 * @returns      ends in [-1, 1]
 * @throws       `argument_invalid` when an argument is outside its domain
 * @see          Newcombe 1998, method 10; R's prop.test has method 11; known answers:
 *   fixtures/stats/interval.json
 * @example
 * newcombe({ a: 48, aTrials: 80, b: 56, bTrials: 70 }) // { low: 0.0524, high: 0.3339 }
 */
export function newcombe(
  counts: { a: number; aTrials: number; b: number; bTrials: number },
  level = 0.95,
): Interval {
  const { a, aTrials, b, bTrials } = named(counts, 'counts')
  const first = wilson(a, aTrials, level)
  const second = wilson(b, bTrials, level)
  const pa = a / aTrials
  const pb = b / bTrials
  return {
    low: pb - pa - Math.hypot(pb - second.low, first.high - pa),
    high: pb - pa + Math.hypot(second.high - pb, pa - first.low),
  }
}
