/** Counts, amounts and times of one configuration's trials, added up in one pass. */
import { median, quantile } from '../../stats/index.ts'
import type { StatRow } from '../rows.ts'
import { METRICS, type Metric } from './metrics.ts'

/** What is added up over the trials of one configuration, in one pass. */
export class Tally {
  trials = 0
  errors = 0
  retried = 0
  private readonly levels = { asserted: 0, observed_confirmed: 0, verified: 0 }
  private readonly durations: number[] = []
  private readonly calls: number[] = []
  private readonly tokens = { trials: 0, input: 0, output: 0 }
  private readonly cost = { trials: 0, usd: 0 }
  private readonly means = new Map<Metric, { sum: number; count: number }[]>()

  add(row: StatRow): void {
    if (row.attempt > 0) this.retried++
    if (row.outcome === 'error') {
      this.errors++
      return
    }
    this.trials++
    for (const level of Object.keys(this.levels) as (keyof typeof this.levels)[])
      this.levels[level] += row.levels[level]
    this.durations.push(row.duration_ms)
    this.calls.push(row.calls)
    if (row.tokens !== null) {
      this.tokens.trials++
      this.tokens.input += row.tokens.input
      this.tokens.output += row.tokens.output
    }
    if (row.cost_usd !== null) {
      this.cost.trials++
      this.cost.usd += row.cost_usd
    }
    for (const metric of Object.keys(METRICS) as Metric[]) {
      const score = METRICS[metric].score(row)
      if (score === null) continue
      const repeats = this.means.get(metric) ?? []
      this.means.set(metric, repeats)
      repeats[row.trial] ??= { sum: 0, count: 0 }
      const mean = repeats[row.trial] as { sum: number; count: number }
      mean.sum += score
      mean.count++
    }
  }

  /** Mean over the cases of each repeat: what a single run would have shown. */
  repeats(metric: Metric): number[] {
    return Object.values(this.means.get(metric) ?? []).map(({ sum, count }) => sum / count)
  }

  amounts() {
    const { trials, levels, durations, calls, tokens, cost } = this
    const some = trials > 0
    return {
      levels,
      duration_ms: {
        median: some ? median(durations) : Number.NaN,
        p95: some ? quantile(durations, 0.95) : Number.NaN,
      },
      calls: { median: some ? median(calls) : Number.NaN },
      tokens: tokens.trials ? { input: tokens.input, output: tokens.output } : null,
      // A cost that is not known for each trial is not known.
      cost_usd: some && cost.trials === trials ? cost.usd : null,
    }
  }
}
