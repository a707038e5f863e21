/** Waiting that a signal ends. */

/**
 * The promise's own end, or the signal's reason if the signal aborts first. The promise itself goes
 * on; a failure that comes after the abort is ignored.
 */
export async function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', abort)
    promise.catch(() => {})
  }
}
