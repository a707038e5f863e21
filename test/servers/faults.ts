/**
 * One-fault servers over streamable HTTP: each does one thing that real servers do, and says what the set makes of it.
 *
 * Sources are the rows of the project's survey of real servers, and the set's own sentences.
 */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Detail, Outcome } from '../../lib/probe/outcome.ts'
import type { Behaviour } from './stage.ts'
import {
  answer,
  events,
  INITIALIZED,
  initializeAs,
  initializeWith,
  json,
  result,
  rpcError,
  streamedAs,
  TOOLS,
  well,
  wellBut,
} from './well.ts'

export type Fault = {
  id: string
  behave: Behaviour
  outcome: Outcome
  detail?: Detail
  /** Why the tool list did not pass; null when it did. Default null for `answered`. */
  toolList?: Detail | null
  /** Requests that must have left, and no others. */
  sent: string[]
  tools?: { named: number; more?: boolean; pages?: number }
  /** Ends by the deadline: run with a short one. */
  slow?: boolean
}

const [INIT, READY, LIST, DELETE] = ['POST initialize', 'POST notifications/initialized', 'POST tools/list', 'DELETE']
const ALL = [INIT, READY, LIST, DELETE] as string[]
/** Without a session there is nothing to close. */
const OPEN = [INIT, READY, LIST] as string[]
const FIRST = [INIT] as string[]

const passes = (id: string, behave: Behaviour, more: Partial<Fault> = {}): Fault => ({
  id,
  behave,
  outcome: 'answered',
  detail: 'handshake_complete',
  toolList: null,
  sent: ALL,
  ...more,
})
const stops = (id: string, outcome: Outcome, detail: Detail, behave: Behaviour, more: Partial<Fault> = {}): Fault => ({
  id,
  behave,
  outcome,
  detail,
  sent: FIRST,
  ...more,
})
const ready = (status: number, body = ''): Behaviour =>
  wellBut({ 'notifications/initialized': ({ res }) => res.writeHead(status).end(body) })
const closing = (status: number): Behaviour => wellBut({ DELETE: ({ res }) => res.writeHead(status).end() })
const listing = (behave: Behaviour): Behaviour => wellBut({ 'tools/list': behave })
const packed = (coding: string, pack: (text: string) => Buffer): Behaviour =>
  wellBut({
    initialize: (exchange) =>
      json(exchange.res, pack(answer(exchange)), { 'content-encoding': coding, 'mcp-session-id': 's' }),
  })
const never: Behaviour = () => {}

export const FAULTS: Fault[] = [
  passes('a server that does everything right', well),
  passes('DELETE answered 404', closing(404)),
  passes('DELETE answered 405', closing(405)),
  passes('DELETE answered 501', closing(501)),
  passes('DELETE answered 400', closing(400)),
  passes('a session that hangs on DELETE', wellBut({ DELETE: never }), { slow: true }),
  passes('initialized answered 204', ready(204)),
  passes('initialized answered 200, empty', ready(200)),
  passes('initialized answered 200 with a body', ready(200, '{"ok":true}')),
  passes('initialized answered 400', ready(400)),
  passes('initialized answered 401', ready(401)),
  passes('initialized answered 500', ready(500)),
  passes('initialized never answered', wellBut({ 'notifications/initialized': never }), { slow: true }),
  passes('initialized: connection cut', wellBut({ 'notifications/initialized': ({ res }) => res.destroy() })),

  stops('redirect 307 to a slash', 'error', 'redirect', initializeWith(307, { location: '/mcp/' })),
  stops(
    'redirect 302 to a login page',
    'error',
    'redirect',
    initializeWith(302, { location: 'https://login.example.test/' }),
  ),
  stops('redirect to loopback', 'error', 'redirect', initializeWith(308, { location: 'https://127.0.0.1/' })),
  stops(
    'redirect with WWW-Authenticate',
    'needs_credentials',
    'www_authenticate',
    initializeWith(302, { location: '/', 'www-authenticate': 'Bearer' }),
  ),
  stops(
    '401 with plain text',
    'needs_credentials',
    'http_401',
    initializeWith(401, { 'content-type': 'text/plain' }, 'no'),
  ),
  stops(
    '401 with Negotiate',
    'needs_credentials',
    'http_401',
    initializeWith(401, { 'www-authenticate': 'Negotiate' }),
  ),
  stops(
    '401 with an error that has the id inside',
    'needs_credentials',
    'http_401',
    initializeAs(() => '{"jsonrpc":"2.0","error":{"id":1,"code":-32001,"message":"Unauthorized"}}', {}, 401),
  ),
  stops(
    '401 whose body never ends',
    'needs_credentials',
    'http_401',
    wellBut({ initialize: ({ res }) => res.writeHead(401, { 'content-type': 'application/json' }).write('{') }),
    { slow: true },
  ),
  stops(
    '403 HTML block page',
    'needs_credentials',
    'http_403',
    initializeWith(403, { 'content-type': 'text/html' }, '<h1>Forbidden</h1>'),
  ),
  stops(
    '403 bot challenge',
    'needs_credentials',
    'http_403_challenge',
    initializeWith(403, { 'cf-mitigated': 'challenge' }),
  ),
  stops(
    'WWW-Authenticate on a 400',
    'needs_credentials',
    'www_authenticate',
    initializeWith(400, { 'www-authenticate': 'Bearer' }),
  ),
  stops(
    'WWW-Authenticate on a 200 without a result',
    'needs_credentials',
    'www_authenticate',
    initializeWith(200, { 'www-authenticate': 'Bearer', 'content-type': 'application/json' }, '{}'),
  ),
  stops(
    'handshake error about an API key',
    'needs_credentials',
    'auth_error',
    initializeAs((id) => rpcError(id, -32000, 'Missing API key')),
  ),
  stops(
    'handshake error about authentication, HTTP 400',
    'needs_credentials',
    'auth_error',
    initializeAs((id) => rpcError(id, -32001, 'Unauthorized'), {}, 400),
  ),
  stops(
    '-32001 that is about a session',
    'error',
    'rpc_error',
    initializeAs((id) => rpcError(id, -32001, 'Session not found')),
  ),
  passes(
    '401 with a result all the same',
    initializeAs((id) => result(id, INITIALIZED), {}, 401),
    { sent: OPEN },
  ),

  stops('200 HTML', 'error', 'content_type', initializeWith(200, { 'content-type': 'text/html' }, '<html></html>')),
  stops('200 plain text', 'error', 'content_type', initializeWith(200, { 'content-type': 'text/plain' }, 'OK')),
  stops(
    'no content type',
    'error',
    'content_type',
    wellBut({ initialize: (x) => x.res.writeHead(200).end(answer(x)) }),
  ),
  stops(
    'event frames labelled JSON',
    'error',
    'not_json',
    initializeAs((id) => `data: ${result(id, INITIALIZED)}\n\n`),
  ),
  stops('202 without a body', 'error', 'not_an_answer', initializeWith(202, {})),
  stops('204', 'error', 'not_an_answer', initializeWith(204, {})),
  stops('404', 'error', 'http_status', initializeWith(404, { 'content-type': 'text/html' }, 'Cannot POST /mcp')),
  stops(
    '406 although accept is right',
    'error',
    'http_status',
    initializeAs((id) => rpcError(id, -32000, 'Not Acceptable'), {}, 406),
  ),
  stops('421 invalid host', 'error', 'http_status', initializeWith(421, {}, 'Invalid Host header')),
  stops('500', 'error', 'http_status', initializeWith(500, {})),
  stops(
    'version refused, -32602',
    'error',
    'rpc_error',
    initializeAs((id) => rpcError(id, -32602, 'Unsupported protocol version')),
  ),
  stops(
    'version refused, HTTP 400',
    'error',
    'http_status',
    initializeAs(() => rpcError(null, -32022, 'Unsupported'), {}, 400),
  ),
  stops(
    '2026-07-28 only, -32601',
    'error',
    'http_status',
    initializeAs((id) => rpcError(id, -32601, 'Method not found'), {}, 404),
  ),
  stops(
    'error with id null',
    'error',
    'rpc_error',
    initializeAs(() => rpcError(null, -32603, 'Internal error')),
  ),
  stops(
    'error with an id of its own',
    'error',
    'not_an_answer',
    initializeAs(() => rpcError('server-error', -32603, 'Internal error')),
  ),
  stops(
    'both result and error',
    'error',
    'rpc_error',
    initializeAs((id) => JSON.stringify({ jsonrpc: '2.0', id, result: {}, error: { code: 1, message: 'x' } })),
  ),
  stops(
    'another id',
    'error',
    'not_an_answer',
    initializeAs(() => result(99, INITIALIZED)),
  ),
  stops(
    'no jsonrpc member',
    'error',
    'not_an_answer',
    initializeAs((id) => JSON.stringify({ id, result: INITIALIZED })),
  ),
  stops(
    'JSON that is no object',
    'error',
    'not_an_answer',
    initializeAs(() => '"ok"'),
  ),
  stops(
    'deep JSON',
    'error',
    'not_an_answer',
    initializeAs(() => `${'['.repeat(200_000)}${']'.repeat(200_000)}`),
  ),
  stops(
    'half a JSON',
    'error',
    'not_json',
    initializeAs((id) => result(id, INITIALIZED).slice(0, -1)),
  ),

  passes(
    'id comes back as text',
    initializeAs((id) => result(String(id), INITIALIZED), { 'mcp-session-id': 's' }),
  ),
  passes(
    'a version of its own',
    initializeAs((id) => result(id, { ...INITIALIZED, protocolVersion: '2024-11-05' })),
    { sent: OPEN },
  ),
  passes(
    'a version that is none',
    initializeAs((id) => result(id, { protocolVersion: 'latest\r\n' })),
    { sent: OPEN },
  ),
  passes(
    'a result without anything',
    initializeAs((id) => result(id, {})),
    { sent: OPEN },
  ),
  passes(
    'a result that is null',
    initializeAs((id) => result(id, null)),
    { sent: OPEN },
  ),
  passes(
    'error null beside the result',
    initializeAs((id) => JSON.stringify({ jsonrpc: '2.0', id, result: {}, error: null })),
    { sent: OPEN },
  ),
  passes(
    'a batch',
    initializeAs((id) => `[{"jsonrpc":"2.0","method":"notifications/message"},${result(id, INITIALIZED)}]`),
    { sent: OPEN },
  ),
  passes(
    'a byte order mark',
    initializeAs((id) => `\ufeff${result(id, INITIALIZED)}`),
    { sent: OPEN },
  ),
  passes(
    'content type in capitals with a charset',
    initializeAs((id) => result(id, INITIALIZED), { 'content-type': 'Application/JSON; charset=utf-8' }),
    { sent: OPEN },
  ),
  passes(
    'bad UTF-8 in a text',
    initializeAs((id) => Buffer.from(result(id, { serverInfo: { name: 'caf\u00e9' } }), 'latin1')),
    { sent: OPEN },
  ),
  passes(
    'a session id with a space is not echoed',
    initializeAs((id) => result(id, INITIALIZED), { 'mcp-session-id': 'a b' }),
    { sent: OPEN },
  ),
  passes(
    'a session id of 2,000 characters is not echoed',
    initializeAs((id) => result(id, INITIALIZED), { 'mcp-session-id': 'x'.repeat(2000) }),
    { sent: OPEN },
  ),
  passes(
    'early hints',
    wellBut({
      initialize: (x) => {
        x.res.writeEarlyHints({ link: '<https://127.0.0.1/>; rel=preload' })
        well(x)
      },
    }),
  ),
  passes('connection closed after every answer', (x) => {
    x.res.setHeader('connection', 'close')
    well(x)
  }),

  passes(
    'events',
    streamedAs((text) => [`event: message\ndata: ${text}\n\n`]),
    { sent: OPEN },
  ),
  passes(
    'events with CRLF',
    streamedAs((text) => [`event: message\r\ndata: ${text}\r\n\r\n`]),
    { sent: OPEN },
  ),
  passes(
    'events with bare CR',
    streamedAs((text) => [`data: ${text}\r\r`]),
    { sent: OPEN },
  ),
  passes(
    'a priming event first',
    streamedAs((text) => ['id: 1\ndata:\n\n', `data: ${text}\n\n`]),
    { sent: OPEN },
  ),
  passes(
    'comments and pings first',
    streamedAs((text) => [': hi\n\n', 'event: ping\ndata: now\n\n', `data: ${text}\n\n`]),
    { sent: OPEN },
  ),
  passes(
    'heartbeats that are no JSON-RPC',
    streamedAs((text) => ['data: {"type":"heartbeat"}\n\n', `data: ${text}\n\n`]),
    { sent: OPEN },
  ),
  passes(
    'data over several lines',
    streamedAs((text) => [`data: ${text.replace(',', ',\ndata: ')}\n\n`]),
    { sent: OPEN },
  ),
  passes(
    'a ping, a sampling request and roots/list are not answered',
    streamedAs((text) =>
      ['ping', 'sampling/createMessage', 'roots/list']
        .map((method, i) => `data: {"jsonrpc":"2.0","id":${i + 1},"method":"${method}"}\n\n`)
        .concat(`data: ${text}\n\n`),
    ),
    { sent: OPEN },
  ),
  passes(
    'a stream that stays open behind the answer',
    streamedAs((text) => [`data: ${text}\n\n`], false),
    { sent: OPEN },
  ),
  stops(
    'a stream that ends after priming',
    'error',
    'not_an_answer',
    streamedAs(() => ['id: 1\nretry: 10\ndata:\n\n']),
  ),
  stops(
    'a stream cut off before its last blank line',
    'error',
    'not_an_answer',
    streamedAs((text) => [`data: ${text}\n`]),
  ),
  stops(
    'a stream of pings that never ends',
    'no_answer',
    'timed_out',
    wellBut({
      initialize: ({ res }) => {
        events(res, [': ping\n\n'], false)
        const timer = setInterval(() => res.write(': ping\n\n'), 20)
        res.on('close', () => clearInterval(timer))
      },
    }),
    { slow: true },
  ),
  stops(
    'a slow drip',
    'no_answer',
    'timed_out',
    wellBut({
      initialize: (x) => {
        const text = answer(x)
        x.res.writeHead(200, { 'content-type': 'application/json' })
        let at = 0
        const timer = setInterval(() => x.res.write(text[at++ % 5] ?? ' '), 20)
        x.res.on('close', () => clearInterval(timer))
      },
    }),
    { slow: true },
  ),
  stops('silence', 'no_answer', 'timed_out', wellBut({ initialize: never }), { slow: true }),
  stops(
    'a connection cut in the body',
    'no_answer',
    'connection_dropped',
    wellBut({
      initialize: ({ res }) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
        res.write('{', () => res.destroy())
      },
    }),
  ),
  stops(
    'a connection cut before an answer',
    'no_answer',
    'connection_dropped',
    wellBut({ initialize: ({ res }) => res.destroy() }),
  ),
  stops('a header of 40 KB', 'error', 'headers_too_large', initializeWith(200, { 'x-large': 'x'.repeat(40_960) })),

  passes('gzip', packed('gzip', gzipSync)),
  passes('brotli', packed('br', brotliCompressSync)),
  passes('deflate', packed('deflate', deflateSync)),
  passes('zstd', packed('zstd', zstdCompressSync)),
  stops(
    'an unknown coding',
    'error',
    'content_encoding',
    initializeAs((id) => result(id, {}), { 'content-encoding': 'rot13' }),
  ),
  stops(
    'two codings',
    'error',
    'content_encoding',
    initializeAs((id) => result(id, {}), { 'content-encoding': 'gzip, gzip' }),
  ),
  stops(
    'gzip in name only',
    'error',
    'content_encoding',
    initializeAs((id) => result(id, {}), { 'content-encoding': 'gzip' }),
  ),
  stops(
    'a gzip bomb',
    'error',
    'answer_too_large',
    initializeAs(() => gzipSync(Buffer.alloc(30_000_000, ' ')), { 'content-encoding': 'gzip' }),
  ),
  stops(
    'an endless body',
    'error',
    'answer_too_large',
    wellBut({
      initialize: ({ res }) => {
        res.writeHead(200, { 'content-type': 'application/json' })
        const pour = () => {
          while (!res.destroyed && res.write(' '.repeat(65_536)));
        }
        res.on('drain', pour)
        pour()
      },
    }),
  ),
  stops(
    '1,000,001 bytes',
    'error',
    'answer_too_large',
    initializeAs((id) => result(id, {}).padEnd(1_000_001)),
  ),
  passes(
    'exactly 1,000,000 bytes',
    initializeAs((id) => result(id, {}).padEnd(1_000_000)),
    { sent: OPEN },
  ),

  passes(
    'tools/list answered 401',
    listing(({ res }) => res.writeHead(401).end()),
    { toolList: 'http_401' },
  ),
  passes(
    'tools/list answered with an error',
    listing(({ res, id }) => json(res, rpcError(id, -32601, 'Method not found'))),
    { toolList: 'rpc_error' },
  ),
  passes('tools/list never answered', listing(never), { toolList: 'timed_out', slow: true, sent: OPEN }),
  passes(
    'tools/list over the byte limit',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS }).padEnd(1_000_001))),
    { toolList: 'answer_too_large' },
  ),
  passes(
    'tools/list redirected',
    listing(({ res }) => res.writeHead(307, { location: '/' }).end()),
    { toolList: 'redirect' },
  ),
  passes(
    'an empty list',
    listing(({ res, id }) => json(res, result(id, { tools: [] }))),
    { tools: { named: 0 } },
  ),
  passes(
    'a result without a list',
    listing(({ res, id }) => json(res, result(id, {}))),
    { tools: { named: 0 } },
  ),
  passes(
    'nextCursor null',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS, nextCursor: null }))),
    { tools: { named: 2 } },
  ),
  passes(
    'nextCursor a number',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS, nextCursor: 7 }))),
    { tools: { named: 2 } },
  ),
  passes(
    'null among the tools, no schema',
    listing(({ res, id }) => json(res, result(id, { tools: [null, { name: 'a' }, { name: 5 }, 'x'] }))),
    { tools: { named: 1 } },
  ),
  passes(
    'an output schema that is none',
    listing(({ res, id }) => json(res, result(id, { tools: [{ name: 'a', outputSchema: { type: 'nothing' } }] }))),
    { tools: { named: 1 } },
  ),
  passes(
    'the same tool twice',
    listing(({ res, id }) => json(res, result(id, { tools: [...TOOLS, ...TOOLS] }))),
    { tools: { named: 2 } },
  ),
  passes(
    'a cursor that never ends',
    listing(({ res, id }) => json(res, result(id, { tools: TOOLS, nextCursor: 'again' }))),
    { tools: { named: 2, more: true, pages: 3 }, sent: [INIT, READY, LIST, LIST, LIST, DELETE] as string[] },
  ),
  passes(
    'an empty cursor is a cursor',
    listing(({ res, id, params }) =>
      json(res, result(id, { tools: [{ name: `t${id}` }], ...(params?.['cursor'] === '' ? {} : { nextCursor: '' }) })),
    ),
    { tools: { named: 2, pages: 2 }, sent: [INIT, READY, LIST, LIST, DELETE] as string[] },
  ),
  passes(
    'a second page that fails',
    listing(({ res, id, params }) =>
      json(res, params ? rpcError(id, -32602, 'bad cursor') : result(id, { tools: TOOLS, nextCursor: 'x' })),
    ),
    { toolList: 'rpc_error', sent: [INIT, READY, LIST, LIST, DELETE] as string[] },
  ),
  passes(
    'half a character at a chunk edge',
    listing((x) => {
      const bytes = Buffer.from(result(x.id, { tools: [{ name: 'caf\u00e9' }] }))
      const cut = bytes.indexOf(0xc3) + 1
      x.res.writeHead(200, { 'content-type': 'application/json' })
      x.res.write(bytes.subarray(0, cut), () => setImmediate(() => x.res.end(bytes.subarray(cut))))
    }),
    { tools: { named: 1 } },
  ),
]
