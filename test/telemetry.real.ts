/** Spans of runs in processes of their own, and of workers over a queue, at a receiver of OTLP on loopback. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { harness } from '../lib/index.ts'
import { missing, startQueueServer } from './servers/queue-server.ts'
import { startWorker } from './servers/workers.ts'
import { temporaryFolder } from './temporary.ts'

const root = resolve(import.meta.dirname, '..')
const made = temporaryFolder('otel')

describe('a run in other processes', () => {
  type Received = {
    name: string
    spanId: string
    parentSpanId?: string
    traceId: string
    host: string
  }
  /** What came over OTLP. */
  async function receiver() {
    const spans: Received[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      for (const { scopeSpans } of resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`
    const close = () => {
      server.close()
      server.closeAllConnections()
    }
    return { spans, url, close }
  }
  const register = pathToFileURL(join(root, 'test/servers/otel.ts')).href
  const withOtel = (url: string) => ({
    OTLP_TEST_URL: url,
    NODE_OPTIONS: `--import tsx --import ${register}`,
  })
  const words = (...more: string[]) => [
    join(root, 'repl.ts'),
    ...['run', 'cases/lying_success/deploy-key.yaml', '--repeat', '2', '--quiet', ...more],
  ]

  it('hands over every span before it ends', async () => {
    const { spans, url, close } = await receiver()
    try {
      const env = { ...process.env, NODE_TEST_CONTEXT: undefined, ...withOtel(url) }
      const out = ['--out', join(made, 'otlp')]
      await promisify(execFile)(process.execPath, words(...out), { cwd: root, env })
      const trials = spans.filter(({ name }) => name === 'touchstone.trial')
      assert.equal(spans.filter(({ name }) => name === 'touchstone.run').length, 1)
      assert.equal(trials.length, (await harness.open(join(made, 'otlp'))).trials.length)
    } finally {
      close()
    }
  })

  it('over a queue has the attempts of workers under the coordinator’s run', {
    skip: missing('redis'),
  }, async () => {
    const [{ spans, url, close }, server] = [await receiver(), await startQueueServer('redis')]
    const worker = startWorker(server.url, { env: withOtel(url) })
    try {
      const env = { ...process.env, NODE_TEST_CONTEXT: undefined, ...withOtel(url) }
      const out = ['--out', join(made, 'queue'), '--queue', server.url]
      await promisify(execFile)(process.execPath, words(...out), { cwd: root, env })
      worker.kill('SIGTERM')
      assert.equal(await worker.ended, 0)
      const [top, ...others] = spans.filter(({ name }) => name === 'touchstone.run')
      const trials = spans.filter(({ name }) => name === 'touchstone.trial')
      assert.deepEqual(others, [])
      assert.equal(trials.length, (await harness.open(join(made, 'queue'))).trials.length)
      for (const { parentSpanId, traceId } of trials)
        assert.deepEqual([parentSpanId, traceId], [top?.spanId, top?.traceId])
    } finally {
      worker.kill()
      close()
      await server.close()
    }
  })
})
