import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shift } from '../../../lib/stats/pairs/shift.ts'
import { close, known } from '../known.ts'

type Input = { a: number[]; b: number[]; level: number }
type Expected = Record<'shift' | 'low' | 'high' | 'p', number>

test('estimate, exact interval and test agree with R', () => {
  for (const { id, input, expected } of known<Input, Expected>('shift')) {
    const found = shift(input.a, input.b, { level: input.level })
    for (const name of ['shift', 'low', 'high', 'p'] as const)
      close(found[name], expected[name], 1e-9, `${name} of ${id}`)
  }
})

test('samples too small for an interval have none, and an empty one has nothing', () => {
  const few = shift([1, 2], [5, 6])
  assert.deepEqual([few.shift, few.low, few.high], [4, NaN, NaN])
  assert.match(few.reason ?? '', /too few/)
  assert.deepEqual([shift([], [1]).shift, shift([1], []).p], [NaN, NaN])
  assert.throws(() => shift([NaN], [1]), { code: 'argument_invalid' })
})

test('ties weaken the test, and the large-sample form meets the exact one', () => {
  assert.ok(shift([1, 1, 1, 1, 1], [1, 1, 1, 1, 1]).p === 1)
  const a = Array.from({ length: 50 }, (_, i) => i)
  const exact = shift(
    a,
    a.map((x) => x + 8.5),
  )
  const large = shift(
    [...a, 50],
    a.map((x) => x + 8.5),
  )
  assert.ok(Math.abs(exact.p - large.p) < 0.02)
})
