import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect as dial } from 'node:net'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from '../../lib/probe/index.ts'
import { freePort } from '../servers/port.ts'
import { sdk1, sdk1Sse, sdk2 } from '../servers/sdk.ts'

const HTTP = ['POST initialize', 'POST notifications/initialized', 'POST tools/list']
const SSE = ['GET', ...HTTP]

describe('servers built on the SDKs', { concurrency: 3 }, () => {
  const rows = [
    [
      'SDK 1, streamable HTTP answering with events',
      () => sdk1(false),
      'streamable-http',
      [...HTTP, 'DELETE'],
    ],
    [
      'SDK 1, streamable HTTP answering with JSON',
      () => sdk1(true),
      'streamable-http',
      [...HTTP, 'DELETE'],
    ],
    ['SDK 1, server-sent events', sdk1Sse, 'sse', SSE],
    ['SDK 2, a server per request', () => sdk2('stateless'), 'streamable-http', HTTP],
    ['SDK 2, sessions', () => sdk2('sessions'), 'streamable-http', [...HTTP, 'DELETE']],
  ] as const
  for (const [id, start, transport, sent] of rows) {
    it(`${id}: answered, both tasks, three tools`, async () => {
      const server = await start()
      const found = await connect(server.url, { local: true, transport })
      await server.close()
      assert.deepEqual(
        [found.outcome, found.passed, found.tools?.named, found.tools?.withheld],
        ['answered', 2, 3, 0],
      )
      assert.deepEqual(found.sent, sent)
      assert.equal(found.protocolVersion, '2025-06-18')
    })
  }

  it('SDK 2, 2026-07-28 only: it refuses initialize, which is an error and nothing else', async () => {
    const server = await sdk2('modern')
    const found = await connect(server.url, { local: true })
    await server.close()
    assert.deepEqual([found.outcome, found.passed, found.sent], ['error', 0, ['POST initialize']])
    assert.equal(found.tasks[0]?.rpcCode, -32022)
  })
})

/** Servers from npm, run as their authors ship them. One that is not installed is skipped, and says so. */
const PACKAGES: {
  name: string
  entry: string
  args: (port: number) => string[]
  env?: (port: number) => Record<string, string>
  path: string
  transport: 'streamable-http' | 'sse'
  sent: string[]
  named: number
}[] = [
  {
    name: '@modelcontextprotocol/server-everything',
    entry: 'dist/index.js',
    args: () => ['streamableHttp'],
    env: (port) => ({ PORT: String(port) }),
    path: '/mcp',
    transport: 'streamable-http',
    sent: [...HTTP, 'DELETE'],
    named: 13,
  },
  {
    name: '@modelcontextprotocol/server-everything',
    entry: 'dist/index.js',
    args: () => ['sse'],
    env: (port) => ({ PORT: String(port) }),
    path: '/sse',
    transport: 'sse',
    sent: SSE,
    named: 13,
  },
  {
    name: '@antv/mcp-server-chart',
    entry: 'build/index.js',
    args: (port) => ['--transport', 'streamable', '--port', String(port)],
    path: '/mcp',
    transport: 'streamable-http',
    sent: HTTP,
    named: 27,
  },
  {
    name: '@antv/mcp-server-chart',
    entry: 'build/index.js',
    args: (port) => ['--transport', 'sse', '--port', String(port)],
    path: '/sse',
    transport: 'sse',
    sent: SSE,
    named: 27,
  },
  {
    name: '@aashari/boilerplate-mcp-server',
    entry: 'dist/index.js',
    args: () => [],
    env: (port) => ({ PORT: String(port), TRANSPORT_MODE: 'http' }),
    path: '/mcp',
    transport: 'streamable-http',
    sent: [...HTTP, 'DELETE'],
    named: 2,
  },
]

describe('servers from npm, as their authors ship them', { concurrency: 2 }, () => {
  const running: ChildProcess[] = []
  after(() => {
    for (const child of running) child.kill('SIGKILL')
  })
  const modules = join(dirname(fileURLToPath(import.meta.url)), '../../node_modules')

  for (const each of PACKAGES) {
    const entry = join(modules, each.name, each.entry)
    const missing = existsSync(entry) ? false : `${each.name} is not installed`
    if (missing) console.log(`# skipped: ${missing}`)
    it(`${each.name} over ${each.transport}: answered, both tasks, ${each.named} tools`, {
      skip: missing,
    }, async () => {
      const port = await freePort()
      const child = spawn(process.execPath, [entry, ...each.args(port)], {
        env: { ...process.env, ...each.env?.(port) },
        stdio: 'ignore',
      })
      running.push(child)
      await listening(port, child)
      const found = await connect(`http://127.0.0.1:${port}${each.path}`, {
        local: true,
        transport: each.transport,
      })
      child.kill('SIGKILL')
      assert.deepEqual(
        [found.outcome, found.passed, found.tools?.named],
        ['answered', 2, each.named],
      )
      assert.deepEqual(found.sent, each.sent)
    })
  }

  for (const name of ['server-everything', 'server-memory']) {
    it(`@modelcontextprotocol/${name} over stdio: answered, both tasks`, async () => {
      const found = await connect({
        command: process.execPath,
        args: [join(modules, '@modelcontextprotocol', name, 'dist/index.js')],
      })
      assert.deepEqual([found.outcome, found.passed, found.set], ['answered', 2, null])
      assert.ok((found.tools?.named ?? 0) > 5)
    })
  }
})

/** Until it accepts a connection; a server of somebody else's has no other way to say that it is ready. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = dial(port, '127.0.0.1')
      socket.once('connect', () => resolve(socket.destroy() !== undefined))
      socket.once('error', () => resolve(false))
    })
    if (open) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the server ended with ${child.exitCode}`)
}
