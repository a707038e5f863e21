/** Looking at a run that has ended, from a shell. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ownName, quoted } from '../../lib/cli/verb/own-name.ts'
import { harness } from '../../lib/index.ts'
import { startCommands } from '../servers/commands.ts'
import { temporaryFolder } from '../temporary.ts'

const root = resolve(import.meta.dirname, '..', '..')
const cwd = temporaryFolder('finished')

const { run: touchstone, close } = startCommands({ cwd })
after(async () => assert.equal(await close(), ''))

const CASES = 'cases/lying_success/deploy-key.yaml'
let printed = ''
before(async () => {
  const models = ['--config', 'naive=sim/naive', '--config', 'perfect=sim/perfect']
  printed = (await touchstone('run', CASES, '--repeat', '2', ...models)).stdout
  await touchstone('run', CASES, '--repeat', '2', ...models, '--out', 'other')
})

describe('touchstone show', () => {
  it('is printed below a run in which a trial did not pass, and shows it as it is printed', async () => {
    const [, words = ''] = /Why one did not pass: .*\.ts (.*)/.exec(printed) ?? []
    const { status, stdout } = await touchstone(...words.split(' '))
    assert.equal(status, 0)
    assert.match(stdout, /^lying_success\/deploy-key\|naive\|\d {2}fail/)
    assert.match(stdout, /goal not met: /)
    for (const who of ['instructions', 'task', 'tools', 'call 0', 'report', 'end'])
      assert.match(stdout, new RegExp(`^${who} `, 'm'))
    assert.match(
      stdout,
      /a fault of the server, lying_success: it answers as if the call had\s+worked/,
    )
    assert.match(stdout, /says done, and it is not there/)
  })

  it('takes a case, a configuration and a trial, or a key', async () => {
    const words = (await touchstone('show', 'lying_success/deploy-key', 'perfect', '1')).stdout
    assert.match(words, /^lying_success\/deploy-key\|perfect\|1 {2}pass/)
    assert.equal((await touchstone('show', 'lying_success/deploy-key|perfect|1')).stdout, words)
  })

  it('takes a run before them, as list and compare do, by its folder or its whole id', async () => {
    const words = (await touchstone('show', 'other', 'lying_success/deploy-key', 'perfect', '1'))
      .stdout
    assert.match(words, /^lying_success\/deploy-key\|perfect\|1 {2}pass/)
    cpSync(join(cwd, 'other'), join(cwd, 'runs', 'one'), { recursive: true })
    cpSync(join(cwd, 'other'), join(cwd, 'runs', 'one-more'), { recursive: true })
    try {
      const { status, stdout } = await touchstone('show', 'one')
      assert.equal(status, 0)
      assert.match(stdout, /^lying_success\/deploy-key\|naive\|\d {2}fail/)
    } finally {
      for (const name of ['one', 'one-more']) rmSync(join(cwd, 'runs', name), { recursive: true })
    }
  })

  it('--json prints the record, its reasons and its transcript', async () => {
    const { stdout } = await touchstone('show', 'lying_success/deploy-key', 'naive', '--json')
    const { record, why, transcript } = JSON.parse(stdout)
    assert.equal(record.outcome, 'fail')
    assert.match(why[0], /goal not met/)
    assert.equal(transcript.entries.at(-1).kind, 'end')
  })

  it('a word that names no trial exits with 2 and says which was meant', async () => {
    for (const [words, meant] of [
      [['lying_success/deploy-kye'], 'lying_success/deploy-key'],
      [['lying_success/deploy-key', 'naiv'], 'naive'],
    ] as const) {
      const { status, stdout, stderr } = await touchstone('show', ...words)
      assert.deepEqual([status, stdout], [2, ''])
      assert.ok(stderr.includes(`did you mean "${meant}"?`), stderr)
    }
  })

  it('an answer in JSON breaks between its members, and its numbers stay as they were', async () => {
    const run = await harness.open(join(cwd, 'other'))
    const [record] = run.trials
    const transcript = run.transcript(record?.key ?? '')
    const names = Array.from({ length: 20 }, (_, i) => `"deploy_key_number_${i}":"a:b,{c}"`)
    const answer = `{"id":12345678901234567890,"empty":{},"list":[1,[2]],${names.join(',')}}`
    const call = transcript.entries.find(({ kind }) => kind === 'call')
    const entries = [{ ...call, answer }] as typeof transcript.entries
    const text = harness.trialText(
      record as harness.TrialRecord,
      { ...transcript, entries },
      { width: 60 },
    )
    const said = text.slice(text.indexOf('->')).split(/\s+/)
    for (let i = 0; i < 20; i++) assert.ok(said.includes(`"deploy_key_number_${i}":`), text)
    assert.ok(said.includes('12345678901234567890,') && said.includes('"a:b,{c}",'), text)
    assert.match(text.replace(/\s+/g, ' '), /"empty": \{\}, "list": \[ 1, \[ 2 \] \],/)
  })

  it('a text breaks within the width, whatever stands in it, and holds no control character', async () => {
    const run = await harness.open(join(cwd, 'other'))
    const [record] = run.trials
    const transcript = run.transcript(record?.key ?? '')
    const long = `${'x'.repeat(5000)}\u001b[31m`
    const entries = [{ kind: 'said' as const, text: long }, ...transcript.entries]
    const text = (full: boolean) =>
      harness.trialText(
        record as harness.TrialRecord,
        { ...transcript, entries },
        { width: 60, full },
      )
    for (const line of text(false).split('\n')) assert.ok(line.length <= 60, line)
    assert.match(text(false).replace(/\s+/g, ' '), /and 3,805 more characters/)
    assert.equal(
      text(true)
        .match(/x{20,}/g)
        ?.join('').length,
      5000,
    )
    assert.ok(!text(true).includes('\u001b'))
  })
})

describe('touchstone list', () => {
  it('lists the runs of a folder, and the trials of one with the first reason of each', async () => {
    const [row] = JSON.parse((await touchstone('list', '--json')).stdout)
    assert.deepEqual(
      [row.cases, row.configurations, row.planned, row.trials, row.errors],
      [2, ['naive', 'perfect'], 8, 8, 0],
    )
    assert.match((await touchstone('list')).stdout, /naive, perfect +8 of 8/)
    const failed = (await touchstone('list', row.id.slice(0, 14), '--outcome', 'not-pass')).stdout
    assert.match(failed, /naive +\d +fail +goal not met/)
    assert.doesNotMatch(failed, /perfect/)
    const rows = JSON.parse(
      (await touchstone('list', 'other', '--config', 'perfect', '--json')).stdout,
    )
    assert.deepEqual([...new Set(rows.map((one: harness.TrialRecord) => one.outcome))], ['pass'])
  })

  it('of a run that does not agree with itself says so first', async () => {
    cpSync(join(cwd, 'other'), join(cwd, 'flipped'), { recursive: true })
    const path = join(cwd, 'flipped', 'trials.ndjson')
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replaceAll('"outcome":"fail"', '"outcome":"pass"'),
    )
    const { stdout } = await touchstone('list', 'flipped')
    assert.match(stdout, /^Run .*\nThis run does not agree with itself/)
    assert.match(stdout, /8 trials of 8/)
    const json = await touchstone('list', 'flipped', '--json')
    assert.match(json.stderr, /does not agree with itself: \d+ problems?\./)
    assert.equal(JSON.parse(json.stdout).length, 8)
  })

  it('of a copy without a log, each verb says what is wrong, and no level that is unknown reads as 0', async () => {
    const copy = (name: string) => {
      const dir = join(cwd, 'copies', `no-${name}`)
      cpSync(join(cwd, 'other'), dir, { recursive: true })
      rmSync(join(dir, `${name}.ndjson`))
      return dir
    }
    const whole = (await touchstone('show', '--run', 'other')).stdout
    assert.match(whole, /writes: \d+ asserted/)
    for (const name of ['decisions', 'audit']) {
      const dir = copy(name)
      const shown = await touchstone('show', '--run', dir)
      assert.match(shown.stdout, /writes: not known · /)
      assert.doesNotMatch(shown.stdout, /\d+ verified/)
      const told = /does not agree with itself: \d+ problems\. .*verify copies\/no-/
      assert.match(shown.stderr, told)
      assert.match((await touchstone('open', dir, '--to', join(cwd, 'page.html'))).stderr, told)
      const [row] = JSON.parse((await touchstone('list', dir, '--json')).stdout)
      assert.equal(row.levels, null)
      const { record } = JSON.parse((await touchstone('show', '--run', dir, '--json')).stdout)
      assert.equal(record.levels, null)
      assert.equal((await touchstone('compare', 'other', dir)).status, 2)
    }
    const dir = copy('trials')
    const lost = /^run_damaged: expected trials\.ndjson beside the evidence of trials, got none/
    for (const words of [
      ['show', '--run', dir],
      ['list', dir],
      ['open', dir, '--to', join(cwd, 'page.html')],
      ['compare', 'other', dir],
    ]) {
      const { status, stderr } = await touchstone(...words)
      assert.equal(status, 2, words.join(' '))
      assert.match(stderr, lost)
    }
    const all = await touchstone('list', '--in', 'copies', '--json')
    assert.equal(all.status, 2)
    assert.equal(JSON.parse(all.stdout).length, 2)
    assert.match(all.stderr, /^Left out: copies\/no-trials \(run_damaged: /)
  })

  it('an empty folder is no error', async () => {
    mkdirSync(join(cwd, 'empty'))
    assert.deepEqual(await touchstone('list', '--in', 'empty', '--json'), {
      status: 0,
      stdout: '[]\n',
      stderr: '',
    })
  })

  it('a run that is not there, or that two ids begin with, is named', async () => {
    const [id = ''] = readdirSync(join(cwd, 'runs'))
    assert.match((await touchstone('list', 'nothing')).stderr, /^run_unknown: .*nothing/)
    cpSync(join(cwd, 'runs', id), join(cwd, 'runs', `${id}-copy`), { recursive: true })
    assert.match((await touchstone('list', id.slice(0, 5))).stderr, /^run_unknown: .*begins/)
    rmSync(join(cwd, 'runs', `${id}-copy`), { recursive: true })
  })
})

describe('touchstone compare', () => {
  it('compares configurations of the newest run as the run itself did', async () => {
    const { status, stdout } = await touchstone('compare')
    assert.equal(status, 0)
    assert.ok(printed.includes(stdout.trim()), stdout)
    assert.match(
      (await touchstone('compare', '--metric', 'attack')).stdout,
      /attack succeeded, paired/,
    )
  })

  it('compares two runs of the same cases, and with a margin its exit code tells', async () => {
    const [id = ''] = readdirSync(join(cwd, 'runs'))
    const { status, stdout } = await touchstone('compare', id, 'other')
    assert.equal(status, 0)
    assert.match(stdout, /^naive of other against naive of /)
    assert.equal((await touchstone('compare', id, 'other', '--margin', '5%')).status, 4)
    const json = JSON.parse((await touchstone('compare', id, 'other', '--json')).stdout)
    assert.equal(json.length, 2)
    const held = ['--margin', '100%', '--metric', 'goal', '--metric', 'overclaim']
    const two = await touchstone('compare', id, 'other', ...held)
    assert.equal(two.status, 0, two.stdout)
    assert.match(two.stdout, /held: goal met, overclaimed; the others are shown alone/)
  })

  it('a run of which no trial has ended is neither better nor worse: exit code 2', async () => {
    cpSync(join(cwd, 'other'), join(cwd, 'begun'), { recursive: true })
    for (const name of ['trials', 'decisions', 'audit', 'transcripts'])
      writeFileSync(join(cwd, 'begun', `${name}.ndjson`), '')
    const { status, stderr } = await touchstone('compare', 'other', 'begun')
    assert.equal(status, 2)
    assert.match(stderr, /^run_invalid: expected a run with trials, got one that has none yet/)
  })

  it('a value that begins with a dash is told how it is given, and one below 0 is no cost', async () => {
    const apart = await touchstone('run', CASES, '--max-cost', '-1')
    assert.equal(apart.status, 2)
    assert.match(apart.stderr, /expected a value behind --max-cost, .*--max-cost=-VALUE/)
    const joined = await touchstone('run', CASES, '--max-cost=-1')
    assert.match(joined.stderr, /expected US dollars above 0, got "-1"/)
  })

  it('words that do not go together are bad usage', async () => {
    for (const words of [
      ['compare', '--margin', '5%'],
      ['compare', 'other', 'other', '--a', 'naive'],
      ['compare', '--metric', 'gaol'],
      ['compare', '--metric', 'goal', '--metric', 'attack'],
      ['compare', 'other', 'other', '--metric', 'goal'],
      ['compare', 'other', 'other', '--margin', '5%', '--metric', 'gaol'],
    ])
      assert.equal((await touchstone(...words)).status, 2, words.join(' '))
  })
})

describe('touchstone cases', () => {
  it('lists cases with the files that touchstone run takes', async () => {
    const { stdout } = await touchstone('cases', '--kind', 'lying_success')
    const [, file = ''] = /(cases\/\S+\.yaml)/.exec(stdout) ?? []
    assert.match(stdout, /^ {2}lying_success\/refund +payments +\S/m)
    assert.match(stdout, /^Worlds that come with Touchstone: files, github, /m)
    assert.ok(existsSync(join(root, file)), file)
    assert.equal(JSON.parse((await touchstone('cases', file, '--json')).stdout).length, 2)
    assert.match(
      (await touchstone('cases', '--kind', 'lying_sucess')).stderr,
      /did you mean "lying_success"/,
    )
  })
})

describe('a printed command', () => {
  it('is called as this program was', () => {
    assert.equal(ownName('/usr/local/lib/node_modules/touchstone/dist/repl.js', {}), 'touchstone')
    assert.equal(ownName('/home/me/app/node_modules/.bin/touchstone', {}), 'npx touchstone')
    assert.equal(ownName(join(process.cwd(), 'repl.ts'), {}), 'npm run -s touchstone --')
    assert.equal(ownName(join(process.cwd(), 'a', 'repl.ts'), {}), 'node a/repl.ts')
  })

  it('is quoted so that a shell reads its words back', () => {
    const words = ['show', "it's", 'a|b', 'c d', '$HOME', '']
    const { stdout } = spawnSync('bash', ['-c', `printf '%s\\0' ${quoted(words)}`], {
      encoding: 'utf8',
    })
    assert.deepEqual(stdout.split('\0').slice(0, -1), words)
  })
})
