import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingBounds } from '../../lib/stats/missing.ts'
import { holm } from '../../lib/stats/pairs/multiple.ts'
import { ecdf, median, quantile } from '../../lib/stats/quantile.ts'
import { close, known } from './known.ts'

test('quantiles agree with R', () => {
  for (const { id, input, expected } of known<
    { values: number[]; q: number },
    { quantile: number }
  >('quantile')) {
    close(quantile(input.values, input.q), expected.quantile, 1e-13, id)
  }
  assert.ok(Number.isNaN(median([])))
})

test('a quantile leaves its argument as it is', () => {
  const values = [3, 1, 2]
  quantile(values, 0.5)
  assert.deepEqual(values, [3, 1, 2])
})

test('the empirical distribution steps once per value and ends at one', () => {
  assert.deepEqual(ecdf([3, 1, 3]), [
    { value: 1, share: 1 / 3 },
    { value: 3, share: 1 },
  ])
  assert.deepEqual(ecdf([]), [])
})

test("Holm's adjusted p values agree with R; an undefined one is no comparison", () => {
  for (const { id, input, expected } of known<{ p: number[] }, { adjusted: number[] }>(
    'multiple',
  )) {
    for (const [i, p] of holm(input.p).entries())
      close(p, expected.adjusted[i] as number, 1e-13, id)
  }
  assert.deepEqual(holm([0.01, Number.NaN, 0.2]), [0.02, Number.NaN, 0.2])
})

test('missing trials widen the bounds as far as they could, and no further', () => {
  assert.deepEqual(
    missingBounds(
      [
        [1, 1, 0, 0],
        [1, 1, 1],
      ],
      [0, 1],
    ),
    { estimate: 0.75, worst: 0.625, best: 0.75, trials: 7, missing: 1 },
  )
  const lost = missingBounds([[1], []], [0, 3])
  assert.deepEqual([lost.estimate, lost.worst, lost.best], [1, 0.5, 1])
  const none = missingBounds([[1, 0], [1]], [0, 0])
  assert.deepEqual([none.worst, none.best], [none.estimate, none.estimate])
})
