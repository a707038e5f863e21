/** The attempts of a run over wall time, each by the clock of the machine that ran it. */
import type { ActivityRow } from '../../chart/index.ts'
import { nameOfAttempt, waitsIn } from '../../log/index.ts'
import type { Run } from './result.ts'

/**
 * A row for each attempt, those that another one followed too. A record holds when it began, and
 * how long it took without waiting; its transcript, when a model call of it waited.
 */
export function activityRows({ dir, manifest, columns, earlier }: Run): ActivityRow[] {
  const configurations = new Map(manifest.configurations.map((one) => [one.name, one]))
  // A simulated model has no provider whose limit it could wait for.
  const waits = manifest.configurations.every(({ simulated }) => simulated)
    ? new Map<never, never>()
    : waitsIn(dir)
  const rowOf = (configuration: string, key: string, attempt: number, time: Time): ActivityRow => {
    const simulated = configurations.get(configuration)?.simulated
    const waited = simulated ? [] : waits.get(nameOfAttempt(key, attempt))
    const { began, ms, error } = time
    const failed = error ? { error } : {}
    // What took no time at all was not measured: its worker is gone.
    if (Number.isNaN(began) || ms === 0)
      return { configuration, began: Number.isNaN(began) ? null : began, ended: null, ...failed }
    const sum = (waited ?? []).reduce((all, [from, to]) => all + to - from, 0)
    const ended = began + ms + sum
    const at = (place: number) => Math.min(ended, began + place)
    return {
      configuration,
      began,
      ended,
      ...(waited && { waits: waited.map(([from, to]) => [at(from), at(to)]) }),
      ...failed,
    }
  }
  return [
    ...manifest.configurations.flatMap(({ name }) => [
      ...columns.times(name).map(({ key, attempt, ...time }) => rowOf(name, key, attempt, time)),
    ]),
    ...earlier.map((row) => {
      const { configuration, key, attempt, started_at: at, duration_ms: ms, outcome } = row
      const error = outcome === 'error'
      return rowOf(configuration, key, attempt, { began: Date.parse(at), ms, error })
    }),
  ]
}

type Time = { began: number; ms: number; error: boolean }
