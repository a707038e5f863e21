import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, type Pair, withinError } from '../../lib/stats/compare.ts'
import { detectable } from '../../lib/stats/power.ts'
import fc from '../property.ts'
import { close, known, passes } from './known.ts'

type Counts = { a: number[]; aTrials: number[]; b: number[]; bTrials: number[] }
type Expected = Record<
  | 'difference'
  | 't'
  | 'low'
  | 'high'
  | 'signFlip'
  | 'cmh'
  | 'standardError'
  | 'withinError'
  | 'withinDf',
  number
>

const pairsOf = ({ a, aTrials, b, bTrials }: Counts): Pair[] =>
  a.map((n, i) => ({ a: passes(n, aTrials[i]!), b: passes(b[i]!, bTrials[i]!) }))
const five = (a: number[], b: number[]): Pair[] =>
  a.map((n, i) => ({ a: passes(n, 5), b: passes(b[i]!, 5) }))

for (const { id, input, expected } of known<Counts, Expected>('compare')) {
  test(`the paired comparison agrees with R: ${id}`, () => {
    const found = compare(pairsOf(input))
    for (const name of ['difference', 'low', 'high', 'standardError'] as const) {
      close(found[name], Math.max(-1, Math.min(1, expected[name])), 1e-10, name)
    }
    close(found.p.t, expected.t, 1e-10, 't')
    close(found.p.signFlip, expected.signFlip, 1e-10, 'sign-flip')
    close(found.p.cmh as number, expected.cmh, 1e-10, 'cmh')
    const within = withinError(pairsOf(input))
    close(within.error, expected.withinError, 1e-10, 'within error')
    close(within.df, expected.withinDf, 1e-10, 'within df')
    close(
      compare(pairsOf(input), { target: 'these' }).standardError,
      expected.withinError,
      1e-10,
      'these cases',
    )
  })
}

test('no comparison speaks of finding a difference of more than 100 points, for there is none', () => {
  const wild = compare(five([5, 0, 5, 0, 5, 0], [0, 5, 0, 5, 0, 5]))
  assert.ok(Number.isNaN(wild.smallestDetectable))
  assert.match(wild.text, /finds no difference 4 times in 5, however large/)
  assert.ok(compare(five([3, 2, 3, 2, 3, 2], [2, 3, 2, 3, 2, 3])).smallestDetectable <= 1)
})

test('where the tests disagree the verdict is "cannot tell" and the reason names the test', () => {
  const c = compare(five([5, 4, 3, 5, 2, 0, 5, 4, 1, 3], [5, 5, 4, 5, 4, 2, 5, 3, 3, 4]))
  assert.ok(c.low > 0 && c.p.signFlip > 0.05)
  assert.equal(c.verdict, 'cannot tell')
  assert.match(c.reasons.join(), /exact test does not agree \(p = 0\.078\)/)
})

test('five moved cases cannot carry a verdict, six can, and the reason says so', () => {
  const clean = (n: number) =>
    five(
      Array(10).fill(2),
      Array.from({ length: 10 }, (_, i) => (i < n ? 4 + (i % 2) : 2)),
    )
  const [few, enough] = [compare(clean(5)), compare(clean(6))]
  assert.ok(few.low > 0, 'the t interval alone would call it')
  assert.equal(few.verdict, 'cannot tell')
  assert.match(
    few.reasons.join(),
    /only 5 cases moved: with fewer than 6 the sign-flip test cannot reach 0\.05/,
  )
  assert.equal(enough.verdict, 'better')
  assert.doesNotMatch(enough.reasons.join(), /fewer than/)
})

test('fewer than six cases can find nothing, and the smallest detectable difference is NaN', () => {
  const c = compare(five([0, 0, 0, 0, 0], [5, 5, 5, 5, 5]))
  assert.equal(c.verdict, 'cannot tell')
  assert.ok(Number.isNaN(c.smallestDetectable))
  assert.match(c.text, /such a run finds no difference 4 times in 5, however large/)
})

test('changing a and b over turns the difference, the interval and the verdict', () => {
  const count = fc.integer({ min: 0, max: 4 })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(count, count), { minLength: 2, maxLength: 14 }),
      fc.constantFrom('like these' as const, 'these' as const),
      (counts, target) => {
        const pairs = counts.map(([a, b]) => ({ a: passes(a, 4), b: passes(b, 4) }))
        const there = compare(pairs, { target })
        const back = compare(
          pairs.map(({ a, b }) => ({ a: b, b: a })),
          { target },
        )
        close(there.low, -back.high, 1e-9, 'low')
        close(there.p.signFlip, back.p.signFlip, 1e-9, 'sign-flip')
        close(there.p.cmh as number, back.p.cmh as number, 1e-9, 'cmh')
        const turned = { better: 'worse', worse: 'better' } as Record<string, string>
        assert.equal(back.verdict, turned[there.verdict] ?? there.verdict)
      },
    ),
  )
})

test('no interval has zero width: equal differences, no differences, every trial alike', () => {
  for (const target of ['like these', 'these'] as const) {
    for (const pairs of [
      five(Array(8).fill(5), Array(8).fill(5)),
      five(Array(8).fill(0), Array(8).fill(5)),
      five([1, 2, 3], [2, 3, 4]),
    ]) {
      const c = compare(pairs, { target })
      assert.ok(c.high - c.low > 0.05 || c.high === 1, `${c.low} to ${c.high}`)
      assert.ok(c.low < c.difference && (c.difference < c.high || c.high === 1))
    }
  }
})

test('all alike is no proof of sameness: 8 cases of 5 of 5 on both sides are not within 10 points', () => {
  const pairs = five(Array(8).fill(5), Array(8).fill(5))
  assert.equal(compare(pairs, { equivalence: 0.1 }).verdict, 'cannot tell')
  assert.match(compare(pairs).reasons.join(), /no spread to see/)
  assert.equal(
    compare(five(Array(60).fill(5), Array(60).fill(5)), { equivalence: 0.1 }).verdict,
    'same within d',
  )
})

test('one case that moved a little does not make eight cases the same: few trials near 1 look alike anyway', () => {
  const c = compare(five(Array(8).fill(5), [5, 5, 5, 5, 5, 5, 5, 4]), { equivalence: 0.1 })
  assert.ok(-0.1 < c.low && c.high < 0.1)
  assert.equal(c.verdict, 'cannot tell')
  assert.match(c.reasons.join(), /so few trials would look alike even if the rates were not/)
})

test('the smallest detectable difference is that of the paired t test plus one trial', () => {
  const c = compare(five([5, 4, 3, 5, 2, 0, 5, 4, 1, 3], [5, 5, 4, 5, 4, 2, 5, 3, 3, 4]))
  close(
    c.smallestDetectable,
    detectable({ error: c.standardError, df: 9 }) + 1 / 50,
    1e-12,
    'smallest detectable',
  )
})

test('a region too narrow to be sure of does not hide a difference that is sure', () => {
  const c = compare(
    five(
      Array(40).fill(5),
      Array.from({ length: 40 }, (_, i) => (i % 4 ? 5 : 4)),
    ),
    { equivalence: 0.08 },
  )
  assert.ok(-0.08 < c.low && c.high < 0)
  assert.equal(c.verdict, 'worse')
})

test('levels and regions are printed as given', () => {
  const pairs = five(Array(60).fill(5), Array(60).fill(5))
  assert.match(
    compare(pairs, { level: 0.999, equivalence: 0.125 }).text,
    /same as a within 12\.5 points .* 99\.9% interval/,
  )
})

test('lower can be better', () => {
  const pairs = five(Array(9).fill(4), [1, 2, 0, 1, 2, 1, 0, 2, 1])
  assert.equal(compare(pairs).verdict, 'worse')
  const c = compare(pairs, { better: 'lower', names: ['naive', 'careful'] })
  assert.equal(c.verdict, 'better')
  assert.match(
    c.text,
    /^careful is better than naive for cases like these \(9 cases\): -57\.8 points, 95% interval /,
  )
})

test('a case without trials of one side is left out and counted', () => {
  const c = compare([...five([1, 2], [3, 4]), { a: [], b: [1] }])
  assert.equal(c.cases, 2)
  assert.equal(c.missing, 1)
  assert.match(c.reasons.join(), /1 case left out/)
})

test('what cannot be told is NaN with a reason: no case, one case, one trial for "these"', () => {
  const once = Array.from({ length: 9 }, () => ({ a: [0], b: [1] }))
  for (const c of [compare([]), compare(five([1], [4])), compare(once, { target: 'these' })]) {
    assert.ok(Number.isNaN(c.low) && Number.isNaN(c.high) && Number.isNaN(c.smallestDetectable))
    assert.equal(c.verdict, 'cannot tell')
    assert.ok(c.reasons.length > 0 && !/NaN/.test(c.text), c.text)
  }
  assert.ok(
    Number.isFinite(compare(five([1], [4]), { target: 'these' }).low),
    'one case can speak of itself',
  )
})

test('graded scores are compared too: the stratified test is then sampled', () => {
  const pairs = Array.from({ length: 8 }, (_, i) => ({
    a: [0.1, 0.2, 0.15 + i / 100],
    b: [0.6, 0.7, 0.65 - i / 100],
  }))
  const c = compare(pairs, { target: 'these' })
  assert.equal(c.p.cmh, undefined)
  assert.ok((c.p.permutation as number) < 0.01)
  assert.equal(c.verdict, 'better')
})
