/** Starts the prompt with a small scope, for tests that drive it in a terminal. */
import { fileURLToPath } from 'node:url'
import { startRepl } from '../../lib/repl/prompt.ts'
import { display, drawn, slow } from './prompt-scope.ts'

await startRepl({
  scope: { display, slow, drawn },
  banner: 'ready',
  historyPath: process.argv[2] ?? null,
  importFrom: fileURLToPath(new URL('prompt-scope.ts', import.meta.url)),
})
