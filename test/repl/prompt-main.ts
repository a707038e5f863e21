/** Starts the prompt with a small scope, for tests that drive it in a terminal. */
import * as display from '../../lib/display.ts'
import { SIGNAL, startRepl } from '../../lib/repl/index.ts'

/** Waits until it is stopped, and says whether the stop reached it. */
function slow(): Promise<never> {
  const signal = (globalThis as { [SIGNAL]?: AbortSignal })[SIGNAL]
  signal?.addEventListener('abort', () => console.log('the call was told'))
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}

const drawn = { plot: (kind = 'strip') => `a picture of kind ${kind}` }
await startRepl({ scope: { display, slow, drawn }, banner: 'ready', historyPath: process.argv[2] ?? null })
