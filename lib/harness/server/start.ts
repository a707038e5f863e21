/** Starting a server description: in this process, as a child process, on loopback HTTP, or somebody else's server. */
import { z } from 'zod'
import { type Digest, digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { worldNamed } from '../../world/index.ts'
import { type Effect, type End, World, type WorldDefinition } from '../../world/world.ts'
import { startForeign } from './external.ts'
import { FaultyServer, type Served } from './fault.ts'
import {
  type CallToolResult,
  type Client,
  callTool,
  connectClient,
  createServer,
  listTools,
  memoryPair,
  type Server,
  type Tool,
  type ToolCall,
} from './mcp.ts'
import type { ServerPlan } from './plan.ts'
import { behindPolicy, type Decided } from './policy.ts'

export type Transport = 'memory' | 'stdio' | 'http'

/** What a server holds when it is asked: the judge's view, which no client has. */
export type ServerEnd = End & { provider: string | null; audit: string | null; digest: Digest }

/** A server that runs, with a client connected to it. */
export type RunningServer = {
  name: string
  /** Ours can be asked for its state and log; of somebody else's only a folder given to it is seen. */
  ours: boolean
  tools: Tool[]
  client: Client
  url: string | null
  startDigest: Digest
  call(
    tool: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; timeoutMs: number; number: number },
  ): Promise<CallToolResult>
  effectOf(tool: string, input: JsonObject): Effect | null
  /** True for a tool that can change something. */
  writes(tool: string): boolean
  /** What the policy decided on the call of that number, told once. Null, or no such member: no policy stands in front. */
  takeDecided?(number: number): Decided | null
  end(): Promise<ServerEnd>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A call whose reply never comes. In memory nobody waits for it: the client is told at once what a timeout would tell it. */
export class ReplyLost extends Error {
  constructor() {
    super('MCP error -32001: Request timed out')
    this.name = 'ReplyLost'
  }
}

const schemas = new WeakMap<object, Tool['inputSchema']>()

/** A zod schema as JSON Schema, made once. */
function jsonSchemaOf(schema: z.ZodType): Tool['inputSchema'] {
  const known = schemas.get(schema)
  if (known) return known
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>
  schemas.set(schema, made as Tool['inputSchema'])
  return made as Tool['inputSchema']
}

const NOTHING: WorldDefinition = {
  name: 'nothing',
  provider: null,
  summary: 'No state.',
  state: z.record(
    z.string(),
    z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })),
  ) as WorldDefinition['state'],
  tools: {},
  audit: () => [],
}

/** The world of a plan with its own tools laid over it. @throws TouchstoneError `world_unknown`, `tool_unknown` */
export function definitionOf(plan: ServerPlan): WorldDefinition {
  const base =
    plan.world === null
      ? NOTHING
      : typeof plan.world === 'string'
        ? worldNamed(plan.world)
        : plan.world
  const own = Object.entries(plan.tools).map(([name, tool]) => [
    name,
    {
      description: tool.description,
      input: tool.input as z.ZodType<JsonObject>,
      run: (state: never, input: JsonObject, clock: never) => tool.run(input, state, clock),
      ...(tool.effect && { effect: tool.effect }),
    },
  ])
  const definition =
    own.length === 0 ? base : { ...base, tools: { ...base.tools, ...Object.fromEntries(own) } }
  const named = [
    ...plan.faults.map((fault) => fault.tool),
    ...[plan.describe, plan.parameters, plan.inject].flatMap((part) => Object.keys(part)),
  ]
  for (const tool of named) {
    if (!Object.hasOwn(definition.tools, tool)) {
      const there = Object.keys(definition.tools).join(', ') || 'none'
      throw new TouchstoneError(
        'tool_unknown',
        `expected a tool of ${plan.name} (${there}), got "${tool}"`,
        {
          where: 'tool',
        },
      )
    }
  }
  return definition
}

/** A plan at work, apart from any wire: what is listed, how a call is served. */
export class Origin {
  readonly world: World
  readonly startDigest: Digest
  private readonly plan: ServerPlan
  private readonly faulty: FaultyServer
  private readonly answered = new Map<string, number>()

  constructor(plan: ServerPlan) {
    this.plan = plan
    this.world = new World(definitionOf(plan), plan.state)
    this.startDigest = this.world.digest()
    this.faulty = new FaultyServer(this.world, plan.faults)
  }

  list(): Tool[] {
    return Object.entries(this.world.definition.tools).map(([name, tool]) => ({
      name,
      description: this.faulty.description(name) ?? this.plan.describe[name] ?? tool.description,
      inputSchema: withParameters(jsonSchemaOf(tool.input), this.plan.parameters[name]),
    }))
  }

  /** The answer to a call. `heldMs`: it comes so much later, and never when that is infinite. */
  serve(
    name: string,
    input: JsonObject,
  ): { result: CallToolResult; heldMs: number; relisted: boolean } {
    const before = this.faulty.description(name)
    const served = this.faulty.call(name, this.known(name, input))
    return {
      result: this.resultOf(name, served),
      heldMs: served.lost ? Number.POSITIVE_INFINITY : (served.delayMs ?? 0),
      relisted: this.faulty.description(name) !== before,
    }
  }

  private resultOf(name: string, { reply, isError, text }: Served): CallToolResult {
    const content = [{ type: 'text' as const, text: text ?? JSON.stringify(reply) }]
    const injected = this.injected(name)
    if (injected !== null) content.push({ type: 'text', text: injected })
    return text === undefined
      ? { content, structuredContent: reply, isError }
      : { content, isError }
  }

  private injected(name: string): string | null {
    const injection = Object.hasOwn(this.plan.inject, name) ? this.plan.inject[name] : undefined
    if (injection === undefined) return null
    const index = this.answered.get(name) ?? 0
    this.answered.set(name, index + 1)
    if (typeof injection === 'string') return injection
    const { text, after = 0, times = Number.POSITIVE_INFINITY } = injection
    return index >= after && index < after + times ? text : null
  }

  /** Arguments without those that are only offered. */
  private known(name: string, input: JsonObject): JsonObject {
    const offered = this.plan.parameters[name]
    const tool = this.world.definition.tools[name]
    if (!offered || !tool) return input
    const own = jsonSchemaOf(tool.input).properties ?? {}
    return Object.fromEntries(
      Object.entries(input).filter(
        ([key]) => Object.hasOwn(own, key) || !Object.hasOwn(offered, key),
      ),
    )
  }

  end(): ServerEnd {
    const { world } = this
    if (world.broken) throw world.broken
    const provider = world.definition.provider
    return {
      state: world.state,
      start: world.start,
      changes: world.changes,
      provider,
      audit: provider === null ? null : world.audit(),
      digest: world.digest(),
    }
  }
}

/**
 * An MCP server in front of an origin. A late reply is sent late and a lost one never, unless `onHeld` takes the matter over: it
 * is told how late, and gives true when the reply is to go out at once.
 */
export function serverOf(
  name: string,
  origin: Origin,
  onHeld?: (call: ToolCall, heldMs: number) => boolean,
): Server {
  const server = createServer(
    name,
    () => origin.list(),
    async (call) => {
      const { result, heldMs, relisted } = origin.serve(call.name, call.arguments as JsonObject)
      if (relisted) await server.sendToolListChanged()
      if (heldMs === 0 || onHeld?.(call, heldMs)) return result
      return held(result, onHeld ? Number.POSITIVE_INFINITY : heldMs, call.signal)
    },
  )
  return server
}

function held(
  result: CallToolResult,
  heldMs: number,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return new Promise((resolve) => {
    if (!Number.isFinite(heldMs)) return
    const timer = setTimeout(() => resolve(result), heldMs).unref()
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  })
}

/** Start what a plan describes. See `ServerDescription.start`. */
export async function startServer(
  plan: ServerPlan,
  options: { transport?: Transport | undefined; signal?: AbortSignal | undefined } = {},
): Promise<RunningServer> {
  const server = await startPlain(plan, options)
  if (!plan.policy) return server
  try {
    return behindPolicy(server, plan.policy)
  } catch (cause) {
    await server.close()
    throw cause
  }
}

async function startPlain(
  plan: ServerPlan,
  options: { transport?: Transport | undefined; signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  if (plan.stdio || plan.http) return startForeign(plan, options)
  const transport = options.transport ?? 'memory'
  if (transport === 'stdio') {
    const { startChild } = await import('./stdio-server.ts')
    return startChild(plan, options)
  }
  if (transport === 'http') {
    const { startHttp } = await import('./http-server.ts')
    return startHttp(plan, options)
  }
  if (transport !== 'memory') {
    throw new TouchstoneError(
      'transport_unknown',
      `expected memory, stdio or http, got "${String(transport)}"`,
      {
        where: 'transport',
      },
    )
  }
  return startInMemory(plan, options)
}

async function startInMemory(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  const origin = new Origin(plan)
  const waiting = new Map<number, { timeoutMs: number; reject: (lost: ReplyLost) => void }>()
  // In memory time is virtual: who would wait in vain is told so at once, and who would wait long enough does not wait.
  const server = serverOf(plan.name, origin, ({ call }, heldMs) => {
    const caller = waiting.get(call ?? -1)
    if (caller && heldMs <= caller.timeoutMs) return true
    caller?.reject(new ReplyLost())
    return false
  })
  const [ours, theirs] = memoryPair()
  await server.connect(theirs)
  const client = await connectClient(ours, options)
  const close = async () => {
    await client.close()
    await server.close()
  }
  return {
    name: plan.name,
    ours: true,
    tools: await listTools(client, options.signal),
    client,
    url: null,
    startDigest: origin.startDigest,
    async call(tool, input, { number, ...rest }) {
      const lost = new Promise<never>((_, reject) =>
        waiting.set(number, { timeoutMs: rest.timeoutMs, reject }),
      )
      try {
        return await Promise.race([callTool(client, tool, input, { ...rest, number }), lost])
      } finally {
        waiting.delete(number)
      }
    },
    effectOf: (tool, input) => effectOf(origin.world.definition, tool, input),
    writes: (tool) => hasEffect(origin.world.definition, tool),
    end: async () => origin.end(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What a call of a tool with these arguments claims to do, or null for a read or arguments that its schema refuses. */
export function effectOf(
  definition: WorldDefinition,
  name: string,
  input: JsonObject,
): Effect | null {
  const tool = Object.hasOwn(definition.tools, name) ? definition.tools[name] : undefined
  if (!tool?.effect) return null
  try {
    return tool.effect(input)
  } catch {
    return null
  }
}

/** True for a tool that says what it changes. */
export function hasEffect(definition: WorldDefinition, name: string): boolean {
  return Object.hasOwn(definition.tools, name) && definition.tools[name]?.effect !== undefined
}

/** A schema with what is shown of its parameters laid over them. */
export function withParameters(
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

/** SHA-256 over nothing: the start of a server whose state is not to be seen. */
export const UNSEEN: Digest = digest('')
