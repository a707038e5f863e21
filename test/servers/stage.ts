/**
 * Where one-fault servers stand: an HTTPS server on loopback that records every request, under a name that resolves to a
 * public address which the tests pin to loopback. The address check itself is the real one.
 */
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'
import type { Seams } from '../../lib/probe/wire/dial.ts'
import { type Authority, authority, type Certificate } from './authority.ts'

export const HOST = 'mcp.example.test'
export const PUBLIC_ADDRESS = '93.184.216.34'

/** One request as a server saw it. */
export type Exchange = {
  req: IncomingMessage
  res: ServerResponse
  /** HTTP method. */
  method: string
  /** JSON-RPC method of the body, if there was one. */
  rpc: string | null
  id: unknown
  params: Record<string, unknown> | undefined
  /** Of this server, from 0. */
  n: number
}

export type Behaviour = (exchange: Exchange) => unknown

export type Stage = {
  port: number
  url: string
  /** `POST initialize`, `GET`, `DELETE`: what arrived, in order. */
  arrived: string[]
  headers: IncomingMessage['headers'][]
  /** TCP connections accepted. */
  connections: number
  close(): Promise<void>
}

let shared: { authority: Authority; certificate: Certificate } | undefined

/** The authority of this test process and its certificate for `HOST` and names under example.test. */
export function trust(): { authority: Authority; certificate: Certificate } {
  if (!shared) {
    const made = authority()
    process.once('exit', made.remove)
    shared = { authority: made, certificate: made.issue([HOST, '*.example.test']) }
  }
  return shared
}

/** Seams under which `HOST` resolves to a public address and that address is loopback. */
export function seams(limits: NonNullable<Seams['limits']> = {}): Seams {
  return {
    resolve: async () => [PUBLIC_ADDRESS],
    pin: () => '127.0.0.1',
    ca: trust().authority.ca,
    limits,
  }
}

/** Start an HTTP server with this behaviour, over TLS unless `plain`. */
export async function stage(
  behaviour: Behaviour,
  options: { plain?: boolean; certificate?: Certificate; path?: string } = {},
): Promise<Stage> {
  const arrived: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = []
    req.on('error', () => {})
    res.on('error', () => {})
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const message = text === '' ? {} : JSON.parse(text)
      const rpc = typeof message.method === 'string' ? message.method : null
      const n = arrived.push(rpc ? `${req.method} ${rpc}` : String(req.method)) - 1
      headers.push(req.headers)
      behaviour({
        req,
        res,
        method: req.method ?? '',
        rpc,
        id: message.id,
        params: message.params,
        n,
      })
    })
  }
  const server = options.plain
    ? createHttp(listener)
    : createHttps({ ...(options.certificate ?? trust().certificate) }, listener)
  return listening(server, {
    arrived,
    headers,
    scheme: options.plain ? 'http' : 'https',
    path: options.path ?? '/mcp',
  })
}

/** Start a server that speaks whatever bytes it likes, over TLS unless `plain`. */
export async function rawStage(
  onSocket: (socket: Socket) => void,
  options: { plain?: boolean } = {},
): Promise<Stage> {
  const quiet = (socket: Socket) => {
    socket.on('error', () => {})
    onSocket(socket)
  }
  const server = options.plain ? createTcp(quiet) : createTls({ ...trust().certificate }, quiet)
  return listening(server, { arrived: [], headers: [], scheme: 'https', path: '/mcp' })
}

async function listening(
  server: Server,
  {
    arrived,
    headers,
    scheme,
    path,
  }: Pick<Stage, 'arrived' | 'headers'> & { scheme: string; path: string },
): Promise<Stage> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: scheme === 'https' ? `https://${HOST}:${port}${path}` : `http://127.0.0.1:${port}${path}`,
    arrived,
    headers,
    get connections() {
      return connections
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
