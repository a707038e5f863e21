import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  compareMedians,
  type MeasurePair,
  meanOver,
  quantileOver,
} from '../../lib/stats/continuous.ts'
import { normalQuantile } from '../../lib/stats/index.ts'
import { rng } from '../../lib/stats/random.ts'
import { close, known } from './known.ts'

type Expected = Record<'difference' | 'p' | 'signFlip' | 'low' | 'high', number>

test('differences of case medians, their t test and the sign-flip test agree with R', () => {
  for (const { id, input, expected } of known<{ pairs: MeasurePair[] }, Expected>('continuous')) {
    const found = compareMedians(input.pairs)
    for (const name of ['difference', 'p', 'low', 'high'] as const)
      close(found[name], expected[name], 1e-9, `${name} of ${id}`)
    close(found.pSignFlip, expected.signFlip, 1e-12, `sign-flip of ${id}`)
    // The mean of single values is the same t interval.
    const median = (values: readonly number[]) => {
      const sorted = [...values].sort((x, y) => x - y)
      return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
    }
    const mean = meanOver(input.pairs.map(({ a, b }) => [median(b) - median(a)]))
    close(mean.low, expected.low, 1e-9, `mean of ${id}`)
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
  assert.ok(Number.isNaN(quantileOver([[1, 2, 3]], 0.5).low))
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

test('intervals of the median and of the 95th percentile hold for other cases, and an end beyond what was seen is not known', () => {
  const random = rng('quantiles')
  const normal = () => normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, random())))
  const trial = (center: number) => Math.exp(center + 0.8 * normal())
  const truth = { median: 1, p95: Math.exp(normalQuantile(0.95) * Math.hypot(0.2, 0.8)) }
  const runs = 200
  const covered = { median: 0, p95: 0 }
  for (let run = 0; run < runs; run++) {
    const cases = Array.from({ length: 20 }, () => {
      const center = 0.2 * normal()
      return Array.from({ length: 5 }, () => trial(center))
    })
    for (const [name, q] of [
      ['median', 0.5],
      ['p95', 0.95],
    ] as const) {
      const { low, high } = quantileOver(cases, q)
      if (low <= truth[name] && truth[name] <= high) covered[name]++
    }
  }
  for (const [name, count] of Object.entries(covered))
    assert.ok(count / runs >= 0.95 - 3 * 0.0155, `${name}: ${count} of ${runs}`)
  assert.equal(quantileOver([[1], [2], [3]], 0.95).high, Infinity)
})
