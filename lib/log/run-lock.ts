/** One process writes a run's folder at a time. */
import { join } from 'node:path'
import { TouchstoneError } from '../errors.ts'
import { unwritable } from '../files.ts'
import { hold } from '../lock.ts'

/** The lock's file in a run's folder. */
export const LOCK = 'run.lock'

/**
 * Take a folder's lock. Returns what gives it back.
 *
 * @throws TouchstoneError `run_locked` naming the process that holds it; `file_unwritable`
 */
export function lock(dir: string): () => void {
  const path = join(dir, LOCK)
  try {
    return hold(
      path,
      (who) =>
        new TouchstoneError(
          'run_locked',
          `expected a run that nobody writes, got one held by ${who}`,
          { where: path },
        ),
    )
  } catch (cause) {
    throw cause instanceof TouchstoneError ? cause : unwritable(path, cause, 'a lock')
  }
}
