/** Folders that somebody wrote by hand: numbers and lines that no run leaves. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { cases, harness } from '../../lib/index.ts'
import { absentIn, columnsOf, type Manifest, transcriptOf } from '../../lib/log/index.ts'
import { startCommands } from '../servers/commands.ts'
import { temporaryFolder } from '../temporary.ts'

const made = temporaryFolder('hostile')
const whole = await harness
  .run(await cases.load('cases/lying_success'))
  .config('naive', { model: 'sim/naive' })
  .repeat(2)
  .out(join(made, 'whole'))
  .quiet()

function copy(name: string): string {
  const dir = join(made, name)
  cpSync(whole.dir, dir, { recursive: true })
  return dir
}

function ofRepeats(repeats: number): Manifest {
  const { manifest } = whole
  const planned = manifest.cases.length * manifest.configurations.length * repeats
  return { ...manifest, repeats, planned }
}

const commands = startCommands({ cwd: process.cwd() })
after(async () => assert.equal(await commands.close(), ''))

describe('a file of a run that is no plain file', () => {
  for (const name of ['manifest.json', 'transcripts.ndjson', 'trials.ndjson', 'run.lock']) {
    it(`keeps nobody waiting: ${name} as a pipe`, { timeout: 60_000 }, async () => {
      const dir = copy(`pipe-${name}/run`)
      rmSync(join(dir, name), { force: true })
      execFileSync('mkfifo', [join(dir, name)])
      for (const words of [
        ['list', dir],
        ['list', '--in', join(dir, '..')],
        ['show', '--run', dir],
        ['open', dir],
        ['compare', dir],
        ['run', 'cases/lying_success', '--config', 'naive=sim/naive', '--resume', dir],
      ]) {
        const { status, stderr } = await commands.run(...words)
        assert.notEqual(status, 0, words[0])
        assert.match(stderr, /expected a plain file, got a pipe/, words[0])
      }
    })

    it(`is refused, also where what it leads to is the run's: ${name} as a link or a folder`, async () => {
      const dir = copy(`odd-${name}`)
      const refused = (got: string) =>
        assert.rejects(harness.open(dir), {
          code: 'run_invalid',
          message: new RegExp(`expected a plain file, got ${got}`),
        })
      rmSync(join(dir, name), { force: true })
      symlinkSync(join(whole.dir, name), join(dir, name))
      await refused('a link')
      rmSync(join(dir, name))
      mkdirSync(join(dir, name))
      await refused('a folder')
    })
  }
})

describe('repeats that a manifest states', () => {
  it('are at most 1,000,000', async () => {
    for (const [repeats, fine] of [
      [1_000_000, true],
      [1_000_001, false],
      [2 ** 40, false],
    ] as const) {
      const dir = copy(`repeats-${repeats}`)
      writeFileSync(join(dir, 'manifest.json'), JSON.stringify(ofRepeats(repeats)))
      if (fine) assert.equal((await harness.open(dir)).manifest.repeats, repeats)
      else
        await assert.rejects(harness.open(dir), {
          code: 'run_invalid',
          message: /expected repeats to be <= 1000000/,
        })
    }
  })

  it('list absent trials up to 100,000, and give the number of the others', () => {
    const manifest = ofRepeats(1_000_000)
    const absent = absentIn(manifest, columnsOf(manifest, whole.trials))
    assert.equal(absent.length, manifest.cases.length)
    assert.equal(absent[0]?.trials[0], 2)
    const listed = absent.reduce((sum, { trials }) => sum + trials.length, 0)
    const more = absent.reduce((sum, one) => sum + (one.more ?? 0), 0)
    assert.equal(listed, 100_000)
    assert.equal(listed + more, manifest.planned - whole.trials.length)
  })

  it('are told absent where unplanned trials make up the number', () => {
    const [first, ...others] = whole.trials
    assert.ok(first)
    const stray = { ...first, key: `${first.case}|naive|7`, trial: 7 }
    assert.deepEqual(absentIn(whole.manifest, columnsOf(whole.manifest, [stray, ...others])), [
      { case: first.case, configuration: 'naive', trials: [first.trial] },
    ])
  })
})

describe('a transcript line of another shape', () => {
  const shapes: { [member: string]: unknown } = {
    calls: 7,
    order: [7],
    said: 'hello',
    tools: [null],
    malformed: {},
    summary: { text: 'x' },
    task: [],
    end: 1,
  }
  for (const [member, value] of Object.entries(shapes))
    it(`${member}: run_damaged, with the line`, async () => {
      const dir = copy(`shape-${member}`)
      const path = join(dir, 'transcripts.ndjson')
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
      const changed = { ...JSON.parse(lines[1] as string), [member]: value }
      lines[1] = JSON.stringify(changed)
      writeFileSync(path, `${lines.join('\n')}\n`)
      const run = await harness.open(dir)
      assert.throws(() => run.transcript(changed.key), {
        code: 'run_damaged',
        message: new RegExp(`got ${member} of another shape`),
        where: `${path}:2`,
      })
    })

  it('what a run writes is read', () => {
    for (const { key } of whole.trials) assert.ok(whole.transcript(key).entries.length > 0)
    assert.deepEqual(transcriptOf({ key: 'k', attempt: 0, calls: [] }).entries, [])
  })
})
