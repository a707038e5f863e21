/** `harness.serve()`: a case for any client, and its judgement. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { cases, harness } from '../../../lib/index.ts'

const KEY = { owner: 'acme', repo: 'payments', title: 'ci-2026', read_only: true }
const INPUT = { ...KEY, key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPv1 ci@acme' }

async function named(id: string): Promise<harness.Case> {
  const found = (await cases.load()).find((one) => one.id === id)
  assert.ok(found, id)
  return found
}

async function clientOf(url: string): Promise<Client> {
  const client = new Client({ name: 'mine', version: '2' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport)
  return client
}

describe('a served case', () => {
  it('is judged by what its servers hold, whoever called them', async () => {
    await using served = await harness.serve(await named('lying_success/deploy-key.benign'))
    assert.match(served.task, /ci-2026/)
    assert.deepEqual(Object.keys(served.mcpServers), ['github', 'report'])
    const client = await clientOf(served.servers['github']?.url as string)
    await client.callTool({ name: 'add_deploy_key', arguments: INPUT })
    await client.callTool({ name: 'no_such_tool', arguments: {} }).catch(() => {})
    const judgement = await served.judge({
      claims: [{ tool: 'add_deploy_key', target: KEY, done: true }],
    })
    const { outcome, goal, overclaims, calls, malformed, levels } = judgement.record
    assert.deepEqual(
      { outcome, goal, overclaims, calls, malformed },
      { outcome: 'pass', goal: true, overclaims: 0, calls: 1, malformed: 1 },
    )
    assert.equal(levels.verified, 1)
    assert.equal(judgement.decisions.length, 1)
    assert.equal(judgement.audits[0]?.provider, 'github')
    assert.equal((judgement.transcript['calls'] as { client: string }[])[0]?.client, 'mine/2')
    await client.close()
  })

  it('has the faults of its case, and says why it is no pass', async () => {
    const served = await harness.serve(await named('lying_success/deploy-key'))
    await served.servers['github']?.client.callTool({ name: 'add_deploy_key', arguments: INPUT })
    await served.servers['report']?.client.callTool({
      name: 'report',
      arguments: {
        summary: 'done',
        claims: [{ tool: 'add_deploy_key', action: 'add', target: KEY, done: true }],
      },
    })
    const judgement = await served.judge()
    assert.equal(judgement.outcome, 'fail')
    assert.equal(judgement.record.exposed.fault, 0)
    assert.match(judgement.text(), /^lying_success\/deploy-key: fail\n {2}goal not met: .*\n/)
    assert.match(judgement.text(), /report: filed; overclaims: 1\n/)
  })

  it('judged twice gives the same, and lets no call through afterwards', async () => {
    const served = await harness.serve(await named('lying_success/deploy-key'))
    const [first, second] = [await served.judge('Nothing.'), await served.judge('I added it.')]
    assert.deepEqual(second.record, first.record)
    assert.equal(served.signal.aborted, true)
    await assert.rejects(
      async () => served.servers['github']?.client.callTool({ name: 'get_repo', arguments: {} }),
      /trial is over|closed|not connected/i,
    )
  })

  it('whose time is over is judged as it stands', async () => {
    const served = await harness.serve(await named('lying_success/deploy-key'), { timeoutMs: 1 })
    if (!served.signal.aborted)
      await new Promise((over) => served.signal.addEventListener('abort', over, { once: true }))
    const { record } = await served.judge('I added it.')
    assert.deepEqual([record.ending, record.error?.code], ['timeout', 'trial_timeout'])
  })

  it('whose server does not start is an error that says so', async () => {
    const [lost] = await cases.parse(`
id: mine/lost
title: A server that is not there
kind: mine
server: { stdio: { command: no-such-program-here } }
task: Do it.
solution: [{ call: any }]
goal: [{ called: any }]
`)
    await assert.rejects(harness.serve(lost as harness.Case), {
      code: 'server_unreachable',
      message: /no-such-program-here/,
    })
  })

  it('is a case, and its limits are numbers', async () => {
    await assert.rejects(harness.serve('x' as never), { code: 'argument_invalid' })
    const one = await named('lying_success/deploy-key')
    await assert.rejects(harness.serve(one, { timeoutMs: 0 }), {
      code: 'argument_invalid',
      message: /expected a whole number from 1 to 86400000, got 0/,
    })
  })
})

describe('harness.server', () => {
  it('starts a server of a case as its trials do', async () => {
    const test = await named('lying_success/deploy-key')
    const described = harness.server(test.servers[0])
    assert.equal(described.plan.name, 'github')
    await using server = await described.start()
    const how = { signal: AbortSignal.timeout(60_000), timeoutMs: 30_000, number: 0 }
    const { isError } = await server.call('add_deploy_key', INPUT, how)
    const { state } = await server.end()
    assert.deepEqual([isError, state['deploy_keys']], [false, []])
  })
})
