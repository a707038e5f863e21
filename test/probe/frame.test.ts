import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { isAboutAuthentication } from '../../lib/probe/judge/authentication.ts'
import { Shortfall, shortfallOf } from '../../lib/probe/judge/outcome.ts'
import {
  answerIn,
  eventReader,
  jsonOf,
  messageText,
  type StreamEvent,
} from '../../lib/probe/read/frame.ts'
import { readBody } from '../../lib/probe/wire/body.ts'
import fc from '../property.ts'

const RESULT = '{"jsonrpc":"2.0","id":1,"result":{"name":"caf\u00e9 \u{1f600}"}}'

/** Event streams and the events in them, by the WHATWG rules. */
const STREAMS: [string, string, StreamEvent[]][] = [
  ['one event', `data: ${RESULT}\n\n`, [{ event: 'message', data: RESULT }]],
  ['CRLF', `event: message\r\ndata: ${RESULT}\r\n\r\n`, [{ event: 'message', data: RESULT }]],
  [
    'bare CR',
    `data: a\r\rdata: b\r\r`,
    [
      { event: 'message', data: 'a' },
      { event: 'message', data: 'b' },
    ],
  ],
  [
    'mixed line ends',
    'data: a\r\n\ndata: b\n\r\n',
    [
      { event: 'message', data: 'a' },
      { event: 'message', data: 'b' },
    ],
  ],
  ['a byte order mark', `\ufeffdata: a\n\n`, [{ event: 'message', data: 'a' }]],
  ['several lines', 'data: a\ndata: b\ndata\n\n', [{ event: 'message', data: 'a\nb\n' }]],
  [
    'one blank behind the colon goes',
    'data:  a\n\ndata:b\n\n',
    [
      { event: 'message', data: ' a' },
      { event: 'message', data: 'b' },
    ],
  ],
  [
    'comments, ids, retries, unknown fields',
    ': c\nid: 7\nretry: 5\nx: y\nevent: endpoint\ndata: /m?s=\u00e9\n\n',
    [{ event: 'endpoint', data: '/m?s=\u00e9' }],
  ],
  ['an event without data is none', 'event: ping\n\n', []],
  ['a priming event', 'id: 1\ndata:\n\n', [{ event: 'message', data: '' }]],
  ['an unfinished event is dropped', 'data: a\n\ndata: b\n', [{ event: 'message', data: 'a' }]],
]

function read(chunks: Iterable<Uint8Array>): StreamEvent[] {
  const found: StreamEvent[] = []
  const reader = eventReader((event) => found.push(event))
  for (const chunk of chunks) reader.feed(chunk)
  return found
}

describe('framing does not depend on where chunks are cut', () => {
  for (const [id, text, events] of STREAMS) {
    it(`event stream, ${id}: the same events at every split point`, () => {
      const bytes = new TextEncoder().encode(text)
      for (let at = 0; at <= bytes.length; at++)
        assert.deepEqual(read([bytes.subarray(0, at), bytes.subarray(at)]), events, `cut at ${at}`)
      assert.deepEqual(read([...bytes].map((byte) => Uint8Array.of(byte))), events, 'byte by byte')
    })
  }

  for (const [id, body, encoding] of [
    ['plain', Buffer.from(RESULT), undefined],
    ['gzip', gzipSync(RESULT), 'gzip'],
  ] as const) {
    it(`JSON body, ${id}: the same bytes at every split point`, async () => {
      for (let at = 0; at <= body.length; at++) {
        const chunks: Uint8Array[] = []
        const source = Readable.from(
          [body.subarray(0, at), body.subarray(at)].filter((part) => part.length > 0),
        )
        const how = await readBody(
          source,
          encoding,
          { maxBytes: 1_000, count: () => {} },
          (chunk) => {
            chunks.push(chunk)
            return false
          },
        )
        assert.equal(how, 'ended')
        assert.equal(Buffer.concat(chunks).toString(), RESULT)
      }
    })
  }

  it('the byte limit holds to the byte, however the body is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: -1, max: 1 }),
        async (sizes, over) => {
          const total = sizes.reduce((sum, size) => sum + size, 0)
          const maxBytes = total - over
          let seen = 0
          const reading = readBody(
            Readable.from(sizes.map((size) => Buffer.alloc(size, 'x'))),
            undefined,
            { maxBytes, count: () => {} },
            (chunk) => {
              seen += chunk.length
              return false
            },
          )
          if (over <= 0) assert.equal(await reading, 'ended')
          else
            await assert.rejects(
              reading,
              (error) => error instanceof Shortfall && error.detail === 'answer_too_large',
            )
          assert.ok(seen <= maxBytes)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('only a JSON-RPC 2.0 message with our id is an answer', () => {
  const value = (text: string) => answerIn(jsonOf(text), 1, true)
  it('any result is one, null included', () => {
    for (const result of ['{}', 'null', '0', '"x"', '[]']) {
      assert.deepEqual(value(`{"jsonrpc":"2.0","id":1,"result":${result}}`), {
        result: JSON.parse(result),
        error: null,
      })
    }
  })
  it('the id may come back as text, but it must be ours', () => {
    assert.ok(value('{"jsonrpc":"2.0","id":"1","result":{}}'))
    for (const id of ['2', '"2"', 'null', 'true', '[1]', '1.5', '{"a":1}'])
      assert.equal(value(`{"jsonrpc":"2.0","id":${id},"result":{}}`), null, id)
    assert.equal(value('{"jsonrpc":"2.0","result":{}}'), null)
  })
  it('an error without an id is ours only when it is the whole body', () => {
    const error = jsonOf('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}')
    assert.equal(answerIn(error, 1, true)?.error?.code, -32700)
    assert.equal(answerIn(error, 1, false), null)
  })
  it('a request with our id is not an answer, nor is a message of another version', () => {
    assert.equal(value('{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'), null)
    assert.equal(value('{"jsonrpc":"1.0","id":1,"result":{}}'), null)
    assert.equal(value('{"jsonrpc":"2.0","id":1}'), null)
  })
  it('any JSON value whatever is an answer or none, never a throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (json, alone) => void answerIn(json, 1, alone)),
    )
    fc.assert(fc.property(fc.string(), (text) => void answerIn(jsonOf(text), 1, true)))
  })
})

it('the messages are the three of the set, with no member too many', () => {
  assert.equal(
    messageText('notifications/initialized'),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  )
  assert.equal(messageText('tools/list', 2), '{"jsonrpc":"2.0","id":2,"method":"tools/list"}')
  assert.equal(
    messageText('tools/list', 3, { cursor: '' }),
    '{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":""}}',
  )
})

describe('errors become outcomes', () => {
  const table: [string, string][] = [
    ...[
      'ENOTFOUND',
      'ENODATA',
      'EAI_AGAIN',
      'ESERVFAIL',
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'UND_ERR_CONNECT_TIMEOUT',
      'UND_ERR_SOCKET',
      'UND_ERR_HEADERS_TIMEOUT',
      'UND_ERR_BODY_TIMEOUT',
    ].map((code): [string, string] => [code, 'no_answer']),
    ...[
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'CERT_HAS_EXPIRED',
      'CERT_NOT_YET_VALID',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'EPROTO',
      'UND_ERR_HEADERS_OVERFLOW',
      'UND_ERR_RES_EXCEEDED_MAX_SIZE',
      'ERR_HTTP2_ERROR',
      'HPE_INVALID_CONSTANT',
      'SOMETHING_ELSE',
    ].map((code): [string, string] => [code, 'error']),
  ]
  for (const [code, outcome] of table) {
    it(`${code}: ${outcome}`, () =>
      assert.equal(shortfallOf(Object.assign(new Error(), { code })).outcome, outcome))
  }
  it('of several addresses tried, the one that says most speaks', () => {
    const errors = ['ENETUNREACH', 'ECONNREFUSED'].map((code) =>
      Object.assign(new Error(), { code }),
    )
    assert.equal(shortfallOf(new AggregateError(errors)).detail, 'connection_refused')
    assert.equal(shortfallOf(new AggregateError(errors.slice(0, 1))).detail, 'unreachable')
  })
  it('what is thrown that is no error at all is an error', () => {
    for (const thrown of [undefined, null, 'x', 5, {}, new AggregateError([])])
      assert.equal(shortfallOf(thrown).outcome, 'error')
  })
})

describe('an error is about authentication by its words', () => {
  for (const text of [
    'Unauthorized',
    'not authorised',
    'Authentication required',
    'Missing API key',
    'invalid access token',
    'Bearer token missing',
    'please log in',
    'HTTP 403',
    'Permission denied',
    'no credentials',
  ]) {
    it(`yes: ${text}`, () => assert.ok(isAboutAuthentication(text)))
  }
  for (const text of [
    'Session not found',
    'Request timed out',
    'Method not found',
    'Unsupported protocol version',
    'error 4011',
    'token limit exceeded',
    'catalogue in use',
  ]) {
    it(`no: ${text}`, () => assert.ok(!isAboutAuthentication(text)))
  }
})
