/** A share that an imperfect reader counted: corrected, and never more certain than the reader is known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clopperPearson } from '../../lib/stats/interval.ts'
import { readLevel, trueShare } from '../../lib/stats/misclassified.ts'
import { rng } from '../../lib/stats/random.ts'
import fc from '../property.ts'
import { close, known } from './known.ts'

type Input = {
  counted: [number, number, number]
  sensitivity: [number, number]
  specificity: [number, number]
  share: number
  read: number
  level: number
}

const reader = (se: readonly number[], sp: readonly number[]) => ({
  sensitivity: { hits: se[0] as number, of: se[1] as number },
  specificity: { hits: sp[0] as number, of: sp[1] as number },
})

test('the corrected share agrees with R', () => {
  for (const { id, input, expected } of known<
    Input,
    { estimate: number; low: number; high: number }
  >('misclassified')) {
    const [estimate, low, high] = input.counted
    const found = trueShare({ estimate, low, high }, reader(input.sensitivity, input.specificity), {
      level: input.level,
      read: { share: input.share, estimate: input.read },
    })
    for (const end of ['estimate', 'low', 'high'] as const)
      close(found[end], expected[end], 1e-10, `${end} of ${id}`)
  }
})

test('a reader that is always right changes the estimate of nothing, and widens the interval', () => {
  const right = reader([1000, 1000], [1000, 1000])
  const { estimate, low, high } = trueShare({ estimate: 0.4, low: 0.3, high: 0.5 }, right)
  close(estimate, 0.4, 1e-12, 'estimate')
  assert.ok(low < 0.3 && low > 0.28 && high > 0.5 && high < 0.52)
})

test('a reader that tells nothing leaves everything open', () => {
  const coin = trueShare({ estimate: 0.5, low: 0.4, high: 0.6 }, reader([5, 10], [5, 10]))
  assert.deepEqual([coin.estimate, coin.low, coin.high], [Number.NaN, 0, 1])
  assert.match(coin.reason ?? '', /as often where it is not so/)
})

test('the interval holds the estimate, and grows with what is not known of the reader', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const hits = fc.integer({ min: 6, max: 10 })
  fc.assert(
    fc.property(share, share, share, hits, hits, (a, b, c, se, sp) => {
      const [low, estimate, high] = [a, b, c].sort((x, y) => x - y) as [number, number, number]
      const few = trueShare({ estimate, low, high }, reader([se, 10], [sp, 10]))
      const many = trueShare({ estimate, low, high }, reader([se * 50, 500], [sp * 50, 500]))
      for (const one of [few, many])
        assert.ok(one.low <= one.estimate + 1e-12 && one.estimate <= one.high + 1e-12)
      assert.ok(few.low <= many.low + 1e-12 && few.high >= many.high - 1e-12)
    }),
  )
})

test('it covers the true share at least as often as it says, by simulation', () => {
  const random = rng('misclassified')
  const draw = (n: number, p: number) => {
    let hits = 0
    for (let i = 0; i < n; i++) if (random() < p) hits++
    return hits
  }
  for (const [truth, se, sp] of [
    [0.02, 0.9, 0.95],
    [0.3, 0.8, 0.9],
    [0.7, 0.95, 0.7],
  ] as const) {
    let covered = 0
    for (let i = 0; i < 400; i++) {
      const positive = draw(60, truth * se + (1 - truth) * (1 - sp))
      const counted = { estimate: positive / 60, ...clopperPearson(positive, 60, readLevel(0.95)) }
      const { low, high } = trueShare(counted, reader([draw(85, se), 85], [draw(153, sp), 153]))
      if (low <= truth && truth <= high) covered++
    }
    assert.ok(covered / 400 >= 0.95, `covers ${covered / 400} at ${truth}`)
  }
})

test('counts that are none are refused by their place', () => {
  const counted = { estimate: 0.4, low: 0.3, high: 0.5 }
  assert.throws(() => trueShare(counted, reader([1, 0], [1, 1])), { code: 'argument_invalid' })
  assert.throws(() => trueShare(counted, reader([2, 1], [1, 1])), { code: 'argument_invalid' })
  assert.throws(() => trueShare(counted, reader([1, 1], [1, 1]), { level: 1 }), {
    code: 'argument_invalid',
  })
})
