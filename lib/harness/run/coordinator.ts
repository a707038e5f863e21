/**
 * Takes a run's trials to their ends: which are still to be run, which are tried again, what they
 * cost, and when no other may start. It is the only one that writes the run's folder.
 */
import type { Digest } from '../../canonical.ts'
import { type Columns, type RunWriter, type TrialRecord, trialKey } from '../../log/index.ts'
import type { Progress } from '../../progress.ts'
import type { Executor } from './executor.ts'
import type { Sources } from './plan-manifest.ts'
import { pool } from './pool.ts'
import type { RunPlan } from './run.ts'
import type { Scheduled } from './schedule.ts'

/** Of the agent, the user and the judge, as far as it is known. */
export function costOfRecord({ cost_usd, user, judge }: TrialRecord): number {
  return (cost_usd ?? 0) + (user?.cost_usd ?? 0) + (judge?.cost_usd ?? 0)
}

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

export class Coordinator {
  /** Aborts when no further trial may start. */
  readonly drain: AbortSignal
  /** Why trials were stopped, other than by the caller. */
  readonly reasons: string[] = []
  private readonly plan: RunPlan
  private readonly sources: Sources
  private readonly held: Held
  private readonly executor: Executor
  private readonly bar: Progress | null
  private readonly halt = new AbortController()
  /** A refused key or an unknown name of one configuration says nothing about the others. */
  private readonly own: ReadonlyMap<string, { stop: AbortController; drain: AbortSignal }>
  private spentUsd: number

  constructor(
    { plan, sources }: { plan: RunPlan; sources: Sources },
    held: Held,
    executor: Executor,
    { signal, bar }: { signal: AbortSignal | undefined; bar: Progress | null },
  ) {
    this.plan = plan
    this.sources = sources
    this.held = held
    this.executor = executor
    this.bar = bar
    this.spentUsd = held.spent
    const { signal: halted } = this.halt
    this.drain = signal ? AbortSignal.any([signal, halted]) : halted
    this.own = new Map(
      plan.configurations.map(({ name }) => {
        const stop = new AbortController()
        return [name, { stop, drain: AbortSignal.any([this.drain, stop.signal]) }]
      }),
    )
  }

  /** Run what is not finished of these, in order. Resolves when nothing is at work any more. */
  run(items: Iterable<Scheduled>): Promise<void> {
    return pool(items, this.executor.width, (item) => this.trial(item), this.drain)
  }

  private async trial(item: Scheduled): Promise<void> {
    const { plan, bar, executor } = this
    const { columns, unrecorded } = this.held
    const key = trialKey(item.case.id, item.configuration, item.trial)
    const before = columns.outcome(key)
    if (before !== null && before !== 'error') return
    const mine = this.own.get(item.configuration) as { stop: AbortController; drain: AbortSignal }
    if (mine.drain.aborted) return
    bar?.label(`${item.case.id} ${item.configuration}`)
    let record: TrialRecord | null = null
    // Attempts are numbered on over resumptions, so that no two lines of the log have the same
    // number.
    const first = Math.max(columns.attempt(key), unrecorded.get(key) ?? -1) + 1
    for (let attempt = first; attempt < first + plan.limits.attempts; attempt++) {
      const result = await executor.attempt({ ...item, attempt }, mine.drain)
      if (result.halt) {
        const model = this.sources.get(item.configuration)?.source.id
        this.stop(`${model}: ${result.halt.code}: ${result.halt.message}`, mine.stop)
      }
      if (result.stopped) return
      const written = this.held.writer.append(result.record, result)
      record = written.record
      columns.add(record, written.line)
      for (const [file, place] of written.places) columns.setPlace(key, file, place)
      this.spend(costOfRecord(record))
      if (record.outcome !== 'error' || result.final || mine.drain.aborted) break
    }
    bar?.tick(record?.outcome === 'error')
  }

  private spend(usd: number): void {
    this.spentUsd += usd
    const { costUsd } = this.plan.limits
    if (costUsd !== null && this.spentUsd >= costUsd)
      this.stop(`cost_limit: $${this.spentUsd.toFixed(4)} of $${costUsd} are spent`)
  }

  private stop(reason: string, what = this.halt): void {
    if (what.signal.aborted) return
    this.reasons.push(reason)
    what.abort(new DOMException(reason, 'AbortError'))
  }
}
