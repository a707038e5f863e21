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

/** A server that was given up may have been slow to come up: so often it is tried once more. */
export const TRIED_AGAIN_MS = 30_000

/** The error of a start that is not tried any more. */
export class GivenUp extends TouchstoneError {}

type Known = { up: boolean; failed: number; first: string; triedAt: number }

export class ServerStarts {
  private readonly known = new Map<string, Known>()
  private readonly now: () => number

  /** @param now a clock in ms that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  /**
   * Start a server by `begin`, unless it was given up and a start was tried not long ago. Starts
   * that ran at the same time count as one: what is too much for a machine at once may come up
   * later.
   *
   * @throws TouchstoneError what `begin` throws; `server_unreachable` with the reason of the first
   *   start for one that was given up
   */
  async start(plan: ServerPlan, begin: () => Promise<RunningServer>): Promise<RunningServer> {
    const { name, stdio, http, files } = plan
    if (!stdio && !http) return begin()
    const key = JSON.stringify([stdio, http, files])
    const known = this.known.get(key) ?? { up: false, failed: 0, first: '', triedAt: 0 }
    this.known.set(key, known)
    const { failed } = known
    const now = this.now()
    if (!known.up && failed >= STARTS_TRIED && now - known.triedAt < TRIED_AGAIN_MS)
      throw new GivenUp(
        'server_unreachable',
        `${known.first}; not started any more but once in ${TRIED_AGAIN_MS / 1000} s, since ${failed} starts in a row failed and none came up`,
        { where: `server ${name}` },
      )
    known.triedAt = now
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
