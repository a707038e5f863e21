/**
 * What one run is worth: where a single run of these cases lands, and how often two single runs
 * would name the wrong winner. One run per day is what most people look at, so its noise is what
 * repeats are for.
 */
import { UNSEEN } from './bounded.ts'
import { normalQuantile } from './distribution.ts'
import { eachCase, eachPair, inside } from './domain.ts'
import type { Interval } from './interval.ts'
import { lowSide, type Moments, mirrored, quantileOf, total } from './same-cases.ts'

/**
 * Where a single run of these cases lands: one trial of each, 19 times in 20 at level 0.95.
 *
 * Its mean varies with its own trials and with what is not known of the cases' rates. The ends are
 * results that a single run of 0/1 scores can have.
 *
 * @param cases  one array of scores in [0, 1] per case, none of them empty, at least one case
 * @param level  confidence in (0, 1)
 * @see          Hahn & Meeker 1991 (prediction intervals); how often it holds: test/bench/README.md
 * @example
 * singleRun(Array.from({ length: 20 }, () => [1, 1, 1, 1, 0])) // { low: 0.6, high: 1 }
 */
export function singleRun(cases: readonly (readonly number[])[], level = 0.95): Interval {
  eachCase(cases)
  inside(level, 'level')
  const critical = normalQuantile((1 + level) / 2)
  /** As passes of one trial per case. */
  const lowerEnd = (cases: readonly (readonly number[])[]) => {
    // With fewer than three trials of a case, its own spread is not known: all cases are taken to
    // have the same rate.
    const known = cases.every((scores) => scores.length > 2)
    const groups = known ? cases : cases.map(() => cases.flat())
    const { mean, variance, third } = drawn(groups, known ? 1 : cases.length)
    const end = quantileOf({ mean, variance, third }, -critical)
    return Math.max(0, Math.round(end * cases.length))
  }
  const count = cases.length
  return { low: lowerEnd(cases) / count, high: (count - lowerEnd(cases.map(mirrored))) / count }
}

/**
 * Moments of one more trial of each case, on top of those of the cases' rates.
 *
 * @param shared how many of the groups are one and the same sample, whose error then does not
 *   average out
 */
function drawn(groups: readonly (readonly number[])[], shared: number): Moments {
  const count = groups.length
  const rates = lowSide(shared > 1 ? groups.slice(0, 1) : groups)
  const all = { ...rates }
  const passing = groups.filter((scores) => total(scores) > 0).length
  for (const scores of groups) {
    const n = scores.length
    const unseen = total(scores) > 0 ? UNSEEN / (shared > 1 ? 1 : passing) : 0
    const rate = total(scores) / (n + unseen)
    // n / (n - 1): the spread about the sample's own mean is smaller than that about the true one.
    const spread = (rate * (1 - rate) * n) / Math.max(1, n - 1)
    all.variance += spread / count ** 2
    all.third += (spread * (1 - 2 * rate)) / count ** 3
  }
  return all
}

/**
 * How often two single runs, one of each configuration, would put them in the wrong order or level,
 * if the cases' rates are about as estimated. The order that all trials together show is taken for
 * the right one.
 *
 * @param pairs  per case the scores in [0, 1] of both, none of them empty; scores between 0 and 1
 *   count as that chance of 1
 * @returns      two probabilities; NaN where both are level, for then no order is right
 * @example
 * wrongWinner([{ a: [1, 0, 0, 1], b: [1, 1, 1, 0] }, { a: [0, 0, 1, 0], b: [1, 0, 1, 1] }]) // { wrong: 0.0898, level: 0.2835 }
 */
export function wrongWinner(pairs: readonly { a: readonly number[]; b: readonly number[] }[]): {
  wrong: number
  level: number
} {
  eachPair(pairs)
  const rateOf = (side: 'a' | 'b') => {
    const all = pairs.flatMap((pair) => pair[side])
    const pooled = (total(all) + UNSEEN / 2) / (all.length + UNSEEN)
    // Drawn towards the mean of all by a little, and that towards one half: five of five passes are
    // not a rate of 1, and neither are all of all.
    return pairs.map((pair) => (total(pair[side]) + UNSEEN * pooled) / (pair[side].length + UNSEEN))
  }
  const difference = pairs.reduce(
    (sum, { a, b }) => sum + total(b) / b.length - total(a) / a.length,
    0,
  )
  if (pairs.length === 0 || Math.abs(difference) < 1e-12) return { wrong: NaN, level: NaN }
  // The passes of b minus those of a, shifted up by the number of cases: one case after the other.
  let now = Float64Array.of(1)
  const [a, b] = [rateOf('a'), rateOf('b')]
  for (let i = 0; i < pairs.length; i++) {
    const [p, q] = [a[i] as number, b[i] as number]
    const [down, up] = [p * (1 - q), q * (1 - p)]
    const next = new Float64Array(now.length + 2)
    for (let k = 0; k < now.length; k++) {
      const chance = now[k] as number
      next[k] = (next[k] as number) + chance * down
      next[k + 1] = (next[k + 1] as number) + chance * (1 - down - up)
      next[k + 2] = (next[k + 2] as number) + chance * up
    }
    now = next
  }
  const middle = pairs.length
  const below = now.subarray(0, middle).reduce((sum, chance) => sum + chance, 0)
  const level = now[middle] as number
  return { wrong: difference > 0 ? below : Math.max(0, 1 - below - level), level }
}
