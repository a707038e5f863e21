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
 * @param options `failures` names what a failed tick counts, default `failed`; `stream` defaults to
 *   standard error
 * @example
 * using bar = progress(10, 'trials')
 * bar.tick()
 */
export function progress(
  total: number,
  noun: string,
  options: { stream?: Stream; failures?: string } = {},
): Progress {
  const stream: Stream = options.stream ?? process.stderr
  if (stream.isTTY !== true) return lines(total, noun, stream, options.failures ?? 'failed')
  const started = performance.now()
  let done = 0
  let failed = 0
  let behind = ''
  let drawn = 0
  let live = true

  const erase = () => stream.write('\r\x1b[2K')
  const draw = (force = false) => {
    const now = performance.now()
    if (!force && now - drawn < 80) return
    drawn = now
    const cells = 24
    const full = Math.min(cells, Math.floor((cells * done) / total))
    const left = done === 0 ? '' : ` ${duration(((now - started) / done) * (total - done))} left`
    const text = ` ${'█'.repeat(full)}${'░'.repeat(cells - full)} ${pad(String(done), String(total).length, 'right')}/${total} ${noun}${
      failed ? `, ${options.failures ?? 'failed'}: ${failed}` : ''
    }${done < total ? left : ''}  ${behind}`
    stream.write(`\r\x1b[2K${cut(text, (stream.columns ?? 80) - 1)}`)
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
  // Code that was stopped gives the terminal back at once, whatever it still has to end.
  const stopped = signalOf()
  stopped?.addEventListener('abort', stop, { once: true })
  draw(true)
  return {
    tick(bad = false) {
      done++
      if (bad) failed++
      if (live) draw(done === total)
    },
    label(text) {
      behind = text
      if (live) draw()
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

/** Progress where nobody can take a line back, such as a log of continuous integration. */
function lines(total: number, noun: string, stream: Stream, failures: string): Progress {
  const started = Date.now()
  let done = 0
  let failed = 0
  let behind = ''
  let written = started
  let tenth = 0
  const write = (text: string) => {
    written = Date.now()
    stream.write(`${text}\n`)
  }
  const say = () => {
    tenth = Math.floor((10 * done) / total)
    const passed = Date.now() - started
    const parts = [
      `${done} of ${total} ${noun}`,
      ...(failed ? [`${failures}: ${failed}`] : []),
      `after ${duration(passed)}`,
      ...(done > 0 && done < total
        ? [`about ${duration((passed / done) * (total - done))} left`]
        : []),
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
    tick(bad = false) {
      done++
      if (bad) failed++
      const further = Math.floor((10 * done) / total) > tenth
      if (further && Date.now() - written >= LEAST_MS) say()
    },
    label(text) {
      behind = text
    },
    waits(text, ms) {
      behind = text
      if (ms >= LONG_MS) write(text)
    },
    stop,
    [Symbol.dispose]: stop,
  }
}
