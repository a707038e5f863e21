/** What a sweep came to, in numbers. */
import { count, duration, type Look, table, tone } from '../../display.ts'
import { Shown } from '../../shown.ts'
import { TONES } from '../connect/report.ts'
import type { ProbeData } from '../connect/result.ts'
import { type LatencySpread, spread } from '../connect/runs.ts'
import { type Detail, type Outcome, SAYS } from '../judge/outcome.ts'
import type { SetName } from '../judge/set.ts'
import type { SkipReason } from './candidates.ts'

export type SweepData = {
  schema: 'touchstone.sweep.v0'
  /**
   * The published set; null for servers of one's own. Lines of other tests in the log are not
   * counted.
   */
  set: SetName | null
  tested: number
  /** Entries that were not tested: the sum of `skips`. */
  skipped: number
  skips: Partial<Record<SkipReason, number>>
  outcomes: Partial<Record<Outcome, number>>
  details: Record<string, number>
  latency: LatencySpread | null
  toolsNamed: number
  /** Descriptions that match a rule of the pattern set. No description's text is in the log. */
  descriptionsMarked: number
  log: string | null
}

/**
 * What a sweep came to. Counts cover the whole log, lines of an earlier sweep with the same set
 * included.
 */
export class Sweep extends Shown implements SweepData {
  readonly schema = 'touchstone.sweep.v0'
  readonly set: SetName | null
  readonly tested: number
  readonly skipped: number
  readonly skips: SweepData['skips']
  readonly outcomes: Partial<Record<Outcome, number>>
  readonly details: Record<string, number>
  readonly latency: LatencySpread | null
  readonly toolsNamed: number
  readonly descriptionsMarked: number
  readonly log: string | null

  constructor(data: Omit<SweepData, 'schema'>) {
    super()
    this.set = data.set
    this.tested = data.tested
    this.skipped = data.skipped
    this.skips = data.skips
    this.outcomes = data.outcomes
    this.details = data.details
    this.latency = data.latency
    this.toolsNamed = data.toolsNamed
    this.descriptionsMarked = data.descriptionsMarked
    this.log = data.log
  }

  toJSON(): SweepData {
    return { ...this }
  }

  text(look: Look = {}): string {
    const total = Object.values(this.outcomes).reduce((sum, n) => sum + n, 0)
    const falling = <T>(counts: { [key: string]: T }) =>
      Object.entries(counts).sort(([, a], [, b]) => Number(b) - Number(a))
    const share = (n: number) => `${((100 * n) / total).toFixed(1)}%`
    const outcomes = falling(this.outcomes).map(([outcome, n]) => [
      tone(outcome, TONES[outcome as Outcome], look),
      String(n),
      share(Number(n)),
    ])
    const details = falling(this.details).map(([detail, n]) => [
      detail,
      String(n),
      SAYS[detail as Detail] ?? '',
    ])
    const number = { head: 'n', align: 'right' as const }
    const skips = falling(this.skips).map(([reason, n]) => `${n} ${reason}`)
    const name = this.set ? `${this.set.id} ${this.set.version}` : 'servers of your own'
    return [
      `${count(total, 'server')} (${name}), ${this.tested} tested now`,
      skips.length > 0 ? `not tested: ${skips.join(', ')}` : 'no entry was left out',
      table([{ head: 'outcome' }, number, { head: 'share', align: 'right' }], outcomes, look),
      table([{ head: 'detail' }, number, { head: 'what it means', min: 20 }], details, look),
      this.latency
        ? `latency of ${this.latency.n} answered: median ${duration(this.latency.medianMs)}, ${duration(this.latency.minMs)} to ${duration(this.latency.maxMs)}`
        : 'no latency is known',
      `${count(this.toolsNamed, 'tool')} named, ${count(this.descriptionsMarked, 'description')} that match a rule`,
    ].join('\n')
  }
}

/** Counts as results come. */
export class Totals {
  tested = 0
  private readonly skips: Partial<Record<SkipReason, number>> = {}
  private readonly outcomes: Partial<Record<Outcome, number>> = {}
  private readonly details: Record<string, number> = {}
  private readonly latenciesMs: number[] = []
  private toolsNamed = 0
  private marked = 0

  add({ outcome, detail, latencyMs, tools }: ProbeData): void {
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1
    this.details[detail] = (this.details[detail] ?? 0) + 1
    if (latencyMs !== null) this.latenciesMs.push(latencyMs)
    this.toolsNamed += tools?.named ?? 0
    this.marked += tools?.marked ?? 0
  }

  skip(reason: SkipReason): void {
    this.skips[reason] = (this.skips[reason] ?? 0) + 1
  }

  toJSON(): Omit<SweepData, 'schema' | 'set' | 'log'> {
    return {
      tested: this.tested,
      skipped: Object.values(this.skips).reduce((sum, n) => sum + n, 0),
      skips: this.skips,
      outcomes: this.outcomes,
      details: this.details,
      latency: spread(this.latenciesMs),
      toolsNamed: this.toolsNamed,
      descriptionsMarked: this.marked,
    }
  }
}
