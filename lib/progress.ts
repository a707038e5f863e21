/** One line of progress on a terminal's standard error: how many, how many failed, how long still. Silent elsewhere. */
import { cut, duration, pad } from './display.ts'
import { signalOf } from './signal.ts'

export type Progress = {
  /** Count one finished; say whether it fell short. */
  tick(failed?: boolean): void
  /** Text behind the bar, such as the case at work. */
  label(text: string): void
  /** Take the bar away. Safe to call twice. */
  stop(): void
  [Symbol.dispose](): void
}

type Stream = { isTTY?: boolean; columns?: number; write(text: string): unknown }

/**
 * Start a progress bar. While it lives, `console` output is printed above it rather than through it.
 *
 * @param total   things to do, a whole number >= 1
 * @param options `failures` names what a failed tick counts, default `failed`; `stream` defaults to standard error
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
  const started = performance.now()
  let done = 0
  let failed = 0
  let behind = ''
  let drawn = 0
  let live = stream.isTTY === true
  if (!live) return { tick() {}, label() {}, stop() {}, [Symbol.dispose]() {} }

  const erase = () => stream.write('\r\x1b[2K')
  const draw = (force = false) => {
    const now = performance.now()
    if (!force && now - drawn < 80) return
    drawn = now
    const cells = 24
    const full = Math.min(cells, Math.floor((cells * done) / total))
    const left = done === 0 ? '' : ` ${duration(((now - started) / done) * (total - done))} left`
    const text = ` ${'█'.repeat(full)}${'░'.repeat(cells - full)} ${pad(String(done), String(total).length, 'right')}/${total} ${noun}${
      failed ? `, ${failed} ${options.failures ?? 'failed'}` : ''
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
    stop,
    [Symbol.dispose]: stop,
  }
}
