/** The one HTTP server of this process that agents reach: on loopback, each MCP server of a trial at a path that cannot be guessed. */
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Server, Transport } from '../server/mcp.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const handlers = new Map<string, Handler>()
let listening: Promise<number> | null = null

function listen(): Promise<number> {
  listening ??= new Promise((resolve, reject) => {
    const http = createServer((request, response) => {
      const handler = handlers.get(request.url?.split('?', 1)[0] ?? '')
      // A page in a browser must not reach it under another name.
      const host = request.headers.host?.replace(/:\d+$/, '')
      if (!handler || (host !== '127.0.0.1' && host !== 'localhost')) {
        response.writeHead(404).end()
        return
      }
      handler(request, response).catch(() => {
        if (!response.headersSent) response.writeHead(500)
        response.end()
      })
    })
    http.once('error', reject)
    http.on('connection', (socket) => socket.unref())
    http.listen(0, '127.0.0.1', () => resolve((http.address() as AddressInfo).port))
    // A trial's timer keeps the process alive; the server alone does not.
    http.unref()
  })
  return listening
}

/** An MCP server at an address. */
export type Address = { url: string; close(): Promise<void> }

/**
 * Serve MCP over streamable HTTP. Each client has a session of its own.
 *
 * @param open makes the MCP server of a new session
 */
export async function serveHttp(open: () => Server): Promise<Address> {
  const port = await listen()
  const path = `/${randomBytes(24).toString('base64url')}/mcp`
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: Server }>()
  handlers.set(path, async (request, response) => {
    const id = request.headers['mcp-session-id']
    const known = sessions.get(String(id ?? ''))
    if (known) return known.transport.handleRequest(request, response)
    if (id !== undefined) {
      // Streamable HTTP: a session that is not known is 404, and the client begins a new one.
      response.writeHead(404).end()
      return
    }
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (session) => {
        sessions.set(session, { transport, server })
      },
      onsessionclosed: (session) => {
        sessions.delete(session)
      },
    })
    const server = open()
    await server.connect(transport as Transport)
    await transport.handleRequest(request, response)
  })
  return {
    url: `http://127.0.0.1:${port}${path}`,
    async close() {
      handlers.delete(path)
      await Promise.allSettled([...sessions.values()].map(({ server }) => server.close()))
      sessions.clear()
    },
  }
}
