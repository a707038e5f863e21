import assert from 'node:assert/strict'
import { test } from 'node:test'
import { betaQuantile, iccInterval, rng, varianceSplit } from '../../lib/stats/index.ts'
import fc from '../property.ts'
import { close, known, passes } from './known.ts'

type Input = { cases: number[][]; level: number; families?: string[] }

for (const { id, input, expected } of known<Input, { low: number; high: number }>('icc')) {
  test(`the interval of the share between cases agrees with R: ${id}`, () => {
    const { cases, ...options } = input
    const { low, high } = iccInterval(cases, options)
    close(low, expected.low, 1e-6, 'low')
    close(high, expected.high, 1e-6, 'high')
  })
}

test('the interval holds the estimate that the analysis of variance gives', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 30 }),
      (counts) => {
        const cases = counts.map((count) => passes(count, 5))
        const { icc } = varianceSplit(cases)
        const { low, high } = iccInterval(cases)
        assert.ok(0 <= low && low <= high && high <= 1)
        if (Number.isFinite(icc)) assert.ok(low <= Math.max(0, icc) + 1e-9 && icc <= high + 1e-9)
      },
    ),
  )
})

test('where every trial scored the same nothing is known of the share between cases', () => {
  assert.deepEqual(iccInterval(Array.from({ length: 50 }, () => [1, 1, 1])), { low: 0, high: 1 })
  assert.ok(Number.isNaN(iccInterval([[1, 0]]).low), 'one case')
  assert.ok(Number.isNaN(iccInterval([[1], [0], [1, 0]]).low), 'one case with two trials')
  const kin = { families: ['f', 'f', 'f'] }
  assert.ok(Number.isNaN(iccInterval([passes(1, 5), passes(4, 5), passes(5, 5)], kin).low))
})

test('variants of one task count as one: copying every case changes no end', () => {
  const cases = [5, 4, 3, 5, 2, 0, 5, 4].map((count) => passes(count, 5))
  const copied = cases.flatMap((one) => [one, one, one])
  const families = cases.flatMap((_, i) => [`f${i}`, `f${i}`, `f${i}`])
  const [once, thrice] = [iccInterval(cases), iccInterval(copied, { families })]
  close(thrice.low, once.low, 1e-8, 'low')
  close(thrice.high, once.high, 1e-8, 'high')
  assert.ok(iccInterval(copied).high - iccInterval(copied).low < once.high - once.low)
})

test('it covers 95 of 100 where cases are few, and where they are all but alike', () => {
  for (const [mean, icc, cases, repeats] of [
    [0.5, 0.4, 20, 5],
    [0.5, 0.05, 3, 5],
    [0.9, 0.4, 83, 5],
  ] as const) {
    const random = rng(`icc ${mean} ${icc} ${cases}`)
    const weight = 1 / icc - 1
    const runs = 300
    let covered = 0
    for (let run = 0; run < runs; run++) {
      const drawn = Array.from({ length: cases }, () => {
        const p = betaQuantile(random(), mean * weight, (1 - mean) * weight)
        return Array.from({ length: repeats }, () => (random() < p ? 1 : 0))
      })
      const { low, high } = iccInterval(drawn)
      if (low <= icc && icc <= high) covered++
    }
    // Nominal 95 %, with three standard errors of 300 runs.
    assert.ok(covered / runs >= 0.95 - 3 * 0.0126, `${mean} ${icc}: ${covered} of ${runs}`)
  }
})

test('what is no 0 or 1 is refused with its place', () => {
  assert.throws(() => iccInterval([[1, 0.5]]), /got 0\.5 \(cases\[0\]\[1\]\)/)
  assert.throws(() => iccInterval([[1, 0]], { families: [] }), { code: 'argument_invalid' })
  assert.throws(() => iccInterval([[1, 0]], { level: 1 }), /options\.level/)
  assert.throws(() => iccInterval(undefined as never), /got nothing \(cases\)/)
})
