/**
 * Revision 2026-07-28 of MCP, which has no handshake: our servers for clients that speak it, and
 * our clients for servers that speak nothing else. The one place that touches version 2 of the MCP
 * SDK, which is loaded when it is first needed.
 *
 * Both ways end in the SDK's version 1, so that a fault, a recorder or a judge meets one protocol.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type {
  Client as ModernClient,
  Tool as ModernTool,
  Transport as Wire,
} from '@modelcontextprotocol/client'
import type {
  McpHttpHandler,
  Server as ModernServer,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../json.ts'
import {
  type CallToolResult,
  type Client,
  clientNamed,
  type JSONRPCMessage,
  type JSONRPCRequest,
  memoryPair,
  onRelisted,
  request,
  type Server,
  type Tool,
  type Transport,
} from './mcp.ts'
import { schemaValidator } from './schema-validator.ts'

export type { Wire }

const VERSION = '2026-07-28'
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
/** The longest delay of a timer: who made the request keeps its time, so none is kept here. */
const LONGEST_MS = 2_147_483_647

/**
 * Does a request come from a client of this revision? It names its method in a header, and its
 * revision.
 */
export function isModern(headers: IncomingHttpHeaders): boolean {
  const version = headers['mcp-protocol-version']
  return headers['mcp-method'] !== undefined || (typeof version === 'string' && version >= VERSION)
}

/**
 * A server of ours for clients of this revision, at one address. There are no sessions on the wire:
 * clients are told apart by the name that they give, and each name has a session of its own behind
 * it.
 */
export class ModernFront {
  private readonly name: string
  private readonly open: () => Server
  private readonly sessions = new Map<string, Promise<Client>>()
  private handler: Promise<McpHttpHandler> | null = null

  /** @param open makes the server of a new session */
  constructor(name: string, open: () => Server) {
    this.name = name
    this.open = open
  }

  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.handler ??= this.make()
    const { fetch } = await this.handler
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const { method = 'GET', url = '/' } = incoming
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    const body = method === 'POST' ? await readAll(incoming) : null
    const asked = new Request(new URL(url, 'http://127.0.0.1'), {
      method,
      headers,
      body,
      signal: gone.signal,
    })
    const answer = await fetch(asked)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.flushHeaders()
    if (answer.body === null) response.end()
    else
      Readable.fromWeb(answer.body as never)
        .on('error', () => response.end())
        .pipe(response)
  }

  async close(): Promise<void> {
    const clients = await Promise.allSettled([...this.sessions.values()])
    this.sessions.clear()
    await Promise.allSettled(
      clients.map((client) => client.status === 'fulfilled' && client.value.close()),
    )
    await (await this.handler)?.close()
  }

  private async make(): Promise<McpHttpHandler> {
    const { createMcpHandler } = await import('@modelcontextprotocol/server')
    const make = await makerOf(
      this.name,
      async ({ method, params }, { mcpReq: { signal, envelope } }) => {
        const client = await this.session(clientIn(envelope))
        return request(client, method, params, { signal, timeoutMs: LONGEST_MS })
      },
    )
    return createMcpHandler(make, { legacy: 'reject' })
  }

  private session(info: { name: string; version: string }): Promise<Client> {
    const key = JSON.stringify([info.name, info.version])
    const made = this.sessions.get(key) ?? this.begin(info)
    this.sessions.set(key, made)
    return made
  }

  private async begin(info: { name: string; version: string }): Promise<Client> {
    const [ours, theirs] = memoryPair()
    await this.open().connect(theirs)
    const client = await clientNamed(info, ours)
    onRelisted(client, async () => (await this.handler)?.notify.toolsChanged())
    return client
  }
}

type Asked = { method: string; params?: { [name: string]: unknown } | undefined }

/** Makes servers of version 2 that list and call tools by `answer`. */
async function makerOf(
  name: string,
  answer: (asked: Asked, context: ServerContext) => Promise<object>,
): Promise<() => ModernServer> {
  const { ProtocolError, Server } = await import('@modelcontextprotocol/server')
  const answered = async (asked: Asked, context: ServerContext) => {
    try {
      return await answer(asked, context)
    } catch (cause) {
      const { code, message, data } = errorOf(cause)
      throw new ProtocolError(code, message, data)
    }
  }
  return () => {
    const server = new Server(
      { name, version: '0.1.0' },
      { capabilities: { tools: { listChanged: true } } },
    )
    server.setRequestHandler('tools/list', (asked, context) => answered(asked, context) as never)
    server.setRequestHandler('tools/call', (asked, context) => answered(asked, context) as never)
    return server
  }
}

/**
 * Serve tools on this process's standard input and output, in both eras: the first message of the
 * client says in which.
 *
 * @param failed told of what is no message, and of the end of the wire by one that is too long
 */
export async function serveOnStdio(
  name: string,
  tools: () => Promise<Tool[]>,
  handle: (tool: string, input: JsonObject, signal: AbortSignal) => Promise<CallToolResult>,
  failed: (error: Error) => void,
): Promise<{ relisted(): void; close(): Promise<void> }> {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const make = await makerOf(name, async ({ method, params }, { mcpReq: { signal } }) => {
    if (method === 'tools/list') return { tools: await tools() }
    const { name: tool, arguments: input = {} } = params as { name: string; arguments?: JsonObject }
    return handle(tool, input, signal)
  })
  const made: ModernServer[] = []
  const served = serveStdio(
    () => {
      const server = make()
      made.push(server)
      return server
    },
    { onerror: failed },
  )
  return {
    relisted() {
      for (const server of made) server.sendToolListChanged().catch(() => {})
    },
    close: () => served.close(),
  }
}

/** How a client names itself in a request. */
function clientIn(envelope: object | undefined): { name: string; version: string } {
  const told = (envelope as { [key: string]: unknown } | undefined)?.[CLIENT_INFO]
  const { name, version } = (told ?? {}) as { name?: unknown; version?: unknown }
  return { name: String(name ?? 'unnamed'), version: String(version ?? '0') }
}

/**
 * A server of this revision as a transport of version 1: what a client of version 1 asks is asked
 * in the way of 2026-07-28.
 */
export class ModernTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  private readonly wire: Wire
  private readonly running = new Map<string | number, AbortController>()
  private readonly tools = new Map<string, ModernTool>()
  private client: ModernClient | null = null

  /**
   * @param wire of version 2, not started; or one of version 1 that carries messages as they are
   */
  constructor(wire: Wire) {
    this.wire = wire
  }

  async start(): Promise<void> {
    const { Client } = await import('@modelcontextprotocol/client')
    this.client = new Client(
      { name: 'touchstone', version: '0.1.0' },
      {
        versionNegotiation: { mode: { pin: VERSION } },
        jsonSchemaValidator: schemaValidator as never,
      },
    )
    this.client.setNotificationHandler('notifications/tools/list_changed', ({ method }) =>
      this.onmessage?.({ jsonrpc: '2.0', method }),
    )
    this.client.onclose = () => this.onclose?.()
    this.client.onerror = (error) => this.onerror?.(error)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return
    if ('id' in message) return void this.answer(message)
    const cancelled = message.method === 'notifications/cancelled' && message.params?.['requestId']
    if (typeof cancelled === 'string' || typeof cancelled === 'number')
      this.running.get(cancelled)?.abort()
  }

  async close(): Promise<void> {
    await this.client?.close()
    await this.wire.close()
  }

  private async answer(asked: JSONRPCRequest): Promise<void> {
    const { id } = asked
    const stop = new AbortController()
    this.running.set(id, stop)
    try {
      const result = await this.ask(asked, stop.signal)
      this.onmessage?.({ jsonrpc: '2.0', id, result })
    } catch (cause) {
      if (!stop.signal.aborted) this.onmessage?.({ jsonrpc: '2.0', id, error: errorOf(cause) })
    } finally {
      this.running.delete(id)
    }
  }

  private async ask(
    { method, params = {} }: JSONRPCRequest,
    signal: AbortSignal,
  ): Promise<{ [member: string]: unknown }> {
    const client = this.client as ModernClient
    const options = { signal, timeout: LONGEST_MS }
    switch (method) {
      case 'initialize':
        await client.connect(this.wire, options)
        // Not waited for: a server that does not answer to it still answers to calls.
        if (client.getServerCapabilities()?.tools?.listChanged)
          client.listen({ toolsListChanged: true }, { timeout: LONGEST_MS }).catch(() => {})
        return {
          protocolVersion: params['protocolVersion'],
          capabilities: client.getServerCapabilities() ?? {},
          serverInfo: client.getServerVersion() ?? { name: '', version: '' },
          instructions: client.getInstructions(),
        }
      case 'tools/list': {
        const listed = await client.request({ method, params }, options)
        for (const tool of listed.tools) this.tools.set(tool.name, tool)
        return plain(listed)
      }
      case 'tools/call': {
        // Its schema says which parameters stand in headers too. What comes back is checked by the
        // client of version 1.
        const known = this.tools.get(String(params['name']))
        const { outputSchema: _, ...tool } = known ?? {}
        const more = known ? { toolDefinition: tool as ModernTool } : {}
        return plain(await client.callTool(params as never, { ...options, ...more }))
      }
      default:
        return plain(await client.request({ method, params } as never, options))
    }
  }
}

/** A wire to an address, with these headers on each request. */
export async function modernHttp(url: URL, headers: { [name: string]: string }): Promise<Wire> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  return new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as Wire
}

/** A result without what this revision adds to every result. */
function plain(result: object): { [member: string]: unknown } {
  const { resultType, ttlMs, cacheScope, _meta, ...rest } = result as { [member: string]: unknown }
  const { [SERVER_INFO]: _, ...meta } = (_meta ?? {}) as { [member: string]: unknown }
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest
}

/** Error codes of the SDK's version 2 as the numbers of version 1. */
const CODES: { [code: string]: number } = { REQUEST_TIMEOUT: -32001, CONNECTION_CLOSED: -32000 }

/** An error of either version as JSON-RPC has it. */
function errorOf(cause: unknown): { code: number; message: string; data?: unknown } {
  const { code, message, data } = cause as { code?: unknown; message?: unknown; data?: unknown }
  const text = String(message ?? cause).replace(/^MCP error -?\d+: /, '')
  const number = typeof code === 'number' ? code : (CODES[String(code)] ?? -32603)
  return { code: number, message: text, ...(data === undefined ? {} : { data }) }
}

/** Does an error of a client of version 1 say that the server knows no `initialize`? */
export function isModernOnly(cause: unknown): boolean {
  const {
    code,
    message,
    cause: inner,
  } = (cause ?? {}) as {
    code?: unknown
    message?: unknown
    cause?: unknown
  }
  if (code === -32022 || code === -32020 || code === -32601) return true
  // Over HTTP the error's body stands in the message.
  if (/"code"\s*:\s*-(?:32022|32020|32601)\b/.test(String(message ?? ''))) return true
  return inner !== undefined && isModernOnly(inner)
}

async function readAll(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks) as Buffer<ArrayBuffer>
}
