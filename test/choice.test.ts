import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { amongText, gotWord, nearest } from '../lib/choice.ts'
import { cases, harness, receipt, scenarios } from '../lib/index.ts'
import fc from './property.ts'
import { startCommands } from './servers/commands.ts'

const WORDS = ['run', 'probe', 'verify', 'scenarios', 'notebook']

describe('what was probably meant', () => {
  for (const [typed, meant] of [
    ['rnu', 'run'],
    ['RUN', 'run'],
    ['verfy', 'verify'],
    ['notbook', 'notebook'],
    ['scen', 'scenarios'],
    ['v', 'verify'],
    ['', null],
    ['xyz', null],
    ['rxx', null],
    ['probes and more', null],
  ] as const)
    it(`of "${typed}" is ${meant}`, () => assert.equal(nearest(typed, WORDS), meant))

  it('is one of the words, whatever was typed, and a word itself for that word', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), (typed) => {
        const meant = nearest(typed, WORDS)
        assert.ok(meant === null || WORDS.includes(meant))
      }),
    )
    for (const word of WORDS) assert.equal(nearest(word, WORDS), word)
  })

  it('is a word with one letter changed, left out, added or swapped with its neighbour', () => {
    const edited = fc
      .record({ word: fc.constantFrom(...WORDS), at: fc.nat(20), how: fc.nat(3) })
      .map(({ word, at, how }) => {
        const i = at % (word.length - 1)
        const [head, tail] = [word.slice(0, i), word.slice(i)]
        const made = [
          `${head}#${tail.slice(1)}`,
          head + tail.slice(1),
          `${head}#${tail}`,
          head + (tail[1] ?? '') + (tail[0] ?? '') + tail.slice(2),
        ]
        return { word, typed: made[how] as string }
      })
    fc.assert(fc.property(edited, ({ word, typed }) => assert.equal(nearest(typed, WORDS), word)))
  })

  it('is said only where there is one', () => {
    assert.equal(gotWord('rnu', WORDS), 'got "rnu"; did you mean "run"?')
    assert.equal(gotWord('xyz', WORDS), 'got "xyz"')
    assert.equal(gotWord(undefined, WORDS), 'got undefined')
  })

  it('stands before the list of the others', () => {
    const known = ['run', 'probe', 'list']
    assert.equal(
      amongText('a verb', 'rnu', known),
      'expected a verb, got "rnu"; did you mean "run"? Others are probe, list',
    )
    assert.equal(
      amongText('a verb', 'rnu', ['run']),
      'expected a verb, got "rnu"; did you mean "run"?',
    )
    assert.equal(amongText('a verb', 'xyz', known), 'expected a verb (run, probe, list), got "xyz"')
  })
})

describe('every word that a person types is answered with the one that was meant', () => {
  const meant = (text: string) => new RegExp(`did you mean "?${text.replaceAll('|', '\\|')}"?\\?`)
  const as = <T>(value: unknown) => value as T
  it('a fault, an option of a fault, a world', async () => {
    const github = harness.server('github')
    assert.throws(
      () => github.fault('add_deploy_key', as<'lying_success'>('lying_sucess')),
      meant('lying_success'),
    )
    assert.throws(
      () => github.fault('add_deploy_key', 'hang', as<{ times: number }>({ tims: 1 })),
      meant('times'),
    )
    await assert.rejects(harness.server('githbu').start(), meant('github'))
  })

  it('a metric of a gate, a set, a provider of exports', () => {
    assert.throws(() => harness.parseGate('gaol>=90%'), meant('goal'))
    assert.throws(() => scenarios.get('mcp-conection@1.0'), meant('mcp-connection@1.0'))
    assert.throws(() => receipt.importAudit('guthub', ''), meant('github'))
  })

  it('a member, a tool, a column and a word of a case', async () => {
    const text = `id: x
title: t
kind: benign
server: { world: github, state: { repos: [{ owner: acme, name: api }] } }
task: t
solution: [{ call: get_repo, with: { owner: acme, repo: api } }]
goal: [{ table: repos, where: { owner: acme }, count: 1 }]
`
    const wrong = (from: string, to: string) => cases.parse(text.replace(from, to))
    await assert.rejects(wrong('title:', 'titel:'), meant('title'))
    await assert.rejects(wrong('owner: acme, name: api', 'ownr: acme, name: api'), meant('owner'))
    await assert.rejects(wrong('call: get_repo', 'call: get_repos'), meant('get_repo'))
  })

  it('a model, a setting, a configuration, a chart, a key of a trial', async () => {
    const [one] = (await cases.load()).slice(0, 1)
    const plan = harness
      .run([one as harness.Case])
      .out(null)
      .quiet()
      .repeat(1)
    await assert.rejects(
      plan.config('a', { model: 'sim/naiv' }).then((run) => run),
      meant('sim/naive'),
    )
    await assert.rejects(
      plan.config('a', as<harness.Configuration>({ model: 'sim/naive', temprature: 1 })).then(),
      meant('temperature'),
    )
    const run = await plan.config('naive', { model: 'sim/naive' })
    assert.throws(() => run.compare('naive', 'naiv'), meant('naive'))
    await assert.rejects(run.plot(as<harness.PlotKind>('strp')), meant('strip'))
    assert.throws(() => run.transcript(`${run.trials[0]?.key}0`), meant(run.trials[0]?.key ?? ''))
  })

  it('a verb, an option, a word behind a verb, a command of the prompt', async () => {
    const root = join(import.meta.dirname, '..')
    const commands = startCommands({ cwd: root })
    assert.match((await commands.run('rnu')).stderr, meant('run'))
    assert.match((await commands.run('run', '--confg', 'a=b')).stderr, meant('--config'))
    assert.match(
      (await commands.run('verify', 'x', '--min-level', 'verifed')).stderr,
      meant('verified'),
    )
    assert.match(
      (await commands.run('audit', 'import', 'guthub', 'notebooks/data/github-audit.json')).stderr,
      meant('github'),
    )
    assert.equal(await commands.close(), '')
  })
})
