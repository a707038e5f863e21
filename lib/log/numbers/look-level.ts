/**
 * The level at which a run's numbers are given: stricter where results were looked at before trials
 * were added.
 */
import { lookAt, looks } from '../../stats/index.ts'
import type { Manifest } from '../records.ts'

/** Levels that were computed: the recursion takes some milliseconds. */
const known = new Map<string, number[]>()

/**
 * The level of a run's intervals and tests at the look at hand.
 *
 * Where the looks were planned (`run.until`), the error is spent over them (`stats.looks`), so that
 * they hold over all looks at `level`.
 *
 * Where trials were added to a run that had ended, its first look was given at `level` already, and
 * nobody knows how many looks follow. With an error of alpha = 1 - level at the first, look n >= 2
 * may err with alpha / (n (n - 1)): these add up to less than alpha however many they are. By the
 * union bound the looks together err at most as often as their errors add up to: `errorOver`.
 */
export function heldOver(manifest: Pick<Manifest, 'until' | 'looks'>, level = 0.95): number {
  const { until, looks: before = [] } = manifest
  if (until === undefined) return 1 - errorAt(before.length + 1, 1 - level)
  const { rule, first, most } = until
  const key = `${rule} ${first} ${most} ${level}`
  let levels = known.get(key)
  if (levels === undefined) {
    const shares = lookAt(first, most).map((repeats) => repeats / most)
    levels = looks(shares, { level, spending: rule === 'width' ? 'even' : 'late' })
    known.set(key, levels)
  }
  return levels[before.length] ?? 1 - errorAt(before.length + 1, 1 - level)
}

/** The error of look n of a run that was not planned to grow. */
function errorAt(n: number, alpha: number): number {
  return n === 1 ? alpha : alpha / (n * (n - 1))
}

/**
 * The share of runs that say something false at one of their first n looks, at most, where trials
 * were added to runs that had ended: alpha (2 - 1/n), which stays below 2 alpha.
 *
 * It holds where the number of trials that a look adds does not depend on what was seen before.
 */
export function errorOver(n: number, level = 0.95): number {
  return (1 - level) * (2 - 1 / n)
}
