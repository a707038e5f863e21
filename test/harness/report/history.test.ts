/** The runs of a project over days: what a run is held against, and which one is named. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('history')

const all = await cases.load('cases/lying_success')
const runs = join(made, 'runs')
mkdirSync(runs)

/** A run whose manifest says that it was made on that day of January. */
async function madeOn(
  day: number,
  model: string,
  seed: number,
  repeats = 5,
  dir = runs,
  tests = all,
) {
  const out = join(dir, `day-${day}`)
  await harness.run(tests).config('mine', { model }).seed(seed).repeat(repeats).out(out).quiet()
  const path = join(out, 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  manifest.created_at = `2026-01-${String(day).padStart(2, '0')}T10:00:00.000Z`
  writeFileSync(path, JSON.stringify(manifest))
}

for (const day of [1, 2, 3, 4]) await madeOn(day, 'sim/careful', day)

describe('harness.history', () => {
  it('of many runs draws the newest, and says of how many', async () => {
    const { dir, metric, level, skipped, series } = await harness.history(runs)
    const [mine] = series
    const [first] = mine?.points ?? []
    assert.ok(mine && first)
    const points = Array.from({ length: 40 }, (_, i) => ({ ...first, run: `run-${i}` }))
    const long = (n: number) =>
      new harness.History({
        ...{ dir, metric, level, skipped },
        series: Array.from({ length: n }, (_, i) => ({ ...mine, configuration: `c${i}`, points })),
      })
    assert.equal((await long(1).plot()).rows.length, 30)
    assert.equal((await long(3).plot()).rows.length, 30)
    assert.match((await long(3).plot()).title, /: the newest 10 of 40 runs/)
    assert.equal(
      (await new harness.History({ dir, metric, level, skipped, series }).plot()).title,
      'goal met over time',
    )
  })

  it('has the runs from the oldest to the newest, each as expected from those before it', async () => {
    const past = await harness.history(runs)
    const [mine] = past.series
    assert.deepEqual(
      mine?.points.map(({ at, is }) => [at.slice(8, 10), is]),
      [
        ['01', 'first'],
        ['02', 'as before'],
        ['03', 'as before'],
        ['04', 'as before'],
      ],
    )
    assert.equal(mine?.noise.df, 3)
    assert.equal(past.firstWorse, null)
    assert.equal(mine?.points[0]?.expected, null)
    const estimates = mine?.points.map(({ estimate }) => estimate) ?? []
    for (const [i, { expected, estimate }] of mine?.points.entries() ?? []) {
      if (i === 0) continue
      assert.ok(expected && expected.low <= estimate && estimate <= expected.high)
      const before = estimates.slice(0, i)
      const plain = before.reduce((sum, one) => sum + one, 0) / i
      assert.ok(Math.abs(expected.estimate - plain) < 1e-9)
    }
  })

  it('gives each interval at the level that it was asked for, and says which', async () => {
    const width = (past: harness.History) => {
      const { low = 0, high = 0 } = past.series[0]?.points[1]?.again ?? {}
      return high - low
    }
    const [usual, less] = [await harness.history(runs), await harness.history(runs, { level: 0.5 })]
    assert.ok(width(less) < width(usual))
    assert.match(less.text(), /with 50% intervals/)
  })

  it('names the first run that is worse beyond the noise, and not those behind it again as new', async () => {
    await madeOn(5, 'sim/naive', 5, 20)
    await madeOn(6, 'sim/naive', 6, 20)
    const past = await harness.history(runs)
    assert.deepEqual(
      past.series[0]?.points.map(({ is }) => is),
      ['first', 'as before', 'as before', 'as before', 'worse', 'worse'],
    )
    assert.equal(past.firstWorse?.at.slice(0, 10), '2026-01-05')
    assert.match(past.text(), /\* the configuration changed/)
    assert.match(past.text(), /First worse beyond the noise: day-5\./)
    assert.equal((past.toJSON() as { firstWorse: string }).firstWorse, past.firstWorse?.run)
  })

  it('a fall of an unchanged configuration does not hide itself in the noise that it is held against', async () => {
    const dir = join(made, 'silent')
    mkdirSync(dir)
    for (const day of [1, 2, 3, 4, 5])
      cpSync(join(runs, `day-${day}`), join(dir, `day-${day}`), { recursive: true })
    const manifestOf = (day: number) => join(dir, `day-${day}`, 'manifest.json')
    const read = (day: number) => JSON.parse(readFileSync(manifestOf(day), 'utf8'))
    // A model that its provider changed under the same name.
    const [before, after] = [read(4), read(5)]
    Object.assign(after.configurations[0], { digest: before.configurations[0].digest })
    writeFileSync(manifestOf(5), JSON.stringify(after))
    const past = await harness.history(dir)
    assert.equal(past.firstWorse?.at.slice(0, 10), '2026-01-05')
    // What is said of the noise is of the runs that are not worse.
    assert.equal(past.series[0]?.noise.df, 3)
  })

  it('a run in which everything passed does not swallow the others', async () => {
    const dir = join(made, 'swallowed')
    mkdirSync(dir)
    await madeOn(1, 'sim/naive', 1, 5, dir)
    await madeOn(2, 'sim/perfect', 2, 5, dir)
    await madeOn(3, 'sim/naive', 3, 5, dir)
    const [first, second, third] = (await harness.history(dir)).series[0]?.points ?? []
    assert.ok(first && second && third?.expected)
    assert.equal(second.estimate, 1)
    assert.ok(first.estimate < 0.9)
    const plain = (first.estimate + second.estimate) / 2
    assert.ok(Math.abs(third.expected.estimate - plain) < 1e-9)
    assert.equal(third.is, 'as before')
  })

  it('is drawn, a line per run', async () => {
    const chart = await (await harness.history(runs)).plot()
    assert.equal(chart.rows.length, 6)
    assert.match(chart.text(), /2026-01-05 10:00 \(worse\)/)
  })

  it('a run whose case changed is held against the cases that did not', async () => {
    const dir = join(made, 'changed')
    mkdirSync(dir)
    for (const day of [1, 2])
      cpSync(join(runs, `day-${day}`), join(dir, `day-${day}`), { recursive: true })
    const path = join(dir, 'day-2', 'manifest.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    manifest.cases[0].digest = `sha256:${'0'.repeat(64)}`
    writeFileSync(path, JSON.stringify(manifest))
    const [mine] = (await harness.history(dir)).series
    assert.equal(mine?.points[1]?.expected?.cases, all.length - 1)
  })

  /** A run of those cases only, each with its first trials. */
  function cut(dir: string, day: number, keep: (test: string) => boolean) {
    const path = join(dir, `day-${day}`, 'trials.ndjson')
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    writeFileSync(path, `${lines.filter((line) => keep(JSON.parse(line).case)).join('\n')}\n`)
  }

  it('a copy of a run is no second one', async () => {
    const dir = join(made, 'copies')
    for (const [from, to] of [
      ['day-1', 'day-1'],
      ['day-1', 'day-1-copy'],
      ['day-2', 'day-2'],
    ] as const)
      cpSync(join(runs, from), join(dir, to), { recursive: true })
    const found = await harness.history(dir)
    assert.deepEqual(
      found.series.map(({ points }) => points.length),
      found.series.map(() => 2),
    )
    assert.deepEqual(
      found.skipped.map((one) => [one.dir, one.reason]),
      [[join(dir, 'day-1-copy'), 'the same run as day-1']],
    )
  })

  it('a run that was stopped leaves later ones all of their cases', async () => {
    const dir = join(made, 'stopped')
    mkdirSync(dir)
    for (const day of [1, 2, 3])
      cpSync(join(runs, `day-${day}`), join(dir, `day-${day}`), { recursive: true })
    cut(dir, 2, (test) => test === all[0]?.id)
    const past = await harness.history(dir)
    const [, second, third] = past.series[0]?.points ?? []
    assert.equal(second?.is, 'unknown')
    assert.equal(second?.expected?.cases, 1)
    assert.equal(third?.expected?.cases, all.length)
    assert.match(past.text(), /unknown: trials that were lost or are not there decide\./)
  })

  it('a run of other cases is held against none, and the next one of them against it', async () => {
    const dir = join(made, 'other-cases')
    mkdirSync(dir)
    for (const day of [1, 2])
      cpSync(join(runs, `day-${day}`), join(dir, `day-${day}`), { recursive: true })
    const others = await cases.load('cases/stale_read')
    for (const day of [3, 4]) await madeOn(day, 'sim/careful', day, 5, dir, others)
    const past = await harness.history(dir)
    assert.deepEqual(
      past.series[0]?.points.map(({ is, expected }) => [is, expected?.cases ?? 0]),
      [
        ['first', 0],
        ['as before', all.length],
        ['unknown', 0],
        ['as before', others.length],
      ],
    )
    assert.match(past.text(), /unknown: no run before it has a case of it\./)
  })

  it('configurations of other names stand apart, and one that ran once is held against none', async () => {
    const dir = join(made, 'other-names')
    mkdirSync(dir)
    cpSync(join(runs, 'day-1'), join(dir, 'day-1'), { recursive: true })
    await harness
      .run(all)
      .config('mine', { model: 'sim/careful' })
      .config('yours', { model: 'sim/naive' })
      .repeat(5)
      .out(join(dir, 'day-2'))
      .quiet()
    const past = await harness.history(dir)
    assert.deepEqual(
      past.series.map(({ configuration, points }) => [configuration, points.length]),
      [
        ['mine', 2],
        ['yours', 1],
      ],
    )
    const [, yours = ''] = past.text().split('\nyours\n')
    assert.match(yours, /One run: none before it to hold it against\./)
    assert.doesNotMatch(yours, /expected/)
  })

  it('a folder that is damaged is left out with a reason; a folder without a run is refused', async () => {
    const dir = join(made, 'damaged')
    mkdirSync(dir)
    for (const day of [1, 2])
      cpSync(join(runs, `day-${day}`), join(dir, `day-${day}`), { recursive: true })
    writeFileSync(join(dir, 'day-2', 'manifest.json'), '{')
    const past = await harness.history(dir)
    assert.equal(past.series[0]?.points.length, 1)
    assert.match(past.skipped[0]?.reason ?? '', /^(json|run)_/)
    assert.match(past.text(), /Left out: .*day-2/)
    await assert.rejects(harness.history(join(made, 'none')), /run_unknown|runs in it/)
    await assert.rejects(harness.history(dir, { metric: 'speed' as never }), /speed/)
  })
})
