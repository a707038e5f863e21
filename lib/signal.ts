/**
 * The signal of the line, cell or script at work: one place for long calls to find what Ctrl-C
 * aborts.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** On the global object, so that a second copy of the package finds the same signal. */
const KEY = Symbol.for('touchstone.signal')
const holder = globalThis as { [KEY]?: AsyncLocalStorage<AbortSignal | undefined> }

/**
 * Run `work` with a signal for every long call that it starts, also behind an await, a timer or a
 * callback.
 *
 * @param signal undefined: calls find none
 */
export function withSignal<T>(signal: AbortSignal | undefined, work: () => T): T {
  const storage = (holder[KEY] ??= new AsyncLocalStorage())
  return storage.run(signal, work)
}

/**
 * The signal that a long call must heed: the one that it was given, the one of the code that called
 * it, or both.
 *
 * @param given the call's own option
 * @example
 * const line = new AbortController()
 * withSignal(line.signal, () => signalOf()) === line.signal // true
 * signalOf() // undefined
 */
export function signalOf(given?: AbortSignal): AbortSignal | undefined {
  const outer = holder[KEY]?.getStore()
  if (given === undefined || outer === undefined || given === outer) return given ?? outer
  return AbortSignal.any([given, outer])
}
