/** Planned trials that are not there: counted beside a verdict, and taken into what it could be. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('absent')

const REPEATS = 20
let [naive, perfect] = ['', '']
before(async () => {
  const test = await cases.load('cases/lying_success/deploy-key.yaml')
  const of = async (model: 'sim/naive' | 'sim/perfect') => {
    const dir = join(made, model.slice(4))
    await harness.run(test).config('x', { model }).repeat(REPEATS).out(dir).quiet()
    return dir
  }
  naive = await of('sim/naive')
  perfect = await of('sim/perfect')
})

/** A run's folder without the records of the last `n` trials of each case, nor their evidence. */
function without(dir: string, n: number, name: string): string {
  const to = join(made, name)
  cpSync(dir, to, { recursive: true })
  for (const file of ['trials', 'decisions', 'transcripts', 'audit']) {
    const path = join(to, `${file}.ndjson`)
    const kept = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && Number(JSON.parse(line).key.split('|')[2]) < REPEATS - n)
    writeFileSync(path, kept.map((line) => `${line}\n`).join(''))
  }
  return to
}

async function compared(later: string) {
  const [result] = harness.against(await harness.open(later), await harness.open(naive))
  assert.ok(result)
  return result.comparison.answers.these.primary
}

describe('planned trials that are not there', () => {
  it('of a whole run are none, and no word is said of them', async () => {
    const one = await compared(perfect)
    assert.deepEqual([one.verdict, one.bounds], ['better', null])
    assert.doesNotMatch(one.reasons.join(), /not there/)
  })

  it('stand beside a verdict that they cannot turn, with what they could make of it', async () => {
    const planned = (await harness.open(perfect)).manifest.planned
    const whole = await compared(perfect)
    const dir = without(perfect, 2, 'some')
    const one = await compared(dir)
    const absent = planned - (await harness.open(dir)).columns.size
    assert.equal(one.verdict, 'better')
    assert.ok(one.reasons.includes(`x: ${absent} planned trials not there`), one.reasons.join())
    // All of them against the later run: 2 of 20 in each case.
    assert.ok(Math.abs((one.bounds?.worst ?? Number.NaN) - (whole.difference - 0.1)) < 1e-9)
  })

  it('withhold a verdict that they could turn', async () => {
    const one = await compared(without(perfect, 12, 'most'))
    assert.equal(one.verdict, 'cannot tell')
    assert.match(one.reasons.join('; '), /"better" is withheld: trials that did not run/)
  })

  it('leave a gate open that they could turn, and pass^k says what they could make of it', async () => {
    const [state, dir] = [
      async (of: string, gate: string) => harness.gate(await harness.open(of), gate)[0]?.state,
      without(perfect, 6, 'six'),
    ]
    assert.equal(await state(perfect, 'goal>=80%'), 'met')
    // What is there passed; 6 of 20 that are not could be a rate of 70 %.
    assert.equal(await state(dir, 'goal>=80%'), 'undecided')
    assert.equal(await state(dir, 'goal>=30%'), 'met')
    const run = await harness.open(dir)
    const [one] = run.summary()
    const { bounds } = one?.rates.goal ?? {}
    assert.ok(Math.abs((bounds?.worst ?? 1) - 0.7) < 1e-9 && bounds?.best === 1)
    assert.equal(one?.reliability.k, 14)
    assert.equal(one?.reliability.passHatK, 1)
    assert.equal(one?.reliability.open?.trials, one?.unrun)
    // C(14, 14) / C(20, 14): one choice of 14 among 20 holds no failure.
    assert.ok(Math.abs((one?.reliability.open?.none.passHatK ?? 0) - 1 / 38_760) < 1e-9)
    assert.equal((await harness.open(perfect)).summary()[0]?.reliability.open, undefined)
    assert.match(
      run.text({ width: 400 }),
      /did not run; whatever they did counted in, goal met 70% to 100%/,
    )
    assert.match(
      run.text({ width: 400 }),
      /pass\^14, \d+ cases\); with \d+ trials in no rate, 0\.\d+% \[/,
    )
  })

  it('widen where a single run lands, and leave the order of single runs unsaid', async () => {
    const of = async (careful: string) => {
      const { Run } = harness
      const [a, b] = [await harness.open(naive), await harness.open(careful)]
      const named = (run: harness.Run, name: string) =>
        run.trials.map((row) => ({
          ...row,
          configuration: name,
          key: `${row.case}|${name}|${row.trial}` as never,
        }))
      const configurations = ['a', 'b'].map((name) => ({
        ...(a.manifest.configurations[0] as (typeof a.manifest.configurations)[number]),
        name,
      }))
      const planned = 2 * a.manifest.planned
      return new Run({
        dir: a.dir,
        manifest: { ...a.manifest, configurations, planned },
        trials: [...named(a, 'a'), ...named(b, 'b')],
      })
    }
    const whole = await of(perfect)
    const part = await of(without(perfect, 12, 'single'))
    const text = (run: harness.Run) => run.text({ width: 1000 })
    assert.match(text(whole), /come out in the wrong order in <?\d/)
    assert.match(
      text(whole),
      /b: a single run lands between \d+% and \d+% goal met, 19 times in 20\./,
    )
    assert.equal(whole.summary()[1]?.rates.goal.lost, undefined)
    // Each case passed 8 of 8 trials, and 12 are not there: a single run may fail them all.
    const { lost, single } = part.summary()[1]?.rates.goal ?? {}
    assert.ok((lost?.single.low ?? 1) < (single?.low ?? 0))
    assert.equal(lost?.single.high, single?.high)
    assert.match(
      text(part),
      /goal met, 19 times in 20; with 24 trials in no rate, between 0% and 100%\./,
    )
    assert.match(text(part), /how often a and b come out in the wrong order is not known/)
    assert.doesNotMatch(text(part), /wrong order in <?\d/)
    assert.deepEqual(part.compare('a', 'b').singleRuns, { wrong: NaN, level: NaN })
  })

  it('leave a baseline open where they, and chance on top, could be a fall beyond the margin', async () => {
    const baseline = await harness.open(perfect)
    const dir = without(perfect, 1, 'one')
    const goal = async (margin: number) => {
      const [result] = harness.against(await harness.open(dir), baseline, { margin })
      return result?.undecided.find(({ metric }) => metric === 'goal')?.reason
    }
    const [whole] = harness.against(await harness.open(perfect), baseline, { margin: 0.1 })
    assert.deepEqual(whole?.undecided, [])
    // All of them failed would be a fall of 5 points; what chance adds goes beyond 10, not beyond 30.
    assert.match((await goal(0.1)) ?? '', /trials that did not run, .* leave it open$/)
    assert.equal(await goal(0.3), undefined)
  })

  it('are in the history, run by run', async () => {
    const runs = join(made, 'runs')
    cpSync(naive, join(runs, 'a'), { recursive: true })
    cpSync(without(perfect, 18, 'few'), join(runs, 'b'), { recursive: true })
    const past = await harness.history(runs)
    const points = past.series[0]?.points ?? []
    const { planned } = (await harness.open(naive)).manifest
    assert.deepEqual(
      points.map(({ absent, is }) => [absent, is]),
      [
        [0, 'first'],
        [(planned / REPEATS) * 18, 'unknown'],
      ],
    )
    assert.match(past.text({ width: 200 }), new RegExp(`, ${(planned / REPEATS) * 18} not there`))
  })
})
