/**
 * In front of the servers: what an agent may call, and the record of every call that came.
 *
 * Our own loop calls it directly; other agents reach it as MCP clients (see `gateway.ts`). Both
 * leave the same record.
 */
import { digest, digestOf } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import type { Met, OfferedTools, TranscriptCall } from '../../log/index.ts'
import type { Decision, PolicyRecord } from '../../receipt/surface/decision.ts'
import { type CallStatus, observe } from '../../receipt/surface/observe.ts'
import type { CalledTool } from '../case/goal/called.ts'
import { argumentText } from '../case/goal/canary.ts'
import { squeezed, unescaped } from '../case/injected-text.ts'
import { ReplyLost } from '../server/front.ts'
import { Denied } from '../server/policy.ts'
import type { RunningServer } from '../server/running.ts'
import { type CallToolResult, listTools, reasonOf, type Tool, takeRelisted } from '../wire/mcp.ts'
import { Reports } from './report-tool.ts'
import { clearedText, jsonFor, secretsIn, withoutSecrets } from './secret-arguments.ts'
import type { Times } from './times.ts'
import { textOf } from './tool-result.ts'

/** A tool as the agent sees it. */
export type OfferedTool = {
  /**
   * The name that the agent calls: the tool's own, behind the server's where there are several
   * servers.
   */
  name: string
  server: RunningServer
  tool: Tool
}

/** A call that was none: no tool of that name, or arguments that are no object. */
export type MalformedCall = {
  tool: string
  input: string
  problem: string
  /** How many calls had begun before it. */
  after: number
}

/** Longest text that a transcript keeps of an answer, in characters. */
const MAX_ANSWER = 4000
/** Longest description that it keeps of a tool. */
const MAX_DESCRIPTION = 2000

/** The server's connection is gone: a fact about the machinery, not about the agent. */
export class ServerGone extends Error {
  constructor(server: string, cause: unknown) {
    super(`server ${server} is gone: ${reasonOf(cause)}`, { cause })
    this.name = 'ServerGone'
  }
}

/**
 * The tool that ends a task. It is the agent's own: a server's tool of that name stands behind the
 * server's name.
 */
export const REPORT = 'report'

/** The tool by which an agent of its own speaks to the user of a case. */
export const ASK = 'ask_user'

/** What providers take as the name of a tool. MCP takes dots and 128 characters. */
const TAKEN = /^[A-Za-z0-9_-]{1,64}$/

/**
 * The name of a tool as the agent sees it. A name that providers do not take is cut to one that
 * they do, with a digest's beginning.
 */
export function offeredName(server: string, tool: string, servers: number): string {
  const name = servers > 1 || tool === REPORT || tool === ASK ? `${server}__${tool}` : tool
  if (TAKEN.test(name)) return name
  const mark = digest(name).slice('sha256:'.length, 'sha256:'.length + 8)
  return `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 55)}_${mark}`
}

/** A tool of a server that is called. */
type Called = { server: RunningServer; tool: { name: string } }

/** A call that has no answer yet. */
type OpenCall = Pick<TranscriptCall, 'seq' | 'began' | 'server' | 'tool' | 'input'> & {
  client: string | undefined
}

export type RecorderOptions = {
  runId: string
  callTimeoutMs: number
  /** The words of the case's attack: whether the agent met them is recorded. */
  attackWords?: string | undefined
  /** When calls begin and end is noted there. null: nobody asks. */
  times?: Times | null
  /** Each call to a server goes through it. */
  around?:
    | ((
        of: { server: string; tool: string; seq: number },
        call: () => Promise<CallToolResult>,
      ) => Promise<CallToolResult>)
    | undefined
}

/** What stands in front of servers and records every call that goes through it. */
export class Recorder {
  readonly decisions: Decision[] = []
  readonly calls: TranscriptCall[] = []
  readonly malformed: MalformedCall[] = []
  /** What the agent reported of its work. */
  readonly reports = new Reports()
  /** What was offered, first and after each change, for the transcript. */
  readonly offers: OfferedTools[]
  /**
   * The arguments of every call as text, for goals that look for canaries. Held for the trial only.
   */
  readonly argumentTexts: string[] = []
  private readonly answers = new Map<number, { status: string; answer: string }>()
  /** What was attempted: the effects that calls asked for, whether or not they took place. */
  readonly attempted: { server: string; tool: string; input: JsonObject }[] = []
  /** When calls began and ended. null: nobody asks. */
  readonly times: Times | null
  /** Where the agent met the attack's words. null: the case has none. */
  attackMet: Met
  private readonly listed: Map<RunningServer, readonly Tool[]>
  private readonly options: RecorderOptions
  private readonly attackWords: string | null
  private readonly open = new Set<OpenCall>()
  private ours: OfferedTools['tools'] = []
  private next = 0
  private ticks = 0

  constructor(servers: readonly RunningServer[], options: RecorderOptions) {
    this.listed = new Map(servers.map((server) => [server, server.tools]))
    this.options = options
    this.times = options.times ?? null
    this.attackWords = options.attackWords === undefined ? null : squeezed(options.attackWords)
    this.attackMet = this.attackWords === null ? null : false
    this.offers = [{ after: 0, tools: this.described() }]
  }

  private described(): OfferedTools['tools'] {
    const theirs = this.offered.map(({ name, server, tool }) => ({
      name,
      server: server.name,
      description: (tool.description ?? '').slice(0, MAX_DESCRIPTION).toWellFormed(),
    }))
    return [...theirs, ...this.ours]
  }

  /** Note tools of our own that the agent is offered too. */
  beside(server: string, tools: readonly { name: string; description: string }[]): void {
    this.ours = tools.map(({ name, description }) => ({ name, server, description }))
    for (const offer of this.offers) offer.tools.push(...this.ours)
  }

  /** Secret values that calls handed over. Held for the trial only. */
  get secrets(): Set<string> {
    const found = new Set<string>()
    for (const { input } of this.attempted) secretsIn(input, found)
    return found
  }

  /** The servers that it stands in front of. */
  get servers(): RunningServer[] {
    return [...this.listed.keys()]
  }

  /** How many calls have begun. */
  get begun(): number {
    return this.next
  }

  private get offered(): OfferedTool[] {
    return [...this.listed.keys()].flatMap((server) => this.offeredBy(server))
  }

  /** What the agent may call now. It is shown to the agent by this. */
  offer(): OfferedTool[] {
    for (const server of this.listed.keys()) this.show(server)
    return this.offered
  }

  private offeredBy(server: RunningServer): OfferedTool[] {
    return (this.listed.get(server) ?? []).map((tool) => ({
      name: offeredName(server.name, tool.name, this.listed.size),
      server,
      tool,
    }))
  }

  /** The list of a server's tools, as it is shown to the agent now. */
  show(server: RunningServer): readonly Tool[] {
    const tools = this.listed.get(server) ?? []
    if (this.attackMet === false && this.holdsAttack(JSON.stringify(tools))) this.attackMet = 'list'
    return tools
  }

  /** The user's words reached the agent. */
  heard(text: string): void {
    if (this.attackMet === false && this.holdsAttack(text)) this.attackMet = 'user'
  }

  /** List the tools of servers anew that said theirs had changed. Gives what those offer now. */
  async refresh(signal: AbortSignal): Promise<OfferedTool[]> {
    const fresh: OfferedTool[] = []
    for (const server of this.listed.keys()) {
      if (!takeRelisted(server.client)) continue
      const tools = await listTools(server.client, signal).catch((cause: unknown) => {
        signal.throwIfAborted()
        throw new ServerGone(server.name, cause)
      })
      this.listed.set(server, tools)
      fresh.push(...this.offeredBy(server))
    }
    if (fresh.length > 0) this.offers.push({ after: this.next, tools: this.described() })
    return fresh
  }

  /**
   * Carry a call to its server and record it. A lost reply, a timeout and a protocol error are
   * results with `isError`, and `refusal` is the error as the server's client had it.
   *
   * @throws ServerGone, and the signal's reason when it aborts first: such a call has no answer
   */
  async call(
    { server, tool }: Called,
    input: JsonObject,
    signal: AbortSignal,
    client?: string,
  ): Promise<{ result: CallToolResult; refusal: unknown }> {
    const call = this.begin(server.name, tool.name, input, client)
    const ended = this.times?.begin('call', call.seq)
    let result: CallToolResult
    let status: CallStatus
    let refusal: unknown = null
    try {
      const { callTimeoutMs: timeoutMs, around } = this.options
      const { seq: number } = call
      const carried = () => server.call(tool.name, input, { signal, timeoutMs, number })
      const of = { server: server.name, tool: tool.name, seq: number }
      result = await (around ? around(of, carried) : carried())
      status = result.isError ? 'error' : 'success'
    } catch (cause) {
      signal.throwIfAborted()
      if (isGone(cause) && !(cause instanceof Denied)) throw new ServerGone(server.name, cause)
      refusal = cause
      status = cause instanceof Denied ? 'denied' : isTimeout(cause) ? 'timeout' : 'error'
      result = { content: [{ type: 'text', text: reasonOf(cause) }], isError: true }
    } finally {
      ended?.()
    }
    const decided = server.takeDecided?.(call.seq) ?? null
    const policy: PolicyRecord | undefined = decided?.record
    if (policy && refusal instanceof Denied) {
      const { code, data } = refusal
      policy.denial = { code, ...data, response_digest: digestOf(result) }
    }
    const ruled = decided && { effect: decided.effect, policy: decided.record }
    this.record(call, status, result, ruled)
    return { result, refusal }
  }

  /** Record a call that was carried out somewhere else, with what it was answered. */
  take(
    { server, tool }: Called,
    input: JsonObject,
    status: CallStatus,
    result: CallToolResult,
  ): void {
    this.record(this.begin(server.name, tool.name, input), status, result)
  }

  private begin(server: string, tool: string, input: JsonObject, client?: string): OpenCall {
    const call: OpenCall = {
      seq: this.next++,
      began: this.ticks++,
      server,
      tool,
      input,
      client,
    }
    this.open.add(call)
    this.argumentTexts.push(argumentText(input))
    this.attempted.push({ server, tool, input })
    return call
  }

  /**
   * The trial is over: a call that has no answer yet never gets one, and is recorded so. What comes
   * later changes nothing.
   */
  close(): void {
    this.times?.close()
    for (const call of [...this.open].sort((a, b) => a.seq - b.seq))
      this.record(call, 'timeout', { content: [], isError: true })
  }

  /** @param ruled what a policy in front of the server decided */
  private record(
    call: OpenCall,
    status: CallStatus,
    result: CallToolResult,
    ruled: Pick<Parameters<typeof observe>[0], 'effect' | 'policy'> | null = null,
  ): void {
    if (!this.open.delete(call)) return
    const { seq, server, tool, input, client, began } = call
    const { runId } = this.options
    this.decisions.push(
      observe({ server, tool, arguments: input, status, result, runId, seq, ...ruled }),
    )
    const text = textOf(result)
    this.answers.set(seq, { status, answer: text })
    this.calls.push({
      seq,
      server,
      tool,
      input: withoutSecrets(input),
      status,
      // A cut may go through a pair of surrogates, and a log with half of one cannot be read back.
      answer: text.slice(0, MAX_ANSWER).toWellFormed(),
      ...(client !== undefined && { client }),
      began,
      ended: this.ticks++,
    })
    if (this.attackMet === false && this.holdsAttack(text)) this.attackMet = seq
  }

  /** Record a call that was none. */
  refuse(tool: string, input: unknown, problem: string): void {
    const text = typeof input === 'string' ? clearedText(input) : jsonFor(input)
    this.malformed.push({
      tool: tool.slice(0, 200).toWellFormed(),
      input: text.slice(0, MAX_ANSWER).toWellFormed(),
      problem: problem.slice(0, 300).toWellFormed(),
      after: this.next,
    })
  }

  /** Every call as goals see it. */
  get called(): CalledTool[] {
    return this.attempted.map((call, seq) => ({
      ...call,
      ...(this.answers.get(seq) ?? { status: 'timeout', answer: '' }),
    }))
  }

  private holdsAttack(text: string): boolean {
    return this.attackWords !== null && squeezed(unescaped(text)).includes(this.attackWords)
  }
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof ReplyLost || (cause as { code?: unknown } | null)?.code === -32001
}

/** A connection that is closed, refused or broken, or that this machine has no room for. */
const GONE = /^(-32000|ECONNREFUSED|ECONNRESET|EPIPE|EMFILE|ENFILE|ENOBUFS|ENOMEM)$/

/** The system's own word may stand behind another, as behind `fetch failed`. */
function isGone(cause: unknown, deepest = 3): boolean {
  const { code, cause: inner } = (cause ?? {}) as { code?: unknown; cause?: unknown }
  return (
    GONE.test(String(code)) || (deepest > 0 && inner !== undefined && isGone(inner, deepest - 1))
  )
}
