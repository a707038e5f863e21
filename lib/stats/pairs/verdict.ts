/**
 * From an interval and an exact test to one of four words. "Cannot tell" is an answer: it is given
 * whenever the evidence does not carry another one.
 */
import { TouchstoneError } from '../../errors.ts'
import { digitsFor, percentage, pText } from '../../rounding.ts'
import { inside, number, optionsOf, positive, share, word } from '../domain.ts'

export type Verdict = 'better' | 'worse' | 'cannot tell' | 'same within d'

/**
 * The verdict on a difference, and why.
 *
 * - `same within d`: the whole interval lies within the region of practical equivalence. Comes
 *   first: a difference that is surely there and surely too small to matter is the same.
 * - `better`, `worse`: the test rejects "no difference" and the interval leaves out 0. Where
 *   `difference` is given the test decides alone: for an interval that assumes less than the test.
 * - `cannot tell`: everything else, and everything undefined.
 *
 * @param options.low          lower end of the interval of the difference; NaN when undefined
 * @param options.high         upper end
 * @param options.exact        two-sided p value of the test, in [0, 1]; NaN when undefined
 * @param options.difference   the estimate, whose sign is then the verdict's; default none: the
 *   interval has a say
 * @param options.level        confidence in (0, 1), default 0.95
 * @param options.better       `higher` (default) or `lower`: which scores are good
 * @param options.equivalence  half-width d, above 0, of the differences that do not matter; default
 *   none
 * @throws                     `argument_invalid` for a bad option
 * @see                        Schuirmann 1987 for equivalence by an interval (here the whole
 *   interval, which is stricter)
 * @example
 * verdict({ low: 0.02, high: 0.3, exact: 0.01 }).verdict // 'better'
 * verdict({ low: 0.02, high: 0.3, exact: 0.08 }).verdict // 'cannot tell'
 * verdict({ low: -0.04, high: 0.03, exact: 0.7, equivalence: 0.05 }).verdict // 'same within d'
 */
export function verdict(options: {
  low: number
  high: number
  exact: number
  difference?: number | undefined
  level?: number
  better?: 'higher' | 'lower'
  equivalence?: number | undefined
}): { verdict: Verdict; reason: string } {
  const { low, high, exact, equivalence } = optionsOf(options, [
    'low',
    'high',
    'exact',
    'difference',
    'level',
    'better',
    'equivalence',
  ])
  number(low, 'options.low')
  if (number(high, 'options.high') < low)
    throw new TouchstoneError(
      'argument_invalid',
      `expected an upper end of at least ${low}, got ${high}`,
      {
        where: 'options.high',
      },
    )
  // Without the last bits of 1 - 0.95, which is more than 0.05 by them.
  const alpha = Number((1 - inside(options.level ?? 0.95, 'options.level')).toPrecision(12))
  const better = word(options.better ?? 'higher', ['higher', 'lower'] as const, 'options.better')
  if (!Number.isNaN(exact)) share(exact, 'options.exact')
  if (equivalence !== undefined) positive(equivalence, 'options.equivalence')
  if (Number.isNaN(low) || Number.isNaN(high))
    return { verdict: 'cannot tell', reason: 'the interval is undefined' }
  if (equivalence !== undefined && low >= -equivalence && high <= equivalence) {
    return {
      verdict: 'same within d',
      reason: `the whole interval lies within ${percentage(equivalence, digitsFor(NaN, equivalence))} points of 0`,
    }
  }
  const p = pText(exact, alpha)
  const sure = exact <= alpha
  if (options.difference !== undefined) {
    const word = options.difference > 0 === (better === 'higher') ? 'better' : 'worse'
    return sure && options.difference !== 0
      ? { verdict: word, reason: `the test rules out "no difference" (p = ${p})` }
      : { verdict: 'cannot tell', reason: `the test does not rule out "no difference" (p = ${p})` }
  }
  if (low <= 0 && high >= 0) {
    return {
      verdict: 'cannot tell',
      reason: 'the interval holds 0: a difference of either sign fits these results',
    }
  }
  if (!sure) {
    const why = Number.isNaN(exact) ? 'is undefined' : `does not agree (p = ${p})`
    return {
      verdict: 'cannot tell',
      reason: `the interval leaves out 0, but the exact test ${why}`,
    }
  }
  return {
    verdict: low > 0 === (better === 'higher') ? 'better' : 'worse',
    reason: `the interval leaves out 0 and the exact test agrees (p = ${p})`,
  }
}
