import assert from 'node:assert/strict'
import { createSecureServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { before, describe, it } from 'node:test'
import { runTest } from '../../lib/probe/connect/tasks.ts'
import type { Detail, Outcome } from '../../lib/probe/judge/outcome.ts'
import { connectionSet, DEFAULT_SET } from '../../lib/probe/judge/set.ts'
import fc from '../property.ts'
import { HOST, PUBLIC_ADDRESS, rawStage, seams, stage, trust } from '../servers/stage.ts'
import { result, TOOLS, well } from '../servers/well.ts'

const { limits: LIMITS } = connectionSet(DEFAULT_SET)

const test = (
  url: string,
  transport: 'streamable-http' | 'sse' = 'streamable-http',
  limits = {},
  signal?: AbortSignal,
) => runTest({ url, transport, local: false }, seams(limits), signal)

describe('below HTTP: what sockets and TLS do is one of the five outcomes', {
  concurrency: 4,
}, () => {
  before(async () => {
    trust()
    await import('undici')
  })
  const raw: [string, Outcome, Detail, (socket: Socket) => void, boolean?][] = [
    [
      'bytes that are not HTTP',
      'error',
      'not_http',
      (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
    ],
    [
      'plain HTTP where TLS is expected',
      'error',
      'tls',
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      true,
    ],
    [
      'a connection closed at once',
      'no_answer',
      'connection_dropped',
      (socket) => socket.destroy(),
    ],
    [
      'a connection closed during TLS',
      'no_answer',
      'connection_dropped',
      (socket) => socket.destroy(),
      true,
    ],
    [
      'half a status line',
      'no_answer',
      'connection_dropped',
      (socket) => socket.end('HTTP/1.1 200'),
    ],
    [
      'a header with a line break in it',
      'error',
      'not_http',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nbad header\r\n\r\n'),
    ],
    [
      'two lengths',
      'error',
      'not_http',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    ],
  ]
  for (const [id, outcome, detail, onSocket, plain] of raw) {
    it(`${id}: ${outcome}, ${detail}`, async () => {
      const server = await rawStage(onSocket, { plain: plain ?? false })
      const found = await test(server.url)
      await server.close()
      assert.deepEqual([found.outcome, found.detail], [outcome, detail])
    })
  }

  const certificates: [string, Parameters<ReturnType<typeof trust>['authority']['issue']>][] = [
    ['a certificate that signs itself', [[HOST], { selfSigned: true }]],
    ['a certificate for another name', [['other.example.test']]],
    ['a certificate that has ended', [[HOST], { expired: true }]],
  ]
  for (const [id, issued] of certificates) {
    it(`${id}: error, certificate, and nothing was sent`, async () => {
      const server = await stage(well, { certificate: trust().authority.issue(...issued) })
      const found = await test(server.url)
      await server.close()
      assert.deepEqual([found.outcome, found.detail], ['error', 'certificate'])
      assert.deepEqual(server.arrived, [])
    })
  }

  it('a server that speaks HTTP/2 only: answered', async () => {
    const server = createSecureServer({ ...trust().certificate, allowHTTP1: false }, (req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
      req.on('end', () => {
        const { id, method } = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
        if (id === undefined) res.writeHead(202).end()
        else
          res
            .writeHead(200, { 'content-type': 'application/json' })
            .end(result(id, method === 'initialize' ? {} : { tools: TOOLS }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const found = await test(`https://${HOST}:${(server.address() as AddressInfo).port}/mcp`)
    server.close()
    assert.deepEqual([found.outcome, found.tools?.named, found.sent.length], ['answered', 2, 3])
  })

  it('nobody listens: no_answer, connection_refused', async () => {
    const server = await stage(well)
    await server.close()
    const found = await test(server.url)
    assert.deepEqual([found.outcome, found.detail], ['no_answer', 'connection_refused'])
    assert.deepEqual(
      found.tasks.map(({ detail }) => detail),
      ['connection_refused', 'not_reached'],
    )
  })

  it('a TLS handshake that never ends is ended by the deadline: no_answer, timed_out', async () => {
    const server = await rawStage(() => {}, { plain: true })
    const found = await test(server.url, 'streamable-http', { timeoutMs: 500 })
    await server.close()
    assert.deepEqual([found.outcome, found.detail], ['no_answer', 'timed_out'])
  })

  it('latency begins when initialize leaves, not when the connection is made', async () => {
    const server = await stage(well)
    let namedMs = 0
    const slowName = {
      ...seams(),
      async resolve() {
        const begun = performance.now()
        await new Promise((resolve) => setTimeout(resolve, 100))
        namedMs = performance.now() - begun
        return [PUBLIC_ADDRESS]
      },
    }
    const found = await runTest(
      { url: server.url, transport: 'streamable-http', local: false },
      slowName,
    )
    await server.close()
    assert.equal(found.outcome, 'answered')
    const { latencyMs, latencyNote, durationMs } = found
    assert.ok(latencyMs !== null || latencyNote === 'loop_blocked')
    // Both times are of the same clock, so this holds however slow the machine is.
    assert.ok((latencyMs ?? 0) <= durationMs - namedMs, `${latencyMs} of ${durationMs} ms`)
  })

  it('giving up rejects with the reason of whoever gave up, and ends the connection', async () => {
    const server = await stage(() => {})
    const controller = new AbortController()
    const running = test(server.url, 'streamable-http', {}, controller.signal)
    while (server.arrived.length === 0) await new Promise((resolve) => setImmediate(resolve))
    controller.abort(new Error('enough'))
    await assert.rejects(running, /enough/)
    await server.close()
    await assert.rejects(
      test(server.url, 'sse', {}, AbortSignal.abort(new Error('before'))),
      /before/,
    )
  })
})

describe('any bytes at all', () => {
  it('end in one of the five outcomes, with nothing sent but what the set lists', async () => {
    const allowed = new Set([
      'GET',
      'POST initialize',
      'POST notifications/initialized',
      'POST tools/list',
      'DELETE',
    ])
    const words = [
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 401 No\r\n',
      'content-type: application/json\r\n',
      'content-type: text/event-stream\r\n',
      '\r\n',
      '\r\n\r\n',
      'transfer-encoding: chunked\r\n',
      'content-encoding: gzip\r\n',
      '5\r\nhello\r\n',
      '0\r\n\r\n',
      'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      'event: endpoint\ndata: /m\n\n',
      'mcp-session-id: x\r\n',
      'content-length: 36\r\n',
      'location: /\r\n',
      '\ufeff',
      ': \n',
    ]
    let script: { pieces: Uint8Array[]; hangUp: boolean } = { pieces: [], hangUp: true }
    const server = await rawStage((socket) => {
      socket.once('data', () => {
        for (const piece of script.pieces) socket.write(piece)
        if (script.hangUp) socket.end()
      })
    })
    const piece = fc.oneof(
      fc.constantFrom(...words).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }),
    )
    const limits = { timeoutMs: 250, stepMs: 60, sessionCloseWaitMs: 60 }
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(piece, { maxLength: 10 }),
          fc.boolean(),
          fc.constantFrom('streamable-http' as const, 'sse' as const),
          async (pieces, hangUp, transport) => {
            script = { pieces, hangUp }
            const found = await test(server.url, transport, limits)
            assert.ok(
              ['answered', 'needs_credentials', 'no_answer', 'error', 'refused'].includes(
                found.outcome,
              ),
            )
            assert.notEqual(
              found.detail,
              'other',
              'every way of failing here has a word of its own',
            )
            assert.ok(found.sent.every((label) => allowed.has(label)))
            assert.ok(
              found.sent.filter((label) => label === 'POST tools/list').length <=
                LIMITS.toolListPages,
            )
            if (found.outcome === 'refused') assert.deepEqual(found.sent, ['GET'])
          },
        ),
        { numRuns: 80 },
      )
    } finally {
      await server.close()
    }
  })
})
