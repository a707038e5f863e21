/** Case files are programs: what a stranger's case would do is listed, and asked about once. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { requireTrusted } from '../../lib/cli/verb/trust.ts'
import { powersOf } from '../../lib/harness/case/powers.ts'
import { cases } from '../../lib/index.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '../..')
const made = temporaryFolder('trust')
const kept = process.env['XDG_DATA_HOME']
before(() => {
  process.env['XDG_DATA_HOME'] = join(made, 'data')
})
after(() => {
  if (kept === undefined) delete process.env['XDG_DATA_HOME']
  else process.env['XDG_DATA_HOME'] = kept
})

const caseOf = (server: string, id = 'mine/one') => `id: ${id}
title: t
kind: k
${server}
task: do it
solution: [{ call: list_files, with: { folder: / } }]
goal: [{ called: list_files }]
`
/** How the judge sees what a call did. */
const EFFECTS = 'effects: { list_files: { call: list_files, shows: {} } }'
const MARK = join(made, 'was-run')
const COMMAND = caseOf(`server: { stdio: { command: touch, args: ["${MARK}"] }, ${EFFECTS} }`)
const ADDRESS = caseOf(
  `server: { http: { url: "https://mcp.example.com/mcp", headers: { authorization: "Bearer $MY_KEY" } }, ${EFFECTS} }`,
  'mine/two',
)

describe('what a case does by itself', () => {
  it('is its commands, addresses and variables, in order', async () => {
    const [one] = await cases.parse(COMMAND)
    const [two] = await cases.parse(ADDRESS)
    assert.deepEqual(powersOf(one!), [{ kind: 'command', text: `touch ${MARK}` }])
    assert.deepEqual(powersOf(two!), [
      { kind: 'address', text: 'https://mcp.example.com/mcp' },
      { kind: 'variable', text: 'MY_KEY' },
    ])
  })

  it('is nothing for the data of a simulated world, whatever its columns are named', async () => {
    const [one] = await cases.parse(`id: mine/data
title: t
kind: k
server: { world: files, state: { files: [{ path: /a, text: "$HOME command: rm" }] } }
task: $HOME
solution: [{ call: list_files, with: { folder: / } }]
goal: [{ table: files, where: { path: /b }, count: 0 }]
`)
    assert.deepEqual(powersOf(one!), [])
  })
})

describe('consent', () => {
  it('shipped cases need none', async () => {
    const shipped = await cases.load('cases/real_servers')
    assert.ok(shipped.some((test) => powersOf(test).length > 0))
    await requireTrusted(shipped, { trust: false, ask: null })
  })

  it('is asked for once, by the digest of the case', async () => {
    const loaded = await cases.parse(COMMAND)
    const asked: string[] = []
    const answering = (answer: string) => ({
      trust: false,
      ask: async (question: string) => {
        asked.push(question)
        return answer
      },
    })
    await assert.rejects(requireTrusted(loaded, answering('n')), { code: 'case_untrusted' })
    await requireTrusted(loaded, answering('y'))
    await requireTrusted(loaded, { trust: false, ask: null })
    assert.equal(asked.length, 2)
    assert.match(asked[0] as string, /mine\/one\n {4}starts touch/)
    const changed = await cases.parse(COMMAND.replace('title: t', 'title: u'))
    await assert.rejects(requireTrusted(changed, { trust: false, ask: null }), {
      code: 'case_untrusted',
    })
  })

  it('off a terminal it is --trust; without it the command is not started, and what it was is said', () => {
    const file = join(made, 'stranger.yaml')
    writeFileSync(file, COMMAND.replace('mine/one', 'mine/stranger'))
    const run = (...more: string[]) =>
      spawnSync(
        process.execPath,
        ['repl.ts', 'run', file, '--repeat', '1', '--out', join(made, 'out'), ...more],
        { cwd: root, encoding: 'utf8', input: 'y\n' },
      )
    const refused = run('--config', 'a=sim/naive')
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /^case_untrusted: expected --trust[\s\S]*starts touch .*was-run/)
    assert.ok(!existsSync(MARK))
    run('--config', 'a=sim/naive', '--trust')
    assert.ok(existsSync(MARK))
  })
})
