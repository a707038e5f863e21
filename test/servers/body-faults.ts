/** Faults in bodies: event streams, time, size and compression. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Fault, never, OPEN, passes, stops } from './fault.ts'
import type { Behaviour } from './stage.ts'
import {
  answer,
  events,
  initializeAs,
  initializeWith,
  json,
  result,
  streamedAs,
  wellBut,
} from './well.ts'

const packed = (coding: string, pack: (text: string) => Buffer): Behaviour =>
  wellBut({
    initialize: (exchange) =>
      json(exchange.res, pack(answer(exchange)), {
        'content-encoding': coding,
        'mcp-session-id': 's',
      }),
  })

export const BODY_FAULTS: Fault[] = [
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
  stops(
    'a header of 40 KB',
    'error',
    'headers_too_large',
    initializeWith(200, { 'x-large': 'x'.repeat(40_960) }),
  ),

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
]
