/**
 * The level at which a run's numbers are given: stricter where results were looked at before trials
 * were added.
 */
import { lookAt, looks } from '../../stats/index.ts'
import type { Manifest } from '../records.ts'

/** Levels that were computed: the recursion takes some milliseconds. */
const known = new Map<string, number[]>()

/**
 * The level of a run's intervals and tests so that they hold over all looks at `level`.
 *
 * Where the looks were planned (`run.until`), the error is spent over them (`stats.looks`). Where
 * trials were added to a run that had ended, each of the n looks counts the same: 1 - (1 - level) /
 * n.
 */
export function heldOver(manifest: Pick<Manifest, 'until' | 'looks'>, level = 0.95): number {
  const { until, looks: before = [] } = manifest
  if (until === undefined) return 1 - (1 - level) / (before.length + 1)
  const { rule, first, most } = until
  const key = `${rule} ${first} ${most} ${level}`
  let levels = known.get(key)
  if (levels === undefined) {
    const shares = lookAt(first, most).map((repeats) => repeats / most)
    levels = looks(shares, { level, spending: rule === 'width' ? 'even' : 'late' })
    known.set(key, levels)
  }
  return levels[before.length] ?? 1 - (1 - level) / (before.length + 1)
}
