/** How the process ends when the reader of its output has left, or when an error reaches nobody. */
import { lookOf } from '../display.ts'
import { showError } from '../repl/show.ts'

/**
 * From now on an error that nobody catches ends the process with one paragraph and exit code 1,
 * unless the prompt, a kernel, a script or a notebook at work listens too. Output that nobody reads
 * any more is no error.
 *
 * @param onClosed called when the reader of standard output has left, as `head` does. A verb that
 *   writes files goes on.
 */
export function endWell(onClosed: () => void): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event as 'uncaughtException', (error: unknown) => {
      const nearer = process.listenerCount(event) > 1
      // What was stopped says so when it stops.
      if (nearer || (error as { name?: string } | null)?.name === 'AbortError') return
      process.stderr.write(`${showError(error, lookOf(process.stderr))}\n`)
      process.exit(1)
    })
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      if (stream === process.stdout) onClosed()
    })
  }
}
