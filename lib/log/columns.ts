/** The trials of a run that count, as columns: one of a million trials takes about 150 MB. */
import { hadActed } from './attempts.ts'
import { Cell, type Place, type Placed } from './cell.ts'
import type { Manifest, TrialRecord } from './records.ts'
import type { Rows, StatRow } from './rows.ts'

type Asked = { key: string; at: { cell: Cell; trial: number } | null }
const NOTHING: Asked = { key: '', at: null }

export class Columns implements Rows {
  private readonly cells = new Map<string, Cell>()
  /** Trials that the manifest does not plan, by key. They are in no number. */
  private readonly unplanned = new Map<string, TrialRecord>()
  private repeats = 0
  private planned = 0
  /**
   * Records of planned trials that ended in an error, by key: what they had done is in no column.
   */
  private readonly failed = new Map<string, TrialRecord>()
  /** Attempts that do not count. */
  readonly earlier: TrialRecord[] = []
  private asked: Asked = NOTHING

  constructor(manifest: Pick<Manifest, 'cases' | 'configurations' | 'repeats'>) {
    this.replan(manifest)
  }

  /** Plan more: repeats, cases or configurations. */
  replan(manifest: Pick<Manifest, 'cases' | 'configurations' | 'repeats'>): void {
    const before = new Map(this.cells)
    this.repeats = manifest.repeats
    this.asked = NOTHING
    this.cells.clear()
    for (const { id } of manifest.cases)
      for (const { name } of manifest.configurations) {
        const key = `${id}|${name}`
        this.cells.set(key, before.get(key) ?? new Cell())
      }
  }

  /** Trials with a record. */
  get size(): number {
    return this.planned + this.unplanned.size
  }

  /** Trials whose attempt that counts ended in an error. */
  get failures(): number {
    let errors = 0
    for (const cell of this.cells.values())
      for (const trial of cell.trials()) if (cell.outcome(trial) === 'error') errors++
    for (const { outcome } of this.unplanned.values()) if (outcome === 'error') errors++
    return errors
  }

  /**
   * Take an attempt's record. The last attempt of a key counts.
   *
   * @param line the number of its line in the trial log, from 1
   * @returns false for an attempt that an earlier line is ahead of
   * @throws TouchstoneError `run_invalid` for counts and numbers of repeats that no run has
   */
  add(record: TrialRecord, line = 0): boolean {
    const { key } = record
    const cell = this.cell(record)
    const before = cell ? cell.attempt(record.trial) : this.unplanned.get(key)?.attempt
    if (before !== undefined && record.attempt < before) {
      this.pass(record)
      return false
    }
    const replaced = this.failed.get(key) ?? this.unplanned.get(key)
    if (replaced) this.pass(replaced)
    this.failed.delete(key)
    if (cell) {
      if (!cell.has(record.trial)) this.planned++
      cell.set(record, line)
      if (record.outcome === 'error') this.failed.set(key, record)
    } else this.unplanned.set(key, record)
    return true
  }

  /** Take an attempt that does not count. */
  pass(record: TrialRecord): void {
    this.earlier.push(record)
    if (hadActed(record)) this.cell(record)?.setLostBefore(record.trial)
  }

  has(key: string): boolean {
    return this.attempt(key) >= 0
  }

  /** Planned trials of one configuration at one case that have a record. */
  count(caseId: string, configuration: string): number {
    return this.cells.get(`${caseId}|${configuration}`)?.size ?? 0
  }

  absent(caseId: string, configuration: string): number {
    return this.repeats - this.count(caseId, configuration)
  }

  /** How the planned trials of one configuration at one case ended. */
  outcomes(caseId: string, configuration: string): { [outcome in TrialRecord['outcome']]: number } {
    const counts = { pass: 0, fail: 0, unjudged: 0, error: 0 }
    const cell = this.cells.get(`${caseId}|${configuration}`)
    for (const trial of cell?.trials() ?? []) {
      const outcome = cell?.outcome(trial)
      if (outcome) counts[outcome]++
    }
    return counts
  }

  of(caseId: string, configuration: string): StatRow[] {
    return this.cells.get(`${caseId}|${configuration}`)?.rows() ?? []
  }

  /** The trials of one configuration, case by case. */
  *rows(configuration: string): Generator<StatRow> {
    for (const [id, cell] of this.cells) if (id.endsWith(`|${configuration}`)) yield* cell.rows()
  }

  errors(configuration: string): TrialRecord[] {
    return [...this.failed.values()].filter((row) => row.configuration === configuration)
  }

  /**
   * A trial counts as one that ended in an error: its evidence is damaged. @param record as it was
   * read
   */
  fail(record: TrialRecord): void {
    this.failed.set(record.key, { ...record, outcome: 'error' })
    this.setOutcome(record.key, 'error')
  }

  /** The record of a trial that ended in an error. */
  error(key: string): TrialRecord | null {
    return this.failed.get(key) ?? null
  }

  attempt(key: string): number {
    const at = this.find(key)
    return at ? at.cell.attempt(at.trial) : (this.unplanned.get(key)?.attempt ?? -1)
  }

  outcome(key: string): TrialRecord['outcome'] | null {
    const at = this.find(key)
    return at ? at.cell.outcome(at.trial) : (this.unplanned.get(key)?.outcome ?? null)
  }

  line(key: string): number {
    const at = this.find(key)
    return at ? at.cell.line(at.trial) : 0
  }

  private setOutcome(key: string, outcome: TrialRecord['outcome']): void {
    const at = this.find(key)
    if (at?.cell.has(at.trial)) at.cell.setOutcome(at.trial, outcome)
  }

  setLevels(key: string, levels: TrialRecord['levels']): void {
    const at = this.find(key)
    if (at?.cell.has(at.trial)) at.cell.setLevels(at.trial, levels)
  }

  levels(key: string): TrialRecord['levels'] | null {
    const at = this.find(key)
    return at?.cell.has(at.trial) ? at.cell.levels(at.trial) : null
  }

  setPlace(key: string, file: Placed, place: Place): void {
    const at = this.find(key)
    if (at?.cell.has(at.trial)) at.cell.setPlace(at.trial, file, place)
  }

  place(key: string, file: Placed): Place | null {
    const at = this.find(key)
    return at ? at.cell.place(at.trial, file) : null
  }

  /**
   * When each planned trial of one configuration began, in ms since 1970, and how long it took. NaN
   * and 0: not known.
   */
  *times(
    configuration: string,
  ): Generator<{ key: string; attempt: number; error: boolean; began: number; ms: number }> {
    for (const [id, cell] of this.cells)
      if (id.endsWith(`|${configuration}`))
        for (const trial of cell.trials()) {
          const error = cell.outcome(trial) === 'error'
          yield { key: `${id}|${trial}`, attempt: cell.attempt(trial), error, ...cell.time(trial) }
        }
  }

  /** The keys of all trials: case by case, configuration by configuration, repeat by repeat. */
  *keys(which: ((row: StatRow) => boolean) | null = null): Generator<string> {
    for (const [id, cell] of this.cells)
      for (const trial of cell.trials())
        if (which === null || which(cell.row(trial))) yield `${id}|${trial}`
    for (const [key, record] of this.unplanned) if (which === null || which(record)) yield key
  }

  /** The record of a trial that the manifest does not plan. */
  stray(key: string): TrialRecord | null {
    return this.unplanned.get(key) ?? null
  }

  /** A record's key is made of its case, configuration and trial. */
  private cell({ key }: TrialRecord): Cell | undefined {
    return this.find(key)?.cell
  }

  private find(key: string): { cell: Cell; trial: number } | null {
    // Several questions about one trial follow each other: the last answer is kept.
    if (key === this.asked.key) return this.asked.at
    const bar = key.lastIndexOf('|')
    const number = key.slice(bar + 1)
    const trial = Number(number)
    const cell = this.cells.get(key.slice(0, bar))
    const at = cell && trial < this.repeats && number === String(trial) ? { cell, trial } : null
    this.asked = { key, at }
    return at
  }
}

/** The columns of records that are in memory. */
export function columnsOf(
  manifest: Pick<Manifest, 'cases' | 'configurations' | 'repeats'>,
  records: Iterable<TrialRecord>,
  earlier: readonly TrialRecord[] = [],
): Columns {
  const columns = new Columns(manifest)
  for (const record of earlier) columns.pass(record)
  for (const record of records) columns.add(record)
  return columns
}
