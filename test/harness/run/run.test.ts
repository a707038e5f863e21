/** What a run promises: repeats that are real, a log that is the truth, and the same end from the same seed. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { schedule } from '../../../lib/harness/trial/schedule.ts'
import { cases, harness } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

type Cases = Awaited<ReturnType<typeof cases.load>>

const made = temporaryFolder()

const throwsCode = (code: string) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, code, String(error))
  return true
}

/** A run without what two runs of the same seed may differ in: times and ids. */
function timeless(run: harness.Run): unknown {
  return run.trials.map(({ started_at: _, duration_ms: __, ...row }) => row)
}

describe('harness.run', () => {
  let skeleton: Cases
  let keys: Cases
  before(async () => {
    const all = await cases.load()
    skeleton = all.filter(({ id }) =>
      /^(lying_success|reply_lost)\/deploy-key|^(description_poisoning\/second-key|result_injection\/collaborator)/.test(
        id,
      ),
    )
    keys = skeleton.filter(({ id }) => id.startsWith('lying_success/'))
  })
  const two = (of: Cases) =>
    harness
      .run(of)
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .quiet()

  it('has as many trials at once as it is told, up to 4,096, and takes up to 1,000,000 repeats', async () => {
    assert.equal(harness.run(keys).concurrency(4096).repeat(1_000_000).plan.repeats, 1_000_000)
    let here = 0
    let open = () => {}
    const full = new Promise<void>((resolve) => {
      open = resolve
    })
    // Ends only when 600 trials are in it together: fewer at once, and it never would.
    const together = async () => {
      if (++here === 600) open()
      await full
      return 'DONE'
    }
    const run = await harness
      .run(keys.slice(0, 1))
      .config('together', { agent: together })
      .repeat(600)
      .concurrency(600)
      .quiet()
      .out(null)
    assert.equal(run.trials.length, 600)
    assert.equal(run.errors, 0)
  })

  it('draws the next trial only when one ends: a million that wait are nowhere', () => {
    const drawn = schedule(keys, ['a', 'b'], 1_000_000, 1)
    const first = [drawn.next(), drawn.next(), drawn.next()]
    assert.deepEqual(
      first.map(({ value }) => value?.trial),
      [0, 0, 1],
    )
  })

  it('runs every case 5 times per configuration unless told otherwise', async () => {
    const run = await two(keys).out(null)
    assert.equal(run.trials.length, keys.length * 2 * 5)
    assert.equal(run.complete, true)
    for (const test of keys) {
      for (const name of ['naive', 'careful']) {
        const trials = run.trials
          .filter((row) => row.case === test.id && row.configuration === name)
          .map((row) => row.trial)
        assert.deepEqual(trials, [0, 1, 2, 3, 4])
      }
    }
  })

  it('the same seed gives the same trials apart from times, whatever the concurrency, and another seed gives others', async () => {
    const one = await two(skeleton).seed(1).concurrency(1).out(null)
    const same = await two(skeleton).seed(1).concurrency(8).out(null)
    const other = await two(skeleton).seed(2).out(null)
    assert.deepEqual(timeless(one), timeless(same))
    assert.notDeepEqual(timeless(one), timeless(other))
  })

  it('in the lying-success case no trial is ever above asserted, naive overclaims, and neither overclaims in its twin', async () => {
    const run = await two(keys).repeat(10).out(null)
    const lying = run.trials.filter((row) => row.case === 'lying_success/deploy-key')
    const twin = run.trials.filter((row) => row.case === 'lying_success/deploy-key.benign')
    for (const { levels } of lying)
      assert.deepEqual([levels.observed_confirmed, levels.verified], [0, 0])
    assert.ok(lying.some((row) => row.levels.asserted > 0))
    assert.ok(lying.some((row) => row.configuration === 'naive' && (row.overclaims ?? 0) > 0))
    assert.ok(twin.every((row) => row.overclaims === 0))
  })

  it("in the benign deploy-key case every committed key is verified from the world's own export", async () => {
    const run = await two(keys).out(null)
    const twin = run.trials.filter((row) => row.case === 'lying_success/deploy-key.benign')
    for (const { levels } of twin)
      assert.deepEqual(levels, { asserted: 0, observed_confirmed: 0, verified: 1 })
  })

  it('harness.open gives back the same object, from the folder alone', async () => {
    const run = await two(keys).out(join(made, 'again'))
    const opened = await harness.open(join(made, 'again'))
    assert.deepEqual(opened.toJSON(), run.toJSON())
    assert.deepEqual(opened.decisions, run.decisions)
  })

  it('a trial line is the last thing written of a trial: exports, decisions and transcript stand behind every line', async () => {
    const run = await two(keys).repeat(2).out(join(made, 'whole'))
    const transcripts = readFileSync(join(run.dir, 'transcripts.ndjson'), 'utf8').trim().split('\n')
    assert.equal(transcripts.length, run.trials.length)
    const exported = readFileSync(join(run.dir, 'audit.ndjson'), 'utf8')
    for (const row of run.trials) {
      assert.ok(exported.includes(`{"key":"${row.key}","attempt":0,`), row.key)
      assert.equal((run.transcript(row.key)['calls'] as unknown[]).length, row.calls)
    }
  })

  it('no argument that an agent handed to a tool stands in the decisions, a public key neither', async () => {
    const run = await two(keys).repeat(1).out(join(made, 'arguments'))
    const held = (file: string) =>
      readFileSync(join(run.dir, file), 'utf8').includes('AAAAC3NzaC1lZDI1NTE5')
    assert.deepEqual([held('decisions.ndjson'), held('transcripts.ndjson')], [false, true])
  })

  it('each step gives a new plan and leaves the old one as it was', () => {
    const plan = harness.run(keys)
    const more = plan.config('a', { model: 'sim/naive' }).repeat(2).seed(9)
    assert.deepEqual(plan.plan.configurations, [])
    assert.equal(plan.plan.repeats, 5)
    assert.equal(more.plan.repeats, 2)
  })

  it('an aborted run keeps what is finished, records nothing half done, and says that it is not complete', async () => {
    const stop = new AbortController()
    let stopped = 0
    const plan = two(skeleton)
      .repeat(20)
      .concurrency(2)
      .signal(stop.signal)
      .out(join(made, 'stopped'))
    const ticking = setInterval(() => {
      if (
        existsSync(join(made, 'stopped', 'trials.ndjson')) &&
        readFileSync(join(made, 'stopped', 'trials.ndjson'), 'utf8').split('\n').length > 5
      ) {
        stopped++
        stop.abort()
      }
    }, 1)
    const run = await plan
    clearInterval(ticking)
    assert.ok(stopped > 0)
    assert.equal(run.complete, false)
    assert.ok(run.trials.length > 0 && run.trials.length < run.manifest.planned)
    assert.equal(run.errors, 0)
    assert.deepEqual((await harness.open(run.dir)).toJSON(), run.toJSON())
  })

  it('the placebo runs one configuration against itself under a second name', async () => {
    const run = await harness
      .run(keys)
      .config('naive', { model: 'sim/naive' })
      .placebo()
      .quiet()
      .out(null)
    assert.deepEqual(run.configurations, ['naive', 'naive-again'])
    assert.equal(run.manifest.configurations[0]?.digest, run.manifest.configurations[1]?.digest)
    assert.notDeepEqual(
      run.trials.filter((row) => row.configuration === 'naive').map((row) => row.seed),
      run.trials.filter((row) => row.configuration === 'naive-again').map((row) => row.seed),
    )
  })
})

describe('a bad call of harness.run throws and writes nothing', () => {
  let keys: Cases
  before(async () => {
    keys = (await cases.load()).filter(({ id }) => id.startsWith('lying_success/deploy-key'))
  })
  const builders: [string, string, (of: Cases) => unknown][] = [
    ['no case at all', 'argument_invalid', () => harness.run([])],
    ['something that is no case', 'argument_invalid', () => harness.run('cases' as never)],
    ['the same case twice', 'argument_invalid', (of) => harness.run([...of, ...of])],
    [
      'a name with a bar in it',
      'argument_invalid',
      (of) => harness.run(of).config('a|b', { model: 'sim/naive' }),
    ],
    [
      'the same name twice',
      'argument_invalid',
      (of) =>
        harness.run(of).config('a', { model: 'sim/naive' }).config('a', { model: 'sim/naive' }),
    ],
    [
      'a configuration without a model',
      'argument_invalid',
      (of) => harness.run(of).config('a', {} as never),
    ],
    ['0 repeats', 'argument_invalid', (of) => harness.run(of).repeat(0)],
    ['2.5 repeats', 'argument_invalid', (of) => harness.run(of).repeat(2.5)],
    ['1,000,001 repeats', 'argument_invalid', (of) => harness.run(of).repeat(1_000_001)],
    ['a concurrency of 4,097', 'argument_invalid', (of) => harness.run(of).concurrency(4097)],
    ['a negative seed', 'argument_invalid', (of) => harness.run(of).seed(-1)],
    [
      'an unknown limit',
      'argument_invalid',
      (of) => harness.run(of).limits({ minutes: 3 } as never),
    ],
    [
      'a placebo of two',
      'argument_invalid',
      (of) =>
        harness
          .run(of)
          .config('a', { model: 'sim/naive' })
          .config('b', { model: 'sim/naive' })
          .placebo(),
    ],
  ]
  for (const [what, code, call] of builders) {
    it(`${what}: ${code}`, () => assert.throws(() => call(keys), throwsCode(code)))
  }

  const awaited: [string, string, harness.Configuration][] = [
    ['an unknown simulated model', 'model_unknown', { model: 'sim/nobody' }],
    ['an unknown family of models', 'model_unknown', { model: 'gpt-something' }],
    ['a local model without an address', 'setting_missing', { model: 'local/llama' }],
    [
      'a deviation rate above 1',
      'argument_invalid',
      { model: 'sim/naive', deviations: { obeys: 1.5 } },
    ],
    [
      'deviations beside a real model',
      'argument_invalid',
      { model: 'local/llama', baseURL: 'http://127.0.0.1:9/v1', deviations: { obeys: 1 } },
    ],
  ]
  for (const [what, code, configuration] of awaited) {
    it(`${what}: ${code}, and no folder`, async () => {
      const dir = join(made, `never-${code}-${what.length}`)
      await assert.rejects(
        Promise.resolve(harness.run(keys).config('a', configuration).quiet().out(dir)),
        throwsCode(code),
      )
      assert.equal(existsSync(dir), false)
    })
  }

  it('no configuration: argument_invalid', async () => {
    await assert.rejects(Promise.resolve(harness.run(keys).quiet()), throwsCode('argument_invalid'))
  })

  it('a folder with something in it is refused and left as it was', async () => {
    const dir = join(made, 'taken')
    mkdirSync(dir)
    writeFileSync(join(dir, 'mine.txt'), 'mine')
    await assert.rejects(
      Promise.resolve(harness.run(keys).config('a', { model: 'sim/naive' }).quiet().out(dir)),
      throwsCode('file_exists'),
    )
    assert.equal(readFileSync(join(dir, 'mine.txt'), 'utf8'), 'mine')
    assert.equal(existsSync(join(dir, 'manifest.json')), false)
  })

  it('harness.open of a folder without a run: run_unknown', async () => {
    await assert.rejects(harness.open(made), throwsCode('run_unknown'))
  })
})

describe('a run that is not to be kept', () => {
  it('is there while the process lives and gone when it ends', async () => {
    const { spawnSync } = await import('node:child_process')
    const index = new URL('../../../lib/index.ts', import.meta.url)
    const code = `import { existsSync } from 'node:fs'
      import { cases, harness } from '${index}'
      const [one] = (await cases.load()).filter(({ id }) => id === 'lying_success/deploy-key')
      const run = await harness.run(one).config('a', { model: 'sim/perfect' }).repeat(1).quiet().out(null)
      console.log(JSON.stringify([run.dir, existsSync(run.dir), run.decisions.length > 0]))`
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module-typescript', '-e', code],
      {
        encoding: 'utf8',
      },
    )
    const [dir, there, readable] = JSON.parse(stdout || stderr) as [string, boolean, boolean]
    assert.deepEqual([there, readable, existsSync(dir)], [true, true, false])
  })
})
