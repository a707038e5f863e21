/**
 * One absolute instant that ends a whole test, whichever request is open, and whoever called may
 * end it sooner.
 */
import { Shortfall } from './outcome.ts'

export type Deadline = {
  /**
   * Aborts at the instant, or when the caller aborts. The reason is a `Shortfall` or the caller's
   * own reason.
   */
  signal: AbortSignal
  remainingMs(): number
  /** A signal that also aborts after `ms`, for a step that must not eat the rest. */
  within(ms: number): AbortSignal
  stop(): void
}

/**
 * Start the clock. Its timer keeps the process alive, unlike `AbortSignal.timeout`: a test always
 * comes to an end.
 */
export function deadline(limitMs: number, caller?: AbortSignal): Deadline {
  const end = performance.now() + limitMs
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Shortfall('timed_out')), limitMs)
  const cancel = () => controller.abort(caller?.reason)
  if (caller?.aborted) cancel()
  else caller?.addEventListener('abort', cancel, { once: true })
  return {
    signal: controller.signal,
    remainingMs: () => Math.max(0, end - performance.now()),
    within: (ms) => AbortSignal.any([controller.signal, after(ms)]),
    stop() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    },
  }
}

/** A signal that aborts as a time-out after `ms`. */
export function after(ms: number): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new Shortfall('timed_out')), ms).unref()
  return controller.signal
}
