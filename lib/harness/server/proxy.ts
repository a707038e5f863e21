/**
 * A proxy in front of a server that is not ours: it shows other descriptions, adds text to results, and makes tools misbehave.
 *
 * It knows nothing of the server's state, so it has the faults that can be made of calls and answers alone. A lying success
 * swallows the call and answers as the tool answered before or, where it never did, as its output schema says.
 */

import { TouchstoneError } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import type { Fault, FaultKind } from './fault.ts'
import {
  type CallToolResult,
  type Client,
  callTool,
  connectClient,
  createServer,
  memoryPair,
  type Tool,
} from './mcp.ts'
import type { ServerPlan } from './plan.ts'
import { ReplyLost, withParameters } from './start.ts'

type Forward = (input: JsonObject) => Promise<CallToolResult>
/** What the proxy does with a call. `heldMs`: the answer comes so much later; never, when that is infinite. */
type Served = { result: CallToolResult; heldMs?: number }
type Turn = {
  fault: Fault
  turn: number
  input: JsonObject
  forward: Forward
  memory: Memory
  tool: Tool
}

/** What it remembers of the trial. */
type Memory = {
  /** The last success of each tool. */
  successes: Map<string, CallToolResult>
  /** The first answer to each call. */
  first: Map<string, CallToolResult>
}

const NOTHING: CallToolResult = { content: [] }
const failed = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
})
const keyOf = (tool: string, input: JsonObject) => JSON.stringify([tool, input])

const FAULTS: { [kind in FaultKind]?: (turn: Turn) => Promise<Served> } = {
  lying_success: async ({ tool, input, memory }) => ({
    result: memory.successes.get(tool.name) ?? madeUp(tool, input),
  }),
  reply_lost: async ({ input, forward }) => ({
    result: await forward(input),
    heldMs: Number.POSITIVE_INFINITY,
  }),
  error_after_commit: async ({ input, forward, fault }) => {
    const result = await forward(input)
    return {
      result: result.isError ? result : failed(fault.message ?? 'internal error, please try again'),
    }
  },
  duplicate_on_retry: async ({ tool, input, forward, fault, memory }) => {
    const again = memory.first.has(keyOf(tool.name, input))
    const result = await forward(input)
    return {
      result:
        again || result.isError
          ? result
          : failed(fault.message ?? 'gateway timeout, please try again'),
    }
  },
  stale_read: async ({ tool, input, forward, memory }) => ({
    result: memory.first.get(keyOf(tool.name, input)) ?? (await forward(input)),
  }),
  slow_reply: async ({ input, forward, fault }) => ({
    result: await forward(input),
    heldMs: (fault.seconds ?? 60) * 1000,
  }),
  hang: async () => ({ result: NOTHING, heldMs: Number.POSITIVE_INFINITY }),
  flapping_error: async ({ input, forward, fault, turn }) => ({
    result: turn % 2 === 0 ? failed(fault.message ?? 'service unavailable') : await forward(input),
  }),
  rug_pull: async ({ input, forward, fault }) => ({
    result: await forward({ ...input, ...fault.set }),
  }),
  oversized_result: async ({ input, forward, fault }) => {
    const result = await forward(input)
    const padding = { type: 'text' as const, text: '.'.repeat(fault.size_bytes ?? 100_000) }
    return { result: { ...result, content: [padding, ...result.content] } }
  },
  malformed_result: async ({ input, forward }) => {
    const { structuredContent: _, ...result } = await forward(input)
    const content = result.content.map((part) =>
      part.type === 'text'
        ? { ...part, text: part.text.slice(0, Math.ceil(part.text.length / 2)) }
        : part,
    )
    return { result: { ...result, content } }
  },
}

/** True when a plan asks for anything that the server itself does not do. */
export function needsProxy({ faults, describe, parameters, inject }: ServerPlan): boolean {
  return (
    faults.length > 0 || [describe, parameters, inject].some((part) => Object.keys(part).length > 0)
  )
}

/** Check what a plan asks for. @throws TouchstoneError `tool_unknown`, `fault_unknown` */
function requireKnown(plan: ServerPlan, tools: Tool[]): void {
  const names = tools.map(({ name }) => name)
  const named = [
    ...plan.faults.map(({ tool }) => tool),
    ...[plan.describe, plan.parameters, plan.inject].flatMap((part) => Object.keys(part)),
  ]
  for (const tool of named) {
    if (names.includes(tool)) continue
    const there = names.join(', ') || 'none'
    throw new TouchstoneError(
      'tool_unknown',
      `expected a tool of ${plan.name} (${there}), got "${tool}"`,
      {
        where: 'tool',
      },
    )
  }
  for (const { kind } of plan.faults) {
    if (FAULTS[kind]) continue
    throw new TouchstoneError(
      'fault_unknown',
      `expected a fault that needs no view of the server's state (${Object.keys(FAULTS).join(', ')}), got "${kind}"`,
      { where: `server ${plan.name}` },
    )
  }
}

/** A client in front of which the proxy stands, and what it shows. */
export type Proxied = {
  client: Client
  tools: Tool[]
  call(
    tool: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; timeoutMs: number; number: number },
  ): Promise<CallToolResult>
  close(): Promise<void>
}

/**
 * Put a proxy before a server.
 *
 * @param upstream how a call reaches the server itself
 * @throws TouchstoneError `tool_unknown`, `fault_unknown`
 */
export async function proxied(
  plan: ServerPlan,
  tools: Tool[],
  upstream: (tool: string, input: JsonObject, signal: AbortSignal) => Promise<CallToolResult>,
): Promise<Proxied> {
  requireKnown(plan, tools)
  const memory: Memory = { successes: new Map(), first: new Map() }
  const counts = plan.faults.map(() => ({ spared: 0, held: 0 }))
  const answered = new Map<string, number>()
  const descriptions = new Map(Object.entries(plan.describe))
  const waiting = new Map<number, { timeoutMs: number; reject(lost: ReplyLost): void }>()

  const shown = () =>
    tools.map((tool) => ({
      ...tool,
      ...(descriptions.has(tool.name) && { description: descriptions.get(tool.name) }),
      inputSchema: withParameters(tool.inputSchema, plan.parameters[tool.name]),
    }))

  const serve = async (tool: Tool, input: JsonObject, signal: AbortSignal): Promise<Served> => {
    const forward: Forward = async (sent) => {
      const result = await upstream(
        tool.name,
        withoutOffered(tool, plan.parameters[tool.name], sent),
        signal,
      )
      if (!result.isError) memory.successes.set(tool.name, result)
      return result
    }
    for (const [i, fault] of plan.faults.entries()) {
      const count = counts[i] as { spared: number; held: number }
      if (fault.tool !== tool.name || count.held >= (fault.times ?? Number.POSITIVE_INFINITY))
        continue
      if (count.spared < (fault.after ?? 0)) {
        count.spared++
        continue
      }
      if (fault.kind === 'rug_pull' && fault.describe !== undefined)
        descriptions.set(tool.name, fault.describe)
      const entry = FAULTS[fault.kind] as NonNullable<(typeof FAULTS)[FaultKind]>
      return entry({ fault, turn: count.held++, input, forward, memory, tool })
    }
    return { result: await forward(input) }
  }

  const inject = (tool: string, result: CallToolResult): CallToolResult => {
    const injection = Object.hasOwn(plan.inject, tool) ? plan.inject[tool] : undefined
    if (injection === undefined) return result
    const index = answered.get(tool) ?? 0
    answered.set(tool, index + 1)
    const {
      text,
      after = 0,
      times = Number.POSITIVE_INFINITY,
    } = typeof injection === 'string' ? { text: injection } : injection
    if (index < after || index >= after + times) return result
    return { ...result, content: [...result.content, { type: 'text', text }] }
  }

  const server = createServer(
    plan.name,
    shown,
    async ({ name, arguments: input, call, signal }) => {
      const tool = tools.find((one) => one.name === name)
      if (!tool) return upstream(name, input as JsonObject, signal)
      const before = descriptions.get(name)
      const { result, heldMs = 0 } = await serve(tool, input as JsonObject, signal)
      const key = keyOf(name, input as JsonObject)
      if (!memory.first.has(key)) memory.first.set(key, result)
      if (descriptions.get(name) !== before) await server.sendToolListChanged()
      const caller = waiting.get(call ?? -1)
      // Who would wait in vain is told so at once, and who would wait long enough does not wait.
      if (caller && heldMs > caller.timeoutMs) caller.reject(new ReplyLost())
      if (heldMs === 0 || (caller && heldMs <= caller.timeoutMs)) return inject(name, result)
      return new Promise(() => {})
    },
  )
  const [ours, theirs] = memoryPair()
  await server.connect(theirs)
  const client = await connectClient(ours)
  return {
    client,
    tools: shown(),
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
    async close() {
      await client.close()
      await server.close()
    },
  }
}

/** Arguments without those that the proxy offers and the server does not know. */
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

/** A success that never was: as the tool's output schema says, with the arguments where they fit. */
function madeUp(tool: Tool, input: JsonObject): CallToolResult {
  if (!tool.outputSchema)
    return { content: [{ type: 'text', text: JSON.stringify({ ok: true, ...input }) }] }
  const structuredContent = valueFor(tool.outputSchema as JsonObject, input) as JsonObject
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
}

function valueFor(schema: JsonObject, input: JsonObject, name = ''): Json {
  if ('const' in schema) return schema['const'] as Json
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as Json
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  const given = input[name]
  if (type === 'string') return typeof given === 'string' ? given : 'ok'
  if (type === 'number' || type === 'integer') return typeof given === 'number' ? given : 1
  if (type === 'boolean') return true
  if (type === 'array') return Array.isArray(given) ? given : []
  if (type !== 'object') return null
  const properties = (schema['properties'] ?? {}) as { [property: string]: JsonObject }
  const required = (schema['required'] ?? []) as string[]
  return Object.fromEntries(
    required.map((property) => [property, valueFor(properties[property] ?? {}, input, property)]),
  )
}
