import assert from 'node:assert/strict'
import { test } from 'node:test'
import { betaQuantile } from '../../lib/stats/distribution.ts'
import { rate } from '../../lib/stats/rate.ts'
import { flips, passAtK, passHatK, reliability } from '../../lib/stats/reliability.ts'
import { varianceSplit } from '../../lib/stats/variance.ts'
import { close, known, passes } from './known.ts'

type Counts = { passed: number; trials: number; k: number }
type Table = { histogram: number[]; trials: number }

test('pass@k and pass^k agree with R for every count', () => {
  for (const { id, input, expected } of known<Counts, { passAtK: number; passHatK: number }>(
    'reliability',
  )) {
    close(passAtK(input.passed, input.trials, input.k), expected.passAtK, 1e-12, `pass@k, ${id}`)
    close(passHatK(input.passed, input.trials, input.k), expected.passHatK, 1e-12, `pass^k, ${id}`)
  }
})

test('both are shares of the k-subsets, by full enumeration', () => {
  for (let passed = 0; passed <= 6; passed++) {
    for (let k = 1; k <= 6; k++) {
      const subsets = Array.from({ length: 64 }, (_, mask) =>
        passes(passed, 6).filter((_, i) => (mask >> i) & 1),
      ).filter((s) => s.length === k)
      close(
        passAtK(passed, 6, k),
        subsets.filter((s) => s.includes(1)).length / subsets.length,
        1e-12,
        'any',
      )
      close(
        passHatK(passed, 6, k),
        subsets.filter((s) => !s.includes(0)).length / subsets.length,
        1e-12,
        'all',
      )
    }
  }
})

test("tau-bench's gpt-4o airline runs give the published pass^1..4, and not the plug-in p^k", () => {
  const [table, spread] = known<Table, Record<string, number & number[]>>('tau-bench')
  assert.ok(table && spread)
  const published = (name: string, k: number) => (table.expected[name] as number[])[k - 1] as number
  const cases = table.input.histogram.flatMap((n, c) =>
    Array.from({ length: n }, () => passes(c, table.input.trials)),
  )
  for (let k = 1; k <= 4; k++) {
    const found = reliability(cases, k)
    assert.equal(found.passHatK.toFixed(3), published('passHatK', k).toFixed(3))
    close(found.passAtK, published('passAtK', k), 1e-6, `pass@${k}`)
    if (k > 1) assert.ok(found.passHatK < published('plugIn', k) - 0.03)
  }
  const split = varianceSplit(cases)
  for (const name of ['meanSquareBetween', 'meanSquareWithin', 'icc'] as const)
    close(split[name], spread.expected[name] as number, 1e-13, name)
  assert.equal(flips(cases).share, spread.expected['flips'])
  close(
    rate(cases).standardError,
    spread.expected['standardError'] as number,
    1e-13,
    'standard error',
  )
})

test('k beyond the trials is undefined, neither 0 nor 1, and counted apart', () => {
  assert.ok(Number.isNaN(passAtK(5, 5, 6)) && Number.isNaN(passHatK(0, 5, 6)))
  const some = reliability(
    [
      [1, 1, 1],
      [1, 1],
    ],
    3,
  )
  assert.deepEqual([some.passHatK, some.cases, some.short], [1, 1, 1])
  assert.match(some.reason ?? '', /1 of 2 cases have fewer than 3 trials/)
  const none = reliability([[1]], 2)
  assert.ok(Number.isNaN(none.passAtK) && none.reason)
})

test('over one set of cases pass^k never rises with k, and lies within its interval', () => {
  // Cases that were tried more often are the easy ones: over a set that changes with k the curve would rise.
  const cases = [
    ...Array.from({ length: 12 }, (_, i) => passes(i % 2, 3)),
    ...Array.from({ length: 4 }, () => passes(4, 4)),
  ]
  const changing = [1, 2, 3, 4].map((k) => reliability(cases, k).passHatK)
  assert.ok((changing[3] as number) > (changing[2] as number))
  const fixed = [1, 2, 3].map((k) => reliability(cases, k, { least: 3 }))
  for (const [i, { passHatK, low, high, cases: counted }] of fixed.entries()) {
    assert.equal(counted, 16)
    assert.ok(low <= passHatK && passHatK <= high)
    if (i > 0) assert.ok(passHatK <= (fixed[i - 1]?.passHatK as number))
  }
  assert.equal(reliability(cases, 2, { least: 4 }).cases, 4)
})

test('a case flips when its trials differ; one trial cannot', () => {
  const { share, flipped, cases } = flips([[1, 1], [0, 1], [0], [], [0, 0, 1]])
  assert.deepEqual([share, flipped, cases], [2 / 3, [1, 4], 3])
  assert.ok(Number.isNaN(flips([[1], [0]]).share))
})

test('the share of flips has the interval of a share of cases, by family', () => {
  const cases = Array.from({ length: 20 }, (_, i) => [1, i < 6 ? 0 : 1])
  const { low, high } = flips(cases)
  // What was not seen counts as 0.8 of a case (lib/stats/bounded.ts).
  close(low, betaQuantile(0.025, 6, 14.8), 1e-6, 'low')
  close(high, 1 - betaQuantile(0.025, 14, 6.8), 1e-6, 'high')
  const kin = flips(cases, { families: cases.map((_, i) => `f${i >> 1}`) })
  assert.ok(kin.high - kin.low > high - low)
  assert.ok(Number.isNaN(flips([[1, 0], [1]]).low), 'one case says nothing about others')
  assert.throws(() => flips(cases, { families: ['f'] }), { code: 'argument_invalid' })
})
