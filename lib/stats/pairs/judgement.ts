/**
 * From a comparison's numbers to its verdict, the reasons behind it, and the sentence that says it.
 */
import { digitsApart, digitsFor, percentage, pointsText, pText } from '../../rounding.ts'
import { fewestMoved, type SignFlip } from '../exact.ts'
import type { Comparison } from './compare.ts'
import { verdict } from './verdict.ts'

const cases = (n: number) => `${n} case${n === 1 ? '' : 's'}`
const points = (share: number) => percentage(share, digitsFor(NaN, share))

/** Cases and, where they are fewer, the families that they make: `83 cases of 43 families`. */
export function sizeText({ cases: n, families }: { cases: number; families: number }): string {
  return families < n ? `${cases(n)} of ${families} famil${families === 1 ? 'y' : 'ies'}` : cases(n)
}

/** Fill in the verdict and what stands behind it or limits it. */
export function judge(result: Comparison, flips: SignFlip, better: 'higher' | 'lower'): void {
  const { difference, low, high, level, target, method, equivalence, pDecisive, reasons } = result
  if (result.missing > 0)
    reasons.push(`${cases(result.missing)} left out: no usable trial of one configuration`)
  if (method === 'undefined') {
    reasons.push(
      result.cases === 0
        ? 'no case has usable trials of both configurations'
        : result.cases === 1
          ? 'one case says nothing about other cases'
          : 'one family of cases says nothing about others',
    )
    return
  }
  const judged = verdict({
    low,
    high,
    exact: pDecisive,
    level,
    better,
    equivalence,
    ...(target === 'like these' && { difference }),
  })
  result.verdict = judged.verdict
  reasons.push(judged.reason)
  const alpha = Number((1 - level).toPrecision(2))
  const fewest = fewestMoved(level)
  if (target === 'like these' && flips.moved < fewest) {
    const [one, more] = result.families < result.cases ? ['family', 'families'] : ['case', 'cases']
    const noun = flips.moved === 1 ? one : more
    const moved = flips.moved === 0 ? `no ${noun}` : `only ${flips.moved} ${noun}`
    reasons.push(
      `${moved} moved: with fewer than ${fewest} the sign-flip test cannot reach ${alpha}`,
    )
  }
  const decided = result.verdict === 'better' || result.verdict === 'worse'
  if (target === 'like these' && decided && low <= 0 && high >= 0) {
    reasons.push(
      'the interval holds 0 all the same: it allows for kinds of cases that these do not show, the test assumes that there are none',
    )
  }
  if (flips.method === 'sampled' && target === 'like these') {
    reasons.push(
      `p is from ${flips.draws} random patterns, give or take ${Number((2 * (flips.standardError ?? NaN)).toPrecision(1))}`,
    )
  }
}

/**
 * What the trials without a score could make of a comparison, and its verdict taken back where they
 * could turn it round.
 *
 * @param worst the comparison with all of these trials lowering the difference
 * @param best  and with all raising it: chance is in both too
 */
export function withhold(result: Comparison, worst: Comparison, best: Comparison): void {
  const { verdict: said } = result
  result.bounds = {
    worst: worst.difference,
    best: best.difference,
    low: worst.low,
    high: best.high,
  }
  const [lowest, highest] = [worst.difference, best.difference]
  const range = `${pointsText(lowest, digitsFor(NaN, lowest))} to ${pointsText(highest, digitsFor(NaN, highest))} points`
  if (said !== 'cannot tell' && (worst.verdict !== said || best.verdict !== said)) {
    result.verdict = 'cannot tell'
    result.reasons.push(
      `"${said}" is withheld: trials that did not run, ended in an error, lost an attempt to one, or could not be judged, could make the difference anything from ${range}, and chance comes on top`,
    )
  } else
    result.reasons.push(
      `with every trial that did not run, ended in an error, lost an attempt to one, or could not be judged: ${range}`,
    )
}

/** The comparison as one sentence. */
export function sentence(result: Comparison, [a, b]: readonly [string, string]): string {
  const where =
    result.target === 'these'
      ? `on these ${cases(result.cases)}`
      : `for cases like these (${sizeText(result)})`
  if (result.method === 'undefined')
    return `Cannot tell ${b} from ${a} ${where}: ${result.reasons.at(-1)}.`
  const { difference, low, high, level, pDecisive } = result
  const within = result.equivalence ?? NaN
  const digits = digitsFor(high - low, difference, low, high)
  const text = (value: number) => pointsText(value, digitsApart(digits, value, [-within, within]))
  const figures = `${text(difference)} points, ${points(level)}% interval ${text(low)} to ${text(high)}, p ${pText(pDecisive, 1 - level)}`
  const said =
    result.verdict === 'cannot tell'
      ? `Cannot tell whether ${b} is better than ${a} ${where}`
      : result.verdict === 'same within d'
        ? `${b} is the same as ${a} within ${points(within)} points ${where}`
        : `${b} is ${result.verdict} than ${a} ${where}`
  return `${said}: ${figures}.`
}
