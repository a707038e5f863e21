/**
 * Progress of long work on standard error: one line that changes on a terminal, a line now and then
 * elsewhere.
 */
import { cut, duration, pad } from './display.ts'
import { signalOf } from './signal.ts'

export type Progress = {
  /** Count one finished; say whether it fell short. */
  tick(failed?: boolean): void
  /** Text behind the bar, such as the case at work. */
  label(text: string): void
  /** What the work has cost so far, and what it may cost at most; nothing is shown of 0. */
  spent(usd: number, mostUsd: number | null): void
  /** Say that the work waits. Off a terminal a wait of 10 s or more has a line of its own. */
  waits(text: string, ms: number): void
  /** Take the bar away. Safe to call twice. */
  stop(): void
  [Symbol.dispose](): void
}

type Stream = { isTTY?: boolean; columns?: number; write(text: string): unknown }

/**
 * Start a progress bar. While it lives, `console` output is printed above it rather than through
 * it.
 *
 * Off a terminal it writes a line per tenth of the work, at most one in 5 s; one after 30 s without
 * any; and one per long wait.
 *
 * @param total   things to do, a whole number >= 1
 * @param options `failures` names what a failed tick counts, default `failed`; `before` is what
 *   earlier work had finished, default 0, of which neither rate nor time left is computed; `stream`
 *   defaults to standard error
 * @example
 * using bar = progress(10, 'trials')
 * bar.tick()
 */
export function progress(
  total: number,
  noun: string,
  options: { stream?: Stream; failures?: string; before?: number } = {},
): Progress {
  const stream: Stream = options.stream ?? process.stderr
  const state = new State(total, options)
  if (stream.isTTY !== true) return lines(state, noun, stream)
  let behind = ''
  let drawn = 0
  let live = true

  const erase = () => stream.write('\r\x1b[2K')
  const draw = (force = false) => {
    const now = performance.now()
    if (!force && now - drawn < 80) return
    drawn = now
    const columns = stream.columns ?? 80
    const cells = columns < 120 ? 12 : 24
    const { done } = state
    const full = Math.min(cells, Math.floor((cells * done) / total))
    const parts = [
      `${pad(String(done), String(total).length, 'right')}/${total} ${noun}`,
      ...state.facts(),
      ...state.left(),
      ...(behind === '' ? [] : [behind]),
    ]
    const text = ` ${'█'.repeat(full)}${'░'.repeat(cells - full)} ${parts.join(', ')}`
    stream.write(`\r\x1b[2K${cut(text, columns - 1)}`)
  }
  const methods = ['log', 'info', 'warn', 'error'] as const
  const originals = methods.map((method) => [method, console[method]] as const)
  for (const [method, original] of originals) {
    console[method] = (...args: unknown[]) => {
      erase()
      original.apply(console, args)
      draw(true)
    }
  }
  const stop = () => {
    if (!live) return
    live = false
    stopped?.removeEventListener('abort', stop)
    for (const [method, original] of originals) console[method] = original
    erase()
  }
  // On Ctrl-C the bar goes at once, although the work may take longer to end.
  const stopped = signalOf()
  stopped?.addEventListener('abort', stop, { once: true })
  draw(true)
  return {
    tick(bad) {
      state.tick(bad)
      if (live) draw(state.done === total)
    },
    label(text) {
      behind = text
      if (live) draw()
    },
    spent(usd, mostUsd) {
      state.cost = { usd, mostUsd }
    },
    waits(text) {
      behind = text
      if (live) draw()
    },
    stop,
    [Symbol.dispose]: stop,
  }
}

/**
 * Milliseconds: the least between two lines, the most without one, and the shortest wait that is
 * told.
 */
const [LEAST_MS, MOST_MS, LONG_MS] = [5_000, 30_000, 10_000]

/** How far the work is, and how fast. */
class State {
  readonly total: number
  done: number
  cost: { usd: number; mostUsd: number | null } = { usd: 0, mostUsd: null }
  private failed = 0
  private readonly before: number
  private readonly failures: string
  private readonly started = Date.now()

  constructor(
    total: number,
    { failures = 'failed', before = 0 }: { failures?: string; before?: number },
  ) {
    this.total = total
    this.failures = failures
    this.before = before
    this.done = before
  }

  tick(bad = false): void {
    this.done++
    if (bad) this.failed++
  }

  get passedMs(): number {
    return Date.now() - this.started
  }

  /** Milliseconds for one; null: none has ended. */
  private get eachMs(): number | null {
    const mine = this.done - this.before
    return mine === 0 || this.passedMs <= 0 ? null : this.passedMs / mine
  }

  /** What failed, how fast it goes, and what it has cost. */
  facts(): string[] {
    const { failed, failures, eachMs, cost } = this
    const most = cost.mostUsd === null ? '' : ` of $${cost.mostUsd}`
    return [
      ...(failed ? [`${failures}: ${failed}`] : []),
      ...(eachMs === null ? [] : [rate(eachMs)]),
      ...(cost.usd > 0
        ? [`$${cost.usd < 1 ? cost.usd.toPrecision(2) : cost.usd.toFixed(2)}${most}`]
        : []),
    ]
  }

  /** How long the rest takes at that rate. */
  left(): string[] {
    const { done, total, eachMs } = this
    return eachMs === null || done >= total ? [] : [`${duration(eachMs * (total - done))} left`]
  }
}

/** A rate per second, per minute or per hour: the first that is 1 or more. */
function rate(eachMs: number): string {
  for (const [unit, ms] of [
    ['s', 1000],
    ['min', 60_000],
  ] as const)
    if (ms / eachMs >= 1) return `${rounded(ms / eachMs)}/${unit}`
  return `${rounded(3_600_000 / eachMs)}/h`
}

function rounded(value: number): string {
  return value < 10 ? value.toFixed(1) : value.toFixed(0)
}

/** Progress where a printed line stays, such as a log of continuous integration. */
function lines(state: State, noun: string, stream: Stream): Progress {
  const { total } = state
  let behind = ''
  let written = Date.now()
  let tenth = Math.floor((10 * state.done) / total)
  const write = (text: string) => {
    written = Date.now()
    stream.write(`${text}\n`)
  }
  const say = () => {
    const { done } = state
    tenth = Math.floor((10 * done) / total)
    const parts = [
      `${done} of ${total} ${noun}`,
      ...state.facts(),
      `after ${duration(state.passedMs)}`,
      ...state.left().map((text) => `about ${text}`),
      ...(behind && done < total ? [behind] : []),
    ]
    write(parts.join(', '))
  }
  const timer = setInterval(() => {
    if (Date.now() - written >= MOST_MS) say()
  }, 1000)
  timer.unref()
  const stop = () => clearInterval(timer)
  signalOf()?.addEventListener('abort', stop, { once: true })
  return {
    tick(bad) {
      state.tick(bad)
      const further = Math.floor((10 * state.done) / total) > tenth
      if (further && Date.now() - written >= LEAST_MS) say()
    },
    label(text) {
      behind = text
    },
    spent(usd, mostUsd) {
      state.cost = { usd, mostUsd }
    },
    waits(text, ms) {
      behind = text
      if (ms >= LONG_MS) write(text)
    },
    stop,
    [Symbol.dispose]: stop,
  }
}
