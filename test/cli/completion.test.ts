/** Tab in real shells: bash, zsh and fish in a terminal of their own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as receipt from '../../lib/receipt/index.ts'
import { openTerminal, withoutTmux } from '../repl/terminal.ts'
import { type Commands, startCommands } from '../servers/commands.ts'
import { temporaryFolder } from '../temporary.ts'

const PROVIDERS = receipt.importers().map(({ name }) => name)
const root = resolve(import.meta.dirname, '..', '..')
const made = temporaryFolder('complete')
const program = join(made, 'touchstone')
const work = join(made, 'work')

let commands: Commands
async function offered(...typed: string[]): Promise<string[]> {
  const { stdout } = await commands.run('completion', 'words', '--', ...typed)
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0] as string)
}
after(async () => assert.equal(await commands.close(), ''))

before(() => {
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'repl.ts')}" "$@"\n`)
  chmodSync(program, 0o755)
  mkdirSync(work)
  commands = startCommands({ cwd: work })
  spawnSync(
    program,
    ['run', 'cases/lying_success/deploy-key.yaml', '--repeat', '2', '--config', 'naive=sim/naive'],
    { cwd: work },
  )
})

describe('what is offered', () => {
  for (const [typed, words] of [
    [['sho'], ['show']],
    [
      ['show', ''],
      ['lying_success/deploy-key', 'lying_success/deploy-key.benign'],
    ],
    [['show', 'lying_success/deploy-key', ''], ['naive']],
    [
      ['show', 'lying_success/deploy-key', '--full', 'naive', ''],
      ['0', '1'],
    ],
    [['show', '--fu'], ['--full']],
    [['compare', '--metric', 'g'], ['goal']],
    [['verify', 'x', '--min-level', 'v'], ['verified']],
    [['audit', ''], ['import']],
    [['audit', 'import', ''], PROVIDERS],
    [
      ['audit', 'import', 'git'],
      ['github', 'gitlab'],
    ],
    [['verify', 'x', '--provider', ''], PROVIDERS],
    [['scenarios', 'show', 'mcp-connection@'], ['mcp-connection@1.0']],
    [['completion', 'b'], ['bash']],
    [
      ['help', 'comp'],
      ['compare', 'completion'],
    ],
    [['cases', '--kind', 'lying'], ['lying_success']],
    // Where files fit, the shell offers them.
    [['run', 'ca'], []],
    [['run', '--config', ''], []],
    [['probe', '--', '--x'], []],
    [['nothing', ''], []],
  ] as const)
    it(`behind ${typed.join(' ')}`, async () => assert.deepEqual(await offered(...typed), words))

  it('no option twice, unless it may be given again', async () => {
    assert.ok(!(await offered('run', '--quiet', '--')).includes('--quiet'))
    assert.ok((await offered('run', '--config', 'a=sim/naive', '--')).includes('--config'))
  })

  it('nothing and no error in a folder without runs', () => {
    const { status, stdout, stderr } = spawnSync(
      program,
      ['completion', 'words', '--', 'show', ''],
      {
        cwd: made,
        encoding: 'utf8',
      },
    )
    assert.deepEqual([status, stdout, stderr], [0, '', ''])
  })
})

const SHELLS = {
  bash: { start: 'bash --norc --noprofile', load: 'source <(touchstone completion bash)' },
  zsh: { start: 'zsh -f', load: 'source <(touchstone completion zsh)' },
  fish: { start: 'fish --no-config', load: 'touchstone completion fish | source' },
}

describe('a shell completes with Tab', { skip: withoutTmux() }, () => {
  for (const [name, { start, load }] of Object.entries(SHELLS)) {
    const none = spawnSync(name, ['-c', 'true']).error ? `${name} is not installed` : false
    it(name, { skip: none }, async () => {
      const terminal = openTerminal(
        `cd ${work}; HOME=${made} TMPDIR=${made} PATH=${made}:$PATH PS1='$ ' exec ${start}`,
      )
      try {
        terminal.enter(`${load}; echo rea''dy`)
        await terminal.shows(/^ready/m)
        terminal.type('touchstone sho')
        terminal.press('Tab')
        await terminal.shows(/touchstone show\s*$/)
        terminal.type('lying_success/deploy-key.b')
        terminal.press('Tab')
        await terminal.shows(/touchstone show lying_success\/deploy-key\.benign\s*$/)
        terminal.type('--fu')
        terminal.press('Tab')
        await terminal.shows(/deploy-key\.benign --full\s*$/)
        terminal.press('Enter')
        await terminal.shows(/lying_success\/deploy-key\.benign\|naive\|\d {2}\w+/)
      } finally {
        terminal.close()
      }
    })
  }
})
