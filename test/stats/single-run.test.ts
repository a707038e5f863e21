import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rng } from '../../lib/stats/random.ts'
import { singleRun, wrongWinner } from '../../lib/stats/single-run.ts'
import { close, passes } from './known.ts'

test('a single run lands where it is said to, in at least 93 % of runs, and in a fresh sample of cases too', () => {
  const random = rng('single runs')
  for (const [cases, repeats, rates] of [
    [20, 5, [0.9]],
    [20, 3, [1, 1, 0.5, 0]],
    [8, 10, [0.98, 0.7]],
    [12, 1, [0.8]],
  ] as const) {
    let held = 0
    for (let run = 0; run < 400; run++) {
      const p = Array.from({ length: cases }, (_, i) => rates[i % rates.length] as number)
      const one = (rate: number) => (random() < rate ? 1 : 0)
      const seen = p.map((rate) => Array.from({ length: repeats }, () => one(rate)))
      const next = p.reduce<number>((sum, rate) => sum + one(rate), 0) / cases
      const { low, high } = singleRun(seen)
      if (low <= next + 1e-9 && next <= high + 1e-9) held++
    }
    assert.ok(held / 400 >= 0.93, `${cases} x ${repeats}: ${held / 400}`)
  }
})

test('a suite that always passes may still fail once', () => {
  const { low, high } = singleRun(Array.from({ length: 20 }, () => passes(20, 20)))
  assert.deepEqual([low, high], [0.95, 1])
  assert.equal(singleRun(Array.from({ length: 20 }, () => passes(1, 1))).low < 0.9, true)
})

test('the wrong winner is counted over every outcome of two single runs', () => {
  const pairs = [
    { a: passes(2, 4), b: passes(3, 4) },
    { a: passes(1, 4), b: passes(3, 4) },
    { a: passes(4, 4), b: passes(0, 4) },
    { a: passes(0, 4), b: passes(4, 4) },
  ]
  const pooled = { a: 7.4 / 16.8, b: 10.4 / 16.8 }
  const rate = (side: 'a' | 'b', i: number) =>
    ((pairs[i]?.[side].filter(Boolean).length ?? 0) + 0.8 * pooled[side]) / 4.8
  let [wrong, level] = [0, 0]
  for (let bits = 0; bits < 256; bits++) {
    let [chance, lead] = [1, 0]
    for (let i = 0; i < 4; i++) {
      const [x, y] = [(bits >> i) & 1, (bits >> (i + 4)) & 1]
      chance *= x ? rate('a', i) : 1 - rate('a', i)
      chance *= y ? rate('b', i) : 1 - rate('b', i)
      lead += y - x
    }
    if (lead < 0) wrong += chance
    if (lead === 0) level += chance
  }
  const found = wrongWinner(pairs)
  close(found.wrong, wrong, 1e-12, 'wrong')
  close(found.level, level, 1e-12, 'level')
  assert.ok(Number.isNaN(wrongWinner([{ a: [1, 0], b: [0, 1] }]).wrong))
})

test('a configuration that never failed is not said to win every single run', () => {
  const pairs = Array.from({ length: 8 }, (_, i) => ({
    a: passes(i === 0 ? 3 : 5, 5),
    b: passes(5, 5),
  }))
  const { wrong } = wrongWinner(pairs)
  assert.ok(wrong > 0.005 && wrong < 0.05, String(wrong))
})
