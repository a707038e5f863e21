/** What a planned run could show of its gates and its baseline: said before any trial, by the gates' own rules. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'
import { planMargin, planRate } from '../../../lib/stats/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('prospect')

const all = await cases.load('cases/lying_success')
const local = (name: string) => ({ model: `local/${name}`, baseURL: 'http://127.0.0.1:9/v1' })
const one = () => harness.run(all).config('mine', local('one')).quiet()

describe('a forecast of what will be held', () => {
  it('a gate: the chances of planRate for true rates from near the line to the best there is', async () => {
    const { prospect } = await one()
      .repeat(6)
      .forecast({ gates: ['goal>=80%'] })
    const [found] = prospect.gates
    assert.deepEqual(
      found?.rates.map(({ rate }) => rate),
      [0.85, 0.9, 0.95, 1],
    )
    for (const plan of found?.rates ?? []) {
      const wanted = planRate({ line: 0.8, rate: plan.rate, cases: all.length, repeats: 6 })
      assert.deepEqual([plan.met, plan.needed], [wanted.met, wanted.needed])
    }
    assert.deepEqual(prospect.baseline, [])
  })

  it('a line from above is met from below it; other cases count families', async () => {
    const { prospect } = await one().forecast({ gates: ['overclaim<=20%@others'] })
    const [found] = prospect.gates
    assert.deepEqual(
      found?.rates.map(({ rate, side, target, families }) => [rate, side, target, families]),
      [0.15, 0.1, 0.05, 0].map((rate) => [rate, 'at most', 'like these', 2]),
    )
  })

  it('a gate that nothing can be said about says why', async () => {
    const forecast = await one().forecast({ gates: ['attack<=10%', 'goal>=80%@upper'] })
    const [none, kind] = forecast.prospect.gates
    assert.match(none?.reason ?? '', /attack succeeded: 0 cases of the plan/)
    assert.match(kind?.reason ?? '', /upper is the end that speaks for the gate/)
    assert.match(forecast.text(), /Gate attack<=10%: attack succeeded: 0 cases of the plan\./)
  })

  it('money: what the needed trials cost at most, and what the limit of cost pays for', async () => {
    const forecast = await one()
      .prices({ 'local/one': { input: 1, output: 2 } })
      .limits({ tokens: 1000, costUsd: 0.64 })
      .forecast({ gates: ['mine:goal>=80%'] })
    // 2 attempts of 2 x 1,000 tokens at $2 per million: $0.008 a trial, 4 cases: 20 repeats for $0.64.
    for (const { affordable, neededTrials, neededCost } of forecast.prospect.gates[0]?.rates ??
      []) {
      assert.equal(affordable?.size, 20)
      assert.ok(Math.abs((neededCost.usd ?? 0) - 0.008 * neededTrials) < 1e-9)
    }
    assert.match(forecast.text({ width: 120 }), /for the money\n.* 20 repeats, \d+%/)
  })

  it('with several looks it is the last one, at the level that this one has', async () => {
    const { prospect } = await one()
      .repeat(5)
      .until({ gates: 'goal>=80%' }, { most: 40 })
      .forecast({ gates: ['goal>=80%'] })
    const [found] = prospect.gates
    assert.equal(found?.repeats, 40)
    assert.ok(found?.rates.every(({ level }) => level > 0.95 && level < 0.97))
  })

  it('a baseline: each metric with its rate then, the earlier repeats as they are, what a trial took', async () => {
    const before = await harness
      .run(all)
      .config('mine', { model: 'sim/naive' })
      .repeat(3)
      .out(join(made, 'before'))
      .quiet()
    const forecast = await one().repeat(6).forecast({ baseline: before, margin: 0.2 })
    const [found] = forecast.prospect.baseline
    const goal = found?.metrics.find(({ metric }) => metric === 'goal')?.plan
    const rate = before.summary()[0]?.rates.goal.estimate as number
    const asked = { margin: 0.2, rate, cases: all.length, repeats: 6, repeatsBefore: 3 }
    assert.deepEqual(goal?.holds, planMargin(asked).holds)
    assert.ok((goal?.cost.minutes ?? 0) > 0 && goal?.cost.usd === undefined)
    assert.match(
      forecast.text({ width: 120 }),
      /mine against the earlier run, if nothing changed: a fall by more than 20 points is ruled out/,
    )
    // As when it is held: one configuration against the only one there is, whatever their names.
    const other = await harness.run(all).config('other', local('one')).quiet().forecast({
      baseline: before,
    })
    assert.deepEqual(
      other.prospect.baseline.map(({ configuration, metrics }) => [configuration, metrics.length]),
      [['other', found?.metrics.length]],
    )
  })
})
