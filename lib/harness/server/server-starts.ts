/**
 * The starts of servers that are not ours, over the trials of a run in one process. A server that
 * never came up is not waited for in each of a thousand trials.
 */
import { TouchstoneError } from '../../errors.ts'
import type { RunningServer } from './running.ts'
import type { ServerPlan } from './server-plan.ts'

/**
 * Starts in a row that fail before a server is given up. One that fails every second start, by
 * chance, is given up in one of 256 runs, and never once it was up.
 */
export const STARTS_TRIED = 8

/** The error of a start that is not tried any more. */
export class GivenUp extends TouchstoneError {}

type Known = { up: boolean; failed: number; first: string }

export class ServerStarts {
  private readonly known = new Map<string, Known>()

  /**
   * Start a server by `begin`, unless it was given up. Starts that ran at the same time count as
   * one: what is too much for a machine at once may come up later.
   *
   * @throws TouchstoneError what `begin` throws; `server_unreachable` with the reason of the first
   *   start for one that was given up
   */
  async start(plan: ServerPlan, begin: () => Promise<RunningServer>): Promise<RunningServer> {
    const { name, stdio, http, files } = plan
    if (!stdio && !http) return begin()
    const key = JSON.stringify([stdio, http, files])
    const known = this.known.get(key) ?? { up: false, failed: 0, first: '' }
    this.known.set(key, known)
    const { failed } = known
    if (!known.up && failed >= STARTS_TRIED)
      throw new GivenUp(
        'server_unreachable',
        `${known.first}; not started any more, since ${failed} starts in a row failed and none came up`,
        { where: `server ${name}` },
      )
    try {
      const server = await begin()
      known.up = true
      return server
    } catch (cause) {
      // Any other error is one of a server that came up.
      if (!(cause instanceof TouchstoneError) || cause.code !== 'server_unreachable')
        known.up = true
      known.first ||= (cause as Error).message.replace(` (server ${name})`, '')
      if (known.failed === failed) known.failed++
      throw cause
    }
  }
}
