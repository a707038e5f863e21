/**
 * Faults: ways in which a server's answer and its state part company.
 *
 * Each is a few lines over a world's pure tools: which state the tool sees, whether the new one is kept, what is answered.
 * To add one, add its name and its entry.
 */
import type { JsonObject } from '../canonical.ts'
import type { World } from '../world/world.ts'

export const FAULT_KINDS = ['lying_success', 'reply_lost', 'stale_read', 'error_after_commit'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** A fault on one tool: after `after` honest calls, for `times` calls (default: all that follow). */
export type Fault = { tool: string; kind: FaultKind; after?: number | undefined; times?: number | undefined }

/** What the server does with one call. `lost`: it is carried out, or not, and no reply ever comes. */
export type Served = { reply: JsonObject; isError: boolean; lost?: boolean }

/** One call on its way through a fault. */
export type FaultyCall = { world: World; tool: string; input: unknown }

type FaultEntry = { summary: string; serve(call: FaultyCall): Served }

export const FAULTS: { [kind in FaultKind]: FaultEntry } = {
  lying_success: {
    summary: 'answers as if the call had worked and keeps the old state',
    serve: ({ world, tool, input }) => world.call(tool, input, { commit: false }),
  },
  reply_lost: {
    summary: 'carries the call out; the reply never comes',
    serve: ({ world, tool, input }) => ({ ...world.call(tool, input), lost: true }),
  },
  stale_read: {
    summary: 'answers a read from the state before the last change',
    serve: ({ world, tool, input }) => {
      const before = world.history.at(-1)
      return world.call(tool, input, before ? { from: before, commit: false } : { commit: false })
    },
  },
  error_after_commit: {
    summary: 'carries the call out and answers with an error',
    serve: ({ world, tool, input }) => {
      const served = world.call(tool, input)
      return served.isError
        ? served
        : { reply: { ok: false, error: 'internal error, please try again' }, isError: true }
    },
  },
}

/** Serves the calls of one server: counts them per tool and puts each through the fault that holds for it, if any. */
export class FaultyServer {
  readonly world: World
  private readonly faults: readonly Fault[]
  private readonly served = new Map<string, number>()

  constructor(world: World, faults: readonly Fault[]) {
    this.world = world
    this.faults = faults
  }

  call(tool: string, input: unknown): Served {
    const index = this.served.get(tool) ?? 0
    this.served.set(tool, index + 1)
    const fault = this.faults.find(
      (one) =>
        one.tool === tool &&
        index >= (one.after ?? 0) &&
        index < (one.after ?? 0) + (one.times ?? Number.POSITIVE_INFINITY),
    )
    return fault ? FAULTS[fault.kind].serve({ world: this.world, tool, input }) : this.world.call(tool, input)
  }
}
