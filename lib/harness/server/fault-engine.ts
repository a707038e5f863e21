/**
 * The fault engine: what a plan asks of a server besides its honest work, in front of any backend.
 *
 * It counts the calls that each fault spares and holds, adds injected texts, shows other
 * descriptions and parameters, and drops arguments that are only offered. How an answer that is
 * late or lost reaches the caller is said in `front.ts`.
 */
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { CallToolResult, Tool } from '../wire/mcp.ts'
import {
  type Backend,
  faultEntry,
  kindsFor,
  type Powers,
  type Request,
  type Served,
} from './fault.ts'
import type { ServerPlan } from './server-plan.ts'

/** What of a plan the engine carries out. */
type EnginePlan = Pick<ServerPlan, 'name' | 'faults' | 'describe' | 'parameters' | 'inject'>

/**
 * What a call met: a fault's kind, or `injection`. `number` is the call's, where the caller gave
 * one.
 */
export type MetAt = { number: number | null; tool: string; what: string }

/** A call served. `relisted`: the tools that are shown are others now. */
export type Answered = { result: CallToolResult; heldMs: number; relisted: boolean }

/** True when a plan asks for anything that the server itself does not do. */
export function needsEngine({ faults, describe, parameters, inject }: EnginePlan): boolean {
  return (
    faults.length > 0 || [describe, parameters, inject].some((part) => Object.keys(part).length > 0)
  )
}

/** Require that a plan names tools that are there. @throws TouchstoneError `tool_unknown` */
export function requireTools(plan: EnginePlan, names: readonly string[]): void {
  const named = [
    ...plan.faults.map(({ tool }) => tool),
    ...[plan.describe, plan.parameters, plan.inject].flatMap((part) => Object.keys(part)),
  ]
  for (const tool of named) {
    if (names.includes(tool)) continue
    throw new TouchstoneError(
      'tool_unknown',
      `expected a tool of ${plan.name} (${names.join(', ') || 'none'}), ${gotWord(tool, names)}`,
      { where: 'tool' },
    )
  }
}

/**
 * Require that a backend has the powers that a plan's faults need. @throws TouchstoneError
 * `fault_unknown`
 */
function requirePowers(plan: EnginePlan, backend: Partial<Powers>): void {
  for (const fault of plan.faults) {
    const power = faultEntry(fault.kind).needs?.(fault) ?? null
    if (power === null || backend[power]) continue
    throw new TouchstoneError(
      'fault_unknown',
      `expected a fault that needs no view of the server's state (${kindsFor(backend).join(', ')}), got "${fault.kind}"`,
      { where: `server ${plan.name}` },
    )
  }
}

/** Serves the calls of one server: puts each through the first fault that holds for it, if any. */
export class FaultEngine {
  private readonly plan: EnginePlan
  private readonly backend: Backend
  /** Honest calls that each fault has let through, and how often it has held. */
  private readonly counts: { spared: number; held: number }[]
  private readonly retries = new Map<string, (request: Request) => ReturnType<Powers['promise']>>()
  private readonly descriptions: Map<string, string>
  /** Calls of each tool that an injection counts. */
  private readonly answered = new Map<string, number>()
  /** What calls met, in the order in which they met it. */
  readonly met: MetAt[] = []

  /**
   * @throws TouchstoneError `fault_unknown` for a fault that needs a power that the backend lacks
   */
  constructor(plan: EnginePlan, backend: Backend) {
    requirePowers(plan, backend)
    this.plan = plan
    this.backend = backend
    this.counts = plan.faults.map(() => ({ spared: 0, held: 0 }))
    this.descriptions = new Map(Object.entries(plan.describe))
  }

  /** The tools as clients are shown them. */
  async list(): Promise<Tool[]> {
    return (await this.backend.list()).map((tool) => this.shown(tool))
  }

  /** Serve a call. A tool that the server does not list is its own affair. */
  async serve(
    name: string,
    asked: JsonObject,
    signal: AbortSignal,
    number: number | null = null,
  ): Promise<Answered> {
    const tool = this.backend.tool(name)
    if (!tool) {
      const result = await this.backend.call(name, asked, signal)
      return { result, heldMs: 0, relisted: false }
    }
    const before = this.descriptions.get(name)
    const request = this.requestOf(tool, asked, signal)
    const { result, heldMs = 0 } = await this.through(request, number)
    this.backend.served?.(request)
    this.pull(name)
    return {
      result: this.injected(name, result, number),
      heldMs,
      relisted: this.descriptions.get(name) !== before,
    }
  }

  private requestOf(tool: Tool, asked: JsonObject, signal: AbortSignal): Request {
    const input = withoutOffered(tool, this.plan.parameters[tool.name], asked)
    let honest: Promise<CallToolResult> | null = null
    return {
      tool: tool.name,
      input,
      signal,
      honest: () => {
        honest ??= (async () => this.backend.call(tool.name, input, signal))()
        return honest
      },
    }
  }

  private async through(request: Request, number: number | null): Promise<Served> {
    for (const [i, fault] of this.plan.faults.entries()) {
      const count = this.counts[i] as { spared: number; held: number }
      const used = () => count.held >= (fault.times ?? Number.POSITIVE_INFINITY)
      if (fault.tool !== request.tool || used()) continue
      const entry = faultEntry(fault.kind)
      const { backend, retries } = this
      const call = {
        request,
        fault,
        turn: count.held,
        backend,
        power: backend as Backend & Powers,
        retries,
      }
      const serve = 'meets' in entry ? await entry.meets(call) : () => entry.serve(call)
      // Another call may have used the fault up while this one asked what it meets.
      if (serve === null || used()) continue
      if (count.spared < (fault.after ?? 0)) {
        count.spared++
        continue
      }
      count.held++
      this.met.push({ number, tool: request.tool, what: fault.kind })
      return serve()
    }
    return { result: await request.honest() }
  }

  /**
   * A description changes as soon as the last honest call is over, so that the next list shows it.
   */
  private pull(tool: string): void {
    for (const [i, fault] of this.plan.faults.entries()) {
      const count = this.counts[i] as { spared: number; held: number }
      if (fault.kind !== 'rug_pull' || fault.tool !== tool || fault.describe === undefined) continue
      if (count.spared + count.held >= (fault.after ?? 0))
        this.descriptions.set(tool, fault.describe)
    }
  }

  private injected(tool: string, result: CallToolResult, number: number | null): CallToolResult {
    const injection = Object.hasOwn(this.plan.inject, tool) ? this.plan.inject[tool] : undefined
    if (injection === undefined) return result
    const index = this.answered.get(tool) ?? 0
    this.answered.set(tool, index + 1)
    const {
      text,
      after = 0,
      times,
    } = typeof injection === 'string' ? { text: injection } : injection
    if (index < after || index >= after + (times ?? Number.POSITIVE_INFINITY)) return result
    this.met.push({ number, tool, what: 'injection' })
    return { ...result, content: [...result.content, { type: 'text', text }] }
  }

  private shown(tool: Tool): Tool {
    const { outputSchema, ...rest } = tool
    const unshaped = this.plan.faults.some(
      (fault) => fault.tool === tool.name && faultEntry(fault.kind).unshaped,
    )
    const description = this.descriptions.get(tool.name) ?? tool.description
    return {
      ...rest,
      ...(description !== undefined && { description }),
      inputSchema: withParameters(tool.inputSchema, this.plan.parameters[tool.name]),
      ...(outputSchema !== undefined && !unshaped && { outputSchema }),
    }
  }
}

/** A schema with what is shown of its parameters laid over them. */
function withParameters(
  schema: Tool['inputSchema'],
  parameters: { [name: string]: JsonObject } | undefined,
): Tool['inputSchema'] {
  if (!parameters) return schema
  const own = (schema.properties ?? {}) as { [name: string]: object }
  const laid = Object.entries(parameters).map(([name, members]) => [
    name,
    { ...own[name], ...members },
  ])
  return { ...schema, properties: { ...own, ...Object.fromEntries(laid) } }
}

/** Arguments without those that are only offered. */
function withoutOffered(
  tool: Tool,
  offered: { [name: string]: JsonObject } | undefined,
  input: JsonObject,
): JsonObject {
  if (!offered) return input
  const own = tool.inputSchema.properties ?? {}
  return Object.fromEntries(
    Object.entries(input).filter(
      ([name]) => Object.hasOwn(own, name) || !Object.hasOwn(offered, name),
    ),
  )
}
