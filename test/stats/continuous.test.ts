import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareMedians, type MeasurePair } from '../../lib/stats/continuous.ts'
import { rng } from '../../lib/stats/random.ts'
import { close, known } from './known.ts'

type Expected = Record<'difference' | 'p' | 'low' | 'high', number>

test('differences of case medians and the sign-flip test agree with R, the bootstrap ends to its own error', () => {
  for (const { id, input, expected } of known<{ pairs: MeasurePair[] }, Expected>('continuous')) {
    const found = compareMedians(input.pairs, { draws: 40_000, rng: rng('medians') })
    close(found.difference, expected.difference, 1e-12, `difference of ${id}`)
    close(found.p, expected.p, 1e-12, `p of ${id}`)
    const width = expected.high - expected.low
    assert.ok(Math.abs(found.low - expected.low) < 0.01 * width, `low ${found.low} against ${expected.low}`)
    assert.ok(Math.abs(found.high - expected.high) < 0.03 * width, `high ${found.high} against ${expected.high}`)
  }
})

test('one slow trial does not decide', () => {
  const pairs = Array.from({ length: 8 }, (_, i) => ({
    a: [100 + i, 101 + i, 102 + i],
    b: [90 + i, 91 + i, i === 0 ? 60_000 : 92 + i],
  }))
  const found = compareMedians(pairs, { draws: 2000 })
  assert.deepEqual([found.difference, found.p], [-10, 2 / 2 ** 8])
})

test('no spread and one case leave no interval rather than one of no width', () => {
  const same = compareMedians(
    [
      { a: [1, 1], b: [3, 3] },
      { a: [2, 2], b: [4, 4] },
    ],
    { draws: 200 },
  )
  assert.equal(same.difference, 2)
  assert.ok(Number.isNaN(same.low) && same.reason)
  const one = compareMedians([
    { a: [1, 2], b: [3, 5] },
    { a: [], b: [4] },
  ])
  assert.deepEqual([one.cases, one.missing], [1, 1])
  assert.ok(Number.isNaN(one.low) && one.reason)
})
