/** A server that runs, with a client connected to it: what every way of starting one gives. */
import type { Digest } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import type { Effect, WorldDefinition } from '../../world/world.ts'
import type { CallToolResult, Client, Tool } from '../wire/mcp.ts'
import type { MetAt } from './fault-engine.ts'
import type { Judge } from './judge-asks.ts'
import type { Decided } from './policy.ts'
import { effectOf, hasEffect, type ServerEnd } from './world-backend.ts'

/** How long a call may take, and its number within the trial. */
export type CallOptions = { signal: AbortSignal; timeoutMs: number; number: number }

/** A server that runs, with a client connected to it. */
export type RunningServer = {
  name: string
  /**
   * Ours can be asked for its state and log; of somebody else's is seen what its plan says how to
   * see.
   */
  ours: boolean
  tools: Tool[]
  client: Client
  url: string | null
  /** Over what can be seen of the state at the start; null when nothing can. */
  startDigest: Digest | null
  call(tool: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>
  effectOf(tool: string, input: JsonObject): Effect | null
  /** True for a tool that can change something. */
  writes(tool: string): boolean
  /** What the judge asks, behind the faults. */
  judge: Judge
  /**
   * What the server wrote to its standard error and how it ended, for a file of the run; null when
   * there is nothing to tell.
   */
  log(): string | null
  /**
   * The faults and injections that calls met so far. No such member: nothing of the kind stands in
   * front.
   */
  met?(): readonly MetAt[]
  /**
   * What the policy decided on the call of that number, told once. Null, or no such member: no
   * policy stands in front.
   */
  takeDecided?(number: number): Decided | null
  end(): Promise<ServerEnd>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A running server of a simulated world. */
export function runningWorld(
  definition: WorldDefinition,
  parts: Pick<
    RunningServer,
    'name' | 'tools' | 'client' | 'url' | 'startDigest' | 'call' | 'judge' | 'met' | 'end' | 'close'
  >,
): RunningServer {
  const close = async () => {
    await parts.judge.close()
    await parts.close()
  }
  return {
    ...parts,
    ours: true,
    close,
    effectOf: (tool, input) => effectOf(definition, tool, input),
    writes: (tool) => hasEffect(definition, tool),
    log: () => null,
    [Symbol.asyncDispose]: close,
  }
}
