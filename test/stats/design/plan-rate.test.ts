import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { planMargin } from '../../../lib/stats/design/plan-margin.ts'
import { planRate } from '../../../lib/stats/design/plan-rate.ts'
import { binomialDraw, type Chance, leastSize } from '../../../lib/stats/design/simulate.ts'
import { binomialCdf } from '../../../lib/stats/distribution.ts'
import { known } from '../known.ts'

/** A simulated share against an exact one: four standard errors of so many runs. */
function near({ share, runs }: Chance, exact: number, what: string): void {
  const reach = 4 * Math.sqrt(Math.max(exact * (1 - exact), 1 / runs) / runs)
  assert.ok(Math.abs(share - exact) <= reach, `${what}: ${share} against ${exact} by R`)
}

type RateRow = { cases: number; line: number; rate: number }
type MarginRow = { cases: number; margin: number; rate: number; fall: number }

describe('planRate', () => {
  it('agrees with exact sums by R, for these cases and for others', () => {
    for (const { id, input, expected } of known<RateRow, { met: number; missed: number }>(
      'plan-rate',
    )) {
      const right = input.rate >= input.line ? 'met' : 'missed'
      const again = planRate({ ...input, repeats: 1, power: 0.5, runs: 4000 })
      near(again.ways.evenly, expected[right], `${id}, run again`)
      const other = planRate({
        ...input,
        repeats: 4,
        target: 'like these',
        power: 0.5,
        runs: 4000,
      })
      near(other.ways.wholly, expected[right], `${id}, other cases`)
    }
  })

  it('a line above and its mirror below have the same chances', () => {
    const up = planRate({ line: 0.9, rate: 0.97, cases: 12, repeats: 5 })
    const down = planRate({ line: 0.1, rate: 0.03, cases: 12, repeats: 5, side: 'at most' })
    assert.deepEqual(
      [up.met.share, up.needed, up.missed.share],
      [down.met.share, down.needed, down.missed.share],
    )
  })

  it('gives the worse of both ways, and the right answer below the line is that it is missed', () => {
    const above = planRate({ line: 0.9, rate: 0.98, cases: 8, repeats: 5 })
    assert.equal(above.met.share, Math.min(above.ways.evenly.share, above.ways.wholly.share))
    const below = planRate({ line: 0.9, rate: 0.7, cases: 8, repeats: 5 })
    assert.equal(below.missed.share, Math.min(below.ways.evenly.share, below.ways.wholly.share))
    assert.ok(below.missed.share > 0.3 && below.met.share < 0.01)
    assert.match(below.text, /it is shown that the rate is not at least 90% in/)
  })

  it('what it says is needed is enough, and half of it is not', () => {
    for (const target of ['these', 'like these'] as const) {
      const asked = { line: 0.9, rate: 0.98, cases: 20, repeats: 2, target }
      const { needed, neededRight } = planRate(asked)
      assert.ok((neededRight?.high ?? 0) >= 0.8, `${target}: ${neededRight?.share}`)
      const half = Math.floor(needed / 2)
      const less = target === 'these' ? { repeats: half } : { cases: half }
      assert.ok(planRate({ ...asked, ...less }).met.share < 0.8, `${target}: half of ${needed}`)
    }
  })

  it('where nothing decides, nothing is needed: NaN, and the text says so', () => {
    const at = planRate({ line: 0.9, rate: 0.9, cases: 8, repeats: 5 })
    assert.ok(Number.isNaN(at.needed) && at.neededRight === null)
    assert.match(at.text, /At the line itself no number of trials decides\./)
  })

  it('a family falls as a whole, so that fewer families show less', () => {
    const asked = { line: 0.8, rate: 0.97, cases: 60, repeats: 3, target: 'like these' } as const
    const alone = planRate(asked).met.share
    assert.ok(planRate({ ...asked, families: 20 }).met.share < alone)
  })

  it('a budget buys whole repeats, by what is scarcer, and none where it is too small', () => {
    const asked = { line: 0.9, rate: 0.98, cases: 10, repeats: 5 }
    const perTrial = { usd: 0.1, minutes: 1 }
    const rich = planRate({ ...asked, perTrial, budget: { usd: 20, minutes: 100 } })
    assert.equal(rich.affordable?.size, 10)
    assert.deepEqual(rich.cost, { usd: 5, minutes: 50 })
    const poor = planRate({ ...asked, perTrial, budget: { usd: 0.5 } })
    assert.equal(poor.affordable, null)
    assert.match(poor.text, /The budget pays for too few repeats\.$/)
    // What is not known of a trial limits nothing.
    assert.equal(planRate({ ...asked, budget: { usd: 1 } }).affordable, null)
  })
})

describe('planMargin', () => {
  it('agrees with exact sums by R', () => {
    for (const { id, input, expected } of known<MarginRow, { holds: number }>('plan-margin')) {
      const { ways } = planMargin({ ...input, repeats: 1, power: 0.5, runs: 4000 })
      near(ways.evenly, expected.holds, id)
    }
  })

  it('an earlier run that stays as it is limits what repeats can do', () => {
    const both = planMargin({ rate: 0.9, cases: 10, repeats: 5 })
    const fixed = planMargin({ rate: 0.9, cases: 10, repeats: 5, repeatsBefore: 5 })
    assert.equal(both.holds.share, fixed.holds.share)
    assert.ok(both.needed > 5 && !(fixed.needed <= both.needed))
  })

  it('a fall as large as the margin is ruled out in 2.5 of 100 runs at most, either way it comes', () => {
    for (const cases of [10, 30]) {
      const { ways, needed } = planMargin({ rate: 0.9, fall: 0.1, cases, repeats: 10, runs: 2000 })
      for (const { share } of Object.values(ways)) assert.ok(share <= 0.025 + 0.014, `${share}`)
      assert.ok(Number.isNaN(needed))
    }
  })
})

it('a binomial draw is the inverse of the distribution, and rises with p', () => {
  for (const [n, p] of [
    [1, 0.3],
    [5, 0.97],
    [40, 0.5],
    [200, 0.02],
  ] as const) {
    for (const u of [0.001, 0.2, 0.5, 0.77, 0.999]) {
      const k = binomialDraw(u, n, p)
      // Counted from the far side where p is above one half: the same distribution, other ties.
      const [v, q, j] = p > 0.5 ? [1 - u, 1 - p, n - k] : [u, p, k]
      assert.ok(binomialCdf(j, n, q) >= v - 1e-12, `${n} ${p} ${u}`)
      assert.ok(j === 0 || binomialCdf(j - 1, n, q) < v + 1e-12, `${n} ${p} ${u}`)
    }
  }
  for (let p = 0; p < 1; p += 0.01)
    assert.ok(binomialDraw(0.4, 9, p) <= binomialDraw(0.4, 9, p + 0.01), `${p}`)
})

it('the least size is found, and NaN where none is enough', () => {
  for (const least of [1, 2, 3, 17, 64, 99])
    assert.equal(
      leastSize((n) => n >= least, 99),
      least,
    )
  assert.ok(Number.isNaN(leastSize(() => false, 99)))
})
