/** `--agent`: one line is enough to test a program, and a build is not held to a stand-in that nobody named. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { run } from '../../lib/cli/run.ts'
import { planned } from '../../lib/cli/run-plan.ts'
import { agentConfiguration, wordsOf } from '../../lib/cli/verb/run-agent.ts'
import { readWords } from '../../lib/cli/verb/verb.ts'
import type { harness } from '../../lib/index.ts'
import { temporaryFolder } from '../temporary.ts'

const made = temporaryFolder('cli')
const KEYS = resolve(import.meta.dirname, '../../cases/lying_success/deploy-key.yaml')
const words = (...args: string[]) => readWords('run', run, args)

describe('the words of a command line', () => {
  for (const [text, expected] of [
    [
      'my-agent --mcp-config {mcp_config} {task}',
      ['my-agent', '--mcp-config', '{mcp_config}', '{task}'],
    ],
    [`sh -c 'echo "$1"' x`, ['sh', '-c', 'echo "$1"', 'x']],
    ['a "b \\"c\\" d" e\\ f \'\'', ['a', 'b "c" d', 'e f', '']],
    ['  a\n b ', ['a', 'b']],
    ['a"b"c', ['abc']],
  ] as const) {
    it(JSON.stringify(text), () => assert.deepEqual(wordsOf(text, 'x'), expected))
  }

  it('a quote that is not closed: usage', () =>
    assert.throws(() => wordsOf('a "b', 'x'), { code: 'usage' }))
})

describe('--agent', () => {
  const read = (text: string) => {
    const { name, configuration } = agentConfiguration(text)
    return [name, (configuration.agent as harness.Agent).how]
  }

  it('is a program by its words, or a service by its URL, under a name that may be given', () => {
    assert.deepEqual(read('./bin/my-agent {task}'), [
      'my-agent',
      { kind: 'command', options: { command: './bin/my-agent', args: ['{task}'] } },
    ])
    assert.deepEqual(read('mine=my-agent -x {task}'), [
      'mine',
      { kind: 'command', options: { command: 'my-agent', args: ['-x', '{task}'] } },
    ])
    assert.deepEqual(read('far=http://127.0.0.1:8000/run'), [
      'far',
      { kind: 'http', options: { url: 'http://127.0.0.1:8000/run' } },
    ])
  })

  it('is a known agent by its name, with more words for its command line', () => {
    const [name, how] = read('opus=claude-code --model opus') as [string, harness.Agent['how']]
    assert.equal(name, 'opus')
    assert.ok(how.kind === 'command')
    assert.deepEqual(how.options.args?.slice(-2), ['--model', 'opus'])
    assert.equal(read('codex')[0], 'codex')
    // Whoever fills in words calls the program as it is.
    assert.deepEqual(read('codex exec {task}')[1], {
      kind: 'command',
      options: { command: 'codex', args: ['exec', '{task}'] },
    })
    assert.throws(() => agentConfiguration('claude -p'), /Known by their names: claude-code, /)
  })

  for (const [text, name] of [
    ['python3 my.py {task}', 'my'],
    ['python3.12 -m own.agent {task}', 'own'],
    ['node --import tsx src/agent.ts {task}', 'agent'],
    ['npx -y @acme/helper@2 {task}', 'helper'],
    ['uv run bin/one.py {task}', 'one'],
    ['sh -c true {task}', 'sh'],
    ['docker run image {task}', 'docker'],
  ])
    it(`${text}: without a name it is called ${name}`, () =>
      assert.equal(read(text as string)[0], name))

  it('without a command: usage', () =>
    assert.throws(() => agentConfiguration(' '), { code: 'usage' }))

  it('may be stated, as each configuration of a file, to come out of no cache', async () => {
    const file = join(made, 'uncached.yaml')
    writeFileSync(file, 'a: { model: sim/naive }\nb: { agent: { url: "http://127.0.0.1:1" } }\n')
    const stated = async (...more: string[]) => {
      const { plan } = await planned(words(KEYS, '--config', file, '--agent', 'my {task}', ...more))
      return plan.plan.configurations.map(({ configuration }) => configuration.cached)
    }
    assert.deepEqual(await stated('--uncached'), [false, false, false])
    assert.deepEqual(await stated(), [undefined, undefined, undefined])
    writeFileSync(file, 'a: { model: sim/naive, cached: false }\n')
    assert.deepEqual(await stated(), [false, undefined])
  })

  it('stands beside configurations of a file, which may be agents too', async () => {
    const file = join(made, 'agents.yaml')
    writeFileSync(file, 'mine: { agent: { command: "true", args: ["{task}"], output: result } }\n')
    const { plan } = await planned(words(KEYS, '--config', file, '--agent', 'sh -c true {task}'))
    assert.deepEqual(
      plan.plan.configurations.map(({ name }) => name),
      ['mine', 'sh'],
    )
    const forecast = await plan.forecast()
    assert.deepEqual(
      forecast.rows.map(({ model }) => model),
      ['agent/mine', 'agent/sh'],
    )
  })

  it('runs the program against the cases', async () => {
    const { plan } = await planned(
      words(KEYS, '--agent', 'sh -c "echo I did nothing." {task}', '--repeat', '1', '--quiet'),
    )
    const done = await plan.out(null)
    assert.deepEqual(
      done.trials.map((row) => done.transcript(row.key)['said']),
      [['I did nothing.'], ['I did nothing.']],
    )
  })
})

describe('a build is held to what was named', () => {
  for (const [option, value] of [
    ['--gate', 'goal>=0.9'],
    ['--junit', 'x.xml'],
    ['--sarif', 'x.json'],
    ['--baseline', 'runs/x'],
  ] as const) {
    it(`${option} without --config or --agent: usage`, async () => {
      await assert.rejects(run.run(words(KEYS, option, value), new AbortController().signal), {
        code: 'usage',
        message: new RegExp(`^expected --config or --agent beside ${option}, got none`),
      })
    })
  }
})
