/**
 * Testing many declarations: bounded concurrency, one appended line per result, and going on where an earlier sweep stopped.
 *
 * Memory does not grow with results: each is written and let go. What stays is one key and at most one number per entry.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { count, duration, type Look, table, tone } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { cutTornTail, streamLines, textOf } from '../../lines.ts'
import { progress } from '../../progress.ts'
import { Shown } from '../../shown.ts'
import { signalOf } from '../../signal.ts'
import { TONES } from '../connect/report.ts'
import { type ProbeData, ProbeResult } from '../connect/result.ts'
import { type LatencySpread, spread } from '../connect/runs.ts'
import { runTest } from '../connect/tasks.ts'
import type { Outcome } from '../judge/outcome.ts'
import { connectionSet, DEFAULT_SET } from '../judge/set.ts'

export type SweepEntry =
  | string
  | { url: string; transport?: 'streamable-http' | 'sse'; name?: string }

export type SweepOptions = {
  /** File that gets one JSON line per result. An existing one is gone on with: what it holds is not tested again. */
  log?: string | undefined
  /** Tests at a time, a whole number from 1 to 512. Default 16. */
  concurrency?: number
  /** Your own servers, outside the address rules. Default false. */
  local?: boolean
  signal?: AbortSignal | undefined
  /** Called with each result, in the order they end. */
  onResult?: ((result: ProbeResult, name: string | null) => void) | undefined
}

export type SweepData = {
  schema: 'touchstone.sweep.v0'
  tested: number
  /** Entries that the log already held, or that came twice. */
  skipped: number
  outcomes: Partial<Record<Outcome, number>>
  details: Record<string, number>
  latency: LatencySpread | null
  toolsNamed: number
  /** Descriptions that match a rule of the pattern set. No description's text is in the log. */
  descriptionsMarked: number
  log: string | null
}

/** What a sweep came to. Counts cover the whole log, lines of an earlier sweep included. */
export class Sweep extends Shown implements SweepData {
  readonly schema = 'touchstone.sweep.v0'
  readonly tested: number
  readonly skipped: number
  readonly outcomes: Partial<Record<Outcome, number>>
  readonly details: Record<string, number>
  readonly latency: LatencySpread | null
  readonly toolsNamed: number
  readonly descriptionsMarked: number
  readonly log: string | null

  constructor(data: Omit<SweepData, 'schema'>) {
    super()
    this.tested = data.tested
    this.skipped = data.skipped
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
    const rows = Object.entries(this.outcomes)
      .sort(([, a], [, b]) => b - a)
      .map(([outcome, n]) => [
        tone(outcome, TONES[outcome as Outcome], look),
        String(n),
        `${((100 * n) / total).toFixed(1)}%`,
      ])
    return [
      `${count(total, 'server')}: ${this.tested} tested now, ${this.skipped} already in the log or given twice`,
      table(
        [{ head: 'outcome' }, { head: 'n', align: 'right' }, { head: 'share', align: 'right' }],
        rows,
        look,
      ),
      this.latency
        ? `latency of answered handshakes: median ${duration(this.latency.medianMs)}, ${duration(this.latency.minMs)} to ${duration(this.latency.maxMs)}`
        : 'no handshake was answered',
      `${count(this.toolsNamed, 'tool')} named, ${count(this.descriptionsMarked, 'description')} that match a rule`,
    ].join('\n')
  }
}

/** One line of a sweep's log: a result without the descriptions' text, which would make the log as large as the servers wish. */
export type SweepLine = ProbeData & { name: string | null }

/**
 * Test many servers. Nothing an entry holds can stop the sweep: a text that is no URL is recorded as refused.
 *
 * @param list    URLs, or `{ url, transport, name }` such as a `Declaration`'s remotes; arrays, generators, async ones
 * @param options `log`, `concurrency` (default 16), `local`, `signal`, `onResult`
 * @throws TouchstoneError `argument_invalid`; `file_unreadable` for a log that is not one; the signal's reason when it aborts,
 *   what is in the log by then stays
 * @example
 * const swept = await sweep(['https://localhost/mcp', 'https://10.0.0.1/mcp', 'https://localhost/mcp'])
 * swept.outcomes // { refused: 2 }
 * swept.skipped // 1
 */
export async function sweep(
  list: Iterable<SweepEntry> | AsyncIterable<SweepEntry>,
  options: SweepOptions = {},
): Promise<Sweep> {
  const { concurrency = 16, local = false, log, onResult } = options
  const signal = signalOf(options.signal)
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 512) {
    throw new TouchstoneError(
      'argument_invalid',
      `expected a whole number from 1 to 512, got ${concurrency}`,
      {
        where: 'options.concurrency',
      },
    )
  }
  const totals = new Totals()
  const known = new Set<string>()
  if (log !== undefined && existsSync(log)) {
    cutTornTail(log)
    for await (const line of readSweep(log)) {
      known.add(keyOf(line.subject, line.transport))
      totals.add(line)
    }
  }
  let tested = 0
  let skipped = 0
  const source =
    Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]()
  const length = Array.isArray(list) ? list.length : 0
  const bar = length > 0 ? progress(length, 'servers', { failures: 'not answered' }) : null

  const test = async (entry: SweepEntry) => {
    const {
      url,
      transport = 'streamable-http',
      name = null,
    } = typeof entry === 'string' ? { url: entry } : entry
    const key = keyOf(url, transport)
    if (known.has(key)) {
      skipped++
      bar?.tick()
      return
    }
    known.add(key)
    const result = new ProbeResult(
      url,
      transport,
      local ? null : connectionSet(DEFAULT_SET).name,
      await runTest({ url, transport, local }, {}, signal),
    )
    const line = lineOf(result, name)
    if (log !== undefined) appendFileSync(log, `${JSON.stringify(line)}\n`)
    totals.add(line)
    tested++
    bar?.tick(result.outcome !== 'answered')
    onResult?.(result, name)
  }

  const work = async () => {
    for (;;) {
      signal?.throwIfAborted()
      const { value, done } = await source.next()
      if (done) return
      await test(value)
    }
  }
  // All workers come to an end before a failure is passed on: no test runs on behind the caller's back.
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, work))
  bar?.stop()
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return new Sweep({ ...totals.toJSON(), tested, skipped, log: log ?? null })
}

/** The lines of a sweep's log, one at a time. @throws TouchstoneError `file_unreadable` for a line that is not one of a sweep */
export async function* readSweep(log: string): AsyncGenerator<SweepLine> {
  for await (const one of streamLines(log)) {
    let line: SweepLine | null = null
    try {
      line = JSON.parse(textOf(one, log))
    } catch {}
    if (line?.schema !== 'touchstone.probe.v0') {
      throw new TouchstoneError(
        'file_unreadable',
        'expected a line of a sweep, got something else',
        {
          where: `${log}:${one.line}`,
        },
      )
    }
    yield line
  }
}

function lineOf(result: ProbeResult, name: string | null): SweepLine {
  const data = result.toJSON()
  const tools = data.tools && {
    ...data.tools,
    list: data.tools.list.map((tool) => ({ ...tool, description: null })),
  }
  return { ...data, tools, name }
}

function keyOf(url: string, transport: string): string {
  return `${transport} ${url}`
}

class Totals {
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

  toJSON(): Omit<SweepData, 'schema' | 'tested' | 'skipped' | 'log'> {
    return {
      outcomes: this.outcomes,
      details: this.details,
      latency: spread(this.latenciesMs),
      toolsNamed: this.toolsNamed,
      descriptionsMarked: this.marked,
    }
  }
}
