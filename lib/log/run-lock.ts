/** One process writes a run's folder at a time. */
import { join } from 'node:path'
import { TouchstoneError } from '../errors.ts'
import { unwritable } from '../files.ts'
import { holdLater, type Lock } from '../lock.ts'

/** The lock's file in a run's folder. */
export const LOCK = 'run.lock'

/**
 * Take a folder's lock.
 *
 * @param options.told that it is not known yet whether a holder lives, and who it is
 * @throws TouchstoneError `run_locked` naming the process that holds it; `file_unwritable`; the
 *   signal's reason
 */
export async function lock(
  dir: string,
  options: { signal?: AbortSignal | undefined; told?: (line: string) => void } = {},
): Promise<Lock> {
  const path = join(dir, LOCK)
  const busy = (who: string) =>
    new TouchstoneError(
      'run_locked',
      `expected a run that no other process writes, got one held by ${who}`,
      { where: path },
    )
  const told = (who: string) =>
    options.told?.(`${path} is held by ${who}: waiting up to 30 s for a sign of life`)
  try {
    return await holdLater(path, busy, { signal: options.signal, told })
  } catch (cause) {
    options.signal?.throwIfAborted()
    throw cause instanceof TouchstoneError ? cause : unwritable(path, cause, 'a lock')
  }
}
