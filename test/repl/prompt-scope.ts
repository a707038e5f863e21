/** What the prompt has in scope when tests drive it. */
import { SIGNAL } from '../../lib/code/evaluate.ts'

export * as display from '../../lib/display.ts'

/** Waits until it is stopped, and says whether the stop reached it. */
export function slow(): Promise<never> {
  const signal = (globalThis as { [SIGNAL]?: AbortSignal })[SIGNAL]
  signal?.addEventListener('abort', () => console.log('the call was told'))
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}

export const drawn = { plot: (kind = 'strip') => `a picture of kind ${kind}` }
