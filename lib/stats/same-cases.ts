/**
 * Run again: intervals for the cases at hand, where only the trials vary.
 *
 * Two intervals hold here, and each is the narrower one where the other is wide. One pools the
 * trials: that is valid however the cases' rates differ (Hoeffding 1956), and wide where they
 * differ much. One adds up the cases, each with a beta distribution about its own rate: that leaves
 * the differences between cases out, and wants three trials of a case or more.
 */

import { boundedMean, UNSEEN } from './bounded.ts'
import { betaQuantile, normalQuantile } from './distribution.ts'
import { eachCase, eachPair, inside } from './domain.ts'
import type { Interval } from './interval.ts'

/** Mean, variance and third central moment. */
export type Moments = { mean: number; variance: number; third: number }

/**
 * Interval for the mean rate of exactly these cases.
 *
 * @param cases  one array of scores in [0, 1] per case, none of them empty, at least one case
 * @param level  confidence in (0, 1)
 * @see          Hoeffding 1956 (On the distribution of the number of successes in independent
 *   trials); known answers: fixtures/stats/bounded.json
 * @example
 * sameCases([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]) // { low: 0.2, high: 0.8 }
 */
export function sameCases(cases: readonly (readonly number[])[], level = 0.95): Interval {
  eachCase(cases)
  inside(level, 'level')
  const pooled = pooledTrials(cases, level)
  if (cases.some((scores) => scores.length < 3)) return { low: pooled.low, high: pooled.high }
  const critical = normalQuantile((1 + level) / 2)
  const low = quantileOf(lowSide(cases), -critical)
  const high = 1 - quantileOf(lowSide(cases.map(mirrored)), -critical)
  return {
    low: Math.min(1, Math.max(pooled.low, low)),
    high: Math.max(0, Math.min(pooled.high, high)),
  }
}

/**
 * Interval for the mean over exactly these cases of (rate of b - rate of a).
 *
 * @param pairs  per case the scores in [0, 1] of both, none of them empty, at least one case
 * @param level  confidence in (0, 1)
 * @see          Zou & Donner 2008 (the difference of two rates from their own intervals), for the
 *   pooled one
 * @example
 * sameCasesDifference([{ a: [1, 0, 0, 0, 0], b: [1, 1, 1, 1, 0] }]) // { low: -0.1067, high: 0.8754 }
 */
export function sameCasesDifference(
  pairs: readonly { a: readonly number[]; b: readonly number[] }[],
  level = 0.95,
): Interval {
  eachPair(pairs)
  inside(level, 'level')
  const [a, b] = [pairs.map((pair) => pair.a), pairs.map((pair) => pair.b)]
  // The upper end is the mirror of the lower one: a and b change places.
  return {
    low: Math.max(-1, lowestDifference(a, b, level)),
    high: Math.min(1, -lowestDifference(b, a, level)),
  }
}

/** The lower end of that interval, for scores that are in order: what a simulation asks for. */
export function lowestDifference(
  a: readonly (readonly number[])[],
  b: readonly (readonly number[])[],
  level: number,
): number {
  const [pa, pb] = [meanOf(a), meanOf(b)]
  const pooled =
    pb - pa - Math.hypot(pb - pooledTrials(b, level).low, pooledTrials(a, level).high - pa)
  if ([...a, ...b].some((scores) => scores.length < 3)) return pooled
  // The difference is lowest where b is low and a high, that is, where the failures of a are few.
  const parts = [lowSide(b), lowSide(a.map(mirrored))] as const
  const summed = {
    mean: parts[0].mean - (1 - parts[1].mean),
    variance: parts[0].variance + parts[1].variance,
    third: parts[0].third + parts[1].third,
  }
  return Math.max(pooled, quantileOf(summed, -normalQuantile((1 + level) / 2)))
}

export const total = (scores: readonly number[]) => scores.reduce((x, y) => x + y, 0)
export const mirrored = (scores: readonly number[]) => scores.map((score) => 1 - score)

function meanOf(cases: readonly (readonly number[])[]): number {
  return cases.reduce((sum, scores) => sum + total(scores) / scores.length, 0) / cases.length
}

/**
 * All trials as one sample, each with the weight that it has in the mean over cases. An end is
 * computed when it is read.
 */
function pooledTrials(cases: readonly (readonly number[])[], level: number): Interval {
  const trials = cases.reduce((sum, scores) => sum + scores.length, 0)
  const first = (cases[0] as readonly number[]).length
  const binary = cases.every((scores) => scores.every((score) => score === 0 || score === 1))
  if (binary && cases.every((scores) => scores.length === first)) {
    const passed = cases.reduce((sum, scores) => sum + total(scores), 0)
    const tail = (1 - level) / 2
    return {
      get low() {
        return passed === 0 ? 0 : betaQuantile(tail, passed, trials - passed + UNSEEN)
      },
      get high() {
        return passed === trials ? 1 : 1 - betaQuantile(tail, trials - passed, passed + UNSEEN)
      },
    }
  }
  if (trials === 1) {
    const score = cases[0]?.[0] as number
    return pooledTrials([[score, score]], level)
  }
  const weights = cases.flatMap((scores) => scores.map(() => 1 / scores.length))
  return boundedMean(cases.flat(), { weights, level })
}

/**
 * The mean over cases, each case's rate beta distributed, with the failures that were not seen
 * shared out over the cases that can have any. Scaled by (n - 2) / n, so that the variance is on
 * average that of n trials.
 */
export function lowSide(cases: readonly (readonly number[])[]): Moments {
  const sums = cases.map(total)
  const passing = sums.filter((sum) => sum > 0).length
  const all = { mean: 0, variance: 0, third: 0 }
  if (passing === 0) return all
  const count = cases.length
  for (const [i, sum] of sums.entries()) {
    if (sum === 0) continue
    const n = (cases[i] as readonly number[]).length
    const scale = (n - 2) / n
    const passes = sum * scale
    const fails = (n - sum + UNSEEN / passing) * scale
    const size = passes + fails
    const variance = (passes * fails) / (size * size * (size + 1))
    all.mean += passes / size / count
    all.variance += variance / count ** 2
    all.third += (variance * 2 * (fails - passes)) / (size * (size + 2)) / count ** 3
  }
  return all
}

/**
 * Quantile of a gamma distribution that is shifted so as to have these three moments (Pearson's
 * type III), by Wilson and Hilferty's cube root (1931).
 *
 * @param z  the quantile of the standard normal for the same probability
 */
export function quantileOf({ mean, variance, third }: Moments, z: number): number {
  if (!(variance > 0)) return mean
  const deviation = Math.sqrt(variance)
  const skewness = third / (variance * deviation)
  if (Math.abs(skewness) < 1e-6) return mean + z * deviation
  const shape = 4 / skewness ** 2
  const side = Math.sign(skewness)
  const root = Math.max(0, 1 - 1 / (9 * shape) + (side * z) / (3 * Math.sqrt(shape)))
  return mean + (side * deviation * (shape * root ** 3 - shape)) / Math.sqrt(shape)
}
