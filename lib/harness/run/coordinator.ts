/**
 * Takes a run's trials to their ends: which are still to be run, which are tried again, what they
 * cost, and when no other may start. It is the only one that writes the run's folder.
 */
import type { JsonObject } from '../../json.ts'
import { type TrialRecord, trialKey } from '../../log/index.ts'
import type { Progress } from '../../progress.ts'
import type { Executor, Sources } from '../trial/executor.ts'
import type { Held } from '../trial/held.ts'
import type { TrialResult } from '../trial/judge-trial.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import type { Scheduled } from '../trial/schedule.ts'
import { Budget, type Reserve } from './budget.ts'
import { pool } from './pool.ts'

/** The cost of the agent, the user and the judge, in US dollars; what is not known adds nothing. */
export function costOfRecord({ cost_usd, user, judge }: TrialRecord): number {
  return (cost_usd ?? 0) + (user?.cost_usd ?? 0) + (judge?.cost_usd ?? 0)
}

export class Coordinator {
  /** Aborts when no further trial may start. */
  readonly drain: AbortSignal
  /** Why trials were stopped, other than by the caller. */
  readonly reasons: string[] = []
  /** Model calls that a limit refused, wherever they were made. */
  refused = 0
  private readonly plan: RunPlan
  private readonly sources: Sources
  private readonly held: Held
  private readonly executor: Executor
  private readonly bar: Progress | null
  /** The span of the run, as W3C writes it. */
  private readonly traceparent: string | undefined
  private readonly halt = new AbortController()
  /** By configuration: a refused key or an unknown model name stops that configuration alone. */
  private readonly own: ReadonlyMap<string, { stop: AbortController; drain: AbortSignal }>
  private readonly budget: Budget

  constructor(
    { plan, sources }: { plan: RunPlan; sources: Sources },
    held: Held,
    executor: Executor,
    {
      signal,
      bar,
      traceparent,
    }: { signal: AbortSignal | undefined; bar: Progress | null; traceparent?: string | undefined },
  ) {
    this.plan = plan
    this.sources = sources
    this.held = held
    this.executor = executor
    this.bar = bar
    this.traceparent = traceparent
    this.budget = new Budget(plan.limits.costUsd, held.spent)
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
    const { plan, bar, executor, traceparent } = this
    const { columns } = this.held
    const key = trialKey(item.case.id, item.configuration, item.trial)
    const before = columns.outcome(key)
    if (before !== null && before !== 'error') return
    const mine = this.own.get(item.configuration) as { stop: AbortController; drain: AbortSignal }
    if (mine.drain.aborted) return
    if (!executor.tells) bar?.label(`${item.case.id} ${item.configuration}`)
    let record: TrialRecord | null = null
    // Attempts are numbered on over resumptions, so that no two lines of the log have the same
    // number.
    const first = columns.attempt(key) + 1
    const { attempts, lost: mostLost } = plan.limits
    for (
      let [attempt, tried, lost] = [first, 0, 0];
      tried < attempts && lost < mostLost;
      attempt++
    ) {
      const reserve = await this.budget.admit(item.configuration, mine.drain)
      if (reserve === null) break
      const result = await executor.attempt({ ...item, attempt, traceparent }, mine.drain)
      if (result.halt) {
        const model = this.sources.get(item.configuration)?.source.id
        this.stop(`${model}: ${result.halt.code}: ${result.halt.message}`, mine.stop)
      }
      this.budget.settle(reserve, costOf(result, reserve))
      this.refused += refusedIn(result.transcript)
      bar?.spent(this.budget.spentUsd, plan.limits.costUsd)
      if (result.stopped) return
      if (result.lost) lost++
      else tried++
      const written = this.held.writer.append(result.record, result, result.recorded)
      record = written.record
      columns.add(record, written.line)
      for (const [file, place] of written.places) columns.setPlace(key, file, place)
      if (this.budget.spent) this.stopSpent()
      if (record.outcome !== 'error' || result.final || mine.drain.aborted) break
    }
    if (record) bar?.tick(record.outcome === 'error')
  }

  private stopSpent(): void {
    const { costUsd } = this.plan.limits
    this.stop(`cost_limit: $${this.budget.spentUsd.toFixed(4)} of $${costUsd} are spent`)
  }

  private stop(reason: string, what = this.halt): void {
    if (what.signal.aborted) return
    this.reasons.push(reason)
    what.abort(new DOMException(reason, 'AbortError'))
  }
}

/** Calls of the agent's model and of the user's that a limit refused. */
function refusedIn({ refusals, user_refusals }: JsonObject): number {
  return [refusals, user_refusals]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter((one) => (one as { code?: unknown } | null)?.code === 'rate_limited').length
}

/** What a trial cost. A trial that was lost counts with the most that such a trial may cost. */
function costOf({ stopped, lost, record }: TrialResult, { usd }: Reserve): number | null {
  if (lost) return Number.isFinite(usd) ? usd : null
  return stopped ? null : costOfRecord(record)
}
