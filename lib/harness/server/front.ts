/** The fault engine as an MCP server, and a client of this process in front of it. */
import type { JsonObject } from '../../json.ts'
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
} from '../wire/mcp.ts'
import type { FaultEngine, MetAt } from './fault-engine.ts'
import type { CallOptions } from './running.ts'

/**
 * The reply to a call never comes. A client in this process does not wait for its timeout: the call
 * is rejected at once with the timeout's error.
 */
export class ReplyLost extends Error {
  constructor() {
    super('MCP error -32001: Request timed out')
    this.name = 'ReplyLost'
  }
}

/** A call from this process. It does not wait: how a wait would end is known at once. */
type Waiting = { timeoutMs: number; reject(lost: ReplyLost): void }

/**
 * An MCP server in front of an engine. A late reply is sent late and a lost one never.
 *
 * @param waiting calls from this process, by their number. They do not wait: a reply that would
 *   come after the timeout rejects the call at once, another is given at once
 */
export function serverOf(
  name: string,
  engine: FaultEngine,
  waiting: ReadonlyMap<number, Waiting> = new Map(),
): Server {
  const server = createServer(
    name,
    () => engine.list(),
    async ({ name: tool, arguments: input, call, signal }) => {
      const { result, heldMs, relisted } = await engine.serve(
        tool,
        input as JsonObject,
        signal,
        call ?? null,
      )
      if (relisted) await server.sendToolListChanged()
      if (heldMs === 0) return result
      const caller = waiting.get(call ?? -1)
      if (!caller) return late(result, heldMs, signal)
      if (heldMs <= caller.timeoutMs) return result
      caller.reject(new ReplyLost())
      return new Promise(() => {})
    },
  )
  return server
}

function late(
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

/** A client in this process, connected to an engine. */
export type Front = {
  client: Client
  server: Server
  tools: Tool[]
  /** What calls met so far. */
  met(): readonly MetAt[]
  call(tool: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>
  close(): Promise<void>
}

/** Put an engine behind an MCP client of this process. */
export async function frontOf(
  name: string,
  engine: FaultEngine,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Front> {
  const waiting = new Map<number, Waiting>()
  const server = serverOf(name, engine, waiting)
  const [ours, theirs] = memoryPair()
  await server.connect(theirs)
  const client = await connectClient(ours, options)
  return {
    client,
    server,
    tools: await listTools(client, options.signal),
    met: () => engine.met,
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
