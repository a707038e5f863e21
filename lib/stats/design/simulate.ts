/**
 * What planning simulates with: how often something came of some runs, binomial draws, and the
 * smallest size at which a thing comes often enough.
 *
 * A shortfall comes in one of two ways, and what is planned must hold for both: `evenly`, every
 * case falls a little; `wholly`, some cases fail for good and the others stay as they were.
 */
import { rateText } from '../../rounding.ts'
import { normalQuantile } from '../distribution.ts'
import { clopperPearson } from '../interval.ts'

/** How often a thing came in simulated runs, with the interval that so many runs leave. */
export type Chance = { share: number; low: number; high: number; runs: number }

/** The two ways in which a rate can be what it is, or a difference come. */
export const WAYS = ['evenly', 'wholly'] as const
export type Way = (typeof WAYS)[number]

/** Runs that are simulated unless told otherwise: the chance is then known to 3 points. */
export const RUNS = 1000

/** Runs per step of a search: what is found is simulated again, with all of them. */
export const SEARCH_RUNS = 400

/** A share of simulated runs, with its 95 % interval (Clopper and Pearson). */
export function chanceOf(hits: number, runs: number): Chance {
  return { share: hits / runs, ...clopperPearson(hits, runs), runs }
}

/** A chance with what the simulation leaves open. */
export function chanceText({ share, low, high }: Chance): string {
  return `${rateText(share, low, high)} of runs`
}

/** The lesser of two chances. */
export function worse(x: Chance, y: Chance): Chance {
  return y.share < x.share ? y : x
}

/**
 * The successes of n trials of probability p, from one uniform number: the inverse of the
 * distribution, so that more of p never gives fewer. Beyond 300 trials the normal one stands in.
 */
export function binomialDraw(u: number, n: number, p: number): number {
  if (p <= 0) return 0
  if (p >= 1) return n
  if (p > 0.5) return n - binomialDraw(1 - u, n, 1 - p)
  if (n > 300) {
    const at =
      n * p + normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, u))) * Math.sqrt(n * p * (1 - p))
    return Math.min(n, Math.max(0, Math.round(at)))
  }
  const odds = p / (1 - p)
  let part = (1 - p) ** n
  let sum = part
  let k = 0
  while (u > sum && k < n) {
    part *= ((n - k) / (k + 1)) * odds
    sum += part
    k++
  }
  return k
}

/**
 * The smallest size from 1 on at which something is enough: doubling, then halving the gap. NaN
 * where no size up to `most` is.
 */
export function leastSize(enough: (size: number) => boolean, most: number): number {
  let high = 1
  let low = 0
  while (!enough(high)) {
    if (high === most) return Number.NaN
    low = high
    high = Math.min(most, high * 2)
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (enough(middle)) high = middle
    else low = middle
  }
  return high
}

/** The scores of a case by its passes: one array for each number of them. */
export function scoresBy(repeats: number): (passes: number) => readonly number[] {
  const known: number[][] = []
  return (passes) =>
    (known[passes] ??= Array.from({ length: repeats }, (_, i) => (i < passes ? 1 : 0)))
}
