import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootstrap } from '../../lib/stats/bootstrap.ts'
import { rng } from '../../lib/stats/random.ts'
import { close, passes } from './known.ts'

/** The exact distribution of the resampled mean: every case drawn, every trial drawn, by full enumeration. */
function allMeans(cases: number[][]): number[] {
  const inner = (values: number[]): number[] => {
    let means: number[] = [0]
    for (let k = 0; k < values.length; k++)
      means = means.flatMap((sum) => values.map((value) => sum + value))
    return means.map((sum) => sum / values.length)
  }
  const one = cases.map(inner)
  // Cases with fewer trials have fewer outcomes: repeat them to equal numbers, so that each case is equally likely.
  const most = one.reduce((product, means) => product * means.length, 1)
  const pool = one.flatMap((means) =>
    Array.from({ length: most / means.length }, () => means).flat(),
  )
  let totals = [0]
  for (let i = 0; i < cases.length; i++)
    totals = totals.flatMap((sum) => pool.map((mean) => sum + mean))
  return totals.map((sum) => sum / cases.length)
}

test('the resampled means have the mean and variance of the full enumeration, unequal cases included', () => {
  const cases = [
    [1, 0],
    [1, 1, 0],
  ]
  const exact = allMeans(cases)
  const moments = (values: ArrayLike<number>) => {
    const all = Array.from(values)
    const mean = all.reduce((sum, x) => sum + x, 0) / all.length
    return { mean, variance: all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / all.length }
  }
  const [wanted, found] = [
    moments(exact),
    moments(bootstrap(cases, { draws: 100_000, rng: rng('moments') }).sorted),
  ]
  assert.ok(Math.abs(found.mean - wanted.mean) < 4 * Math.sqrt(wanted.variance / 100_000))
  close(found.variance, wanted.variance, 0.03, 'variance')
})

test('the same seed gives the same interval, and the default is a seed', () => {
  const cases = [5, 3, 0, 4, 2].map((c) => passes(c, 5))
  assert.deepEqual(bootstrap(cases), bootstrap(cases))
  const draws = (seed: string) => bootstrap(cases, { draws: 500, rng: rng(seed) }).sorted.join()
  assert.equal(draws('a'), draws('a'))
  assert.notEqual(draws('a'), draws('b'))
})

test('without spread, or with one case, there is no interval rather than one of no width', () => {
  for (const cases of [
    [
      [1, 1],
      [1, 1, 1],
    ],
    [[0.5], [0.5]],
    [[1, 0, 1]],
    [],
  ]) {
    const { interval, reason } = bootstrap(cases, { draws: 200 })
    assert.ok(Number.isNaN(interval.low) && Number.isNaN(interval.high) && reason)
  }
})
