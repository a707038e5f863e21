/**
 * The one place that touches the MCP SDK's clients and servers: servers made from a list of tools,
 * clients over any transport.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ListToolsRequestSchema,
  ResultSchema,
  type Tool,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { TouchstoneError } from '../../errors.ts'
import { redacted } from '../../secrets.ts'
import { schemaValidator } from './schema-validator.ts'

export type { CallToolResult, Client, JSONRPCMessage, JSONRPCRequest, Server, Tool, Transport }

/**
 * What a served tool is called with. `call` is the number that the recorder gave the call, over an
 * in-memory transport.
 */
export type ToolCall = {
  name: string
  arguments: Record<string, unknown>
  call: number | null
  signal: AbortSignal
}

const CALL = 'touchstone/call'

/**
 * An MCP server over a list of tools. The list is asked for anew each time, since a hostile server
 * may change it.
 */
export function createServer(
  name: string,
  tools: () => Promise<Tool[]>,
  handle: (call: ToolCall) => Promise<CallToolResult> | CallToolResult,
): Server {
  const server = new Server(
    { name, version: '0.1.0' },
    { capabilities: { tools: { listChanged: true } }, jsonSchemaValidator: schemaValidator },
  )
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await tools() }))
  server.setRequestHandler(CallToolRequestSchema, (request, extra) => {
    const number = request.params._meta?.[CALL]
    return handle({
      name: request.params.name,
      arguments: request.params.arguments ?? {},
      call: typeof number === 'number' ? number : null,
      signal: extra.signal,
    })
  })
  return server
}

/** Two ends of an in-memory wire. */
export function memoryPair(): [Transport, Transport] {
  return InMemoryTransport.createLinkedPair()
}

/** Connect a client. @throws TouchstoneError `server_unreachable` */
export async function connectClient(
  transport: Transport,
  options: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<Client> {
  try {
    return await clientNamed({ name: 'touchstone', version: '0.1.0' }, transport, options)
  } catch (cause) {
    await transport.close().catch(() => {})
    throw new TouchstoneError(
      'server_unreachable',
      `expected an MCP server, got ${reasonOf(cause)}`,
      { cause },
    )
  }
}

/** Connect a client of this name. Rejects with the SDK's error. */
export async function clientNamed(
  info: { name: string; version: string },
  transport: Transport,
  options: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<Client> {
  const client = new Client(info, { jsonSchemaValidator: schemaValidator })
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    relisted.add(client)
    relistings.get(client)?.()
  })
  const timeout = options.timeoutMs ?? 10_000
  await asked(options.signal, (own) => client.connect(transport, { timeout, ...own }))
  return client
}

/**
 * Ask with a signal of the request's own: the SDK never lets go of one, and where it aborts later
 * tells the server that a request is cancelled which it has answered.
 */
async function asked<T>(
  signal: AbortSignal | undefined,
  ask: (options: { signal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  if (!signal) return ask({})
  const own = new AbortController()
  const abort = () => own.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await ask({ signal: own.signal })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Any request, its result as it came. Rejects with the SDK's error. */
export function request(
  client: Client,
  method: string,
  params: object | undefined,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<{ [member: string]: unknown }> {
  const message = { method, ...(params && { params: params as { [member: string]: unknown } }) }
  return asked(options.signal, (own) =>
    client.request(message, ResultSchema, { ...own, timeout: options.timeoutMs }),
  )
}

const relisted = new WeakSet<Client>()
const relistings = new WeakMap<Client, () => void>()

/** Be told when a server says that its list of tools is another now. The last who asks is told. */
export function onRelisted(client: Client, told: () => void): void {
  relistings.set(client, told)
}

/** True once after a server has said that its list of tools is another now. */
export function takeRelisted(client: Client): boolean {
  return relisted.delete(client)
}

/** Every tool a server lists, over all pages. @throws TouchstoneError `server_unreachable` */
export async function listTools(client: Client, signal?: AbortSignal): Promise<Tool[]> {
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < 100; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const listed = asked(signal, (own) => client.listTools(params, own))
    const answer = await listed.catch((cause: unknown) => {
      signal?.throwIfAborted()
      const got = reasonOf(cause).replaceAll(/\s+/g, ' ')
      throw new TouchstoneError('server_unreachable', `expected a list of tools, got ${got}`, {
        cause,
      })
    })
    tools.push(...answer.tools)
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) break
    cursor = answer.nextCursor
  }
  return tools
}

/**
 * Call a tool. A JSON-RPC error or a timeout rejects with the SDK's error; `isError` is part of the
 * result.
 *
 * @param options.number marks the call for a server of ours in the same process; others never see
 *   it
 */
export async function callTool(
  client: Client,
  name: string,
  input: Record<string, unknown>,
  options: { signal: AbortSignal; timeoutMs: number; number?: number },
): Promise<CallToolResult> {
  const meta = options.number === undefined ? {} : { _meta: { [CALL]: options.number } }
  const params = { name, arguments: input, ...meta }
  const answer = await asked(options.signal, (own) =>
    client.callTool(params, undefined, { ...own, timeout: options.timeoutMs }),
  )
  return answer as CallToolResult
}

/**
 * An error's text with the system's word for its cause, short, without a stack. Never throws: what
 * was thrown may be anything, with getters of its own.
 */
export function reasonOf(cause: unknown): string {
  try {
    return wordsOf(cause)
  } catch {
    return 'an error that cannot be read'
  }
}

function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return redacted(String(cause)).slice(0, 300).toWellFormed()
  const text = redacted(unquoted(cause.message)).slice(0, 300).toWellFormed()
  const { code, message } = (cause.cause ?? {}) as { code?: unknown; message?: unknown }
  const deeper = typeof code === 'string' ? code : typeof message === 'string' ? message : ''
  return deeper !== '' && !text.includes(deeper)
    ? `${text}: ${redacted(unquoted(deeper)).slice(0, 100)}`
    : text
}

/** A message of the AI SDK without the whole of what could not be read, which may be an answer. */
function unquoted(message: string): string {
  return message.replace(/^(JSON parsing failed|Type validation failed[^:]*): [\s\S]*$/, '$1')
}
