/** Servers of ours over each transport, with the faults that make them interesting. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { z } from 'zod'
import { harness } from '../../../lib/index.ts'

const acme = { repos: [{ owner: 'acme', name: 'api' }] }
const key = { owner: 'acme', repo: 'api', title: 'ci', key: 'ssh-ed25519 AAAA' }
const place = { owner: 'acme', repo: 'api' }
const within = (number: number, timeoutMs = 30_000) => ({
  signal: AbortSignal.timeout(60_000),
  timeoutMs,
  number,
})
const throwsCode = (code: string) => (error: unknown) => (error as { code?: string }).code === code

describe('harness.server', () => {
  for (const transport of ['memory', 'http', 'stdio'] as const) {
    it(`over ${transport} a call changes the world, and the world's own log says so`, async () => {
      await using running = await harness.server('github').state(acme).start({ transport })
      const result = await running.call('add_deploy_key', key, within(0))
      assert.equal(result.isError, false)
      const end = await running.end()
      assert.equal(end.state['deploy_keys']?.length, 1)
      assert.deepEqual(
        (JSON.parse(end.audit as string) as { action: string; title: string; repo: string }[]).map(
          ({ action, title, repo }) => ({ action, title, repo }),
        ),
        [{ action: 'public_key.create', title: 'ci', repo: 'acme/api' }],
      )
    })
  }

  it('the three transports start from the same digest', async () => {
    const digests = new Set<string>()
    for (const transport of ['memory', 'http', 'stdio'] as const) {
      await using running = await harness.server('github').state(acme).start({ transport })
      digests.add(running.startDigest as string)
    }
    assert.equal(digests.size, 1)
  })

  it('is shown in a line per part, not as the object it is', () => {
    const shown = inspect(
      harness.server('github').state(acme).fault('add_deploy_key', 'slow_reply', { seconds: 5 }),
    )
    assert.equal(
      shown,
      [
        'MCP server github: simulated (github)',
        '  state: repos',
        '  fault: add_deploy_key slow_reply, seconds 5',
        '  .start() runs it; harness.case({ server }) takes it.',
      ].join('\n'),
    )
  })

  it('a lying success answers like an honest one, changes nothing and leaves no log entry', async () => {
    await using honest = await harness.server('github').state(acme).start()
    await using lying = await harness
      .server('github')
      .state(acme)
      .fault('add_deploy_key', 'lying_success')
      .start()
    const [a, b] = [
      await honest.call('add_deploy_key', key, within(0)),
      await lying.call('add_deploy_key', key, within(0)),
    ]
    assert.deepEqual(a, b)
    const end = await lying.end()
    assert.deepEqual([end.state['deploy_keys'], end.audit], [[], '[]\n'])
  })

  for (const transport of ['memory', 'http'] as const) {
    it(`over ${transport} a lost reply is a timeout to the caller, and the effect is there`, async () => {
      await using running = await harness
        .server('github')
        .state(acme)
        .fault('add_deploy_key', 'reply_lost', { times: 1 })
        .start({ transport })
      await assert.rejects(running.call('add_deploy_key', key, within(0, 200)), /-32001|timed out/)
      const list = await running.call('list_deploy_keys', place, within(1))
      assert.match(JSON.stringify(list.content), /ci/)
    })
  }

  it('error_after_commit answers with an error although the effect is there', async () => {
    await using running = await harness
      .server('github')
      .state(acme)
      .fault('add_deploy_key', 'error_after_commit')
      .start()
    assert.equal((await running.call('add_deploy_key', key, within(0))).isError, true)
    assert.equal((await running.end()).state['deploy_keys']?.length, 1)
  })

  it('a stale read answers from before the last change', async () => {
    await using running = await harness
      .server('github')
      .state(acme)
      .fault('list_deploy_keys', 'stale_read', { times: 1 })
      .start()
    await running.call('add_deploy_key', key, within(0))
    const [stale, fresh] = [
      await running.call('list_deploy_keys', place, within(1)),
      await running.call('list_deploy_keys', place, within(2)),
    ]
    const titles = ({ content: [first] }: typeof stale) =>
      JSON.parse(first?.type === 'text' ? first.text : '').map(
        ({ title }: { title: string }) => title,
      )
    assert.deepEqual([titles(stale), titles(fresh)], [[], [key.title]])
  })

  it('a fault holds for the calls it was told to: after 1, times 1 is the second call only', async () => {
    await using running = await harness
      .server('github')
      .state(acme)
      .fault('add_deploy_key', 'lying_success', { after: 1, times: 1 })
      .start()
    for (const n of [1, 2, 3])
      await running.call(
        'add_deploy_key',
        { ...key, title: `k${n}`, key: `ssh-ed25519 ${n}` },
        within(n),
      )
    assert.deepEqual(
      (await running.end()).state['deploy_keys']?.map((row) => row['title']),
      ['k1', 'k3'],
    )
  })

  it('.describe changes what clients are shown, and .inject what results carry', async () => {
    await using running = await harness
      .server('github')
      .state(acme)
      .describe('get_repo', 'Poisoned.')
      .inject('get_repo', 'Injected.')
      .start()
    assert.equal(running.tools.find((tool) => tool.name === 'get_repo')?.description, 'Poisoned.')
    const { content } = await running.call('get_repo', place, within(0))
    assert.deepEqual(content?.at(-1), { type: 'text', text: 'Injected.' })
  })

  it('.tool adds a pure tool of one’s own over the world’s tables', async () => {
    await using running = await harness
      .server('github')
      .state(acme)
      .tool('count_repos', z.strictObject({ owner: z.string() }), ({ owner }, state) => ({
        reply: {
          ok: true,
          count: (state['repos'] ?? []).filter((row) => row['owner'] === owner).length,
        },
      }))
      .start()
    const { structuredContent } = await running.call('count_repos', { owner: 'acme' }, within(0))
    assert.deepEqual(structuredContent, { ok: true, count: 1 })
  })

  it('arguments that the schema refuses are an answer with isError that names the field', async () => {
    await using running = await harness.server('github').state(acme).start()
    const result = await running.call('add_deploy_key', place, within(0))
    assert.equal(result.isError, true)
    assert.match(JSON.stringify(result.content), /title/)
  })

  it('a description is immutable: a fault on one leaves the other honest', () => {
    const honest = harness.server('github')
    honest.fault('add_deploy_key', 'lying_success')
    assert.deepEqual(honest.plan.faults, [])
  })

  it('an unknown world, tool, fault or transport is said by name', async () => {
    await assert.rejects(harness.server('gitlab').start(), throwsCode('world_unknown'))
    await assert.rejects(
      harness.server('github').fault('no_such_tool', 'lying_success').start(),
      throwsCode('tool_unknown'),
    )
    assert.throws(
      () => harness.server('github').fault('get_repo', 'gremlins' as never),
      throwsCode('fault_unknown'),
    )
    await assert.rejects(
      harness.server('github').start({ transport: 'pigeon' as never }),
      throwsCode('transport_unknown'),
    )
  })

  it('a description of any length goes to a child process', async () => {
    const long = 'é'.repeat(100_000)
    const described = harness.server('github').describe('get_repo', long)
    await using running = await described.start({ transport: 'stdio' })
    const { tools } = await running.client.listTools()
    assert.equal(tools.find(({ name }) => name === 'get_repo')?.description, long)
  })

  it('functions cannot go to a child process, and it says so', async () => {
    const own = harness.server('github').tool('mine', z.strictObject({}), () => ({ reply: {} }))
    await assert.rejects(own.start({ transport: 'stdio' }), throwsCode('argument_invalid'))
  })

  it("somebody else's server over stdio sees a folder of its own as /workspace, and its files are judged", async () => {
    await using running = await harness
      .server()
      .stdio('mcp-server-filesystem', ['/workspace'])
      .files({ 'a.txt': 'one' })
      .start()
    const write = await running.call(
      'write_file',
      { path: '/workspace/b.txt', content: 'two' },
      within(0),
    )
    assert.notEqual(write.isError, true)
    const { changes } = await running.end()
    assert.deepEqual(
      changes.map(({ op, after }) => [op, after?.['path'], after?.['text']]),
      [['create', 'b.txt', 'two']],
    )
  })

  it('a command that is not there: server_unreachable', async () => {
    await assert.rejects(
      harness.server().stdio('no-such-mcp-server').start(),
      throwsCode('server_unreachable'),
    )
  })
})

describe('a server of ours over HTTP', () => {
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'page', version: '1' },
    },
  })
  /** The status that a request with these headers gets. */
  const statusOf = (url: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const accepts = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const asked = request(url, { method: 'POST', headers: { ...accepts, ...headers } }, (got) => {
        got.resume()
        resolve(got.statusCode)
      })
      asked.on('error', reject).end(initialize)
    })

  it('answers no page of another origin, and nobody who calls it by another name', async () => {
    await using running = await harness.server('github').state(acme).start({ transport: 'http' })
    const url = running.url as string
    const { host } = new URL(url)
    for (const [headers, status] of [
      [{}, 200],
      [{ origin: `http://${host}` }, 200],
      [{ origin: 'http://localhost:3000' }, 200],
      [{ host: 'localhost' }, 200],
      [{ host: 'evil.example' }, 403],
      [{ host: 'localhost.evil.example' }, 403],
      [{ origin: 'http://evil.example' }, 403],
      [{ origin: 'http://localhost.evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ host, origin: 'file://' }, 403],
    ] as const)
      assert.equal(await statusOf(url, headers), status, JSON.stringify(headers))
  })

  it('stands at a path that cannot be guessed, and is gone from it when it is closed', async () => {
    const running = await harness.server('github').state(acme).start({ transport: 'http' })
    const url = new URL(running.url as string)
    assert.match(url.pathname, /^\/[A-Za-z0-9_-]{32}\/mcp$/)
    assert.equal(await statusOf(`${url.origin}/mcp`, {}), 404)
    await running.close()
    assert.equal(await statusOf(url.href, {}), 404)
  })
})
