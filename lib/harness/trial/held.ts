/** What the coordinator of a run holds while trials are run. */
import type { Digest } from '../../canonical.ts'
import type { Columns, RunWriter } from '../../log/index.ts'
import type { TrialKey, TrialResult } from './judge-trial.ts'

/** A run's folder under its lock, and what it holds. */
export type Held = {
  writer: RunWriter
  /** The attempt that counts of each key, as far as there is one. */
  columns: Columns
  /** The start of each case, as its trials that are finished found it. */
  starts: Map<string, Digest>
  /** US dollars that the trials that are finished cost. */
  spent: number
}

/**
 * Of a result from elsewhere: the first start of a case that was accepted is the one that all
 * others are held to.
 */
export function heldToStart(
  starts: Held['starts'],
  task: TrialKey,
  result: TrialResult,
): TrialResult {
  const { start_digest: start, worker } = result.record
  if (result.stopped || start === null) return result
  const first = starts.get(task.case.id) ?? start
  starts.set(task.case.id, first)
  if (first === start) return result
  const { reasons: _, ...record } = result.record
  return {
    ...result,
    final: true,
    record: {
      ...record,
      outcome: 'error',
      goal: null,
      attack: null,
      start_digest: null,
      end_digest: null,
      error: {
        code: 'world_state_differs',
        message: `expected the start ${first}, got ${start} at ${worker === undefined ? 'a thread' : `worker ${worker}`}`,
      },
    },
  }
}
