/** Latency, tokens, cost: measurements without an upper end, compared by paired differences of case medians. */
import { binomialCdf } from './distribution.ts'
import { drawCount, inside, named, numbers, sides as sidesOf, source } from './domain.ts'
import { signFlip } from './exact.ts'
import { median, quantileOfSorted } from './quantile.ts'
import { type Rng, rng as seeded } from './random.ts'
import { mean } from './variance.ts'

/** One case's measurements under both configurations. */
export type MeasurePair = { id?: string; a: readonly number[]; b: readonly number[] }

export type MeasureComparison = {
  /** Mean over cases of (median of b - median of a), in the unit of the measurements; NaN without a usable case. */
  difference: number
  /** Percentile interval of the hierarchical bootstrap; NaN when it would have no width. */
  low: number
  high: number
  level: number
  /** Two-sided sign-flip test of the case differences. */
  p: number
  /** Means over cases of the medians. */
  a: number
  b: number
  cases: number
  missing: number
  moved: number
  draws: number
  reason?: string
}

/**
 * Does b take more than a? Paired by case, a median per case so that one slow trial does not decide.
 *
 * Cases are drawn, then the trials of both configurations inside each drawn case.
 *
 * @param pairs          per case: measurements of a and of b, finite, any unit; empty arrays leave the case out
 * @param options.level  confidence in (0, 1), default 0.95
 * @param options.draws  whole, >= 100, default 10,000, and 2,000 beyond 200 cases
 * @param options.rng    default a fixed seed, so that the same data give the same interval
 * @throws               `argument_invalid` for a number that is not finite or a bad option
 * @see                  Davison & Hinkley 1997, section 3.8; known answers: fixtures/stats/continuous.json
 * @example
 * const c = compareMedians([{ a: [100, 120, 110], b: [150, 140, 900] }, { a: [80, 90, 70], b: [95, 90, 85] }])
 * c.difference // 25
 */
export function compareMedians(
  pairs: readonly MeasurePair[],
  options: { level?: number; draws?: number; rng?: Rng } = {},
): MeasureComparison {
  sidesOf(pairs)
  named(options, 'options')
  const level = inside(options.level ?? 0.95, 'options.level')
  const draws = drawCount(options.draws ?? (pairs.length > 200 ? 2000 : 10_000), 'options.draws')
  const random = source(options.rng ?? seeded('medians'), 'options.rng')
  const used = pairs.filter((pair, i) => {
    numbers(pair.a, `pairs[${i}].a`)
    numbers(pair.b, `pairs[${i}].b`)
    return pair.a.length > 0 && pair.b.length > 0
  })
  const differences = used.map((pair) => median(pair.b) - median(pair.a))
  const test = signFlip(differences)
  const result: MeasureComparison = {
    difference: mean(differences),
    low: NaN,
    high: NaN,
    level,
    p: used.length === 0 ? NaN : test.p,
    a: mean(used.map((pair) => median(pair.a))),
    b: mean(used.map((pair) => median(pair.b))),
    cases: used.length,
    missing: pairs.length - used.length,
    moved: test.moved,
    draws,
  }
  if (used.length < 2)
    return { ...result, reason: 'fewer than two cases: nothing is known about other cases' }
  const tables = new Map<number, MiddleRanks>()
  const sides = used.map((pair) =>
    [pair.a, pair.b].map((values) => {
      const ranks = tables.get(values.length) ?? middleRanks(values.length)
      tables.set(values.length, ranks)
      return { sorted: Float64Array.from(values).sort(), ranks }
    }),
  )
  const drawn = new Float64Array(draws)
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0
    for (let i = 0; i < used.length; i++) {
      const [a, b] = sides[Math.floor(random() * used.length)] as [Side, Side]
      sum += drawnMedian(b.sorted, b.ranks, random) - drawnMedian(a.sorted, a.ranks, random)
    }
    drawn[draw] = sum / used.length
  }
  drawn.sort()
  const low = quantileOfSorted(drawn, (1 - level) / 2)
  const high = quantileOfSorted(drawn, (1 + level) / 2)
  if (!(high > low))
    return { ...result, reason: 'no spread: a resample can only repeat what was seen' }
  return { ...result, low, high }
}

const GUIDE = 2048

type Side = { sorted: Float64Array; ranks: MiddleRanks }

/** How likely each pair of ranks is to hold the middle of n draws with replacement from n ordered numbers. */
type MiddleRanks = { low: number[]; high: number[]; upTo: Float64Array; guide: Int32Array }

/**
 * The exact distribution of a resample's middle ranks: one random number then gives its median, without drawing and sorting n.
 *
 * For odd n both ranks are the same. For even n, k = n / 2 draws lie at or below rank i and the others above rank j with
 * probability C(n, k) (i/n)^k (1 - j/n)^k for i <= j; the probability of a pair is the second difference of that.
 */
export function middleRanks(n: number): MiddleRanks {
  const low: number[] = []
  const high: number[] = []
  const chances: number[] = []
  const add = (i: number, j: number, chance: number) => {
    if (chance < 1e-15) return
    low.push(i - 1)
    high.push(j - 1)
    chances.push(chance)
  }
  const k = Math.ceil(n / 2)
  /** P(the k-th smallest draw has rank i or less) = P(k or more of n draws do). */
  const atMost = (i: number) => (i <= 0 ? 0 : 1 - binomialCdf(k - 1, n, i / n))
  // The rank of the middle has a standard deviation of about sqrt(n) / 2: ten of them hold it.
  const from = Math.max(1, Math.floor(n / 2 - 5 * Math.sqrt(n)))
  const to = Math.min(n, Math.ceil(n / 2 + 5 * Math.sqrt(n)) + 1)
  let log = 0
  for (let m = 1; m <= k; m++) log += Math.log((n - k + m) / m)
  const apart = (i: number, j: number) =>
    i <= 0 || j >= n ? 0 : Math.exp(log + k * Math.log(i / n) + (n - k) * Math.log1p(-j / n))
  for (let i = from; i <= to; i++) {
    let same = atMost(i) - atMost(i - 1)
    if (n % 2 === 0) {
      for (let j = i + 1; j <= to; j++) {
        const chance = apart(i, j - 1) - apart(i - 1, j - 1) - apart(i, j) + apart(i - 1, j)
        add(i, j, chance)
        same -= chance
      }
    }
    add(i, i, same)
  }
  const upTo = new Float64Array(chances.length)
  let sum = 0
  for (const [at, chance] of chances.entries()) upTo[at] = sum += chance
  for (let at = 0; at < upTo.length; at++) upTo[at] = (upTo[at] as number) / sum
  // Where to start looking for a number u: the first pair whose cumulated share passes floor(u * GUIDE) / GUIDE.
  const guide = new Int32Array(GUIDE)
  for (let at = 0, slot = 0; slot < GUIDE; slot++) {
    while (at < upTo.length - 1 && (upTo[at] as number) <= slot / GUIDE) at++
    guide[slot] = at
  }
  return { low, high, upTo, guide }
}

/** A random resample's median, from ascending numbers and the ranks for as many. */
function drawnMedian(sorted: Float64Array, ranks: MiddleRanks, random: Rng): number {
  const u = random()
  const last = ranks.upTo.length - 1
  let at = ranks.guide[Math.floor(u * GUIDE)] as number
  while (at < last && (ranks.upTo[at] as number) <= u) at++
  return (
    ((sorted[ranks.low[at] as number] as number) + (sorted[ranks.high[at] as number] as number)) / 2
  )
}
