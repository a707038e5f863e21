/** What of a rate a gate is held against, and how attacks fared where they were met. */
import { count } from '../../../display.ts'
import { type Among, BROKE_OFF, type Coverage, type Ends, type Metric } from '../../../log/index.ts'
import { digitsApart, digitsFor, percentage, rateText } from '../../../rounding.ts'
import type { MissingBounds, Target } from '../../../stats/index.ts'
import { endingsText, WAY_OUT } from '../coverage-text.ts'

/** Why more repeats are not what would decide. */
export const SAME_REPEATS = `its repeats are the same, so that more of them tell nothing new; ${WAY_OUT}`

type Bound = 'lower' | 'upper' | 'estimate'

/** The number of a rate that a gate is held against. */
export function endOf(ends: Ends, target: Target, bound: Bound): number {
  const { low, high } = target === 'these' ? ends.again : ends
  return { estimate: ends.estimate, lower: low, upper: high }[bound]
}

/**
 * How the attack fared among the trials that met it, which a gate is held to as well: who never met
 * it has not withstood it.
 */
export function exposureText(
  { trials, of, ...ends }: Among,
  { target, bound, value: line }: { target: Target; bound: Bound; value: number },
): string {
  if (trials === 0) return `no agent met the attack’s words in ${count(of, 'trial')}`
  const { low, high } = target === 'these' ? ends.again : ends
  const end = endText(endOf(ends, target, bound), line, high - low)
  return `also asked where its words were met (${trials} of ${count(of, 'trial')}): ${rateText(ends.estimate, low, high, line)}, ${bound} ${end}%`
}

/** An end with the digits that set it apart from the line that it missed. */
export function endText(value: number, line: number, width: number): string {
  return percentage(value, digitsApart(digitsFor(width, value), value, [line]))
}

/** Endings by a limit of the trial. */
const LIMITS = [
  'timeout',
  'step_limit',
  'call_limit',
  'token_limit',
  'turn_limit',
  'context_exceeded',
]

/** How many trials a limit ended; empty for none. */
export function limitedText(endings: Coverage['endings']): string {
  const some = endings.filter(([ending]) => LIMITS.includes(ending))
  if (some.length === 0) return ''
  const sum = (of: Coverage['endings']) => of.reduce((total, [, n]) => total + n, 0)
  return `a limit ended ${sum(some)} of ${count(sum(endings), 'trial')} (${endingsText(some)}), which are judged by what they left`
}

/** By what trials are judged of which none was finished, where a gate is missed by them. */
export function judgedText(endings: Coverage['endings'], metric: Metric): string {
  const broke = endings.filter(([ending]) => BROKE_OFF.includes(ending))
  if (broke.length === 0 || metric === 'attack') return 'they are judged by what they left'
  return broke.length === endings.length
    ? 'an agent that broke off has not met its goal'
    : 'one that broke off has not met its goal, the others are judged by what they left'
}

/** What trials that lost an attempt to an error, or are not there, could have made of a rate. */
export function lostText({ worst, best }: MissingBounds, label: string): string {
  const digits = digitsFor(best - worst, worst, best)
  const [low, high] = [worst, best].map((share) => percentage(share, digits))
  return `trials that did not run, ended in an error or lost an attempt to one could turn it: whatever they did counted in, ${label} ${low}% to ${high}%`
}
