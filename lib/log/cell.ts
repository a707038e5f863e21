/**
 * The trials of one configuration at one case, as columns. A row is addressed by the number of its
 * repeat.
 */
import { TouchstoneError } from '../errors.ts'
import type { TrialRecord } from './records.ts'
import type { StatRow } from './rows.ts'

/** A line of a file: the byte where it begins, and how long it is. */
export type Place = { from: number; sizeBytes: number }

/** The files whose lines are found by place. */
export type Placed = 'trials' | 'decisions' | 'transcripts'

const SOURCES = [null, 'report', 'claims', 'prose', 'judge'] as const
const SIDES = ['goal', 'overclaim'] as const
const OUTCOMES = ['pass', 'fail', 'unjudged', 'error'] as const

const FROM = {
  trials: 'trialsFrom',
  decisions: 'decisionsFrom',
  transcripts: 'transcriptsFrom',
} as const satisfies { [file in Placed]: string }
const BYTES_OF = {
  trials: 'trialsBytes',
  decisions: 'decisionsBytes',
  transcripts: 'transcriptsBytes',
} as const satisfies { [file in Placed]: string }

/** Amounts that may be fractions or large, and places. NaN: not known. */
const FLOATS = [
  'began',
  'duration_ms',
  'cost_usd',
  'input',
  'output',
  ...(['trialsFrom', 'decisionsFrom', 'transcriptsFrom'] as const),
] as const
/** Whole numbers below 2^31. -1: not known. */
const WHOLES = [
  'attempt',
  'calls',
  'line',
  'overclaims',
  'underclaims',
  'unneeded',
  'steps',
  'asserted',
  'observed_confirmed',
  'verified',
  ...(['trialsBytes', 'decisionsBytes', 'transcriptsBytes'] as const),
] as const
/** -1 in a flag: not known. */
const BYTES = [
  'present',
  'outcome',
  'refused',
  'goal',
  'attack',
  'from',
  'sided',
  'lostBefore',
] as const

type Columns = { [name in (typeof FLOATS)[number]]: Float64Array } & {
  [name in (typeof WHOLES)[number]]: Int32Array
} & { [name in (typeof BYTES)[number]]: Int8Array }

/** Numbers of repeats come about in order. One this far beyond what is there is no run's. */
const MOST_GAP = 1 << 20
const MOST_WHOLE = 2 ** 31 - 1

export class Cell {
  private columns: Columns = columnsOf(0)
  private capacity = 0
  private present = 0
  /** One more than the highest number of a repeat. */
  private end = 0

  /** How many trials are here. */
  get size(): number {
    return this.present
  }

  has(trial: number): boolean {
    return trial < this.end && this.columns.present[trial] === 1
  }

  attempt(trial: number): number {
    return this.has(trial) ? (this.columns.attempt[trial] as number) : -1
  }

  outcome(trial: number): TrialRecord['outcome'] | null {
    return this.has(trial) ? (OUTCOMES[this.columns.outcome[trial] as number] ?? null) : null
  }

  /** The number of the line in the trial log, from 1; 0 where it is not known. */
  line(trial: number): number {
    return this.has(trial) ? (this.columns.line[trial] as number) : 0
  }

  /** Numbers of the repeats that are here, ascending. */
  *trials(): Generator<number> {
    for (let trial = 0; trial < this.end; trial++) if (this.has(trial)) yield trial
  }

  /**
   * Put a record in its row, in the place of an earlier attempt. @throws TouchstoneError
   * `run_invalid`
   */
  set(record: TrialRecord, line: number): void {
    const { trial, levels, tokens } = record
    this.reach(trial)
    const { columns } = this
    if (columns.present[trial] !== 1) this.present++
    // Written out: a million records go through here.
    columns.present[trial] = 1
    columns.line[trial] = line
    columns.outcome[trial] = OUTCOMES.indexOf(record.outcome)
    columns.refused[trial] = record.refused ? 1 : 0
    columns.goal[trial] = flagOf(record.goal)
    columns.attack[trial] = flagOf(record.attack)
    columns.from[trial] = SOURCES.indexOf(record.claims_from)
    columns.sided[trial] = sidesOf(record.one_sided)
    columns.overclaims[trial] = whole(record.overclaims ?? -1, 'overclaims')
    columns.underclaims[trial] = whole(record.underclaims ?? -1, 'underclaims')
    columns.unneeded[trial] = whole(record.unneeded ?? -1, 'unneeded')
    columns.steps[trial] = whole(record.steps ?? -1, 'steps')
    columns.attempt[trial] = whole(record.attempt, 'attempt')
    columns.calls[trial] = whole(record.calls, 'calls')
    columns.began[trial] = Date.parse(record.started_at)
    columns.duration_ms[trial] = record.duration_ms
    columns.cost_usd[trial] = record.cost_usd ?? Number.NaN
    columns.input[trial] = tokens?.input ?? Number.NaN
    columns.output[trial] = tokens?.output ?? Number.NaN
    columns.trialsBytes[trial] = -1
    columns.decisionsBytes[trial] = -1
    columns.transcriptsBytes[trial] = -1
    this.setLevels(trial, levels)
  }

  setLevels(trial: number, levels: TrialRecord['levels']): void {
    const { columns } = this
    columns.asserted[trial] = whole(levels.asserted, 'asserted')
    columns.observed_confirmed[trial] = whole(levels.observed_confirmed, 'observed_confirmed')
    columns.verified[trial] = whole(levels.verified, 'verified')
  }

  levels(trial: number): TrialRecord['levels'] {
    const { asserted, observed_confirmed, verified } = this.columns
    return {
      asserted: asserted[trial] as number,
      observed_confirmed: observed_confirmed[trial] as number,
      verified: verified[trial] as number,
    }
  }

  /** An attempt before it ended in an error after its agent had acted. */
  setLostBefore(trial: number): void {
    this.reach(trial)
    this.columns.lostBefore[trial] = 1
  }

  setOutcome(trial: number, outcome: TrialRecord['outcome']): void {
    this.columns.outcome[trial] = OUTCOMES.indexOf(outcome)
  }

  setPlace(trial: number, file: Placed, { from, sizeBytes }: Place): void {
    this.columns[FROM[file]][trial] = from
    this.columns[BYTES_OF[file]][trial] = whole(sizeBytes, file)
  }

  place(trial: number, file: Placed): Place | null {
    if (!this.has(trial)) return null
    const sizeBytes = this.columns[BYTES_OF[file]][trial] as number
    return sizeBytes < 0 ? null : { from: this.columns[FROM[file]][trial] as number, sizeBytes }
  }

  /** When it began, in ms since 1970, and how long it took. NaN and 0: not known. */
  time(trial: number): { began: number; ms: number } {
    const { began, duration_ms: ms } = this.columns
    return { began: began[trial] as number, ms: ms[trial] as number }
  }

  rows(): StatRow[] {
    return [...this.trials()].map((trial) => this.row(trial))
  }

  row(trial: number): StatRow {
    const { columns } = this
    const input = amount(columns.input[trial])
    return {
      trial,
      attempt: columns.attempt[trial] as number,
      outcome: OUTCOMES[columns.outcome[trial] as number] as TrialRecord['outcome'],
      goal: flag(columns.goal[trial]),
      attack: flag(columns.attack[trial]),
      overclaims: known(columns.overclaims[trial]),
      underclaims: known(columns.underclaims[trial]),
      unneeded: known(columns.unneeded[trial]),
      refused: columns.refused[trial] === 1,
      levels: this.levels(trial),
      duration_ms: columns.duration_ms[trial] as number,
      steps: known(columns.steps[trial]),
      calls: columns.calls[trial] as number,
      tokens: input === null ? null : { input, output: columns.output[trial] as number },
      cost_usd: amount(columns.cost_usd[trial]),
      claims_from: SOURCES[columns.from[trial] as number] ?? null,
      ...(columns.sided[trial] && { one_sided: sides(columns.sided[trial]) }),
      ...(columns.lostBefore[trial] && { lost_before: true }),
    }
  }

  private reach(trial: number): void {
    if (trial >= this.end) {
      if (trial > 2 * this.present + MOST_GAP)
        throw new TouchstoneError(
          'run_invalid',
          `expected repeats about in the order of their numbers, got number ${trial} after ${this.present} others`,
        )
      this.end = trial + 1
    }
    if (trial < this.capacity) return
    this.capacity = Math.max(16, 2 * this.capacity, trial + 1)
    const grown = columnsOf(this.capacity)
    for (const name of Object.keys(grown) as (keyof Columns)[]) grown[name].set(this.columns[name])
    this.columns = grown
  }
}

function sidesOf(sided: TrialRecord['one_sided']): number {
  return (sided ?? []).reduce((bits, one) => bits | (1 << SIDES.indexOf(one)), 0)
}

function sides(bits: number): NonNullable<TrialRecord['one_sided']> {
  return SIDES.filter((_, i) => (bits & (1 << i)) !== 0)
}

function flagOf(value: boolean | null): number {
  return value === null ? -1 : value ? 1 : 0
}

/** What stands in a column, as a record says it. */
function known(value: number | undefined): number | null {
  return value === -1 ? null : (value as number)
}

function flag(value: number | undefined): boolean | null {
  return value === -1 ? null : value === 1
}

function amount(value: number | undefined): number | null {
  return Number.isNaN(value) ? null : (value as number)
}

function whole(value: number, name: string): number {
  if (value <= MOST_WHOLE) return value
  throw new TouchstoneError('run_invalid', `expected ${name} below 2^31, got ${value}`)
}

function columnsOf(capacity: number): Columns {
  const named = (names: readonly string[], make: () => object) =>
    names.map((name) => [name, make()])
  return Object.fromEntries([
    ...named(FLOATS, () => new Float64Array(capacity)),
    ...named(WHOLES, () => new Int32Array(capacity)),
    ...named(BYTES, () => new Int8Array(capacity)),
  ]) as Columns
}
