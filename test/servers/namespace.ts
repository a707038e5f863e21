/**
 * Runs inside a network namespace whose loopback has public-looking addresses: its own name server, its own authority, real
 * sockets on port 443, and the public `probe.connect` with nothing injected. Writes what it saw as JSON.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { connect } from '../../lib/probe/index.ts'
import { type Answers, nameServer } from './name-server.ts'
import { sse } from './sse-faults.ts'
import type { Behaviour } from './stage.ts'
import { well } from './well.ts'

const [folder = '', server = '', stranger = '', dns = ''] = process.argv.slice(2)
const pem = (name: string) => readFileSync(`${folder}/${name}`, 'utf8')

const zone: Record<string, (kind: 'A' | 'AAAA', asked: number) => Answers> = {
  // Its IPv6 address has no listener: the IPv4 one must be tried too.
  'mcp.example.com': () => ({ addresses: [server, '2606:2800:220:1::34'] }),
  'rebind.example.com': (_, asked) => ({ addresses: [asked === 0 ? server : '127.0.0.1'] }),
  'mixed.example.com': () => ({ addresses: [server, '127.0.0.1'] }),
  'private.example.com': () => ({ addresses: ['10.0.0.1'] }),
  'mapped.example.com': () => ({ addresses: ['::ffff:127.0.0.1'] }),
  'nat64.example.com': () => ({ addresses: ['64:ff9b::5db8:d822'] }),
  'metadata.example.com': () => ({ addresses: ['169.254.169.254'] }),
  'alias.example.com': () => ({ addresses: ['127.0.0.1'], alias: 'inside.example.com' }),
  'stranger.example.com': () => ({ addresses: [stranger] }),
  'empty.example.com': () => ({}),
  'broken.example.com': () => ({ code: 2 }),
  'closed.example.com': () => ({ addresses: ['93.184.216.99'] }),
}

const trapped: string[] = []
const arrived: string[] = []
const behave: Record<string, Behaviour> = {
  '/mcp': well,
  '/sse': sse({ open: (stream) => stream.write('event: endpoint\ndata: https://127.0.0.1/m\n\n') }),
  '/good-sse': sse(),
  '/messages': sse(),
  '/redirect': ({ res }) => res.writeHead(307, { location: 'https://127.0.0.1/mcp' }).end(),
}
const listen = (address: string, certificate: string, seen: string[]) =>
  new Promise<void>((resolve) => {
    const streams = sse()
    const https = createServer(
      { key: pem(`${certificate}.key`), cert: pem(`${certificate}.pem`) },
      (req, res) => {
        const chunks: Buffer[] = []
        req.on('data', (chunk) => chunks.push(chunk))
        req.on('end', () => {
          const message = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
          const path = new URL(req.url ?? '/', 'https://x').pathname
          seen.push(`${req.headers.host} ${req.method} ${message.method ?? ''}`.trim())
          const handle =
            path === '/good-sse' || path === '/messages' ? streams : (behave[path] ?? well)
          handle({
            req,
            res,
            method: req.method ?? '',
            rpc: message.method ?? null,
            id: message.id,
            params: message.params,
            n: 0,
          })
        })
      },
    )
    https.on('connection', (socket) => {
      if (seen === trapped) trapped.push('a connection')
      socket.on('error', () => {})
    })
    https.on('tlsClientError', () => {})
    https.listen(443, address, resolve)
  })

await listen(server, 'good', arrived)
await listen(stranger, 'alone', [])
await listen('127.0.0.1', 'good', trapped)
const names = await nameServer(
  dns,
  53,
  (name, kind, asked) => zone[name]?.(kind, asked) ?? { code: 3 },
)

const results: Record<string, unknown> = {}
const tests: [string, string, 'streamable-http' | 'sse'][] = [
  ['public', 'https://mcp.example.com/mcp', 'streamable-http'],
  ['with the dot of a full name', 'https://mcp.example.com./mcp', 'streamable-http'],
  ['sse', 'https://mcp.example.com/good-sse', 'sse'],
  ['rebind, first', 'https://rebind.example.com/mcp', 'streamable-http'],
  ['rebind, second', 'https://rebind.example.com/mcp', 'streamable-http'],
  ['mixed', 'https://mixed.example.com/mcp', 'streamable-http'],
  ['private', 'https://private.example.com/mcp', 'streamable-http'],
  ['mapped', 'https://mapped.example.com/mcp', 'streamable-http'],
  ['nat64', 'https://nat64.example.com/mcp', 'streamable-http'],
  ['metadata', 'https://metadata.example.com/mcp', 'streamable-http'],
  ['alias', 'https://alias.example.com/mcp', 'streamable-http'],
  ['hosts file', 'https://hosts.example.com/mcp', 'streamable-http'],
  ['stranger', 'https://stranger.example.com/mcp', 'streamable-http'],
  ['missing', 'https://missing.example.com/mcp', 'streamable-http'],
  ['empty', 'https://empty.example.com/mcp', 'streamable-http'],
  ['broken', 'https://broken.example.com/mcp', 'streamable-http'],
  ['closed', 'https://closed.example.com/mcp', 'streamable-http'],
  ['redirect', 'https://mcp.example.com/redirect', 'streamable-http'],
  ['endpoint', 'https://mcp.example.com/sse', 'sse'],
  ['literal', 'https://127.0.0.1/mcp', 'streamable-http'],
]
for (const [id, url, transport] of tests) {
  const { outcome, detail, reason, sent, durationMs, set } = await connect(url, { transport })
  results[id] = { outcome, detail, reason, sent, durationMs, set: set?.id }
}
process.stdout.write(JSON.stringify({ results, trapped, arrived, questions: names.questions }))
process.exit(0)
