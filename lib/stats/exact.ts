/**
 * Tests that need no normal approximation: they count every way the data could have fallen under
 * "no difference".
 */
import { binomialCdf } from './distribution.ts'
import {
  drawCount,
  inside,
  list,
  named,
  numbers,
  optionsOf,
  positive,
  sides,
  source,
  whole,
} from './domain.ts'
import { type Rng, rng as seeded } from './random.ts'

const MAX = Number.MAX_SAFE_INTEGER
/** Values equal in exact arithmetic differ in their last bits. */
const TIE = 1e-9

export type SignFlip = {
  /** Two-sided p value; 1 when nothing moved. */
  p: number
  /**
   * The same with half the weight for patterns as far out as the one seen: not bound to whole steps
   * of 2^-moved.
   */
  midP: number
  /** Differences that are not 0. */
  moved: number
  /**
   * The smallest p this many moved differences can give: 2 / 2^moved. The smallest mid-p is half of
   * it.
   */
  smallestP: number
  method: 'enumerated' | 'sampled'
  /** Random sign patterns drawn, when sampled. */
  draws?: number
  /** Standard error of p, when sampled. */
  standardError?: number
}

/**
 * Sign-flip test: if A and B do not differ, each case's difference could as well have had the other
 * sign.
 *
 * All 2^moved sign patterns are counted: by adding up the possible sums when the differences are
 * whole multiples of `unit`, else one by one up to 20 moved differences. Beyond that, patterns are
 * drawn from `rng`, the observed one counted among them (Phipson & Smyth 2010), and the error of p
 * is given.
 *
 * @param differences   one per case, any finite numbers
 * @param options.unit  above 0: all differences are whole multiples of it (1/5 for shares of five)
 * @param options.rng   source for the sampling; default a fixed seed, so that the same data give
 *   the same p
 * @param options.draws whole, >= 100, default 20,000
 * @throws              `argument_invalid` for a bad option or a difference that is not finite
 * @see                 Fisher 1935, section 21; Lancaster 1961 for the mid-p; known answers:
 *   fixtures/stats/exact.json
 * @example
 * signFlip([0, 0.2, 0.2, 0, 0.4, 0.4, 0, -0.2, 0.4, 0.2], { unit: 0.2 }).p // 0.078125
 * signFlip([1, 1, 1, 1, 1]).p // 0.0625
 * signFlip([1, 1, 1, 1, 1]).midP // 0.03125
 */
export function signFlip(
  differences: readonly number[],
  options: { unit?: number; rng?: Rng; draws?: number } = {},
): SignFlip {
  optionsOf(options, ['unit', 'rng', 'draws'])
  const moving = numbers(differences, 'differences').filter((d) => d !== 0)
  // Differences whose sum overflows are scaled down: the p value does not depend on their unit.
  const reach = moving.reduce((sum, d) => sum + Math.abs(d), 0)
  const sizes = Number.isFinite(reach) ? moving : moving.map((d) => d / moving.length / 4)
  const moved = sizes.length
  const smallestP = Math.min(1, 2 ** (1 - moved))
  const total = Math.abs(sizes.reduce((sum, d) => sum + d, 0))
  const result: SignFlip = { p: 1, midP: 1, moved, smallestP, method: 'enumerated' }
  const withMid = (atLeast: number, beyond: number) => ({
    p: Math.min(1, atLeast),
    midP: Math.min(1, (atLeast + beyond) / 2),
  })
  if (moved === 0) return result
  // Sums that are equal in exact arithmetic differ in their last bits.
  const margin = TIE * sizes.reduce((sum, d) => sum + Math.abs(d), 0)
  const limit = total - margin
  const above = total + margin
  if (options.unit !== undefined) {
    const unit = positive(options.unit, 'options.unit')
    const signed = sizes.map((d) => Math.round(d / unit))
    const steps = signed.map(Math.abs)
    const farthest = steps.reduce((sum, n) => sum + n, 0)
    const whole = sizes.every((d, i) => Math.abs(Math.abs(d) / unit - (steps[i] ?? 0)) < 1e-6)
    if (whole && farthest * moved <= 50_000_000) {
      const seen = Math.abs(signed.reduce((sum, n) => sum + n, 0))
      return { ...result, ...withMid(...sumsAtLeast(steps, farthest, seen)) }
    }
  }
  if (moved <= 20) return { ...result, ...withMid(...patternsAtLeast(sizes, limit, above)) }
  const draws = drawCount(options.draws ?? 20_000, 'options.draws')
  const random = source(options.rng ?? seeded('sign-flip'), 'options.rng')
  let hits = 1
  let beyond = 0
  for (let i = 0; i < draws; i++) {
    let sum = 0
    for (let j = 0; j < moved; ) {
      // One random number gives 30 signs.
      let bits = Math.floor(random() * 1073741824)
      for (const end = Math.min(moved, j + 30); j < end; j++) {
        sum += bits & 1 ? (sizes[j] as number) : -(sizes[j] as number)
        bits >>= 1
      }
    }
    if (Math.abs(sum) >= limit) hits++
    if (Math.abs(sum) > above) beyond++
  }
  const p = hits / (draws + 1)
  return {
    ...result,
    ...withMid(p, beyond / (draws + 1)),
    method: 'sampled',
    draws,
    standardError: Math.sqrt((p * (1 - p)) / (draws + 1)),
  }
}

/**
 * P(|sum| >= total) and P(|sum| > total) over random signs of whole numbers: the distribution of
 * the sum, one number at a time.
 */
function sumsAtLeast(
  steps: readonly number[],
  reach: number,
  total: number,
): [atLeast: number, beyond: number] {
  // The sum with signs is 2 T - reach, T the sum of those with a plus. Both tails are alike, and
  // no T in the lower one comes from a greater T.
  const last = (reach - total) / 2
  const chances = new Float64Array(last + 1)
  chances[0] = 1
  let top = 0
  for (const step of steps) {
    for (let t = Math.min(top, last); t >= 0; t--) {
      const half = (chances[t] as number) / 2
      chances[t] = half
      if (t + step <= last) chances[t + step] = (chances[t + step] as number) + half
    }
    top += step
  }
  let beyond = 0
  for (let t = 0; t < last; t++) beyond += chances[t] as number
  const tail = beyond + (chances[last] as number)
  return [total === 0 ? 1 : 2 * tail, 2 * beyond]
}

/**
 * Shares of all sign patterns whose sum is at least `limit`, and above `above`, in size. The first
 * sign is fixed: patterns come in mirrored pairs.
 */
function patternsAtLeast(
  sizes: readonly number[],
  limit: number,
  above: number,
): [atLeast: number, beyond: number] {
  const count = 2 ** (sizes.length - 1)
  const sums = new Float64Array(count)
  sums[0] = sizes[0] as number
  for (let filled = 1, j = 1; j < sizes.length; j++, filled *= 2) {
    const d = sizes[j] as number
    for (let i = 0; i < filled; i++) {
      const sum = sums[i] as number
      sums[i] = sum + d
      sums[i + filled] = sum - d
    }
  }
  let hits = 0
  let beyond = 0
  for (const sum of sums) {
    if (Math.abs(sum) >= limit) hits++
    if (Math.abs(sum) > above) beyond++
  }
  return [hits / count, beyond / count]
}

/**
 * The fewest moved cases with which the mid-p of a sign-flip test can reach 1 - level: 1 / 2^n must
 * not exceed it.
 *
 * @example
 * fewestMoved(0.95) // 5
 */
export function fewestMoved(level: number): number {
  return Math.ceil(-Math.log2(1 - inside(level, 'level')) - 1e-9)
}

/** One case as a 2 x 2 table: successes and trials of each configuration. */
export type Stratum = { a: number; aTrials: number; b: number; bTrials: number }

/**
 * Exact Cochran-Mantel-Haenszel test: inside each case, could the same successes have fallen on A
 * and B the other way?
 *
 * Conditional on each case's totals; the successes of A then have a sum of hypergeometric
 * distributions, which is built case by case. Two-sided: all sums no likelier than the one seen. It
 * speaks of these cases only.
 *
 * @param strata  per case: successes a of aTrials, b of bTrials; whole numbers
 * @returns       the p value, 1 when no case could have fallen otherwise; below about 1e-35 it
 *   comes out as 0
 * @throws        `argument_invalid` for counts that are not whole or exceed their trials
 * @see           Agresti 2013, 6.4.2 and 7.3.5; R's mantelhaen.test(exact = TRUE); known answers:
 *   fixtures/stats/exact.json
 * @example
 * cmhExact([{ a: 0, aTrials: 5, b: 5, bTrials: 5 }]) // 0.00794
 */
export function cmhExact(strata: readonly Stratum[]): number {
  let now = Float64Array.of(1)
  // What `now[0]` stands for, and the sum seen: both as successes of A beyond the fewest possible.
  let first = 0
  let seen = 0
  for (const [i, stratum] of list(
    strata,
    '{ a, aTrials, b, bTrials } per case',
    'strata',
  ).entries()) {
    const { a, aTrials, b, bTrials } = named(stratum, `strata[${i}]`)
    whole(aTrials, 0, MAX, `strata[${i}].aTrials`)
    whole(bTrials, 0, MAX, `strata[${i}].bTrials`)
    whole(a, 0, aTrials, `strata[${i}].a`)
    whole(b, 0, bTrials, `strata[${i}].b`)
    const successes = a + b
    const low = Math.max(0, successes - bTrials)
    const high = Math.min(aTrials, successes)
    seen += a - low
    const next = convolve(now, hypergeometric(low, high, aTrials, bTrials, successes))
    let from = 0
    let to = next.length
    while (next[from]! < NEGLIGIBLE) from++
    while (next[to - 1]! < NEGLIGIBLE) to--
    now = next.subarray(from, to)
    first += from
  }
  const observed = (now[seen - first] ?? 0) * (1 + TIE)
  return Math.min(
    1,
    now.reduce((sum, probability) => (probability <= observed ? sum + probability : sum), 0),
  )
}

/** Sums less likely than this are left out, so that a p value below about 1e-35 comes out as 0. */
const NEGLIGIBLE = 1e-40

/**
 * Probabilities of low..high successes of A, from the ratio of neighbours; built outwards from the
 * likeliest.
 */
function hypergeometric(
  low: number,
  high: number,
  aTrials: number,
  bTrials: number,
  successes: number,
): Float64Array {
  const weights = new Float64Array(high - low + 1)
  const mode = Math.floor(((aTrials + 1) * (successes + 1)) / (aTrials + bTrials + 2))
  const top = Math.min(high, Math.max(low, mode))
  const ratio = (x: number) =>
    ((aTrials - x) * (successes - x)) / ((x + 1) * (bTrials - successes + x + 1))
  weights[top - low] = 1
  for (let x = top; x < high; x++) weights[x + 1 - low] = (weights[x - low] as number) * ratio(x)
  for (let x = top; x > low; x--) weights[x - 1 - low] = (weights[x - low] as number) / ratio(x - 1)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

function convolve(a: Float64Array, b: Float64Array): Float64Array<ArrayBuffer> {
  const out = new Float64Array(a.length + b.length - 1)
  for (let j = 0; j < b.length; j++) {
    const weight = b[j] as number
    if (weight < NEGLIGIBLE) continue
    for (let i = 0; i < a.length; i++) out[i + j]! += (a[i] as number) * weight
  }
  return out
}

/**
 * Stratified permutation test for scores that are not 0 or 1: inside each case, the trials of both
 * configurations are dealt anew, and the mean difference over cases is compared with the one seen.
 * It speaks of these cases only.
 *
 * Sampled, the observed deal counted among the draws (Phipson & Smyth 2010); for 0/1 scores
 * `cmhExact` needs no sampling.
 *
 * @param pairs          per case: finite scores of a and of b, at least one each
 * @param options.rng    default a fixed seed, so that the same data give the same p
 * @param options.draws  whole, >= 100, default 10,000
 * @returns              the p value and its standard error
 * @throws               `argument_invalid` for a score that is not finite or a bad option
 * @see                  Good 2005, section 3.7
 * @example
 * stratifiedPermutation([{ a: [0.1, 0.2, 0.3], b: [0.7, 0.8, 0.9] }]).p // 0.1
 */
export function stratifiedPermutation(
  pairs: readonly { a: readonly number[]; b: readonly number[] }[],
  options: { rng?: Rng; draws?: number } = {},
): { p: number; draws: number; standardError: number } {
  optionsOf(options, ['rng', 'draws'])
  const draws = drawCount(options.draws ?? 10_000, 'options.draws')
  const random = source(options.rng ?? seeded('stratified'), 'options.rng')
  const pools = sides(pairs).map(({ a, b }, i) => {
    for (const [name, side] of [['a', a] as const, ['b', b] as const])
      whole(numbers(side, `pairs[${i}].${name}`).length, 1, MAX, `pairs[${i}].${name}.length`)
    const pool = [...a, ...b]
    const total = pool.reduce((sum, value) => sum + value, 0)
    return { pool, total, aTrials: a.length, bTrials: b.length }
  })
  /** Sum over cases of (mean of b - mean of a), the first `aTrials` of each pool being a's. */
  const sumOf = () => {
    let sum = 0
    for (const { pool, total, aTrials, bTrials } of pools) {
      let first = 0
      for (let i = 0; i < aTrials; i++) first += pool[i] as number
      sum += (total - first) / bTrials - first / aTrials
    }
    return sum
  }
  const limit = Math.abs(sumOf()) * (1 - TIE) - 1e-12
  let hits = 1
  for (let draw = 0; draw < draws; draw++) {
    for (const { pool, aTrials } of pools) {
      for (let i = 0; i < aTrials; i++) {
        const j = i + Math.floor(random() * (pool.length - i))
        const held = pool[i] as number
        pool[i] = pool[j] as number
        pool[j] = held
      }
    }
    if (Math.abs(sumOf()) >= limit) hits++
  }
  const p = hits / (draws + 1)
  return { p, draws, standardError: Math.sqrt((p * (1 - p)) / (draws + 1)) }
}

/**
 * McNemar's test, exact: for one trial per case and configuration, are the cases that changed split
 * evenly?
 *
 * @param lost    cases where A succeeded and B failed, whole >= 0
 * @param gained  cases where A failed and B succeeded, whole >= 0
 * @returns       two-sided p value; 1 when no case changed
 * @throws        `argument_invalid` for counts that are not whole
 * @see           McNemar 1947; R's binom.test; known answers: fixtures/stats/exact.json
 * @example
 * mcnemar(1, 8) // 0.0390625
 */
export function mcnemar(lost: number, gained: number): number {
  whole(lost, 0, MAX, 'lost')
  whole(gained, 0, MAX, 'gained')
  if (lost + gained === 0) return 1
  return Math.min(1, 2 * binomialCdf(Math.min(lost, gained), lost + gained, 0.5))
}
