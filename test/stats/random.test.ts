import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rng, shuffle, xoshiro128 } from '../../lib/stats/random.ts'
import { known } from './known.ts'

type Input = { state?: [number, number, number, number]; seed?: string }

test('the generator gives the words of the published one, and a seed always the same numbers', () => {
  for (const { id, input, expected } of known<Input, { words?: number[]; numbers?: number[] }>(
    'random',
  )) {
    const next = input.state ? xoshiro128(input.state) : rng(input.seed ?? '')
    const wanted = expected.words ?? expected.numbers ?? []
    assert.deepEqual(
      wanted.map(() => next()),
      wanted,
      id,
    )
  }
})

test('a number and its text are the same seed, neighbours are not', () => {
  assert.equal(rng(7)(), rng('7')())
  assert.equal(rng(-0.5)(), rng('-0.5')())
  assert.notEqual(rng(7)(), rng(8)())
})

test('two streams do not disturb each other', () => {
  const alone = rng('a')
  const first = [alone(), alone(), alone()]
  const [a, b] = [rng('a'), rng('b')]
  assert.deepEqual(
    [a(), b(), a(), b(), a()].filter((_, i) => i % 2 === 0),
    first,
  )
})

test('numbers fill [0, 1) evenly: chi-square over 100 bins, and over pairs', () => {
  const next = rng('even')
  const singles = new Array<number>(100).fill(0)
  const pairs = new Array<number>(100).fill(0)
  for (let i = 0; i < 100_000; i++) {
    const [x, y] = [next(), next()]
    assert.ok(x >= 0 && x < 1)
    singles[Math.floor(x * 100)]!++
    pairs[Math.floor(x * 10) * 10 + Math.floor(y * 10)]!++
  }
  // 99 degrees of freedom: 148.2 is passed once in 1,000 seeds; this seed is fixed.
  for (const bins of [singles, pairs])
    assert.ok(bins.reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0) < 148.2)
})

test('a shuffle keeps its things, leaves its argument alone, and favours no order', () => {
  const order = [1, 2, 3]
  const next = rng('orders')
  const seen = new Map<string, number>()
  for (let i = 0; i < 6000; i++) {
    const text = shuffle(order, next).join('')
    seen.set(text, (seen.get(text) ?? 0) + 1)
  }
  assert.deepEqual(order, [1, 2, 3])
  assert.equal(seen.size, 6)
  // 5 degrees of freedom: 20.5 is passed once in 1,000 seeds.
  assert.ok([...seen.values()].reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0) < 20.5)
})

test('a state of zeros would stay there and is refused, as is a seed that is no number', () => {
  assert.throws(() => xoshiro128([0, 0, 0, 0]), { code: 'argument_invalid' })
  assert.throws(() => rng(Number.NaN), { code: 'argument_invalid', message: /got NaN \(seed\)/ })
  assert.throws(() => rng(undefined as unknown as string), { code: 'argument_invalid' })
})
