/** Repeats that are added until it is known: when it stops, what is written down, and what it does to the numbers. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import { errorOver, heldOver } from '../../../lib/log/index.ts'
import { planProblems } from '../../../lib/receipt/recompute/run-log.ts'
import { normalQuantile, rng } from '../../../lib/stats/index.ts'
import { close } from '../../stats/known.ts'
import { temporaryFolder } from '../../temporary.ts'

const codeIs = (code: string, words: RegExp) => (error: unknown) =>
  (error as { code?: string }).code === code && words.test(String(error))

const made = temporaryFolder('until')

const all = await cases.load('cases/lying_success')
const two = (list = all) =>
  harness
    .run(list)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .quiet()

describe('run.until', () => {
  it('stops at the first look at which every configuration is told from the first', async () => {
    const run = await two().until('verdict', { most: 40 }).out(join(made, 'verdict'))
    const { looks = [], repeats, planned } = run.manifest
    assert.deepEqual([...looks.map((one) => one.repeats), repeats], [5, 8, 12])
    assert.equal(run.complete, true)
    assert.equal(run.trials.length, planned)
    const { these } = run.compare('naive', 'careful').answers
    assert.equal(these.primary.verdict, 'better')
    // At the look before it was not told, with the level that this look had.
    const before = new harness.Run({
      dir: run.dir,
      manifest: { ...run.manifest, repeats: 8, planned: 64, looks: looks.slice(0, 1) },
      trials: run.trials.filter(({ trial }) => trial < 8),
    })
    assert.equal(before.compare('naive', 'careful').answers.these.primary.verdict, 'cannot tell')
    assert.match(run.text({ width: 400 }), /looked at 5, 8, 12, of at most 40\. The error is held/)
    assert.ok(these.primary.level > 0.999)
    assert.equal((await harness.open(run.dir)).text(), run.text())
  })

  it('goes on after it was stopped, by the same looks and to the same end', async () => {
    const whole = await harness.open(join(made, 'verdict'))
    const dir = join(made, 'stopped')
    cpSync(whole.dir, dir, { recursive: true })
    const looks = whole.manifest.looks?.slice(0, 1)
    const manifest = { ...whole.manifest, repeats: 8, planned: 64, looks }
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest))
    const kept = readFileSync(join(dir, 'trials.ndjson'), 'utf8').split('\n').slice(0, 50)
    writeFileSync(join(dir, 'trials.ndjson'), `${kept.join('\n')}\n`)
    const run = await two().until('verdict', { most: 40 }).resume(dir)
    assert.deepEqual(
      run.trials.map(({ key, outcome }) => [key, outcome]),
      whole.trials.map(({ key, outcome }) => [key, outcome]),
    )
    assert.deepEqual(
      run.manifest.looks?.map(({ repeats }) => repeats),
      whole.manifest.looks?.map(({ repeats }) => repeats),
    )
  })

  it('stops where the repeats of all that is open are the same, by each rule, and says so', async () => {
    const same = harness.agent('same', async () => 'I looked into it.')
    let turn = 0
    const varies = harness.agent('varies', async () => `I looked into it, ${turn++}.`)
    for (const rule of ['verdict', { width: 0.01 }, { gates: 'goal>=60%' }] as const) {
      const of = async (b: harness.Agent) =>
        await harness
          .run(all.slice(0, 2))
          .config('a', { agent: same })
          .config('b', { agent: b })
          .repeat(2)
          .until(rule, { most: 4 })
          .out(null)
          .quiet()
      const run = await of(same)
      assert.equal(run.manifest.repeats, 2, JSON.stringify(rule))
      assert.equal(run.complete, true)
      assert.match(
        run.text({ width: 1000 }),
        /the same \(those of a, b are, so that more of them tell nothing new\): looked at 2, of at most 4\./,
      )
      if (typeof rule !== 'object' || !('gates' in rule)) {
        // More repeats of the other one could decide it.
        assert.equal((await of(varies)).manifest.repeats, 4, JSON.stringify(rule))
      }
    }
  })

  it('says of a look whose trials did not all run that it is still to come', async () => {
    const whole = await two().until({ width: 0.01 }, { most: 8 }).out(join(made, 'killed'))
    assert.match(whole.text({ width: 400 }), /looked at 5, 8\. With 8 they were all run/)
    const part = (repeats: number, kept: number, looks = whole.manifest.looks ?? []) => {
      const planned = (whole.manifest.planned / 8) * repeats
      return new harness.Run({
        dir: whole.dir,
        manifest: { ...whole.manifest, repeats, planned, looks },
        trials: whole.trials.filter(({ trial }) => trial < repeats).slice(0, kept),
      }).text({ width: 400 })
    }
    const { planned } = whole.manifest
    assert.match(
      part(8, planned - 1),
      /up to 8: looked at 5\. The look at 8 is still to come: 1 trial of it did not run\. The error/,
    )
    assert.match(part(5, 3, []), /up to 8: looked at none yet\. The look at 5 is still to come/)
    assert.doesNotMatch(part(8, planned), /still to come/)
  })

  it('stops where each interval is as narrow as asked, at most at the most', async () => {
    const one = (width: number, most: number) =>
      harness
        .run(all)
        .config('naive', { model: 'sim/naive' })
        .quiet()
        .out(null)
        .until({ width }, { most })
    const run = await one(0.3, 40)
    const { low, high } = run.summary()[0]?.rates.goal.again ?? { low: 0, high: 1 }
    assert.ok(high - low <= 0.3, `${low} ${high}`)
    assert.ok(run.manifest.repeats < 40)
    const short = await one(0.01, 8)
    assert.equal(short.manifest.repeats, 8)
    assert.equal(short.complete, true)
  })

  it('stops where each gate is met or missed', async () => {
    const run = await harness
      .run(all)
      .config('careful', { model: 'sim/careful' })
      .until({ gates: 'goal>=60%' }, { most: 40 })
      .out(null)
      .quiet()
    assert.ok((run.manifest.looks?.length ?? 0) > 0)
    assert.deepEqual(
      harness.gate(run, 'goal>=60%').map(({ state }) => state),
      ['met'],
    )
  })

  it('a look reads records and words of agents that are no scripts of ours, by each rule', async () => {
    const agent = harness.agent('prose', async () => 'I looked into it.')
    for (const rule of ['verdict', { width: 0.01 }, { gates: 'goal>=60%@estimate' }] as const) {
      const run = await harness
        .run(all.slice(0, 2))
        .config('a', { agent })
        .config('b', { agent })
        .repeat(1)
        .until(rule, { most: 3 })
        .out(null)
        .quiet()
      assert.equal(run.complete, true)
      assert.ok(run.manifest.repeats >= 1)
    }
  })

  it('a rule that is none, and a most below the first look, are refused before anything is written', async () => {
    for (const rule of ['width', { width: 1 }, { gates: [] }, { gates: 'goal=1' }, null])
      assert.throws(() => two().until(rule as never), codeIs('argument_invalid', /until|gate/))
    assert.throws(() => two().until('verdict', { most: 0 }), codeIs('argument_invalid', /most/))
    const dir = join(made, 'none')
    await assert.rejects(
      async () => await two().until('verdict', { most: 3 }).out(dir),
      codeIs('argument_invalid', /at least the 5 repeats of the first look, got 3/),
    )
  })

  it('the forecast says the looks and the trials at most', async () => {
    const forecast = await two().until('verdict', { most: 20 }).forecast()
    assert.deepEqual(forecast.until, { looks: [5, 8, 12, 18, 20], mostTrials: 160 })
    assert.match(forecast.text(), /at most 160 trials: 4 times as many/)
  })
})

describe('resume with { add: true }', () => {
  it('adds repeats and cases to a finished run, names the look, and gives its numbers more strictly', async () => {
    const dir = join(made, 'add')
    const first = await two(all.slice(0, 2)).repeat(2).out(dir)
    const lines = () => readFileSync(join(dir, 'trials.ndjson'), 'utf8').trim().split('\n')
    const before = lines()
    const more = await two().repeat(3).resume(dir, { add: true })
    assert.deepEqual(lines().slice(0, before.length), before, 'what was there stays')
    assert.equal(more.complete, true)
    assert.equal(more.trials.length, 4 * 2 * 3)
    assert.deepEqual(
      more.manifest.looks?.map(({ repeats, cases: size }) => [repeats, size]),
      [[2, 2]],
    )
    assert.equal(first.summary()[0]?.rates.goal.level, 0.95)
    assert.equal(more.summary()[0]?.rates.goal.level, 0.975)
    assert.equal(more.compare('naive', 'careful').primary.level, 0.975)
    assert.match(
      more.text({ width: 400 }),
      /Trials were added .*2, 3 repeats.*at 97\.5%.*at most 7\.5 of 100/,
    )
    const again = await harness.open(dir)
    assert.deepEqual(again.problems, [])
    assert.equal(again.text(), more.text())
  })

  it('without it, or with fewer repeats, it is another run', async () => {
    const dir = join(made, 'add')
    await assert.rejects(
      async () => await two().repeat(4).resume(dir),
      codeIs('run_differs', /repeats was 3, is 4/),
    )
    await assert.rejects(
      async () => await two().repeat(2).resume(dir, { add: true }),
      codeIs('run_differs', /repeats was 3, is 2/),
    )
    await assert.rejects(
      async () => await two(all.slice(0, 2)).repeat(3).resume(dir, { add: true }),
      codeIs('run_differs', /is missing/),
    )
    await assert.rejects(
      async () => await two().repeat(3).until('verdict').resume(dir, { add: true }),
      codeIs('run_differs', /until was none/),
    )
  })

  it('a look that is not in the receipt, or in it alone, is a problem of the plan', () => {
    const manifest = JSON.parse(readFileSync(join(made, 'add', 'manifest.json'), 'utf8'))
    const { seed, repeats, planned, looks } = manifest
    const stated = { seed, repeats, planned, looks }
    assert.deepEqual(planProblems(manifest, stated), [])
    const codes = (from: object, plan: object) =>
      planProblems(from as never, plan as never).map(({ code }) => code)
    assert.deepEqual(codes(manifest, { seed, repeats, planned }), ['looks_differs'])
    assert.deepEqual(codes({ ...manifest, looks: undefined }, stated), ['looks_differs'])
    assert.equal(heldOver(manifest), 0.975)
  })

  it('over any number of looks fewer than 10 of 100 runs say something false', () => {
    const levels = Array.from({ length: 50 }, (_, n) =>
      heldOver({ looks: Array(n).fill({ repeats: 1, cases: 1, at: '' }) }),
    )
    let error = 0
    for (const [i, level] of levels.entries()) {
      error += 1 - level
      close(error, errorOver(i + 1), 1e-9, `look ${i + 1}`)
      assert.ok(error < 0.1 + 1e-9)
    }
    const random = rng('added')
    const runs = 1000
    const crossed = (ends: number[]) =>
      Array.from({ length: runs }).filter(() => {
        let sum = 0
        return ends.slice(0, 20).some((end, i) => {
          sum += normalQuantile(random())
          return Math.abs(sum) / Math.sqrt(i + 1) > end
        })
      }).length
    const ends = (of: number[]) => of.map((level) => normalQuantile((1 + level) / 2))
    const held = crossed(ends(levels))
    // At most 10 of 100, with three standard errors; 25 of 100 where each look is at 95 %.
    assert.ok(held <= 100 + 3 * 9.5, `${held} of ${runs}`)
    assert.ok(crossed(ends(levels.map(() => 0.95))) > 200)
  })
})
