/** Servers built on the MCP SDKs, version 1 and 2, over HTTP: what most servers in the field are made with. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  createMcpHandler,
  McpServer as McpServerV2,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'

export type SdkServer = { url: string; close(): Promise<void> }

const TOOLS = ['list_items', 'get_item', 'add_item']

function v1(): McpServerV1 {
  const server = new McpServerV1({ name: 'sdk-1', version: '1.0.0' })
  for (const name of TOOLS) {
    server.registerTool(name, { description: `The tool ${name}.` }, () => ({
      content: [{ type: 'text', text: 'ok' }],
    }))
  }
  return server
}

function v2(): McpServerV2 {
  const server = new McpServerV2({ name: 'sdk-2', version: '1.0.0' })
  for (const name of TOOLS) {
    server.registerTool(name, { description: `The tool ${name}.` }, () => ({
      content: [{ type: 'text', text: 'ok' }],
    }))
  }
  return server
}

/** SDK 1, streamable HTTP with sessions; `json` answers with JSON instead of event streams. */
export function sdk1(json: boolean): Promise<SdkServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return listening(async (req, res) => {
    const known = sessions.get(String(req.headers['mcp-session-id'] ?? ''))
    if (known) return known.handleRequest(req, res)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    // The SDK's own types disagree about optional members under strict settings.
    await v1().connect(transport as Parameters<McpServerV1['connect']>[0])
    return transport.handleRequest(req, res)
  })
}

/** SDK 1, server-sent events. */
export function sdk1Sse(): Promise<SdkServer> {
  const streams = new Map<string, SSEServerTransport>()
  return listening(async (req, res) => {
    if (req.method === 'GET') {
      const transport = new SSEServerTransport('/messages', res)
      streams.set(transport.sessionId, transport)
      return v1().connect(transport)
    }
    const id = new URL(req.url ?? '/', 'http://x').searchParams.get('sessionId') ?? ''
    return streams.get(id)?.handlePostMessage(req, res)
  })
}

/** SDK 2: a server per request for clients that initialize, or `modern`, which refuses them. */
export function sdk2(kind: 'stateless' | 'modern' | 'sessions'): Promise<SdkServer> {
  if (kind !== 'sessions') {
    const handler = createMcpHandler(v2, { legacy: kind === 'modern' ? 'reject' : 'stateless' })
    return listening((req, res) => through(handler.fetch, req, res))
  }
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const fetch = async (request: Request): Promise<Response> => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
    })
    await v2().connect(transport)
    return transport.handleRequest(request)
  }
  return listening((req, res) => through(fetch, req, res))
}

async function through(
  fetch: (request: Request) => Promise<Response>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
  const response = await fetch(
    new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method ?? 'GET',
      headers,
      ...body,
    }),
  )
  res.writeHead(response.status, Object.fromEntries(response.headers))
  for await (const chunk of response.body ?? []) res.write(chunk)
  res.end()
}

async function listening(
  handle: (req: IncomingMessage, res: ServerResponse) => Promise<unknown>,
): Promise<SdkServer> {
  const http = createServer((req, res) => {
    handle(req, res).catch(() => res.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
