/** Between the agent and the servers: what the agent may call, and the record of every call it made. */
import { digestOf } from '../../canonical.ts'
import type { Json, JsonObject } from '../../json.ts'
import type { Decision, PolicyRecord } from '../../receipt/surface/decision.ts'
import { observe } from '../../receipt/surface/observe.ts'
import { isSecretName } from '../../receipt/surface/target.ts'
import { ReplyLost } from '../server/front.ts'
import { type CallToolResult, listTools, reasonOf, type Tool, takeRelisted } from '../server/mcp.ts'
import { Denied } from '../server/policy.ts'
import type { RunningServer } from '../server/running.ts'

/** A tool as the agent sees it. */
export type OfferedTool = {
  /** The name that the agent calls: the tool's own, behind the server's where there are several servers. */
  name: string
  server: RunningServer
  tool: Tool
}

/** One call for the transcript: arguments without secrets, the answer as text. */
export type RecordedCall = {
  server: string
  tool: string
  input: JsonObject
  status: string
  answer: string
}

/** Longest answer that a transcript keeps, in characters. */
const MAX_ANSWER = 4000

/** The server's connection is gone: a fact about the machinery, not about the agent. */
export class ServerGone extends Error {
  constructor(server: string, cause: unknown) {
    super(`server ${server} is gone: ${reasonOf(cause)}`, { cause })
    this.name = 'ServerGone'
  }
}

/** The tool that ends a task. It is the agent's own: a server's tool of that name stands behind the server's name. */
export const REPORT = 'report'

/** The name of a tool as the agent sees it. */
export function offeredName(server: string, tool: string, servers: number): string {
  return servers > 1 || tool === REPORT ? `${server}__${tool}` : tool
}

export class Recorder {
  readonly offered: readonly OfferedTool[]
  readonly decisions: Decision[] = []
  readonly calls: RecordedCall[] = []
  /** The arguments of every call as text, for goals that look for canaries. Held for the trial only. */
  readonly argumentTexts: string[] = []
  /** What was attempted: the effects that calls asked for, whether or not they took place. */
  readonly attempted: { server: string; tool: string; input: JsonObject }[] = []
  private readonly servers: number
  private readonly runId: string
  private readonly callTimeoutMs: number
  private next = 0

  constructor(servers: RunningServer[], options: { runId: string; callTimeoutMs: number }) {
    this.offered = servers.flatMap((server) =>
      server.tools.map((tool) => ({
        name: offeredName(server.name, tool.name, servers.length),
        server,
        tool,
      })),
    )
    this.servers = servers.length
    this.runId = options.runId
    this.callTimeoutMs = options.callTimeoutMs
  }

  /** List the tools of servers anew that said theirs had changed. Gives what is offered now of those, and changes nothing else. */
  async refresh(signal: AbortSignal): Promise<OfferedTool[]> {
    const fresh: OfferedTool[] = []
    for (const server of new Set(this.offered.map((one) => one.server))) {
      if (!takeRelisted(server.client)) continue
      const tools = await listTools(server.client, signal).catch((cause: unknown) => {
        signal.throwIfAborted()
        throw new ServerGone(server.name, cause)
      })
      fresh.push(
        ...tools.map((tool) => ({
          name: offeredName(server.name, tool.name, this.servers),
          server,
          tool,
        })),
      )
    }
    return fresh
  }

  /** Carry a call to its server and record it. A lost reply, a timeout and a protocol error are results with `isError`. */
  async call(
    { server, tool }: OfferedTool,
    input: JsonObject,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const seq = this.next++
    this.argumentTexts.push([JSON.stringify(input), ...textsIn(input)].join('\n'))
    this.attempted.push({ server: server.name, tool: tool.name, input })
    let result: CallToolResult
    let status: string
    let denial: Denied | null = null
    try {
      result = await server.call(tool.name, input, {
        signal,
        timeoutMs: this.callTimeoutMs,
        number: seq,
      })
      status = result.isError ? 'error' : 'success'
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof Denied) denial = cause
      else if (isGone(cause)) throw new ServerGone(server.name, cause)
      status = denial ? 'denied' : isTimeout(cause) ? 'timeout' : 'error'
      result = { content: [{ type: 'text', text: reasonOf(cause) }], isError: true }
    }
    const decided = server.takeDecided?.(seq) ?? null
    const policy: PolicyRecord | undefined = decided?.record
    if (policy && denial) {
      const { code, data } = denial
      policy.denial = { code, ...data, response_digest: digestOf(result) }
    }
    this.decisions.push(
      observe({
        server: server.name,
        tool: tool.name,
        arguments: input,
        status,
        result,
        runId: this.runId,
        seq,
        ...(decided && { effect: decided.effect, policy: decided.record }),
      }),
    )
    this.calls.push({
      server: server.name,
      tool: tool.name,
      input: withoutSecrets(input),
      status,
      // A cut may go through a pair of surrogates, and a log with half of one cannot be read back.
      answer: textOf(result).slice(0, MAX_ANSWER).toWellFormed(),
    })
    return result
  }
}

/** The text of a result as a model reads it. */
export function textOf(result: CallToolResult): string {
  return (result.content ?? [])
    .map((part) => (part.type === 'text' ? part.text : `[${part.type}]`))
    .join('\n')
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof ReplyLost || (cause as { code?: unknown } | null)?.code === -32001
}

function isGone(cause: unknown): boolean {
  const code = (cause as { code?: unknown } | null)?.code
  return code === -32000 || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** Every text in a value as it was meant: in JSON's text quotes and line ends of a secret are escaped. */
function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object'
    ? Object.entries(value).flat().flatMap(textsIn)
    : []
}

/** An object without the values of members whose names say that they are secret, at any depth. */
export function withoutSecrets(value: JsonObject): JsonObject {
  const cleared = (item: Json): Json =>
    Array.isArray(item)
      ? item.map(cleared)
      : item !== null && typeof item === 'object'
        ? withoutSecrets(item)
        : item
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSecretName(name) || name === 'key' ? '[redacted]' : cleared(item),
    ]),
  )
}
