/** Runs work of a schedule a few at a time. */
import { setImmediate } from 'node:timers/promises'

/**
 * Start `work` for each item, at most `concurrency` at once, in order. When `signal` aborts no
 * further item is started and those that run are waited for. A rejection stops the pool and is
 * thrown.
 */
export async function pool<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const source = items[Symbol.iterator]()
  let failed = false
  const worker = async () => {
    while (!failed && !signal?.aborted) {
      // Offline work never waits for anything: without a turn of the loop no signal, timer or key
      // press would get through.
      await setImmediate()
      if (signal?.aborted) return
      const next = source.next()
      if (next.done) return
      try {
        await work(next.value)
      } catch (cause) {
        failed = true
        throw cause
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, worker))
}
