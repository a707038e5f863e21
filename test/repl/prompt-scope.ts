/** What the prompt has in scope when tests drive it. */
import { signalOf } from '../../lib/signal.ts'

export * as display from '../../lib/display.ts'

/** Waits until it is stopped, and says when it waits and whether the stop reached it. */
export function slow(): Promise<never> {
  const signal = signalOf()
  const { promise, reject } = Promise.withResolvers<never>()
  signal?.addEventListener('abort', () => {
    console.log('the call was told')
    reject(signal.reason)
  })
  console.log('the call waits')
  return promise
}

export const drawn = { plot: (kind = 'strip') => `a picture of kind ${kind}` }
