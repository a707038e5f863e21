import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareMedians, type MeasurePair } from '../../lib/stats/continuous.ts'
import { rng } from '../../lib/stats/random.ts'
import { close, known } from './known.ts'

type Expected = Record<'difference' | 'p' | 'signFlip' | 'low' | 'high', number>

test('differences of case medians, their t test and the sign-flip test agree with R', () => {
  for (const { id, input, expected } of known<{ pairs: MeasurePair[] }, Expected>('continuous')) {
    const found = compareMedians(input.pairs)
    for (const name of ['difference', 'p', 'low', 'high'] as const)
      close(found[name], expected[name], 1e-9, `${name} of ${id}`)
    close(found.pSignFlip, expected.signFlip, 1e-12, `sign-flip of ${id}`)
  }
})

test('one slow trial does not decide', () => {
  const pairs = Array.from({ length: 8 }, (_, i) => ({
    a: [100 + i, 101 + i, 102 + i],
    b: [90 + i, 91 + i, i === 0 ? 60_000 : 92 + i],
  }))
  const found = compareMedians(pairs)
  assert.deepEqual([found.difference, found.pSignFlip], [-10, 2 / 2 ** 8])
})

test('the interval leaves out 0 exactly where p is at most 1 - level', () => {
  const random = rng('agree')
  for (let run = 0; run < 100; run++) {
    const pairs = Array.from({ length: 6 }, () => ({ a: [random()], b: [random() + 0.2] }))
    const { low, high, p } = compareMedians(pairs)
    assert.equal(low > 0 || high < 0, p < 0.05)
  }
})

test('no spread and one case leave no interval rather than one of no width', () => {
  const same = compareMedians([
    { a: [1, 1], b: [3, 3] },
    { a: [2, 2], b: [4, 4] },
  ])
  assert.equal(same.difference, 2)
  assert.ok(Number.isNaN(same.low) && same.reason)
  const one = compareMedians([
    { a: [1, 2], b: [3, 5] },
    { a: [], b: [4] },
  ])
  assert.deepEqual([one.cases, one.missing], [1, 1])
  assert.ok(Number.isNaN(one.low) && one.reason)
})

test('cases of one family count once', () => {
  const pairs = [1, 2, 3, 4].flatMap((i) => [
    { a: [0], b: [i] },
    { a: [0], b: [i] },
  ])
  const width = (given: MeasurePair[]) => {
    const { low, high } = compareMedians(given)
    return high - low
  }
  const kin = pairs.map((pair, i) => ({ ...pair, family: `f${i >> 1}` }))
  assert.ok(width(kin) > width(pairs))
})
