/** Faults in how messages are answered: statuses, headers, content types and JSON-RPC. */
import { DELETE, type Fault, INIT, LIST, never, OPEN, passes, READY, stops } from './fault.ts'
import type { Behaviour } from './stage.ts'
import {
  answer,
  INITIALIZED,
  initializeAs,
  initializeWith,
  result,
  rpcError,
  well,
  wellBut,
} from './well.ts'

const ready = (status: number, body = ''): Behaviour =>
  wellBut({ 'notifications/initialized': ({ res }) => res.writeHead(status).end(body) })
const closing = (status: number): Behaviour =>
  wellBut({ DELETE: ({ res }) => res.writeHead(status).end() })

export const ANSWER_FAULTS: Fault[] = [
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
  passes('initialized never answered', wellBut({ 'notifications/initialized': never }), {
    slow: true,
  }),
  passes(
    'initialized: connection cut',
    wellBut({ 'notifications/initialized': ({ res }) => res.destroy() }),
    { sent: [INIT, READY, READY, LIST, DELETE] },
  ),
  passes('tools/list: connection cut', wellBut({ 'tools/list': ({ res }) => res.destroy() }), {
    toolList: 'connection_dropped',
    sent: [INIT, READY, LIST, LIST, DELETE],
  }),

  stops('redirect 307 to a slash', 'error', 'redirect', initializeWith(307, { location: '/mcp/' })),
  stops(
    'redirect 302 to a login page',
    'error',
    'redirect',
    initializeWith(302, { location: 'https://login.example.test/' }),
  ),
  stops(
    'redirect to loopback',
    'error',
    'redirect',
    initializeWith(308, { location: 'https://127.0.0.1/' }),
  ),
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
    initializeAs(
      () => '{"jsonrpc":"2.0","error":{"id":1,"code":-32001,"message":"Unauthorized"}}',
      {},
      401,
    ),
  ),
  stops(
    '401 whose body never ends',
    'needs_credentials',
    'http_401',
    wellBut({
      initialize: ({ res }) =>
        res.writeHead(401, { 'content-type': 'application/json' }).write('{'),
    }),
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

  stops(
    '200 HTML',
    'error',
    'content_type',
    initializeWith(200, { 'content-type': 'text/html' }, '<html></html>'),
  ),
  stops(
    '200 plain text',
    'error',
    'content_type',
    initializeWith(200, { 'content-type': 'text/plain' }, 'OK'),
  ),
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
  stops(
    '404',
    'error',
    'http_status',
    initializeWith(404, { 'content-type': 'text/html' }, 'Cannot POST /mcp'),
  ),
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
    'version refused with the code of 2026-07-28, HTTP 400',
    'error',
    'modern_only',
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
    initializeAs((id) =>
      JSON.stringify({ jsonrpc: '2.0', id, result: {}, error: { code: 1, message: 'x' } }),
    ),
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

  stops(
    'an error that comes with a session: the session is closed',
    'error',
    'rpc_error',
    initializeAs((id) => rpcError(id, -32603, 'Internal error'), { 'mcp-session-id': 's' }),
    { sent: [INIT, DELETE] as string[] },
  ),
  stops(
    'an HTTP error that comes with a session id opened none',
    'error',
    'http_status',
    initializeAs((id) => rpcError(id, -32603, 'Internal error'), { 'mcp-session-id': 's' }, 500),
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
    initializeAs(
      (id) => `[{"jsonrpc":"2.0","method":"notifications/message"},${result(id, INITIALIZED)}]`,
    ),
    { sent: OPEN },
  ),
  passes(
    'a byte order mark',
    initializeAs((id) => `\ufeff${result(id, INITIALIZED)}`),
    { sent: OPEN },
  ),
  passes(
    'content type in capitals with a charset',
    initializeAs((id) => result(id, INITIALIZED), {
      'content-type': 'Application/JSON; charset=utf-8',
    }),
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
]
