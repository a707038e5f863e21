import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pilot, plan } from '../../../lib/stats/design/plan.ts'
import { detectable, power } from '../../../lib/stats/design/power.ts'
import { normalQuantile } from '../../../lib/stats/distribution.ts'
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

test("with many cases it is Miller's formula: w2 = 1/9, endless repeats and a difference of .03 need 969 cases", () => {
  const z = normalQuantile(0.975) + normalQuantile(0.8)
  close((z / 0.03) ** 2 / 9, 968.998, 1e-5, 'formula')
  const p = plan({ cases: 969, repeats: 1e9, between: 1 / 9, within: 1 / 6, difference: 0.03 })
  // Student's t asks for a case or two more than the normal distribution.
  assert.ok(p.casesNeeded >= 969 && p.casesNeeded <= 972, String(p.casesNeeded))
})

test('the tables of the design hold: z against t and one step of the exact test', () => {
  // Smallest differences by the normal formula, w2 = .02, variance .1 per trial, K = 5.
  const byNormal = new Map([
    [20, 0.153],
    [30, 0.125],
    [50, 0.097],
    [100, 0.069],
  ])
  for (const [cases, wanted] of byNormal) {
    const { detectable: found } = plan({ cases, repeats: 5, between: 0.02, within: 0.1 })
    assert.ok(found > wanted && found < wanted * 1.13, `${cases} cases: ${found} against ${wanted}`)
  }
})

test('more of anything sees more, and after a few repeats another case buys more per trial', () => {
  const p = plan({ cases: 20, repeats: 5 })
  assert.ok(p.oneMoreCase.detectable < p.detectable && p.oneMoreRepeat.detectable < p.detectable)
  assert.equal(p.oneMoreCase.trials - p.trials, 10)
  assert.equal(p.oneMoreRepeat.trials - p.trials, 40)
  assert.equal(p.cheaper, 'case')
  assert.match(p.text, /^20 cases x 5 trials find a true difference of .* points in 80% of runs\./)
})

test('the number of cases needed is the least that sees the difference', () => {
  for (const difference of [0.05, 0.1, 0.2, 0.4]) {
    const { casesNeeded } = plan({ cases: 10, repeats: 5, difference })
    assert.ok(plan({ cases: casesNeeded, repeats: 5 }).detectable <= difference)
    assert.ok(!(plan({ cases: casesNeeded - 1, repeats: 5 }).detectable <= difference))
  }
  assert.ok(Number.isNaN(plan({ cases: 10, repeats: 5, difference: 1e-6 }).casesNeeded))
})

test('a plan that can see nothing says why', () => {
  const five = plan({ cases: 5, repeats: 50 })
  assert.ok(Number.isNaN(five.detectable))
  assert.match(five.text, /cannot show a difference: with fewer than 6 cases/)
  assert.match(plan({ cases: 9, repeats: 1, target: 'these' }).reason ?? '', /one trial per case/)
  assert.match(plan({ cases: 9, repeats: 5, between: 0, within: 0 }).reason ?? '', /no spread/)
  assert.match(
    plan({ cases: 9, repeats: 5, between: 0.1, within: 0, target: 'these' }).reason ?? '',
    /no spread/,
  )
})

test('no plan speaks of a difference of more than 100 points, for there is none', () => {
  const wild = { repeats: 1, between: 0.222, within: 0.067 }
  assert.ok(Number.isNaN(plan({ cases: 6, ...wild }).detectable))
  assert.match(
    plan({ cases: 6, ...wild }).text,
    /not even a difference of 100 points would be found/,
  )
  const seven = plan({ cases: 7, ...wild }).detectable
  assert.ok(seven > 0.85 && seven <= 1)
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

test('a plan is the paired t test plus one step of the exact test, for either target', () => {
  const [cases, repeats, between, within] = [15, 4, 0.03, 0.12]
  const like = detectable({
    error: Math.sqrt((between + (2 * within) / repeats) / cases),
    df: cases - 1,
  })
  const these = detectable({
    error: Math.sqrt((2 * within) / repeats / cases),
    df: 2 * cases * (repeats - 1),
  })
  const step = 1 / (cases * repeats)
  close(plan({ cases, repeats, between, within }).detectable, like + step, 1e-12, 'like these')
  close(
    plan({ cases, repeats, between, within, target: 'these' }).detectable,
    these + step,
    1e-12,
    'these',
  )
})
