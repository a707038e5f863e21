import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pilot } from '../../../lib/stats/design/pilot.ts'
import { plan } from '../../../lib/stats/design/plan.ts'
import { detectable, power } from '../../../lib/stats/design/power.ts'
import { normalQuantile } from '../../../lib/stats/distribution.ts'
import { compare, type Pair } from '../../../lib/stats/pairs/compare.ts'
import { rng } from '../../../lib/stats/random.ts'
import { close, known, passes } from '../known.ts'

type Input = { cases: number; sd: number; level: number; difference: number }

test('power and the smallest detectable difference agree with R', () => {
  for (const { id, input, expected } of known<Input, { detectable: number; power: number }>(
    'plan',
  )) {
    const of = { error: input.sd / Math.sqrt(input.cases), df: input.cases - 1, level: input.level }
    close(detectable(of), expected.detectable, 1e-8, `detectable with ${id}`)
    close(power({ ...of, difference: input.difference }), expected.power, 1e-8, `power with ${id}`)
  }
})

test('the power at the smallest detectable difference is the one asked for', () => {
  for (const wanted of [0.5, 0.8, 0.95]) {
    for (const df of [1, 2.5, 7, 400]) {
      const difference = detectable({ error: 0.1, df, power: wanted })
      close(power({ error: 0.1, df, difference }), wanted, 1e-9, `df ${df}`)
    }
  }
})

test("with many cases it is Miller's formula: w2 = 1/9, endless repeats and 969 cases find .03", () => {
  const z = normalQuantile(0.975) + normalQuantile(0.8)
  close((z / 0.03) ** 2 / 9, 968.998, 1e-5, 'formula')
  const p = plan({ cases: 969, repeats: 1e9, between: 1 / 9, within: 1 / 6 })
  close(p.ways.evenly.difference, 0.03, 0.05, 'evenly')
  // Where it comes wholly the difference itself adds to the spread.
  assert.ok(p.ways.wholly.difference > p.ways.evenly.difference)
})

/** Runs of two configurations whose cases all have one rate, b's lower by a difference. */
function foundBy(
  difference: number,
  way: 'evenly' | 'wholly',
  { cases = 20, repeats = 5, rate = 0.9, target = 'like these' as 'like these' | 'these' } = {},
): number {
  const random = rng(`found ${way} ${cases} ${target}`)
  const runs = 600
  const trials = (p: number) => Array.from({ length: repeats }, () => (random() < p ? 1 : 0))
  let found = 0
  for (let run = 0; run < runs; run++) {
    const whole = Math.round((difference / rate) * cases)
    const pairs = Array.from({ length: cases }, (_, i) => {
      const fails = target === 'these' ? i < whole : random() < difference / rate
      const lower = way === 'evenly' ? rate - difference : fails ? 0 : rate
      return { a: trials(rate), b: trials(lower) }
    })
    if (compare(pairs, { target }).verdict === 'worse') found++
  }
  return found / runs
}

test('what a plan says it finds is found by the comparison itself, either way it comes', () => {
  for (const cases of [8, 20]) {
    const p = plan({ cases, repeats: 5, rate: 0.9, between: 0, within: 0.09 })
    for (const way of ['evenly', 'wholly'] as const) {
      const share = foundBy(p.ways[way].difference, way, { cases })
      // Within .05, and three standard errors of 600 runs.
      assert.ok(Math.abs(share - p.ways[way].found.share) <= 0.05, `${cases}, ${way}: ${share}`)
      assert.ok(Math.abs(share - 0.8) <= 0.05 + 3 * 0.016, `${cases}, ${way}: ${share}`)
    }
    assert.equal(p.detectable, Math.max(p.ways.evenly.difference, p.ways.wholly.difference))
  }
  const here = plan({ cases: 12, repeats: 8, rate: 0.9, within: 0.09, target: 'these' })
  const share = foundBy(here.ways.evenly.difference, 'evenly', {
    cases: 12,
    repeats: 8,
    target: 'these',
  })
  assert.ok(Math.abs(share - here.ways.evenly.found.share) <= 0.05, `these: ${share}`)
})

test('more of anything sees more, and after a few repeats another case buys more per trial', () => {
  const p = plan({ cases: 20, repeats: 5 })
  assert.ok(p.oneMoreCase.detectable < p.detectable && p.oneMoreRepeat.detectable < p.detectable)
  assert.equal(p.oneMoreCase.trials - p.trials, 10)
  assert.equal(p.oneMoreRepeat.trials - p.trials, 40)
  assert.equal(p.cheaper, 'case')
  assert.match(
    p.text,
    /^20 cases x 5 trials find .* points where every case moves a little \(in \d+% \[.* of runs\)/,
  )
})

test('the number of cases needed finds the difference, and half of them do not', () => {
  for (const difference of [0.2, 0.4]) {
    const { casesNeeded, found } = plan({ cases: 10, repeats: 5, difference })
    const asked = { repeats: 5, difference }
    const enough = plan({ ...asked, cases: casesNeeded }).found
    assert.ok(Math.abs((enough?.share ?? 0) - 0.8) <= 0.07, `${difference}: ${enough?.share}`)
    assert.ok((plan({ ...asked, cases: casesNeeded >> 1 }).found?.share ?? 1) < 0.75)
    assert.ok((found?.share ?? 1) < 0.8 || casesNeeded <= 10)
  }
  assert.ok(Number.isNaN(plan({ cases: 10, repeats: 5, difference: 1e-5 }).casesNeeded))
})

test('with more cases than are simulated the formula goes on where the simulation ends', () => {
  const of = (cases: number) => plan({ cases, repeats: 5, rate: 0.9, within: 0.09 }).ways
  const [inside, beyond] = [of(300), of(301)]
  for (const way of ['evenly', 'wholly'] as const)
    close(beyond[way].difference, inside[way].difference, 0.08, way)
})

test('a plan that can see nothing says why', () => {
  const four = plan({ cases: 4, repeats: 50 })
  assert.ok(Number.isNaN(four.detectable))
  assert.match(
    four.text,
    /So nothing is sure to be seen: with fewer than 5 cases the sign-flip test/,
  )
  // Five cases must all fall alike.
  assert.ok(plan({ cases: 5, repeats: 50 }).ways.wholly.difference > 0.7)
  const once = plan({ cases: 3, repeats: 1, target: 'these' })
  assert.match(once.reason ?? '', /not even the loss of everything/)
})

test('no plan speaks of a difference of 0 points, nor of more than 100', () => {
  for (const spread of [
    { between: 0, within: 0 },
    { between: 0.222, within: 0.067 },
    { between: 0, within: 0.01, rate: 1 },
  ]) {
    for (const cases of [6, 20, 100]) {
      const { detectable: seen, text } = plan({ cases, repeats: 5, ...spread })
      assert.ok(Number.isNaN(seen) || (seen >= 1 / cases && seen <= 1), `${cases}: ${seen}`)
      assert.doesNotMatch(text, /\b0 points/)
    }
  }
})

test('a plan from the mirror sees the same', () => {
  const of = (rate: number) => plan({ cases: 12, repeats: 5, rate, within: 0.09 }).detectable
  assert.equal(of(0.1), of(0.9))
})

test('a budget buys whole repeats of both configurations', () => {
  const p = plan({ cases: 10, repeats: 5, perTrial: { usd: 0.1 }, budget: { usd: 30 } })
  assert.deepEqual([p.cost, p.affordable?.repeats], [{ usd: 10 }, 15])
  assert.ok((p.affordable?.detectable ?? 1) < p.detectable)
  assert.match(
    p.text,
    /These are 100 trials, \$10\.00\. The budget pays for 15 trials of every case/,
  )
})

test('a pilot finds the variances it was made with', () => {
  const next = rng('pilot')
  const trials = (p: number) =>
    passes(
      Array.from({ length: 6 }, () => (next() < p ? 1 : 0)).reduce<number>((x, y) => x + y, 0),
      6,
    )
  // True differences of +-.2 around centres of .4 and .6: variance .04; trials .25 - mean of (p - .5)^2.
  const pairs = Array.from({ length: 4000 }, (_, i) => {
    const [p, d] = [i % 2 ? 0.4 : 0.6, next() < 0.5 ? 0.1 : -0.1]
    return { a: trials(p - d), b: trials(p + d) }
  })
  const found = pilot(pairs)
  close(found.between, 0.04, 0.1, 'between')
  close(found.within, 0.23, 0.03, 'within')
  close(found.repeats, 6, 1e-9, 'repeats')
  assert.equal(plan(found).assumed, false)
})

test('a pilot without enough repeats is NaN with a reason, one below zero is 0 with a reason', () => {
  assert.match(pilot([{ a: [1], b: [0] }]).reason ?? '', /fewer than two cases/)
  const flat = Array.from({ length: 6 }, () => ({ a: [1, 0], b: [0, 1] }))
  assert.equal(pilot(flat).between, 0)
  assert.match(pilot(flat).reason ?? '', /given as 0/)
})

test('the upper limit of a spread is that of chi-square', () => {
  for (const { id, input, expected } of known<{ pairs: Pair[] }, { between: number; high: number }>(
    'pilot',
  )) {
    const { between, betweenHigh } = pilot(input.pairs)
    close(between, expected.between, 1e-9, id)
    close(betweenHigh, expected.high, 0.03, id)
  }
})
