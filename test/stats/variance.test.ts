import assert from 'node:assert/strict'
import { test } from 'node:test'
import { median } from '../../lib/stats/quantile.ts'
import { rate } from '../../lib/stats/rate.ts'
import { clusteredError, mean, variance, varianceSplit } from '../../lib/stats/variance.ts'
import { close, known } from './known.ts'

type Expected = Record<
  | 'meanSquareBetween'
  | 'meanSquareWithin'
  | 'between'
  | 'icc'
  | 'designEffect'
  | 'cr0'
  | 'cr1'
  | 'estimate'
  | 'standardError'
  | 'effectiveN',
  number
> & {
  wilson: { low: number; high: number }
  t: { low: number; high: number }
}

for (const { id, input, expected } of known<{ cases: number[][] }, Expected>('variance')) {
  test(`variance split, clustered error and rate agree with R: ${id}`, () => {
    const split = varianceSplit(input.cases)
    for (const name of [
      'meanSquareBetween',
      'meanSquareWithin',
      'between',
      'icc',
      'designEffect',
    ] as const) {
      close(split[name], expected[name], 1e-10, name)
    }
    close(
      clusteredError(input.cases, { corrected: false }),
      expected.cr0,
      1e-10,
      'without correction',
    )
    close(clusteredError(input.cases), expected.cr1, 1e-10, 'with correction')
    const wilson = rate(input.cases, { method: 'wilson' })
    for (const name of ['estimate', 'standardError', 'effectiveN'] as const)
      close(wilson[name], expected[name], 1e-10, name)
    close(wilson.low, expected.wilson.low, 1e-10, 'wilson low')
    close(wilson.high, expected.wilson.high, 1e-10, 'wilson high')
    const t = rate(input.cases, { method: 't' })
    close(t.low, expected.t.low, 1e-10, 't low')
    close(t.high, expected.t.high, 1e-10, 't high')
  })
}

test('values 0..19 in four interleaved clusters have the clustered error .6455', () => {
  const clusters = [0, 1, 2, 3].map((r) => Array.from({ length: 5 }, (_, i) => r + 4 * i))
  close(clusteredError(clusters), 0.645497224367903, 1e-13, 'clustered')
})

test('a spread between cases below 0 is given as 0 and said so', () => {
  const split = varianceSplit([
    [1, 0],
    [0, 1],
    [1, 0],
  ])
  assert.equal(split.between, 0)
  assert.ok(split.icc < 0)
  assert.match(split.reason ?? '', /below 0/)
})

test('what cannot be told is NaN with a reason: one case, one trial per case, no spread', () => {
  for (const cases of [
    [[1, 0, 1]],
    [[1], [0], [1]],
    [
      [1, 1],
      [1, 1],
    ],
    [],
  ]) {
    const split = varianceSplit(cases)
    assert.ok(Number.isNaN(split.icc) && Number.isNaN(split.effectiveN))
    assert.ok(split.reason)
  }
})

test('mean, median and variance give what NIST certifies of its data sets NumAcc1 to NumAcc4', () => {
  const wavering = (middle: number, low: number, high: number) => [
    middle,
    ...Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? low : high)),
  ]
  const sets = [
    { values: [10000001, 10000003, 10000002], middle: 10000002, deviation: 1 },
    { values: wavering(1.2, 1.1, 1.3), middle: 1.2, deviation: 0.1 },
    { values: wavering(1000000.2, 1000000.1, 1000000.3), middle: 1000000.2, deviation: 0.1 },
    { values: wavering(10000000.2, 10000000.1, 10000000.3), middle: 10000000.2, deviation: 0.1 },
  ]
  for (const [i, { values, middle, deviation }] of sets.entries()) {
    close(mean(values), middle, 1e-13, `mean of NumAcc${i + 1}`)
    close(median(values), middle, 1e-15, `median of NumAcc${i + 1}`)
    // Doubles near ten million hold the deviations to eight digits.
    close(Math.sqrt(variance(values)), deviation, 1e-7, `deviation of NumAcc${i + 1}`)
  }
})
