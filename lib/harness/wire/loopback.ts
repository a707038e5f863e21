/**
 * The one HTTP server of this process: on loopback, each MCP server at a path that cannot be
 * guessed.
 *
 * A page in a browser can send requests to loopback, and by DNS rebinding under a name of its own.
 * So a request whose Host is not loopback is refused, and one whose Origin is not.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Server, Transport } from './mcp.ts'
import { isModern, ModernFront } from './modern.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const handlers = new Map<string, Handler>()
let listening: Promise<HttpServer> | null = null
/** Addresses that keep the process alive. */
let holding = 0

function listen(): Promise<HttpServer> {
  listening ??= new Promise((resolve, reject) => {
    const http = createServer((request, response) => {
      if (!isLocal(request)) {
        response.writeHead(403).end()
        return
      }
      const handler = handlers.get(request.url?.split('?', 1)[0] ?? '')
      if (!handler) {
        response.writeHead(404).end()
        return
      }
      handler(request, response).catch(() => {
        if (!response.headersSent) response.writeHead(500)
        response.end()
      })
    })
    http.on('error', (cause) => {
      // Once it listens: a connection that was not taken, for want of descriptors say.
      if (http.listening) return
      // What was wanting may be there for the next who asks.
      listening = null
      reject(cause)
    })
    http.on('connection', (socket) => socket.unref())
    http.listen(0, '127.0.0.1', () => resolve(http))
    // A trial's timer keeps the process alive; the server alone does not.
    http.unref()
  })
  return listening
}

const LOCAL = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * True for a request to a loopback name. A browser says from which page it comes: that must be
 * loopback too.
 */
function isLocal({ headers: { host, origin } }: IncomingMessage): boolean {
  if (!LOCAL.has(host?.replace(/:\d+$/, '').toLowerCase() ?? '')) return false
  if (origin === undefined) return true
  return URL.canParse(origin) && LOCAL.has(new URL(origin).hostname)
}

/** An MCP server at an address. */
export type Address = { url: string; close(): Promise<void> }

/**
 * Serve MCP over streamable HTTP, in both eras of the protocol. Each client has a session of its
 * own.
 *
 * @param name          of the server, for clients of revision 2026-07-28
 * @param open          makes the MCP server of a new session
 * @param options.holds keep the process alive until the address is closed
 */
export async function serveHttp(
  name: string,
  open: () => Server,
  { holds = false }: { holds?: boolean } = {},
): Promise<Address> {
  const http = await listen()
  const { port } = http.address() as AddressInfo
  if (holds && ++holding === 1) http.ref()
  const path = `/${randomBytes(24).toString('base64url')}/mcp`
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: Server }>()
  const modern = new ModernFront(name, open)
  handlers.set(path, async (request, response) => {
    if (isModern(request.headers)) return modern.handle(request, response)
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
      if (handlers.delete(path) && holds && --holding === 0) http.unref()
      await Promise.allSettled([
        modern.close(),
        ...[...sessions.values()].map(({ server }) => server.close()),
      ])
      sessions.clear()
    },
  }
}
