/** Waiting for changes in a folder of sources. */
import { watch } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { unreadable } from '../files.ts'

/** What changes by itself while a server is installed, built or run. */
const IGNORED = /(?:^|[/\\])(?:node_modules|\.git|\.venv|__pycache__|target)(?:[/\\]|$)/
/** An editor writes several files, and a build more: they are one change. */
const SETTLE_MS = 200

/**
 * Yields once at the start, and once after each change in the folder or below it.
 *
 * @throws TouchstoneError `file_unreadable` for a folder that cannot be watched; the signal's
 *   reason
 */
export async function* changesIn(folder: string, signal: AbortSignal): AsyncGenerator<void> {
  let changed = Promise.withResolvers<void>()
  const listen = async () => {
    for await (const { filename } of watch(folder, { recursive: true, signal })) {
      if (filename === null || !IGNORED.test(filename)) changed.resolve()
    }
  }
  const listening = listen().catch((cause) => {
    throw signal.aborted ? signal.reason : unreadable(folder, cause, 'a folder to watch')
  })
  listening.catch(() => {})
  yield
  for (;;) {
    await Promise.race([changed.promise, listening])
    await pause(SETTLE_MS, undefined, { signal })
    changed = Promise.withResolvers<void>()
    yield
  }
}
