import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareMedians, type MeasurePair, middleRanks } from '../../lib/stats/continuous.ts'
import { rng } from '../../lib/stats/random.ts'
import { close, known } from './known.ts'

type Expected = Record<'difference' | 'p' | 'low' | 'high', number>

test('differences of case medians and the sign-flip test agree with R, the bootstrap ends to its own error', () => {
  for (const { id, input, expected } of known<{ pairs: MeasurePair[] }, Expected>('continuous')) {
    const found = compareMedians(input.pairs, { draws: 40_000, rng: rng('medians') })
    close(found.difference, expected.difference, 1e-12, `difference of ${id}`)
    close(found.p, expected.p, 1e-12, `p of ${id}`)
    const width = expected.high - expected.low
    assert.ok(
      Math.abs(found.low - expected.low) < 0.01 * width,
      `low ${found.low} against ${expected.low}`,
    )
    assert.ok(
      Math.abs(found.high - expected.high) < 0.03 * width,
      `high ${found.high} against ${expected.high}`,
    )
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

test('the middle ranks of a resample have the shares of the full enumeration, odd and even', () => {
  for (let n = 1; n <= 6; n++) {
    const wanted = new Map<string, number>()
    for (let code = 0; code < n ** n; code++) {
      const draws = Array.from({ length: n }, (_, i) => Math.floor(code / n ** i) % n).sort(
        (x, y) => x - y,
      )
      const pair = `${draws[(n - 1) >> 1]} ${draws[n >> 1]}`
      wanted.set(pair, (wanted.get(pair) ?? 0) + 1 / n ** n)
    }
    const { low, high, upTo } = middleRanks(n)
    const found = new Map(
      low.map((rank, i) => [`${rank} ${high[i]}`, (upTo[i] as number) - (upTo[i - 1] ?? 0)]),
    )
    assert.equal(found.size, wanted.size)
    for (const [pair, share] of wanted)
      close(found.get(pair) as number, share, 1e-9, `ranks ${pair} of ${n}`)
  }
  for (const n of [7, 50, 501, 2000]) {
    const { low, high, upTo } = middleRanks(n)
    close(upTo.at(-1) as number, 1, 1e-12, `sum for ${n}`)
    assert.ok(
      low.every((rank, i) => rank >= 0 && rank <= (high[i] as number) && (high[i] as number) < n),
    )
  }
})
