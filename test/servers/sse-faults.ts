/** One-fault servers over server-sent events: a GET opens the stream, POSTs go where its endpoint event says. */
import type { ServerResponse } from 'node:http'
import type { Detail, Outcome } from '../../lib/probe/judge/outcome.ts'
import { type Behaviour, HOST } from './stage.ts'
import { answer, TOOLS } from './well.ts'

export type SseFault = {
  id: string
  behave: Behaviour
  outcome: Outcome
  detail: Detail
  reason?: string
  toolList?: Detail | null
  sent: string[]
  named?: number
  slow?: boolean
}

type Parts = {
  /** What the stream says first. Default: a relative endpoint. */
  open?: (stream: ServerResponse, port: number) => void
  /** How a POST is answered. Default 202. */
  post?: (res: ServerResponse, rpc: string | null) => void
  /** What the stream says to a request. Default: the answer. */
  reply?: (stream: ServerResponse, text: string, rpc: string | null) => void
  /** What the GET is answered with instead of a stream. */
  refuse?: (res: ServerResponse) => void
}

const endpoint = (data: string) => `event: endpoint\ndata: ${data}\n\n`

/** A server of this transport, right in everything but these parts. */
export function sse({ open, post, reply, refuse }: Parts = {}): Behaviour {
  let stream: ServerResponse | null = null
  return (exchange) => {
    const { res, method, rpc, id, req } = exchange
    if (method === 'GET') {
      if (refuse) return refuse(res)
      stream = res
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      if (open) return open(res, req.socket.localPort ?? 0)
      return res.write(endpoint('/messages?s=1'))
    }
    if (post) post(res, rpc)
    else res.writeHead(202).end('Accepted')
    if (id === undefined || !stream) return
    if (reply) reply(stream, answer(exchange), rpc)
    else stream.write(`event: message\ndata: ${answer(exchange)}\n\n`)
  }
}

const ALL = ['GET', 'POST initialize', 'POST notifications/initialized', 'POST tools/list']
const ASKED = ['GET', 'POST initialize']
const says = (...pieces: string[]) =>
  sse({ open: (stream) => pieces.forEach((piece) => void stream.write(piece)) })

const passes = (id: string, behave: Behaviour, more: Partial<SseFault> = {}): SseFault => ({
  id,
  behave,
  outcome: 'answered',
  detail: 'handshake_complete',
  toolList: null,
  sent: ALL,
  named: TOOLS.length,
  ...more,
})
const stops = (
  id: string,
  outcome: Outcome,
  detail: Detail,
  behave: Behaviour,
  more: Partial<SseFault> = {},
): SseFault => ({
  id,
  behave,
  outcome,
  detail,
  sent: ['GET'],
  ...more,
})
const elsewhere = (id: string, reason: string, data: string): SseFault =>
  stops(id, 'refused', 'endpoint_refused', says(endpoint(data)), { reason })

export const SSE_FAULTS: SseFault[] = [
  passes('a server that does everything right', sse()),
  passes(
    'an absolute endpoint',
    sse({ open: (s, port) => s.write(endpoint(`https://${HOST}:${port}/m`)) }),
  ),
  passes(
    'an endpoint with the dot of a full name',
    sse({ open: (s, port) => s.write(endpoint(`https://${HOST}.:${port}/m`)) }),
  ),
  passes('an endpoint that is only a query', says(endpoint('?session=1'))),
  passes('an endpoint in blanks', says(endpoint('   /messages   '))),
  passes(
    'comments and pings before the endpoint',
    says(': hi\n\n', 'event: ping\ndata: x\n\n', endpoint('/m')),
  ),
  passes(
    'a second endpoint, on another host, is not followed',
    sse({ open: (s) => s.write(endpoint('/m') + endpoint('https://evil.example.org/')) }),
  ),
  passes(
    'POST answered 200 with a body',
    sse({ post: (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}') }),
  ),
  passes(
    'POST cut while its answer is on the stream',
    sse({ post: (res, rpc) => (rpc ? res.destroy() : res.end()) }),
  ),
  passes('POST never answered while its answer is on the stream', sse({ post: () => {} }), {
    slow: true,
  }),
  passes(
    'an answer in two writes',
    sse({
      reply: (s, text) => {
        s.write(`data: ${text.slice(0, 20)}`, () =>
          setImmediate(() => s.write(`${text.slice(20)}\n\n`)),
        )
      },
    }),
  ),
  passes('CRLF', sse({ reply: (s, text) => s.write(`event: message\r\ndata: ${text}\r\n\r\n`) })),
  passes(
    'notifications and a ping before the answer',
    sse({
      reply: (s, text) =>
        s.write(
          `data: {"jsonrpc":"2.0","method":"notifications/message"}\n\ndata: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\ndata: ${text}\n\n`,
        ),
    }),
  ),
  passes(
    'the stream ends before the tool list',
    sse({
      reply: (s, text, rpc) => (rpc === 'initialize' ? s.write(`data: ${text}\n\n`) : s.end()),
    }),
    { toolList: 'not_an_answer', named: undefined },
  ),
  passes(
    'the tool list is more than is read',
    sse({
      reply: (s, text, rpc) =>
        s.write(rpc === 'initialize' ? `data: ${text}\n\n` : `: ${'x'.repeat(1_000_001)}\n\n`),
    }),
    { toolList: 'answer_too_large', named: undefined },
  ),

  elsewhere('an endpoint on another host', 'other_host', 'https://evil.example.org/m'),
  elsewhere(
    'an endpoint on a host that begins like this one',
    'other_host',
    `https://${HOST}.evil.example.org/m`,
  ),
  elsewhere('an endpoint without a scheme', 'other_host', '//evil.example.org/m'),
  elsewhere('an endpoint with backslashes', 'other_host', '\\\\evil.example.org\\m'),
  elsewhere('an endpoint at a private address', 'ip_literal', 'https://10.0.0.1/m'),
  elsewhere('an endpoint at loopback over http', 'scheme', 'http://127.0.0.1:3000/m'),
  elsewhere('an endpoint over http on the same host', 'scheme', `http://${HOST}/m`),
  elsewhere('an endpoint with a user name', 'user_info', `https://user@${HOST}/m`),
  elsewhere('an endpoint that is a script', 'scheme', 'javascript:alert(1)'),
  stops('an endpoint that is no URL', 'error', 'no_endpoint', says(endpoint('https://[')), {
    reason: 'unparsable',
  }),
  stops('an empty endpoint', 'error', 'no_endpoint', says('event: endpoint\ndata:\n\n'), {
    reason: 'unparsable',
  }),

  stops(
    'a stream that ends before an endpoint',
    'error',
    'no_endpoint',
    sse({ open: (s) => s.end(': bye\n\n') }),
  ),
  stops(
    'a stream that is cut before an endpoint',
    'no_answer',
    'connection_dropped',
    sse({ open: (s) => s.write(': hi\n\n', () => s.destroy()) }),
  ),
  stops(
    'pings and never an endpoint',
    'no_answer',
    'timed_out',
    sse({
      open: (s) => {
        const timer = setInterval(() => s.write(': ping\n\n'), 20)
        s.on('close', () => clearInterval(timer))
      },
    }),
    { slow: true },
  ),
  stops(
    'GET answered with HTML',
    'error',
    'content_type',
    sse({ refuse: (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>') }),
  ),
  stops(
    'GET answered 404',
    'error',
    'http_status',
    sse({ refuse: (res) => res.writeHead(404).end() }),
  ),
  stops(
    'GET redirected',
    'error',
    'redirect',
    sse({ refuse: (res) => res.writeHead(301, { location: 'https://127.0.0.1/' }).end() }),
  ),
  stops(
    'GET answered 401',
    'needs_credentials',
    'http_401',
    sse({ refuse: (res) => res.writeHead(401).end() }),
  ),
  stops(
    'an endless stream',
    'error',
    'answer_too_large',
    sse({
      open: (s) => {
        const pour = () => {
          while (!s.destroyed && s.write(`: ${'x'.repeat(65_536)}\n`));
        }
        s.on('drain', pour)
        pour()
      },
    }),
  ),

  stops(
    'POST answered 404',
    'error',
    'http_status',
    sse({ post: (res) => res.writeHead(404).end(), reply: () => {} }),
    { sent: ASKED },
  ),
  stops(
    'POST answered 401',
    'needs_credentials',
    'http_401',
    sse({ post: (res) => res.writeHead(401).end(), reply: () => {} }),
    { sent: ASKED },
  ),
  stops(
    'POST redirected',
    'error',
    'redirect',
    sse({ post: (res) => res.writeHead(307, { location: '/x' }).end(), reply: () => {} }),
    { sent: ASKED },
  ),
  stops(
    'POST cut, and no answer comes',
    'no_answer',
    'connection_dropped',
    sse({ post: (res) => res.destroy(), reply: () => {} }),
    { sent: ASKED, slow: true },
  ),
  stops('POST accepted, and no answer comes', 'no_answer', 'timed_out', sse({ reply: () => {} }), {
    sent: ASKED,
    slow: true,
  }),
  stops(
    'an error about authentication',
    'needs_credentials',
    'auth_error',
    sse({
      reply: (s) =>
        s.write(
          'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Unauthorized"}}\n\n',
        ),
    }),
    { sent: ASKED },
  ),
  stops(
    'an error about the version',
    'error',
    'rpc_error',
    sse({
      reply: (s) =>
        s.write(
          'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad version"}}\n\n',
        ),
    }),
    { sent: ASKED },
  ),
]
