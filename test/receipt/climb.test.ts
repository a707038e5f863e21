/**
 * Servers as people install them, called through the recorder: each call stands on the rung that the evidence gives, and no call
 * that changed nothing stands higher than the server's word.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, it } from 'node:test'
import { closeChildren } from '../../lib/harness/server/child-pool.ts'
import { harness, receipt } from '../../lib/index.ts'

const made = mkdtempSync(join(tmpdir(), 'touchstone-climb-'))
let files = 0
afterEach(closeChildren)
after(() => rmSync(made, { recursive: true }))

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

describe('the official everything server', () => {
  it('tools that no classifier knows are counted as such, and stay asserted', async () => {
    const everything = named('everything').stdio('mcp-server-everything')
    const decisions = await recorded('everything', everything, [
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
