/**
 * Trials that ended in an infrastructure error: what the rate could be if they had all failed, or
 * all passed.
 */
import { list, scores, whole } from './domain.ts'
import { mean } from './variance.ts'

export type MissingBounds = {
  /** Mean over cases of the usable trials; NaN without any. */
  estimate: number
  /**
   * Every missing trial scored 0, and every one scored 1; over all cases with a trial of either
   * kind.
   */
  worst: number
  best: number
  /** Usable and missing trials. */
  trials: number
  missing: number
}

/**
 * Best and worst case beside an estimate that leaves out the missing trials.
 *
 * @param cases    one array per case of scores in [0, 1] of its usable trials
 * @param missing  per case, the number of its trials without a score: whole, >= 0
 * @throws         `argument_invalid` for a score outside [0, 1], a bad count, or lists of different
 *   length
 * @see            Manski 2003, chapter 1
 * @example
 * missingBounds([[1, 1, 0], [1, 1]], [0, 1]) // { estimate: 0.8333, worst: 0.6667, best: 0.8333, trials: 5, missing: 1 }
 */
export function missingBounds(
  cases: readonly (readonly number[])[],
  missing: readonly number[],
): MissingBounds {
  list(cases, 'arrays of scores, one per case', 'cases')
  list(missing, 'counts, one per case', 'missing')
  whole(missing.length, cases.length, cases.length, 'missing.length')
  const usable: number[] = []
  const worst: number[] = []
  const best: number[] = []
  let trials = 0
  let lost = 0
  for (const [i, values] of cases.entries()) {
    const absent = whole(missing[i] as number, 0, Number.MAX_SAFE_INTEGER, `missing[${i}]`)
    const sum = scores(values, `cases[${i}]`).reduce((total, value) => total + value, 0)
    const all = values.length + absent
    trials += values.length
    lost += absent
    if (values.length > 0) usable.push(sum / values.length)
    if (all === 0) continue
    worst.push(sum / all)
    best.push((sum + absent) / all)
  }
  return { estimate: mean(usable), worst: mean(worst), best: mean(best), trials, missing: lost }
}
