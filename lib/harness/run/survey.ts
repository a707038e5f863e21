/**
 * What servers say they are, before a run: their names and versions, and the digest of the tools
 * that they list.
 */
import { type Digest, digestOf } from '../../canonical.ts'
import type { Json } from '../../json.ts'
import { connect } from '../server/connection.ts'
import { FaultEngine } from '../server/fault-engine.ts'
import type { ServerPlan } from '../server/server-plan.ts'
import { WorldBackend } from '../server/world-backend.ts'
import { listTools, type Tool } from '../wire/mcp.ts'

/** null: not known, since it could not be asked; its trials say why. */
export type Surveyed = {
  /**
   * As it names itself in `initialize`. A simulated one has no version but that of this package.
   */
  info: { name: string; version: string } | null
  /** Over its tools as it lists them at the start. */
  tools: Digest | null
}

/**
 * Ask each server once. Two plans that start the same server alike are one. Nothing but the list of
 * tools is asked for.
 *
 * @param own      the name and version of simulated servers
 * @param withinMs how long a server that is not ours may take
 */
export async function survey(
  plans: readonly ServerPlan[],
  own: (plan: ServerPlan) => { name: string; version: string },
  withinMs: number,
  signal?: AbortSignal,
): Promise<Surveyed[]> {
  const asked = new Map<string, Promise<Surveyed>>()
  return Promise.all(
    plans.map((plan) => {
      if (!plan.stdio && !plan.http) return ours(plan, own(plan))
      const { stdio, http, files } = plan
      const key = JSON.stringify([stdio, http, files])
      const answer = asked.get(key) ?? theirs(plan, withinMs, signal)
      asked.set(key, answer)
      return answer
    }),
  )
}

async function ours(plan: ServerPlan, info: { name: string; version: string }): Promise<Surveyed> {
  try {
    const tools = await new FaultEngine(plan, new WorldBackend(plan)).list()
    return { info, tools: digestOfTools(tools) }
  } catch {
    return { info: null, tools: null }
  }
}

async function theirs(plan: ServerPlan, ms: number, stop?: AbortSignal): Promise<Surveyed> {
  const late = AbortSignal.timeout(ms)
  const signal = stop ? AbortSignal.any([stop, late]) : late
  try {
    const { client, close } = await connect(plan, { signal })
    try {
      const said = client.getServerVersion()
      const tools = await listTools(client, signal)
      return {
        info: said ? { name: text(said.name), version: text(said.version) } : null,
        tools: digestOfTools(tools),
      }
    } finally {
      await close()
    }
  } catch {
    return { info: null, tools: null }
  }
}

function digestOfTools(tools: readonly Tool[]): Digest {
  return digestOf(JSON.parse(JSON.stringify(tools)) as Json)
}

/** A server's own word about itself. */
function text(value: unknown): string {
  return String(value ?? '')
    .slice(0, 200)
    .toWellFormed()
}
