/**
 * Several tests of one server: how its latency is distributed, and whether it answers the same way
 * each time.
 */

import { type Chart, type LatencyRow, latency as latencyChart } from '../../chart/index.ts'
import { count, foreign, type Look, table, tone } from '../../display.ts'
import { Shown } from '../../shown.ts'
import type { Outcome } from '../judge/outcome.ts'
import { latencyText, TONES, why } from './report.ts'
import type { ProbeData, ProbeResult } from './result.ts'

export type LatencySpread = {
  /** Tests whose handshake was answered; only those have a latency. */
  n: number
  minMs: number
  medianMs: number
  maxMs: number
  /** Sorted, rising. */
  valuesMs: number[]
}

export type ProbeRunsData = {
  schema: 'touchstone.probe.runs.v0'
  subject: string
  n: number
  outcomes: Partial<Record<Outcome, number>>
  /** Every test had the same outcome, detail, passed tasks and tools. */
  stable: boolean
  latency: LatencySpread | null
  results: ProbeData[]
}

/** The results of `connect(...).repeat(n)`, in order. */
export class ProbeRuns extends Shown {
  readonly results: readonly ProbeResult[]

  constructor(results: readonly ProbeResult[]) {
    super()
    this.results = results
  }

  /** How many tests had each outcome. */
  get outcomes(): Partial<Record<Outcome, number>> {
    return tally(this.results.map(({ outcome }) => outcome))
  }

  /** True when every test had the same outcome, detail, passed tasks and tools. */
  get stable(): boolean {
    const told = this.results.map(({ outcome, detail, tasks, tools }) =>
      JSON.stringify([outcome, detail, tasks.map(({ passed }) => passed), tools?.digest ?? null]),
    )
    return new Set(told).size <= 1
  }

  /**
   * Null when no handshake was answered: no latency is then known, which is not a latency of zero.
   */
  get latency(): LatencySpread | null {
    return spread(this.results.map(({ latencyMs }) => latencyMs).filter((ms) => ms !== null))
  }

  /**
   * How long answers took, as the share of tests that were answered within each time. Tests whose
   * latency is not told are left out: they were answered, and nobody knows how fast.
   */
  chart(): Chart<LatencyRow> {
    const values = this.latency?.valuesMs.filter((ms) => ms > 0) ?? []
    const server = this.results[0]?.subject ?? 'no tests'
    const timed = this.results.filter(({ latencyNote }) => latencyNote === null)
    const outcomes: Record<string, number> = tally(timed.map(({ outcome }) => outcome))
    return latencyChart([{ server, values, outcomes }])
  }

  toJSON(): ProbeRunsData {
    return {
      schema: 'touchstone.probe.runs.v0',
      subject: this.results[0]?.subject ?? '',
      n: this.results.length,
      outcomes: this.outcomes,
      stable: this.stable,
      latency: this.latency,
      results: this.results.map((result) => result.toJSON()),
    }
  }

  text(look: Look = {}): string {
    const first = this.results[0]
    if (!first) return 'no tests'
    const { latency } = this
    const untold = this.results.filter(({ latencyNote }) => latencyNote !== null).length
    const left = untold > 0 ? `; ${untold} more not told, this process stood still` : ''
    const rows = this.results.map((result, i) => [
      String(i + 1),
      result.outcome,
      `${result.passed}/${result.attempted}`,
      result.latencyMs === null ? '-' : latencyText(result.latencyMs),
      why(result),
    ])
    const heads = [
      { head: '#', align: 'right' as const },
      { head: 'outcome' },
      { head: 'tasks' },
      { head: 'latency', align: 'right' as const },
      { head: 'why', min: 20 },
    ]
    return [
      `${tone(foreign(first.subject), 'strong', look)}  ${first.transport}, ${count(this.results.length, 'test')}`,
      ...(first.set
        ? []
        : [tone('not the published test: your own server, no receipt', 'unsure', look)]),
      table(heads, rows, look),
      this.stable
        ? `the same each time: ${tone(first.outcome, TONES[first.outcome], look)}`
        : tone(
            `not the same each time: ${words(this.outcomes)}, or their tools differ`,
            'bad',
            look,
          ),
      latency
        ? `latency of ${count(latency.n, 'answered handshake')}: ${latencyText(latency.minMs)} to ${latencyText(latency.maxMs)}, median ${latencyText(latency.medianMs)}${left}`
        : `no latency is known${left}`,
      `outcomes in order: ${this.results.map(markOf).join('')}  (✓ every task passed, ~ answered, ✗ not answered)`,
      ...(latency && latency.n >= 3 ? ['', this.chart().text(look)] : []),
    ].join('\n')
  }
}

function markOf({ outcome, passed, attempted }: ProbeResult): string {
  if (outcome !== 'answered') return '✗'
  return passed === attempted ? '✓' : '~'
}

/** How often each word occurs. */
export function tally(outcomes: Iterable<Outcome>): Partial<Record<Outcome, number>> {
  const counts: Partial<Record<Outcome, number>> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

/** `3 answered, 1 no_answer`. */
export function words(outcomes: Partial<Record<Outcome, number>>): string {
  return Object.entries(outcomes)
    .map(([outcome, n]) => `${n} ${outcome}`)
    .join(', ')
}

/** Least, middle and greatest of some latencies; null for none. */
export function spread(values: readonly number[]): LatencySpread | null {
  const valuesMs = [...values].sort((a, b) => a - b)
  const n = valuesMs.length
  if (n === 0) return null
  const middle = ((valuesMs[(n - 1) >> 1] as number) + (valuesMs[n >> 1] as number)) / 2
  return {
    n,
    minMs: valuesMs[0] as number,
    medianMs: middle,
    maxMs: valuesMs[n - 1] as number,
    valuesMs,
  }
}
