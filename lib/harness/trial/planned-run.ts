/** Everything a run is made of, as it was described. */
import type { Manifest } from '../../log/index.ts'
import type { Configuration } from '../agent/model.ts'
import type { Case } from '../case/case.ts'
import type { Agreement } from '../judge/measured-reader.ts'
import type { Prices } from '../model/cost.ts'
import type { Limits } from './limits.ts'

/** The rule as the manifest holds it, but for the first look, which is the plan's repeats. */
export type Until = Omit<NonNullable<Manifest['until']>, 'first'>

/** Everything a run is made of. */
export type RunPlan = {
  cases: readonly Case[]
  configurations: readonly { name: string; configuration: Configuration }[]
  repeats: number
  concurrency: number
  seed: number
  /**
   * A folder; `undefined`: `runs/<id>`; `null`: a folder of its own among the temporary files,
   * until the process ends.
   */
  out: string | null | undefined
  /** The folder of a run to go on with. */
  resume: string | undefined
  /** Whether what is resumed may grow by repeats and cases. */
  add: boolean
  /** Until when repeats are added; undefined: their number is fixed. */
  until: Until | undefined
  /** A folder in which model calls are kept, or from which they are answered. */
  record: string | undefined
  replay: string | undefined
  /** The model that reads claims in prose, and how it did on labelled answers. */
  judge: Agreement | undefined
  /** The server of a queue whose workers run the trials; undefined: this process runs them. */
  queue: { url: string; leaseMs: number } | undefined
  /** Threads that run its trials; undefined: as many as pay. */
  threads: number | undefined
  limits: Limits
  prices: Prices
  signal: AbortSignal | undefined
  /** A line of progress on a terminal's standard error. */
  progress: boolean
  leftOut: readonly { case: string; reason: string }[]
}

/** Trials at once: the most that a plan takes. */
export const MOST_AT_ONCE = 4096
