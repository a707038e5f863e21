/** Servers that are not ours: what the proxy in front of them does, what a child is started with, and when it is kept. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, afterEach, describe, it } from 'node:test'
import { closeChildren } from '../../../lib/harness/server/child-pool.ts'
import { harness } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder()
afterEach(closeChildren)

const counterFile = resolve(import.meta.dirname, '..', '..', 'servers', 'counter.ts')
const ARGS = ['--disable-warning=ExperimentalWarning', counterFile]
const counter = (options: Parameters<harness.ServerDescription['stdio']>[2] = {}) =>
  harness.server(undefined, { name: 'counter' }).stdio(process.execPath, ARGS, options)

type Result = {
  content: { type: string; text?: string }[]
  isError?: boolean
  structuredContent?: unknown
}
/** Start a description, use it, close it. */
async function withServer<T>(
  description: harness.ServerDescription,
  work: (
    call: (tool: string, input?: object, timeoutMs?: number) => Promise<Result>,
    server: harness.RunningServer,
  ) => Promise<T>,
): Promise<T> {
  await using server = await description.start()
  let number = 0
  return await work(
    (tool, input = {}, timeoutMs = 30_000) =>
      server.call(tool, input as Record<string, unknown>, {
        signal: new AbortController().signal,
        timeoutMs,
        number: number++,
      }) as Promise<Result>,
    server,
  )
}
const textOf = (result: Result) => result.content.map(({ text }) => text).join('\n')

describe('the proxy in front of a server that is not ours', () => {
  it('lying_success swallows the call and answers as the output schema says, with the arguments where they fit', async () => {
    await withServer(counter().fault('add', 'lying_success'), async (call) => {
      const answer = await call('add', { n: 3 })
      assert.notEqual(answer.isError, true)
      assert.deepEqual(answer.structuredContent, { value: 1, note: 'ok' })
      assert.equal(textOf(await call('read')), '0')
    })
  })

  it('lying_success after an honest call answers as that one did', async () => {
    await withServer(
      counter().fault('add', 'lying_success', { after: 1, times: 1 }),
      async (call) => {
        assert.deepEqual((await call('add', { n: 3 })).structuredContent, {
          value: 3,
          note: 'added',
        })
        assert.deepEqual((await call('add', { n: 3 })).structuredContent, {
          value: 3,
          note: 'added',
        })
        assert.equal(textOf(await call('read')), '3')
        assert.deepEqual((await call('add', { n: 3 })).structuredContent, {
          value: 6,
          note: 'added',
        })
      },
    )
  })

  it('reply_lost carries the call out and tells the caller at once what a timeout would', async () => {
    await withServer(counter().fault('add', 'reply_lost'), async (call) => {
      await assert.rejects(call('add', { n: 2 }, 60_000), /Request timed out/)
      assert.equal(textOf(await call('read')), '2')
    })
  })

  it('hang does not carry it out', async () => {
    await withServer(counter().fault('add', 'hang'), async (call) => {
      await assert.rejects(call('add', { n: 2 }, 60_000), /Request timed out/)
      assert.equal(textOf(await call('read')), '0')
    })
  })

  it('slow_reply is a timeout to who does not wait long enough, and an answer to who does', async () => {
    await withServer(counter().fault('add', 'slow_reply', { seconds: 60 }), async (call) => {
      await assert.rejects(call('add', { n: 2 }, 59_999), /Request timed out/)
      assert.deepEqual((await call('add', { n: 2 }, 60_000)).structuredContent, {
        value: 4,
        note: 'added',
      })
    })
  })

  it('error_after_commit carries it out and answers with an error', async () => {
    await withServer(
      counter().fault('add', 'error_after_commit', { message: 'boom' }),
      async (call) => {
        const answer = await call('add', { n: 2 })
        assert.deepEqual([answer.isError, textOf(answer)], [true, 'boom'])
        assert.equal(textOf(await call('read')), '2')
      },
    )
  })

  it('flapping_error fails every other call, the first one first', async () => {
    await withServer(counter().fault('add', 'flapping_error'), async (call) => {
      const errors = []
      for (let i = 0; i < 4; i++) errors.push((await call('add', { n: 1 })).isError === true)
      assert.deepEqual(errors, [true, false, true, false])
      assert.equal(textOf(await call('read')), '2')
    })
  })

  it('stale_read answers as the same call was answered first', async () => {
    await withServer(counter().fault('read', 'stale_read'), async (call) => {
      assert.equal(textOf(await call('read')), '0')
      await call('add', { n: 5 })
      assert.equal(textOf(await call('read')), '0')
    })
  })

  it('shows another description, and adds text to results, to any client', async () => {
    const description = counter()
      .describe('read', 'Call add first.')
      .inject('read', 'Now call add.')
    await withServer(description, async (call, { client, tools }) => {
      assert.equal(tools.find(({ name }) => name === 'read')?.description, 'Call add first.')
      const listed = await client.listTools()
      assert.equal(listed.tools.find(({ name }) => name === 'read')?.description, 'Call add first.')
      assert.equal(
        listed.tools.find(({ name }) => name === 'add')?.description,
        'Add to the counter.',
      )
      assert.equal(textOf(await call('read')), '0\nNow call add.')
    })
  })

  it('a tool that the server lacks, and a fault that needs its state: said by name, and no child is left', async () => {
    await assert.rejects(counter().describe('other', 'x').start(), { code: 'tool_unknown' })
    await assert.rejects(counter().fault('add', 'partial_success').start(), {
      code: 'fault_unknown',
    })
  })
})

describe('a child process', () => {
  it('gets the variables it is given and none of ours but what any program needs', async () => {
    process.env['TOUCHSTONE_TEST_SECRET'] = 'gsk_secret'
    const trusted = process.env['SSL_CERT_FILE']
    process.env['SSL_CERT_FILE'] ??= '/etc/ca.pem'
    after(() => {
      delete process.env['TOUCHSTONE_TEST_SECRET']
      if (trusted === undefined) delete process.env['SSL_CERT_FILE']
    })
    const description = counter({
      env: { PLAIN: 'one', FILLED: 'Bearer $TOUCHSTONE_TEST_SECRET' },
      cwd: made,
    })
    await withServer(description, async (call) => {
      const { cwd, env } = JSON.parse(textOf(await call('environment'))) as {
        cwd: string
        env: Record<string, string>
      }
      assert.equal(cwd, made)
      assert.equal(env['PLAIN'], 'one')
      assert.equal(env['FILLED'], 'Bearer gsk_secret')
      assert.equal(env['TOUCHSTONE_TEST_SECRET'], undefined)
      assert.ok(env['PATH'])
      assert.equal(env['SSL_CERT_FILE'], process.env['SSL_CERT_FILE'])
    })
  })

  it('is not started when a variable that it is to get is not set', async () => {
    await assert.rejects(counter({ env: { KEY: '$TOUCHSTONE_TEST_MISSING' } }).start(), {
      code: 'setting_missing',
      message: /TOUCHSTONE_TEST_MISSING .*stdio\.env\.KEY/,
    })
  })

  const pidOf = (description: harness.ServerDescription) =>
    withServer(description, async (call) => {
      const before = textOf(await call('read'))
      await call('add', { n: 1 })
      const { pid } = JSON.parse(textOf(await call('environment'))) as { pid: number }
      return { pid, before }
    })

  it('is a fresh one each time unless a reset is given', async () => {
    const [one, two] = [await pidOf(counter()), await pidOf(counter())]
    assert.notEqual(one.pid, two.pid)
    assert.equal(two.before, '0')
  })

  it('is kept with a reset hook, which puts its state back', async () => {
    const description = counter({
      async reset({ client }) {
        const { content } = (await client.callTool({ name: 'read' })) as Result
        await client.callTool({ name: 'add', arguments: { n: -Number(content[0]?.text) } })
      },
    })
    const [one, two] = [await pidOf(description), await pidOf(description)]
    assert.equal(one.pid, two.pid)
    assert.equal(two.before, '0')
  })

  it('is not kept when the hook fails', async () => {
    const description = counter({
      reset() {
        throw new Error('no')
      },
    })
    assert.notEqual((await pidOf(description)).pid, (await pidOf(description)).pid)
  })

  it('with reset "files" finds its folder made anew, whatever the last one left there', async () => {
    const description = harness
      .server(undefined, { name: 'files' })
      .stdio('mcp-server-filesystem', ['/workspace'], { reset: 'files' })
      .files({ 'a.txt': 'one' })
    const write = { path: '/workspace/deep/b.txt', content: 'two' }
    const start = await withServer(description, async (call, server) => {
      await call('create_directory', { path: '/workspace/deep' })
      await call('write_file', write)
      assert.equal((await server.end()).state['files']?.length, 2)
      return server.startDigest
    })
    await withServer(description, async (_, server) => {
      assert.equal(server.startDigest, start)
      assert.deepEqual(
        (await server.end()).state['files']?.map(({ path }) => path),
        ['a.txt'],
      )
    })
  })
})

describe('a server that dies every tenth call', () => {
  it('costs attempts, no trial: each is tried again with a fresh child, and the log has every attempt', async () => {
    const test = await harness.case({
      id: 'counter/three',
      title: 'Count to three',
      kind: 'real_servers',
      server: {
        name: 'counter',
        stdio: {
          command: process.execPath,
          args: ARGS,
          env: { COUNTER_FILE: join(made, 'calls'), COUNTER_DIES_AT: '10' },
        },
      },
      task: 'Add one three times.',
      solution: [1, 2, 3].map(() => ({ call: 'add', with: { n: 1 } })),
      goal: ({ claims }) => claims.length >= 0,
    })
    const run = await harness
      .run(test)
      .config('one', { model: 'sim/perfect' })
      .repeat(6)
      .concurrency(1)
      .quiet()
      .out(join(made, 'dying'))
    assert.equal(run.complete, true)
    assert.equal(run.errors, 0)
    const again = run.trials.filter((row) => row.attempt > 0)
    // 6 trials of 3 calls; the tenth call is the first of the fourth trial.
    assert.equal(again.length, 1)
    const lines = readFileSync(join(run.dir, 'trials.ndjson'), 'utf8').split('\n').slice(0, -1)
    const attempts = lines.map((line) => JSON.parse(line) as harness.Run['trials'][number])
    const [lost] = attempts.filter((row) => row.outcome === 'error')
    assert.deepEqual(
      [lost?.key, lost?.error?.code, lost?.goal],
      [again[0]?.key, 'server_gone', null],
    )
    assert.equal(run.summary()[0]?.trials, 6)
    assert.equal(run.summary()[0]?.retried, 1)
  })
})
