/**
 * Waits for code that is somebody else's: a script, a cell.
 *
 * Such code can end in ways that its own promise does not tell: an error that reaches nobody, or an
 * await that nothing is left to settle. Node then ends the process with a page of stack; here both
 * are failures of the code, like any other.
 */
import { untilAborted } from '../abort.ts'
import { TouchstoneError } from '../errors.ts'

/**
 * Settle as code does that runs; or fail as soon as its signal aborts, or something that it started
 * fails unheard.
 *
 * @throws TouchstoneError `never_settles` when the process has nothing left to do and the code has
 *   not ended
 */
export async function untilEnded<T>(running: Promise<T>, signal?: AbortSignal): Promise<T> {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  const stuck = () =>
    reject(
      new TouchstoneError(
        'never_settles',
        'expected the code to end, got an await that nothing is left to settle',
      ),
    )
  process.on('uncaughtException', reject)
  process.on('unhandledRejection', reject)
  process.on('beforeExit', stuck)
  try {
    return await untilAborted(Promise.race([running, failed]), signal)
  } finally {
    process.removeListener('uncaughtException', reject)
    process.removeListener('unhandledRejection', reject)
    process.removeListener('beforeExit', stuck)
    // A failure after the stop is ignored.
    running.catch(() => {})
  }
}
