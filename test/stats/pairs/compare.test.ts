import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, type Pair, withinError } from '../../../lib/stats/pairs/compare.ts'
import { rng } from '../../../lib/stats/random.ts'
import fc from '../../property.ts'
import { close, known, passes } from '../known.ts'

type Counts = { a: number[]; aTrials: number[]; b: number[]; bTrials: number[] }
type Expected = Record<
  'difference' | 't' | 'signFlip' | 'cmh' | 'standardError' | 'withinError' | 'withinDf',
  number
>

const pairsOf = ({ a, aTrials, b, bTrials }: Counts): Pair[] =>
  a.map((n, i) => ({ a: passes(n, aTrials[i]!), b: passes(b[i]!, bTrials[i]!) }))
const five = (a: number[], b: number[]): Pair[] =>
  a.map((n, i) => ({ a: passes(n, 5), b: passes(b[i]!, 5) }))

for (const { id, input, expected } of known<Counts, Expected>('compare')) {
  test(`the paired comparison agrees with R: ${id}`, () => {
    const found = compare(pairsOf(input))
    close(found.difference, expected.difference, 1e-10, 'difference')
    close(found.standardError, expected.standardError, 1e-10, 'standard error')
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

test('where the test does not rule out "no difference" the verdict is "cannot tell", and the reason says so', () => {
  const c = compare(five([5, 4, 3, 5, 2, 0, 5, 4, 1, 3], [5, 5, 4, 5, 4, 2, 5, 2, 3, 4]))
  assert.equal(c.verdict, 'cannot tell')
  assert.match(c.reasons.join(), /the test does not rule out "no difference" \(p = 0\.\d+\)/)
})

test('four moved cases cannot carry a verdict about other cases, five can, and the reason says so', () => {
  const clean = (n: number) =>
    five(
      Array(10).fill(2),
      Array.from({ length: 10 }, (_, i) => (i < n ? 4 + (i % 2) : 2)),
    )
  const [few, enough] = [compare(clean(4)), compare(clean(5))]
  assert.equal(few.verdict, 'cannot tell')
  assert.match(
    few.reasons.join(),
    /only 4 cases moved: with fewer than 5 the sign-flip test cannot reach 0\.05/,
  )
  assert.equal(enough.verdict, 'better')
  assert.doesNotMatch(enough.reasons.join(), /fewer than/)
  assert.match(compare(clean(1)).reasons.join(), /only 1 case moved: /)
})

test('two questions, two answers: 4 cases that all move say enough of themselves and nothing of others', () => {
  const pairs = five([0, 0, 0, 0], [4, 4, 4, 4])
  const [these, others] = [compare(pairs, { target: 'these' }), compare(pairs)]
  assert.equal(these.verdict, 'better')
  assert.ok(these.low > 0.4)
  assert.equal(others.verdict, 'cannot tell')
  assert.ok(others.low < 0)
})

test('a verdict beside an interval that holds 0 says what the interval allows for', () => {
  const c = compare(five([1, 2, 1, 0, 2, 1], [3, 4, 3, 3, 4, 3]))
  assert.equal(c.verdict, 'better')
  assert.ok(c.low < 0)
  assert.match(c.reasons.join(), /allows for kinds of cases that these do not show/)
})

test('all alike is no proof of sameness: what 20 cases did not show may still be 1 case in 7', () => {
  const alike = (n: number) => five(Array(n).fill(5), Array(n).fill(5))
  assert.equal(compare(alike(20), { equivalence: 0.1 }).verdict, 'cannot tell')
  close(compare(alike(20)).low, -0.15078, 1e-4, 'low')
  assert.equal(compare(alike(60), { equivalence: 0.1 }).verdict, 'same within d')
  // Run again on the same cases, 100 trials say more.
  assert.equal(compare(alike(20), { equivalence: 0.1, target: 'these' }).verdict, 'same within d')
})

test('one trial per case answers both questions, as wide as one trial is', () => {
  const once = Array.from({ length: 9 }, () => ({ a: [0], b: [1] }))
  for (const target of ['these', 'like these'] as const)
    assert.equal(compare(once, { target }).verdict, 'better', target)
  assert.ok(Number.isNaN(compare(once, { target: 'these' }).standardError))
})

test('what lost trials could turn round is withheld, and what they could not is said beside it', () => {
  const pairs = five(Array(10).fill(2), Array(10).fill(4))
  const lost = (b: number) => pairs.map((pair) => ({ ...pair, lost: { a: 0, b } }))
  const [few, many] = [compare(lost(1)), compare(lost(5))]
  assert.equal(few.verdict, 'better')
  close(few.bounds?.worst as number, 4 / 6 - 0.4, 1e-12, 'worst')
  close(few.bounds?.best as number, 5 / 6 - 0.4, 1e-12, 'best')
  // Chance comes on top: the ends are those of the comparison with the lost trials counted in.
  const counted = (score: number) => pairs.map(({ a, b }) => ({ a, b: [...b, score] }))
  assert.deepEqual(
    [few.bounds?.low, few.bounds?.high],
    [compare(counted(0)).low, compare(counted(1)).high],
  )
  assert.equal(many.verdict, 'cannot tell')
  assert.match(many.reasons.join(), /"better" is withheld: .* 0 to \+50 points/)
  assert.equal(compare(pairs).bounds, null)
})

test('variants of one task count as one: copying every case three times as a family changes no verdict and no end', () => {
  const pairs = five([5, 4, 3, 5, 2, 0, 5, 4], [5, 5, 4, 5, 4, 2, 5, 5])
  const [once, thrice] = [
    compare(pairs),
    compare(pairs.flatMap((pair, i) => [1, 2, 3].map(() => ({ ...pair, family: `task ${i}` })))),
  ]
  assert.equal(thrice.cases, 24)
  assert.equal(thrice.families, 8)
  for (const name of ['difference', 'low', 'high', 'standardError'] as const)
    close(thrice[name], once[name], 1e-9, name)
  close(thrice.p.midP, once.p.midP, 1e-12, 'p')
  assert.equal(thrice.verdict, once.verdict)
  assert.match(thrice.text, /24 cases of 8 families/)
})

test('a case without a difference never turns a verdict round', () => {
  const count = fc.integer({ min: 0, max: 4 })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(count, count), { minLength: 2, maxLength: 12 }),
      count,
      fc.constantFrom('like these' as const, 'these' as const),
      (counts, same, target) => {
        const pairs = counts.map(([a, b]) => ({ a: passes(a, 4), b: passes(b, 4) }))
        const before = compare(pairs, { target }).verdict
        const more = [...pairs, { a: passes(same, 4), b: passes(same, 4) }]
        const after = compare(more, { target }).verdict
        assert.notDeepEqual([before, after].sort(), ['better', 'worse'])
      },
    ),
  )
})

test('for other cases one more pass of b never lowers an end', () => {
  const count = fc.integer({ min: 0, max: 4 })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(count, count), { minLength: 2, maxLength: 10 }),
      fc.nat(),
      (counts, at) => {
        const pairs = counts.map(([a, b]) => ({ a: passes(a, 4), b: passes(b, 4) }))
        const i = at % pairs.length
        const more = pairs.map((pair, j) =>
          i === j ? { a: pair.a, b: passes(Math.min(4, (counts[j]?.[1] ?? 0) + 1), 4) } : pair,
        )
        const [one, two] = [compare(pairs), compare(more)]
        assert.ok(two.low >= one.low - 1e-7 && two.high >= one.high - 1e-7)
      },
    ),
  )
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

test('a region too narrow to be sure of does not hide a difference that is sure', () => {
  const c = compare(
    five(
      Array(40).fill(5),
      Array.from({ length: 40 }, (_, i) => (i % 4 ? 5 : 4)),
    ),
    { equivalence: 0.08 },
  )
  assert.ok(c.low < -0.08)
  assert.equal(c.verdict, 'worse')
})

test('levels and regions are printed as given', () => {
  const pairs = five(Array(60).fill(5), Array(60).fill(5))
  assert.match(
    compare(pairs, { level: 0.99, equivalence: 0.125 }).text,
    /same as a within 13 points .* 99% interval/,
  )
})

test('lower can be better', () => {
  const pairs = five(Array(9).fill(4), [1, 2, 0, 1, 2, 1, 0, 2, 1])
  assert.equal(compare(pairs).verdict, 'worse')
  const c = compare(pairs, { better: 'lower', names: ['naive', 'careful'] })
  assert.equal(c.verdict, 'better')
  assert.match(
    c.text,
    /^careful is better than naive for cases like these \(9 cases\): -58 points, 95% interval /,
  )
})

test('a case without trials of one side is left out and counted', () => {
  const c = compare([...five([1, 2], [3, 4]), { a: [], b: [1] }])
  assert.equal(c.cases, 2)
  assert.equal(c.missing, 1)
  assert.match(c.reasons.join(), /1 case left out/)
})

test('what cannot be told is NaN with a reason: no case, one case, one family', () => {
  const kin = five([1, 2, 1], [4, 5, 5]).map((pair) => ({ ...pair, family: 'one' }))
  for (const c of [compare([]), compare(five([1], [4])), compare(kin)]) {
    assert.ok(Number.isNaN(c.low) && Number.isNaN(c.high) && Number.isNaN(c.pDecisive))
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

test('where failures are lost to errors, two that are the same are told apart no more often than by chance', () => {
  for (const target of ['these', 'like these'] as const) {
    const random = rng(`lost ${target}`)
    const one = (p: number) => (random() < p ? 1 : 0)
    const runs = 100
    let [said, silent] = [0, 0]
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: 20 }, () => {
        const p = 0.4 + 0.4 * random()
        const [a, b] = [0, 1].map(() => Array.from({ length: 10 }, () => one(p)))
        const kept = (b ?? []).filter((score) => score === 1 || random() < 0.5)
        return { a: a ?? [], b: kept, lost: { a: 0, b: 10 - kept.length } }
      })
      if (compare(pairs, { target }).verdict !== 'cannot tell') said++
      const plain = pairs.map(({ a, b }) => ({ a, b }))
      if (compare(plain, { target }).verdict !== 'cannot tell') silent++
    }
    // 5 in 100, with three standard errors.
    assert.ok(said <= 11, `${target}: ${said} of ${runs}`)
    assert.ok(silent > 50, `${target}: ${silent} of ${runs} where what was lost is not looked at`)
  }
})
