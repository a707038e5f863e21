/** What a pilot run says about the spread of scores: what planning a comparison rests on. */
import { normalQuantile } from '../distribution.ts'
import { scores, sides as sidesOf } from '../domain.ts'
import type { Pair } from '../pairs/compare.ts'
import { mean, variance } from '../variance.ts'

/** What a pilot run says about the spread of scores. */
export type Pilot = {
  cases: number
  /** Trials per case and configuration, the harmonic mean where they differ. */
  repeats: number
  /** Mean score over cases of the configuration that has more. */
  rate: number
  /**
   * Variance over cases of the true difference between the configurations; an estimate below 0 is
   * given as 0.
   */
  between: number
  /** Its upper 90 % limit: a pilot of few cases knows it badly. */
  betweenHigh: number
  /** Variance of one trial around its case's mean, the mean of both configurations. */
  within: number
  reason?: string
}

/**
 * The two variances that planning needs, from a run that compared two configurations.
 *
 * The variance of the case differences holds both the true differences and the chance of the
 * trials; the second part is known from the repeats and is taken off.
 *
 * @param pairs  as for `compare`; cases with fewer than two trials of a configuration are left out
 * @returns      NaN with a reason for fewer than two usable cases
 * @throws       `argument_invalid` for a score outside [0, 1]
 * @see          Miller 2024 (arXiv 2411.00640), the section on power; known answers:
 *   fixtures/stats/pilot.json
 * @example
 * const p = pilot([
 *   { a: [1, 0, 1], b: [1, 1, 1] },
 *   { a: [0, 0, 1], b: [0, 1, 1] },
 *   { a: [1, 1, 1], b: [1, 1, 0] },
 * ])
 * p.within // 0.2222
 */
export function pilot(pairs: readonly Pair[]): Pilot {
  sidesOf(pairs)
  const used = pairs.filter(
    (pair, i) =>
      scores(pair.a, `pairs[${i}].a`).length > 1 && scores(pair.b, `pairs[${i}].b`).length > 1,
  )
  if (used.length < 2) {
    const reason = 'fewer than two cases with two trials of each configuration'
    const unknown = { repeats: NaN, rate: NaN, between: NaN, betweenHigh: NaN, within: NaN }
    return { cases: used.length, ...unknown, reason }
  }
  const sides = used.flatMap((pair) => [pair.a, pair.b])
  const noise = mean(
    used.map((pair) => variance(pair.a) / pair.a.length + variance(pair.b) / pair.b.length),
  )
  const spread = variance(used.map((pair) => mean(pair.b) - mean(pair.a)))
  const between = spread - noise
  return {
    cases: used.length,
    repeats: 1 / mean(sides.map((side) => 1 / side.length)),
    rate: Math.max(mean(used.map(({ a }) => mean(a))), mean(used.map(({ b }) => mean(b)))),
    between: Math.max(0, between),
    betweenHigh: Math.min(1, Math.max(0, spread * chiRatio(used.length - 1) - noise)),
    within: mean(sides.map(variance)),
    ...(between < 0 && {
      reason: 'the cases differed less than their trials would make them: between is given as 0',
    }),
  }
}

/**
 * df over the lower tenth of the chi-square distribution with so many degrees of freedom: what a
 * variance may be above its estimate. By Wilson and Hilferty's cube root (1931).
 */
function chiRatio(df: number): number {
  const root = 1 - 2 / (9 * df) + normalQuantile(0.1) * Math.sqrt(2 / (9 * df))
  // With one degree of freedom the root is near 0, and the true tenth is 0.0158.
  return 1 / Math.max(0.0158, root ** 3)
}
