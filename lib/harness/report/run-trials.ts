/**
 * The trials of a run, from its log: all of them, one after the other, or one by its key.
 */
import { join } from 'node:path'
import { requireText } from '../../arguments.ts'
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import {
  type Columns,
  columnsOf,
  FILES,
  LogReader,
  type Manifest,
  requireTranscript,
  type StatRow,
  type Transcript,
  type TrialRecord,
  transcriptOf,
} from '../../log/index.ts'
import type { Decision } from '../../receipt/surface/decision.ts'
import { Shown } from '../../shown.ts'
import { shownAsText } from './trial-text.ts'
import { shownAsTable } from './trials-text.ts'

/** The trials as columns over the folder's log, or their records. */
export type RunParts = {
  dir: string
  manifest: Manifest
  /** With `trials`: the attempts that do not count. */
  earlier?: readonly TrialRecord[]
} & ({ columns: Columns } | { trials: readonly TrialRecord[] })

export abstract class RunTrials extends Shown {
  /** The run's folder. */
  readonly dir: string
  readonly manifest: Manifest
  /** What statistics read: one row per trial, the attempt that counts. */
  readonly columns: Columns
  readonly #log: LogReader
  #trials: readonly TrialRecord[] | null = null

  constructor(parts: RunParts) {
    super()
    this.dir = parts.dir
    this.manifest = parts.manifest
    const held = 'trials' in parts ? parts.trials : null
    this.columns =
      'columns' in parts ? parts.columns : columnsOf(parts.manifest, parts.trials, parts.earlier)
    this.#log = new LogReader(parts.dir, this.columns, held)
  }

  /**
   * One record per trial: the attempt that counts. By case, configuration and repeat.
   *
   * Read from the log when first asked for, and then held: a million take 2 GB. `records()` holds
   * none.
   *
   * @throws TouchstoneError `file_unreadable`, or `run_invalid` when the log has changed since
   */
  get trials(): readonly TrialRecord[] {
    this.#trials ??= shownAsTable([...this.records()])
    return this.#trials
  }

  /**
   * The same records one after the other, in the memory of one.
   *
   * @param which those that are wanted, by what statistics read of them; default all
   */
  *records(which: ((row: StatRow) => boolean) | null = null): Generator<TrialRecord> {
    yield* this.#log.records(this.columns.keys(which))
  }

  /**
   * Attempts that ended in an error and that another attempt followed. They are in no rate, and in
   * the bounds of some.
   */
  get earlier(): readonly TrialRecord[] {
    return this.columns.earlier
  }

  /**
   * The decisions of every trial that counts, read from the log, in the order of `trials`: in which
   * order they ended is chance. Each `observation.run_id` is the trial's key. All are in memory;
   * `eachDecision()` holds those of one trial.
   */
  get decisions(): Decision[] {
    return [...this.eachDecision()]
  }

  /**
   * The decisions one after the other, in the memory of one trial's. @param key of one trial;
   * default all
   */
  *eachDecision(key?: string): Generator<Decision> {
    const keys = key === undefined ? undefined : [this.known(key)]
    for (const lines of this.#log.evidence('decisions', keys))
      for (const line of lines) yield line['decision'] as unknown as Decision
  }

  /**
   * What happened in one trial, in order (`entries`). @throws TouchstoneError `argument_invalid`
   * for an unknown key, `run_damaged` for a line of another shape
   */
  transcript(key: string): Transcript {
    const [[line] = []] = this.#log.evidence('transcripts', [this.known(key)])
    if (line) {
      const row = this.record(key)
      const read = requireTranscript(line, () => this.#log.whereOf(key, 'transcripts'))
      return shownAsText(transcriptOf(read, row.claims), row)
    }
    throw new TouchstoneError('run_invalid', `expected the transcript of ${key}, got none`, {
      where: join(this.dir, FILES.transcripts),
    })
  }

  /** The record of one trial. @throws TouchstoneError `argument_invalid` for an unknown key */
  record(key: string): TrialRecord {
    const [record] = this.#log.records([this.known(key)])
    return record as TrialRecord
  }

  private known(key: string): string {
    requireText(key, 'the key of a trial (case|configuration|trial)', 'key')
    if (this.columns.outcome(key) !== null) return key
    throw new TouchstoneError(
      'argument_invalid',
      `expected the key of a trial (case|configuration|trial), ${gotWord(key, [...this.columns.keys()])}`,
      { where: 'key' },
    )
  }
}
