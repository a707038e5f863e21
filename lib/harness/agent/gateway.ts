/**
 * The servers of a trial as an agent of its own reaches them: MCP servers in this process, at an
 * address, or as a program. Each call goes through the recorder, whatever wire it came by.
 */
import { setTimeout as elapsed, setImmediate } from 'node:timers/promises'
import type { JsonObject } from '../../json.ts'
import type { UserAnswer } from '../case/user.ts'
import { Denied } from '../server/policy.ts'
import type { RunningServer } from '../server/running.ts'
import { type Address, serveHttp } from '../wire/loopback.ts'
import {
  type CallToolResult,
  type Client,
  connectClient,
  createServer,
  memoryPair,
  reasonOf,
  type Server,
  type Tool,
  type ToolCall,
} from '../wire/mcp.ts'
import { ASK_DESCRIPTION, ASK_SCHEMA, heardText, wordsIn } from './ask.ts'
import type { Conversation } from './conversation.ts'
import { ASK, REPORT, type Recorder, ServerGone } from './recorder.ts'
import { REPORT_DESCRIPTION, REPORT_SCHEMA, type Reports } from './report-tool.ts'
import { argumentsOf } from './tool-arguments.ts'

/** JSON-RPC's and MCP's codes. */
const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
const REQUEST_TIMEOUT = -32001

/** How long calls that run when the agent answers may take to end. */
const SETTLE_MS = 2000

/** How long words to a user who is not there any more wait before they are refused. */
const REFUSED_AFTER_MS = 100

/** Why the gateway let no more calls through before the agent had ended. */
export type GatewayEnd = { how: 'call_limit' } | { how: 'server_gone'; cause: unknown }

/** One server behind the gateway: its tools now, and what a call does. */
type Behind = {
  name: string
  list(): readonly Tool[]
  call(tool: string, input: JsonObject, client: string | undefined): Promise<CallToolResult>
}

export class Gateway {
  /** Calls that came after the agent had answered. They were refused. */
  late = 0
  /** Calls that run. */
  running = 0
  readonly servers: readonly Behind[]
  private readonly recorder: Recorder
  private readonly conversation: Conversation | null
  private readonly mostCalls: number
  private readonly onEnd: (end: GatewayEnd) => void
  private readonly stop = new AbortController()
  private readonly sessions = new Map<Server, { behind: Behind; label: string | undefined }>()
  private readonly clients: Client[] = []
  private readonly addresses: Address[] = []
  private readonly inFlight = new Set<Promise<unknown>>()
  private calls = 0
  private closed = false

  /** @param onEnd told once when no more calls get through; the agent is then to be ended */
  constructor(
    recorder: Recorder,
    servers: readonly RunningServer[],
    reports: Reports,
    options: {
      calls: number
      conversation: Conversation | null
      onEnd: (end: GatewayEnd) => void
    },
  ) {
    this.recorder = recorder
    this.conversation = options.conversation
    this.mostCalls = options.calls
    this.onEnd = options.onEnd
    const names = new Set(servers.map(({ name }) => name))
    const own = names.has(REPORT) ? `touchstone_${REPORT}` : REPORT
    this.servers = [...servers.map((server) => this.recorded(server)), this.reporting(own, reports)]
  }

  /** A client in this process. */
  async connect(behind: Behind): Promise<Client> {
    const [ours, theirs] = memoryPair()
    await this.open(behind).connect(theirs)
    const client = await connectClient(ours)
    this.clients.push(client)
    return client
  }

  /** The address of a server. */
  async address(behind: Behind): Promise<string> {
    const address = await serveHttp(behind.name, () => this.open(behind))
    this.addresses.push(address)
    return address.url
  }

  /** The agent has answered: calls that run may end, no other gets through. */
  async close(): Promise<void> {
    this.closed = true
    if (this.inFlight.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, SETTLE_MS)
      await Promise.race([Promise.allSettled([...this.inFlight]), promise])
      clearTimeout(timer)
    }
    // What the agent still does without waiting for it meets a closed gateway, and is counted.
    await setImmediate()
    this.recorder.close()
    this.stop.abort(OVER)
  }

  /** End every connection. Until then a call that comes late is refused, and counted. */
  async disconnect(): Promise<void> {
    await Promise.allSettled([
      ...this.clients.map((client) => client.close()),
      ...this.addresses.map((address) => address.close()),
      ...[...this.sessions.keys()].map((server) => server.close()),
    ])
  }

  /**
   * Carry out a call of a server's tool. @throws an error with the JSON-RPC code that the client is
   * told
   */
  async call(
    server: RunningServer,
    name: string,
    given: unknown,
    client?: string,
  ): Promise<CallToolResult> {
    this.requireOpen()
    const tool = this.recorder.show(server).find((one) => one.name === name)
    if (!tool) {
      this.recorder.refuse(name, given, 'no tool of that name is offered')
      throw rpcError(INVALID_PARAMS, `Unknown tool: ${name}`)
    }
    const input = this.argumentsFor(name, given)
    if (++this.calls > this.mostCalls) {
      this.end({ how: 'call_limit' })
      this.requireOpen()
    }
    this.running++
    try {
      const { result, refusal } = await this.recorder.call(
        { server, tool },
        input,
        this.stop.signal,
        client,
      )
      await this.tellOfLists()
      if (refusal !== null) throw asRpcError(refusal)
      return result
    } catch (cause) {
      if (cause instanceof ServerGone) this.end({ how: 'server_gone', cause })
      throw cause
    } finally {
      this.running--
    }
  }

  /** Say something to the user of the case. @throws Error as `Conversation.say` does */
  async say(text: string): Promise<UserAnswer> {
    // An agent that goes on regardless keeps neither the process from its timers nor from its end.
    if (this.closed) await elapsed(REFUSED_AFTER_MS, undefined, { ref: false })
    this.requireOpen()
    if (this.conversation === null) throw new Error('the case has no user')
    if (wordsIn({ text }) === null) throw new Error('expected text for the user, got none')
    return this.conversation.say(text, this.stop.signal)
  }

  private recorded(server: RunningServer): Behind {
    return {
      name: server.name,
      list: () => this.recorder.show(server),
      call: (tool, input, client) => this.call(server, tool, input, client),
    }
  }

  /**
   * Our own server: its tool `report` takes what the agent says it did, and `ask_user` what it says
   * to the user, where the case has one.
   */
  private reporting(name: string, reports: Reports): Behind {
    const own = (tool: string, description: string, schema: unknown) => ({
      name: tool,
      description,
      inputSchema: schema as Tool['inputSchema'],
    })
    const tools = [
      own(REPORT, REPORT_DESCRIPTION, REPORT_SCHEMA),
      ...(this.conversation ? [own(ASK, ASK_DESCRIPTION, ASK_SCHEMA)] : []),
    ]
    this.recorder.beside(name, tools)
    return {
      name,
      list: () => tools,
      call: async (called, input) => {
        this.requireOpen()
        if (called === ASK && this.conversation) return this.asked(input)
        if (called !== REPORT) throw rpcError(INVALID_PARAMS, `Unknown tool: ${called}`)
        const problem = reports.file(input)
        if (problem !== null) this.recorder.refuse(REPORT, input, problem)
        const text = problem ?? 'received'
        return { content: [{ type: 'text', text }], isError: problem !== null }
      },
    }
  }

  private async asked(input: unknown): Promise<CallToolResult> {
    const words = wordsIn(input)
    if (words === null) {
      const text = 'expected text to be a text'
      this.recorder.refuse(ASK, input, text)
      return { content: [{ type: 'text', text }], isError: true }
    }
    const text = heardText(await this.say(words))
    return { content: [{ type: 'text', text }] }
  }

  private argumentsFor(tool: string, given: unknown): JsonObject {
    try {
      return argumentsOf(given)
    } catch (cause) {
      this.recorder.refuse(tool, given, reasonOf(cause))
      throw rpcError(INVALID_PARAMS, reasonOf(cause))
    }
  }

  /** A new session of a server. */
  private open(behind: Behind): Server {
    const server = createServer(
      behind.name,
      async () => [...behind.list()],
      (call) => this.answer(server, behind, call),
    )
    server.oninitialized = () => {
      this.sessions.set(server, { behind, label: this.labelOf(server, behind) })
    }
    return server
  }

  /**
   * Each client by the name that it gives, numbered where another session of the same server has it
   * too.
   */
  private labelOf(server: Server, behind: Behind): string | undefined {
    const info = server.getClientVersion()
    if (!info) return undefined
    const label = `${info.name}/${info.version}`.slice(0, 120).toWellFormed()
    const others = [...this.sessions.values()].filter(
      (one) => one.behind === behind && one.label?.split(' #')[0] === label,
    )
    return others.length === 0 ? label : `${label} #${others.length + 1}`
  }

  private answer(server: Server, behind: Behind, call: ToolCall): Promise<CallToolResult> {
    const label = this.sessions.get(server)?.label
    const answer = behind.call(call.name, call.arguments as JsonObject, label)
    this.inFlight.add(answer)
    answer.catch(() => {}).finally(() => this.inFlight.delete(answer))
    return answer
  }

  private requireOpen(): void {
    if (!this.closed) return
    this.late++
    throw rpcError(INVALID_REQUEST, 'the trial is over')
  }

  private end(end: GatewayEnd): void {
    if (this.closed) return
    this.closed = true
    this.onEnd(end)
  }

  /** A server may say that its tools are others now: whoever is connected to it is told. */
  private async tellOfLists(): Promise<void> {
    const changed = new Set(
      (await this.recorder.refresh(this.stop.signal)).map((one) => one.server.name),
    )
    for (const [session, { behind }] of this.sessions)
      if (changed.has(behind.name)) await session.sendToolListChanged().catch(() => {})
  }
}

const OVER = new DOMException('the trial is over', 'AbortError')

/** An error that the SDK's server sends with this code. */
function rpcError(code: number, text: string): Error {
  return Object.assign(new Error(text), { code })
}

/**
 * An error of the server's client as the agent's own client shall have it. A lost reply is told at
 * once, as in memory time is virtual: the agent's client has the error that a timeout gives.
 */
function asRpcError(cause: unknown): Error {
  const code = (cause as { code?: unknown } | null)?.code
  const text = reasonOf(cause).replace(/^MCP error -?\d+: /, '')
  const error = rpcError(typeof code === 'number' ? code : REQUEST_TIMEOUT, text)
  return cause instanceof Denied ? Object.assign(error, { data: cause.data }) : error
}
