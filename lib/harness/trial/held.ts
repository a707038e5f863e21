/** What the coordinator of a run holds while trials are run. */
import type { Digest } from '../../canonical.ts'
import type { Columns, RunWriter } from '../../log/index.ts'

/** A run's folder under its lock, and what it holds. */
export type Held = {
  writer: RunWriter
  /** The attempt that counts of each key, as far as there is one. */
  columns: Columns
  /** Attempts of which there is evidence and no record, by key. */
  unrecorded: ReadonlyMap<string, number>
  /** The start of each case, as its trials that are finished found it. */
  starts: Map<string, Digest>
  /** US dollars that the trials that are finished cost. */
  spent: number
}
