import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundedMean } from '../../lib/stats/bounded.ts'
import { betaCdf, betaQuantile, binomialPmf } from '../../lib/stats/distribution.ts'
import { sameCases, sameCasesDifference } from '../../lib/stats/same-cases.ts'
import { weightedMeanCdf } from '../../lib/stats/weighted.ts'
import fc from '../property.ts'
import { close, known, passes } from './known.ts'

type Input =
  | { f: 'cdf'; values: number[]; masses: number[]; x: number }
  | { f: 'ends'; values: number[]; range: [number, number] }
  | { f: 'again'; passed: number[]; trials: number }

for (const { id, input, expected } of known<Input, Record<'value' | 'low' | 'high', number>>(
  'bounded',
)) {
  test(`agrees with R: ${id}`, () => {
    if (input.f === 'cdf') {
      const found = weightedMeanCdf(input.values, input.masses, input.x)
      close(found, expected.value, 1e-7, 'cdf')
      return
    }
    const found =
      input.f === 'ends'
        ? boundedMean(input.values, { range: input.range })
        : sameCases(input.passed.map((n) => passes(n, input.trials)))
    for (const end of ['low', 'high'] as const) {
      const off = Math.abs(found[end] - expected[end])
      assert.ok(off <= (input.f === 'ends' ? 1e-7 : 0.002), `${end}: ${found[end]}`)
    }
  })
}

test('for two values the weighted mean is beta distributed, into the tails', () => {
  const size = fc.double({ min: 0.5, max: 300, noNaN: true })
  fc.assert(
    fc.property(size, size, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (a, b, x) => {
      const expected = betaCdf(x, a, b)
      if (expected < 1e-12 || expected > 1 - 1e-12) return
      const found = weightedMeanCdf([0, 1], [b, a], x)
      assert.ok(Math.abs(found - expected) <= 1e-6, `expected ${expected}, got ${found}`)
    }),
  )
})

test('of 0 and 1 the interval is that of a beta distribution with 0.8 of a value unseen', () => {
  for (const [passed, n] of [
    [8, 8],
    [0, 5],
    [3, 10],
    [99, 100],
  ] as const) {
    const { low, high } = boundedMean(passes(passed, n))
    close(low, passed === 0 ? 0 : betaQuantile(0.025, passed, n - passed + 0.8), 1e-7, 'low')
    close(high, passed === n ? 1 : betaQuantile(0.975, passed + 0.8, n - passed), 1e-7, 'high')
  }
})

test('it covers at least 93.5 % for any rate of 0/1 values, counted exactly over every outcome', () => {
  for (const n of [3, 5, 8, 10, 20, 50, 100]) {
    const ends = Array.from({ length: n + 1 }, (_, s) => boundedMean(passes(s, n)))
    // Coverage is least just beside an end, where an outcome drops out.
    for (const p of ends.flatMap(({ low, high }) => [low - 1e-6, high + 1e-6])) {
      if (p <= 0 || p >= 1) continue
      let covered = 0
      for (let s = 0; s <= n; s++) {
        const { low, high } = ends[s] as { low: number; high: number }
        if (low <= p && p <= high) covered += binomialPmf(s, n, p)
      }
      assert.ok(covered >= 0.935, `${n} values, rate ${p}: ${covered}`)
    }
  }
})

test('a value that weighs more makes what was not seen weigh more', () => {
  const even = boundedMean([1, 1, 1, 1])
  const uneven = boundedMean([1, 1, 1, 1], { weights: [1, 1, 1, 5] })
  assert.ok(uneven.low < even.low)
  assert.equal(uneven.high, 1)
})

test('run again: one more failure never raises an end of the difference, and a and b change places', () => {
  const count = fc.integer({ min: 0, max: 5 })
  fc.assert(
    fc.property(
      fc.array(fc.tuple(count, count), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      (counts, at) => {
        const pairs = counts.map(([a, b]) => ({ a: passes(a, 5), b: passes(b, 5) }))
        const i = at % pairs.length
        const worse = pairs.map((pair, j) =>
          i === j ? { a: pair.a, b: passes(Math.max(0, (counts[j]?.[1] ?? 0) - 1), 5) } : pair,
        )
        const [before, after] = [sameCasesDifference(pairs), sameCasesDifference(worse)]
        assert.ok(after.low <= before.low + 1e-7 && after.high <= before.high + 1e-7)
        const turned = sameCasesDifference(pairs.map(({ a, b }) => ({ a: b, b: a })))
        close(turned.low, -before.high, 1e-9, 'turned')
      },
    ),
  )
})
