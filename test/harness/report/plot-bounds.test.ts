/** Charts of a run with trials that are in no rate: what these could make of it is drawn, as a table or a verdict has it. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type * as chart from '../../../lib/chart/index.ts'
import { cases, harness } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('plot-bounds')
const LIE = 'lying_success/deploy-key'
const TWIN = `${LIE}.benign`

let [whole, run]: harness.Run[] = []

/** A run's folder without the trials that are not kept, and all that was written of them, opened. */
async function keeping(
  dir: string,
  keep: (record: harness.TrialRecord) => boolean,
): Promise<harness.Run> {
  const linesOf = (file: string) =>
    readFileSync(join(dir, `${file}.ndjson`), 'utf8')
      .split('\n')
      .filter(Boolean)
  const records: harness.TrialRecord[] = linesOf('trials').map((line) => JSON.parse(line))
  const keys = new Set(records.filter(keep).map(({ key }) => key))
  for (const file of ['trials', 'decisions', 'audit', 'transcripts']) {
    const kept = linesOf(file).filter((line) => keys.has(JSON.parse(line).key))
    writeFileSync(join(dir, `${file}.ndjson`), kept.map((line) => `${line}\n`).join(''))
  }
  return harness.open(dir)
}

before(async () => {
  const dir = join(made, 'run')
  whole = await harness
    .run(await cases.load('cases/lying_success'))
    .config('naive', { model: 'sim/naive' })
    .config('perfect', { model: 'sim/perfect' })
    .repeat(4)
    .out(dir)
    .quiet()
  // Two of four trials of one case, and all four of the other one.
  run = await keeping(dir, ({ case: id, configuration, trial }) =>
    configuration === 'naive' ? id !== TWIN : id !== LIE || trial < 2,
  )
  assert.equal(whole.columns.size - run.columns.size, 6)
})

const rowsOf = async <Row>(of: harness.Run | undefined, kind: harness.PlotKind) =>
  (await (of as harness.Run).plot(kind)).rows as Row[]

describe('what trials that are in no rate could make of it', () => {
  it('is drawn for each rate, from all of them against it to all for it', async () => {
    for (const { configuration, ...row } of await rowsOf<chart.StripRow>(run, 'strip')) {
      const { lost } = (run as harness.Run)
        .summary()
        .find((one) => one.configuration === configuration)!.rates.goal
      assert.ok(lost)
      assert.deepEqual([row.boundLow, row.boundHigh], [lost.none.low, lost.all.high])
      const again = [row.againBoundLow, row.againBoundHigh]
      assert.deepEqual(again, [lost.none.again.low, lost.all.again.high])
      assert.ok(row.boundLow! < row.low! && row.high! <= row.boundHigh!)
    }
    const text = (await run!.plot('strip')).text({ width: 100 })
    assert.match(text, /Dotted, "of all"/)
    assert.match(text, /^perfect +\(┄├─+\(─━+● {2}100% \[18, 100\], of all \[16, 100\]$/m)
  })

  it('is drawn for each case of a forest, and a case of which nothing is known has its row', async () => {
    const rows = await rowsOf<chart.ForestRow>(run, 'forest')
    const rowOf = (id: string) => {
      const { boundLow, boundHigh, difference, reason } = rows.find((one) => one.case === id)!
      return { difference, bounds: [boundLow, boundHigh], reason }
    }
    // naive 2 of 4, perfect 2 of 2 and two that are not there.
    assert.deepEqual(rowOf(LIE), { difference: 0.5, bounds: [0, 0.5], reason: undefined })
    // naive four that are not there, perfect 4 of 4.
    const reason = 'no trial of naive counts'
    assert.deepEqual(rowOf(TWIN), { difference: null, bounds: [0, 1], reason })
  })

  it('is drawn with a difference as the verdict has it', async () => {
    const { answers } = run!.compare('naive', 'perfect')
    for (const [i, target] of (['these', 'like these'] as const).entries()) {
      const { bounds } = answers[target].primary
      const row = (await rowsOf<chart.NoiseRow>(run, 'noise'))[i]
      assert.ok(bounds && row)
      assert.deepEqual([row.boundLow, row.boundHigh], [bounds.low, bounds.high])
    }
  })

  it('is drawn at both ends of a slope, which says what it leaves out', async () => {
    const slope = await run!.plot('slope')
    const ends = { a: 0.5, b: 1, aLow: 0.5, aHigh: 0.5, bLow: 0.5, bHigh: 1 }
    const open = (slope.rows as chart.SlopeRow[]).filter(({ aLow }) => aLow !== undefined)
    assert.deepEqual(open, [{ case: LIE, ...ends }])
    assert.match(
      slope.notes.join(' '),
      /1 case left out: of one of the two no trial counts there\./,
    )
  })

  it('is drawn for pass^k as the text has it, also where k is more than any case has', async () => {
    const drawn = await (run as harness.Run).plot('reliability', { metric: 'pass' })
    const rows = (drawn.rows as chart.ReliabilityRow[]).filter(
      ({ configuration }) => configuration === 'perfect',
    )
    const { k, open } = run!.summary()[1]!.reliability
    const row = rows.find((one) => one.k === k)
    assert.ok(k === 2 && open)
    assert.deepEqual([row?.boundLow, row?.boundHigh], [open.none.low, open.all.high])
    // Of what had better not happen it is reliable that it does not.
    const attacks = await run!.plot('reliability', { metric: 'attack' })
    for (const { low, high, boundLow, boundHigh } of attacks.rows as chart.ReliabilityRow[])
      if (typeof low === 'number' && boundLow != null)
        assert.ok(boundLow <= low && high! <= boundHigh!)
  })

  it('is drawn for a run in a history', async () => {
    const { series } = await harness.history(made)
    const [point] = series.find(({ configuration }) => configuration === 'perfect')!.points
    assert.ok(point?.all && point.all.low < point.again.low)
    const history = await (await harness.history(made)).plot()
    assert.match(history.text(), /Dotted, "of all"/)
  })

  it('is drawn for these cases where nothing can be said of others', async () => {
    const dir = join(made, 'one-family')
    await harness
      .run(await cases.load('cases/lying_success/deploy-key.yaml'))
      .config('perfect', { model: 'sim/perfect' })
      .repeat(4)
      .out(dir)
      .quiet()
    const few = await keeping(dir, ({ trial }) => trial < 3)
    const [row] = await rowsOf<chart.StripRow>(few, 'strip')
    const { lost, again } = few.summary()[0]!.rates.goal
    assert.deepEqual([row?.low, row?.boundLow], [null, undefined])
    assert.equal(row?.againBoundLow, lost?.none.again.low)
    assert.ok(row!.againBoundLow! < again.low)
  })

  it('is nowhere where every trial counts', async () => {
    for (const kind of ['strip', 'forest', 'noise', 'slope', 'reliability'] as const) {
      const drawn = await whole!.plot(kind)
      assert.doesNotMatch(drawn.text(), /Dotted|of all \[/, kind)
      assert.doesNotMatch(JSON.stringify(drawn.spec), /boundLow/i, kind)
    }
  })
})
