import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareLevels, type LevelPair } from '../../../lib/stats/pairs/ordinal.ts'
import fc from '../../property.ts'
import { close, known } from '../known.ts'

type Expected = Record<'superiority' | 'p' | 'low' | 'high', number>

test('superiority, its interval and the permutation test agree with R', () => {
  for (const { id, input, expected } of known<{ pairs: LevelPair[] }, Expected>('ordinal')) {
    const found = compareLevels(input.pairs)
    for (const name of ['superiority', 'p', 'low', 'high'] as const)
      close(found[name], expected[name], 1e-10, `${name} of ${id}`)
  }
})

test('only the order of the levels counts: an empty level between changes nothing', () => {
  const counts = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: counts, b: counts }), { minLength: 2, maxLength: 10 }),
      (pairs) => {
        const wider = pairs.map(({ a, b }) => ({
          a: a.toSpliced(1, 0, 0),
          b: b.toSpliced(1, 0, 0),
        }))
        const [there, stretched] = [compareLevels(pairs), compareLevels(wider)]
        assert.ok(
          (Object.is(there.superiority, stretched.superiority) && there.p === stretched.p) ||
            Number.isNaN(there.p),
        )
        const back = compareLevels(pairs.map(({ a, b }) => ({ a: b, b: a })))
        if (there.cases > 0) close(there.superiority, 1 - back.superiority, 1e-9, 'changed over')
      },
    ),
  )
})

test('the shares at each level are means over cases and sum to one', () => {
  const { shares } = compareLevels([
    { a: [4, 0, 0], b: [0, 1, 1] },
    { a: [0, 0, 1], b: [0, 0, 8] },
  ])
  assert.deepEqual(shares, { a: [0.5, 0, 0.5], b: [0, 0.25, 0.75] })
})

test('a case without observations is left out, and no spread leaves no interval', () => {
  const found = compareLevels([
    { a: [0, 0], b: [1, 0] },
    { a: [1, 0], b: [0, 1] },
    { a: [1, 0], b: [0, 1] },
  ])
  assert.deepEqual([found.cases, found.missing, found.superiority], [2, 1, 1])
  assert.ok(Number.isNaN(found.low) && found.reason)
  assert.ok(Number.isNaN(compareLevels([]).p))
})
