/**
 * Servers as people install them, called through the recorder: each call stands on the rung that the evidence gives, and no call
 * that changed nothing stands higher than the server's word.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, describe, it } from 'node:test'
import { closeChildren } from '../../lib/harness/server/child-pool.ts'
import { harness, receipt } from '../../lib/index.ts'
import { startStripe } from '../servers/stripe-stand-in.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..')
const replay = join(root, 'test', 'servers', 'github-replay.ts')
const loopback = join(root, 'test', 'servers', 'stripe-to-loopback.cjs')
const made = temporaryFolder('climb')
let files = 0
afterEach(closeChildren)

type Step = [tool: string, input?: Record<string, unknown>]

/** What a run of one trial recorded of these calls, in their order. */
async function recorded(name: string, server: harness.ServerDescription, steps: Step[]) {
  const test = await harness.case({
    id: `climb/${name}`,
    title: 'Call some tools',
    kind: 'real_servers',
    server,
    task: 'Call them.',
    solution: steps.slice(0, 1).map(([call, input = {}]) => ({ call, with: input })),
    goal: () => true,
  } as never)
  const run = await harness
    .run(test)
    .config('script', {
      async agent({ servers }) {
        const { client } = servers[name] as harness.AgentServer
        for (const [tool, input = {}] of steps)
          await client.callTool({ name: tool, arguments: input })
        return ''
      },
    })
    .repeat(1)
    .quiet()
    .out(null)
  assert.equal(run.errors, 0, run.text())
  return run.decisions
}

const levels = (report: receipt.Report) =>
  report.calls.filter(({ kind }) => kind !== 'read').map(({ tool, level }) => [tool, level])

const named = (name: string) => harness.server(undefined, { name })
const entity = (name: string) => ({ name, entityType: 'person', observations: ['met in May'] })

describe('the official memory server', () => {
  /** Its file is laid beside its work, or it would keep it inside its package. */
  const memory = () =>
    named('memory').stdio('mcp-server-memory', [], {
      env: { MEMORY_FILE_PATH: join(made, `${files++}.jsonl`) },
    })
  const make: Step = ['create_entities', { entities: [entity('ann')] }]

  it('an entity that the graph shows is confirmed, and one that was deleted and is gone', async () => {
    const decisions = await recorded('memory', memory(), [
      make,
      ['read_graph'],
      ['delete_entities', { entityNames: ['ann'] }],
      ['read_graph'],
    ])
    assert.deepEqual(levels(receipt.verify(decisions)), [
      ['create_entities', 'observed_confirmed'],
      ['delete_entities', 'observed_confirmed'],
    ])
  })

  it('a call that nothing reads back stays asserted, and a lie is contradicted by the graph', async () => {
    assert.deepEqual(
      levels(receipt.verify(await recorded('memory', memory(), [['read_graph'], make]))),
      [['create_entities', 'asserted']],
    )
    const lying = memory().fault('create_entities', 'lying_success')
    const report = receipt.verify(await recorded('memory', lying, [make, ['read_graph']]))
    assert.deepEqual(levels(report), [['create_entities', 'asserted']])
    assert.equal(report.errors[0]?.kind, 'read_does_not_show')
  })
})

describe('the official filesystem server', () => {
  it('what it writes stays asserted: its answers are prose that names no path', async () => {
    const files = named('filesystem').stdio('mcp-server-filesystem', ['/workspace']).files({})
    const decisions = await recorded('filesystem', files, [
      ['list_directory', { path: '/workspace' }],
      ['write_file', { path: '/workspace/a.txt', content: 'one' }],
      ['create_directory', { path: '/workspace/b' }],
      ['move_file', { source: '/workspace/a.txt', destination: '/workspace/b/a.txt' }],
      ['list_directory', { path: '/workspace' }],
      ['read_text_file', { path: '/workspace/b/a.txt' }],
    ])
    assert.deepEqual(levels(receipt.verify(decisions)), [
      ['write_file', 'asserted'],
      ['create_directory', 'asserted'],
      ['move_file', 'asserted'],
    ])
    assert.doesNotMatch(JSON.stringify(decisions), /workspace\/a\.txt/)
  })
})

/** What the table of servers says that a tool can reach at most. */
const atMost = (() => {
  const table = readFileSync(join(root, 'docs', 'servers.md'), 'utf8')
  return (server: string, tool: string) => {
    const part = table.split(/^## /m).find((one) => one.startsWith(`${server}\n`)) ?? ''
    const row = part.split('\n').find((line) => line.startsWith(`| ${tool} |`))
    return row?.split('|')[3]?.trim()
  }
})()

describe('GitHub’s official server, by its own tool list', () => {
  const repo = { owner: 'org', repo: 'api' }
  const steps: [Step, row: string | null][] = [
    [['list_branches', repo], null],
    [['create_branch', { ...repo, branch: 'fix' }], '`create_branch`'],
    [['list_branches', repo], null],
    [
      ['label_write', { ...repo, method: 'create', name: 'bug', color: 'd73a4a' }],
      '`label_write`, method create',
    ],
    [['list_label', repo], null],
    [['label_write', { ...repo, method: 'delete', name: 'bug' }], '`label_write`, method delete'],
    [['list_label', repo], null],
    [
      ['create_repository', { organization: 'org', name: 'new', private: true }],
      '`create_repository`',
    ],
    [['merge_pull_request', { ...repo, pullNumber: 7 }], '`merge_pull_request`'],
    [
      ['actions_run_trigger', { ...repo, method: 'cancel_workflow_run', run_id: 30433642 }],
      '`actions_run_trigger`, method cancel_workflow_run',
    ],
  ]
  const github = (log: string) =>
    named('github').stdio(process.execPath, [replay], {
      env: { AUDIT_LOG: log },
    })

  it('each call reaches what the table of servers says, and not without its evidence', async () => {
    const log = join(made, 'github.ndjson')
    const decisions = await recorded(
      'github',
      github(log),
      steps.map(([step]) => step),
    )
    const report = receipt.verify(decisions, { audit: log })
    const writes = steps.filter(([, row]) => row !== null)
    assert.deepEqual(
      levels(report),
      writes.map(([[tool], row]) => [tool, atMost('github', row as string)]),
      report.text(),
    )
    assert.ok(report.counts.levels.verified >= 3 && report.counts.levels.observed_confirmed >= 3)
    for (const { seq, level } of report.calls) {
      if (level !== 'observed_confirmed') continue
      const without = decisions.filter(({ observation }) => observation?.seq !== Number(seq) + 1)
      const row = receipt.verify(without).calls.find((one) => one.seq === seq)
      assert.equal(row?.level, 'asserted')
    }
    const bare = receipt.verify(decisions)
    assert.equal(bare.counts.levels.verified, 0)
  })

  it('calls that a fault swallowed have no entry and no trace in a list, and stay asserted', async () => {
    const log = join(made, 'github-lying.ndjson')
    writeFileSync(log, '')
    const lying = steps.reduce(
      (server, [[tool], row]) => (row === null ? server : server.fault(tool, 'lying_success')),
      github(log) as harness.ServerDescription,
    )
    const decisions = await recorded(
      'github',
      lying,
      steps.map(([step]) => step),
    )
    const report = receipt.verify(decisions, { audit: log })
    // A label that was never made is really gone: no list before shows that it was there.
    assert.deepEqual(
      levels(report).filter(([, level]) => level !== 'asserted'),
      [],
      report.text(),
    )
  })
})

describe('Stripe’s own server, against a stand-in of its API', () => {
  const needs = join(root, '.cache', 'servers', 'stripe', 'node_modules', '@stripe', 'mcp')
  const skip = existsSync(needs) ? false : `needs ${needs}; .ci/servers makes it`
  const stripe = (url: string) =>
    named('stripe').stdio(
      process.execPath,
      ['--require', loopback, join(needs, 'dist', 'index.js'), '--tools=all', '--api-key=sk_x'],
      { env: { STRIPE_STAND_IN: url } },
    )
  const steps: Step[] = [
    ['create_customer', { name: 'Ada', email: 'ada@example.com' }],
    ['create_product', { name: 'Tea' }],
    ['create_price', { product: 'prod_1', unit_amount: 500, currency: 'eur' }],
    ['create_coupon', { name: 'Spring', amount_off: 100, currency: 'eur', duration: 'once' }],
    ['create_refund', { payment_intent: 'pi_3', amount: 500 }],
    ['list_customers', {}],
  ]

  it('each call reaches what the table of servers says, by the events that the API wrote', {
    skip,
  }, async (t) => {
    const api = await startStripe()
    t.after(api.close)
    const decisions = await recorded('stripe', stripe(api.url), steps)
    const audit = { provider: 'stripe', bytes: api.events(), server: 'stripe' }
    const report = receipt.verify(decisions, { audit })
    assert.deepEqual(
      levels(report),
      steps
        .filter(([tool]) => tool.startsWith('create_'))
        .map(([tool]) => [tool, atMost('stripe', `\`${tool}\``)]),
      report.text(),
    )
    assert.equal(receipt.verify(decisions).counts.levels.verified, 0)
  })

  it('a pending refund, and a call that never came to the API, stay asserted', {
    skip,
  }, async (t) => {
    const api = await startStripe('pending')
    t.after(api.close)
    const lying = stripe(api.url).fault('create_customer', 'lying_success')
    const decisions = await recorded('stripe', lying, steps)
    const report = receipt.verify(decisions, {
      audit: { provider: 'stripe', bytes: api.events(), server: 'stripe' },
    })
    const level = Object.fromEntries(levels(report))
    assert.equal(level['create_refund'], 'asserted', report.text())
    assert.equal(level['create_customer'], 'asserted')
    assert.equal(level['create_product'], 'verified')
  })
})

describe('the official everything server', () => {
  it('tools on a server that no classifier knows are counted as such, and stay asserted', async () => {
    const everything = named('demo').stdio('mcp-server-everything')
    const decisions = await recorded('demo', everything, [
      ['echo', { message: 'add_deploy_key org/prod-repo ci-key' }],
      ['get-sum', { a: 1, b: 2 }],
      ['get-structured-content', { location: 'New York' }],
    ])
    const report = receipt.verify(decisions)
    assert.deepEqual(
      levels(report).map(([, level]) => level),
      ['asserted', 'asserted', 'asserted'],
    )
    assert.equal(report.counts.unclassified, 3)
  })
})
