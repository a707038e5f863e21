/**
 * Two configurations by pass^k: would all of k trials of a case pass? Paired by case, for both
 * questions.
 */
import { UNSEEN } from '../bounded.ts'
import { normalQuantile } from '../distribution.ts'
import { list, named, optionsOf, scores, whole } from '../domain.ts'
import { signFlip } from '../exact.ts'
import { passHatK } from '../reliability.ts'
import { type Moments, quantileOf, total } from '../same-cases.ts'
import { mean } from '../variance.ts'
import {
  COMPARE_OPTIONS,
  type CompareOptions,
  type Comparison,
  compare,
  extremesOf,
  hasLost,
  type Pair,
} from './compare.ts'
import { judge, sentence, withhold } from './judgement.ts'

/**
 * Is b more reliable than a? The difference of pass^k, paired by case; cases with fewer than k
 * trials of one are left out.
 *
 * About other cases it is `compare` of the cases' unbiased estimates. About these cases the
 * interval adds up the cases, each with a beta distribution about its own rate, raised to the power
 * of k; the test is the exact one on the trials, since rates that do not differ have powers that do
 * not. It wants three trials of a case or more.
 *
 * @param pairs   as for `compare`, scores 0 or 1
 * @param k       whole, >= 1
 * @param options as for `compare`; `equivalence` too
 * @throws        `argument_invalid` for a score that is not 0 or 1, or a bad option
 * @see           Yao et al. 2024 (pass^k); `sameCases`; coverage: test/bench/README.md
 * @example
 * const pairs = [{ a: [1, 0, 1, 0, 1], b: [1, 1, 1, 1, 1] }, { a: [0, 1, 0, 0, 1], b: [1, 1, 1, 0, 1] }]
 * compareReliability(pairs, 3).difference // 0.65
 * compareReliability(pairs, 3, { target: 'these' }).verdict // 'cannot tell'
 */
export function compareReliability(
  pairs: readonly Pair[],
  k: number,
  options: CompareOptions = {},
): Comparison {
  whole(k, 1, Number.MAX_SAFE_INTEGER, 'k')
  optionsOf(options, COMPARE_OPTIONS)
  for (const [i, pair] of list(pairs, '{ a, b } per case', 'pairs').entries())
    for (const side of ['a', 'b'] as const)
      for (const [j, score] of scores(
        named(pair, `pairs[${i}]`)[side],
        `pairs[${i}].${side}`,
      ).entries())
        whole(score, 0, 1, `pairs[${i}].${side}[${j}]`)
  const result = withoutLost(
    pairs.map(({ lost: _, shaken: __, ...pair }) => pair),
    k,
    options,
  )
  if (!hasLost(pairs)) return result
  withhold(result, ...extremesOf(pairs, (filled) => withoutLost(filled, k, options)))
  result.text = sentence(result, options.names ?? ['a', 'b'])
  return result
}

/** The comparison of the trials that have a score. */
function withoutLost(pairs: readonly Pair[], k: number, options: CompareOptions): Comparison {
  const enough = ({ a, b }: Pair) => a.length >= k && b.length >= k
  const estimate = (side: readonly number[]) => [passHatK(total(side), side.length, k)]
  if (options.target !== 'these')
    return compare(
      pairs.map((pair) =>
        enough(pair)
          ? { ...pair, a: estimate(pair.a), b: estimate(pair.b) }
          : { ...pair, a: [], b: [] },
      ),
      options,
    )
  const used = pairs.map((pair) => (enough(pair) ? pair : { ...pair, a: [], b: [] }))
  const result = compare(used, options)
  const kept = used.filter(({ a }) => a.length > 0)
  const differences = kept.map(({ a, b }) => mean(estimate(b)) - mean(estimate(a)))
  Object.assign(result, {
    difference: mean(differences),
    low: NaN,
    high: NaN,
    standardError: NaN,
    df: NaN,
  })
  if (kept.length > 0 && kept.every(({ a, b }) => Math.min(a.length, b.length) > 2)) {
    const [a, b] = [kept.map((pair) => pair.a), kept.map((pair) => pair.b)]
    const critical = normalQuantile((1 + result.level) / 2)
    // The interval holds its estimate: a case that passed 4 of 5 has a rate whose fifth power is
    // not 0, as its estimate is.
    result.low = Math.max(-1, Math.min(result.difference, lowerEnd(a, b, k, critical)))
    result.high = Math.min(1, Math.max(result.difference, -lowerEnd(b, a, k, critical)))
  }
  result.reasons.length = 0
  result.verdict = 'cannot tell'
  judge(result, signFlip(differences), options.better ?? 'higher')
  result.text = sentence(result, options.names ?? ['a', 'b'])
  return result
}

/** The lowest difference: b with failures that were not seen, a with passes that were not. */
function lowerEnd(
  a: readonly (readonly number[])[],
  b: readonly (readonly number[])[],
  k: number,
  critical: number,
): number {
  const [low, high] = [powers(b, k, 'fails'), powers(a, k, 'passes')]
  const spread = { variance: low.variance + high.variance, third: low.third - high.third }
  // The mean of a beta distribution's power is above the power's estimate without bias: the
  // interval holds with either.
  return Math.min(
    quantileOf({ mean: low.mean - high.mean, ...spread }, -critical),
    quantileOf({ mean: low.plain - high.plain, ...spread }, -critical),
  )
}

/**
 * Moments of the mean over cases of rate^k, and its estimate without bias (`plain`), with what was
 * not seen shared out over the cases that can have any.
 */
function powers(
  cases: readonly (readonly number[])[],
  k: number,
  unseen: 'passes' | 'fails',
): Moments & { plain: number } {
  const sums = cases.map(total)
  const count = cases.length
  const open = sums.filter((sum, i) =>
    unseen === 'fails' ? sum > 0 : sum < (cases[i]?.length as number),
  ).length
  const all = { mean: 0, plain: 0, variance: 0, third: 0 }
  for (const [i, sum] of sums.entries()) {
    const n = cases[i]?.length as number
    const [passes, fails] = [sum, n - sum]
    // What never passed does not, at its low side; what always passed does, at its high side.
    if (unseen === 'fails' && passes === 0) continue
    if (unseen === 'passes' && fails === 0) {
      all.mean += 1 / count
      all.plain += 1 / count
      continue
    }
    const scale = (n - 2) / n
    const a = (passes + (unseen === 'passes' ? UNSEEN / open : 0)) * scale
    const b = (fails + (unseen === 'fails' ? UNSEEN / open : 0)) * scale
    const moment = (power: number, a: number, b: number) => {
      let product = 1
      for (let j = 0; j < power; j++) product *= (a + j) / (a + b + j)
      return product
    }
    const [one, two, three] = [moment(k, a, b), moment(2 * k, a, b), moment(3 * k, a, b)]
    all.mean += one / count
    all.plain += (passHatK(passes, n, k) + one - moment(k, passes * scale, fails * scale)) / count
    all.variance += (two - one * one) / count ** 2
    all.third += (three - 3 * one * two + 2 * one ** 3) / count ** 3
  }
  return all
}
