/** The manifest names what was tested: each server's own name, version and list of tools; a baseline against others says so. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { heldLines } from '../../../lib/cli/verb/gate-options.ts'
import { versionsApart } from '../../../lib/harness/report/compared/two-runs.ts'
import { cases, harness } from '../../../lib/index.ts'
import type { Manifest } from '../../../lib/log/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('survey')

const caseOf = (server: string) => `
id: mine/one
title: One server
kind: mine
server: ${server}
task: Look.
solution: [{ call: list_allowed_directories }]
goal: [{ called: list_allowed_directories }]
`
const FILES = '{ stdio: { command: mcp-server-filesystem, args: [/workspace] }, files: {} }'
const look: harness.AgentFunction = async ({ servers }) => {
  await servers['server']?.client.callTool({ name: 'list_allowed_directories', arguments: {} })
  return 'Looked.'
}
const run = (test: harness.Case | harness.Case[]) =>
  harness.run(test).config('a', { agent: look }).repeat(1).quiet()

describe('the manifest of a run', () => {
  it('has the name, the version and the digest of tools of a server that is not ours, as it says them itself', async () => {
    const [test] = await cases.parse(caseOf(FILES))
    const done = await run(test as harness.Case).out(null)
    const [server] = done.manifest.servers ?? []
    assert.equal(done.trials[0]?.outcome, 'pass')
    assert.equal(server?.case, 'mine/one')
    assert.equal(server?.info?.name, 'secure-filesystem-server')
    assert.match(server?.info?.version ?? '', /^\d+\.\d+\.\d+/)
    assert.match(server?.tools ?? '', /^sha256:/)
  })

  it('tells lists of tools apart by what agents read in them', async () => {
    const pair = (await cases.load('cases/description_poisoning/second-key.yaml')) as harness.Case[]
    const done = await harness
      .run(pair)
      .config('a', { model: 'sim/perfect' })
      .repeat(1)
      .out(null)
      .quiet()
    const digests = (done.manifest.servers ?? []).map(({ tools }) => tools)
    assert.equal(new Set(digests).size, 2)
  })

  it('says null of a server that could not be asked, and the trials say why', async () => {
    const [test] = await cases.parse(caseOf('{ stdio: { command: no-such-program-here } }'))
    const done = await run(test as harness.Case).out(null)
    assert.deepEqual(done.manifest.servers, [
      { case: 'mine/one', name: 'server', info: null, tools: null },
    ])
    assert.equal(done.trials[0]?.error?.code, 'server_unreachable')
  })
})

describe('a baseline', () => {
  const manifest = (change: object): Manifest =>
    ({
      versions: { touchstone: '1.0', '@ai-sdk/groq': '4.0.1' },
      servers: [{ case: 'c', name: 's', info: { name: 'files', version: '1' }, tools: 'sha256:a' }],
      ...change,
    }) as never

  it('against other packages, another server or another list of tools says so', () => {
    const server = (version: string, tools: string) => ({
      case: 'c',
      name: 's',
      info: { name: 'files', version },
      tools,
    })
    assert.deepEqual(
      versionsApart(
        manifest({}),
        manifest({
          versions: { touchstone: '1.0', '@ai-sdk/groq': '4.0.2' },
          servers: [server('2', 'sha256:b')],
        }),
      ),
      [
        '@ai-sdk/groq was 4.0.1, is 4.0.2',
        'server s was files 1, is files 2',
        'other tools are listed by 1 server: s in c',
      ],
    )
    assert.deepEqual(versionsApart(manifest({}), manifest({})), [])
    // What is not known is not said to differ.
    assert.deepEqual(versionsApart(manifest({ servers: undefined }), manifest({})), [])
  })

  it('prints it beside the verdict', async () => {
    const test = (await cases.load('cases/lying_success/deploy-key.yaml')) as harness.Case[]
    const plan = harness.run(test).config('a', { model: 'sim/perfect' }).repeat(2).quiet()
    const before = await plan.out(join(made, 'before'))
    const now = await plan.out(join(made, 'now'))
    Object.assign(before.manifest.versions, { ai: '6.0.0' })
    const baseline = harness.against(now, before)
    assert.match(baseline[0]?.differs[0] ?? '', /^ai was 6\.0\.0, is /)
    assert.match(
      heldLines({ gates: [], baseline }).join('\n'),
      /\n {2}not the same as then: ai was 6\.0\.0, is /,
    )
    assert.match(
      harness.stepSummary(now, { gates: [], baseline }),
      /- not the same as in the baseline: ai was 6\.0\.0/,
    )
  })
})

describe('the versions of a run', () => {
  it('name version 2 of the MCP SDK where an agent that is not ours may speak to it, and else not', async () => {
    const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
    const of = async (configuration: harness.Configuration) => {
      const run = await harness
        .run(test as harness.Case)
        .config('a', configuration)
        .repeat(1)
        .out(null)
        .quiet()
      return Object.keys(run.manifest.versions).filter((name) =>
        name.startsWith('@modelcontextprotocol/'),
      )
    }
    assert.deepEqual(await of({ model: 'sim/perfect' }), ['@modelcontextprotocol/sdk'])
    assert.deepEqual(await of({ agent: () => 'Nothing.' }), [
      '@modelcontextprotocol/sdk',
      '@modelcontextprotocol/server',
    ])
  })
})
