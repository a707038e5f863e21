import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compare, lookAt, looks, rate, rng, type Spending } from '../../../lib/stats/index.ts'
import { close, known } from '../known.ts'

describe('looks at results while they come in', () => {
  it('have the levels of the recursion in R, and those that were published', () => {
    for (const { id, input, expected } of known<
      { at: number[]; spending: Spending; level: number },
      { levels: number[] }
    >('looks')) {
      const { at, ...options } = input
      const error = id.startsWith('published') ? 1e-3 : 1e-4
      for (const [i, level] of looks(at, options).entries())
        close(1 - level, 1 - (expected.levels[i] as number), error, `${id}, look ${i + 1}`)
    }
  })

  it('a look has a level from the looks before it alone, each at least the level of all', () => {
    const whole = looks([0.2, 0.5, 0.7, 1])
    for (const [i, level] of looks([0.2, 0.5, 0.7]).entries())
      close(level, whole[i] as number, 1e-12, `look ${i + 1}`)
    for (const spending of ['late', 'even'] as const)
      for (const level of looks([0.1, 0.2, 0.6, 1], { spending, level: 0.9 }))
        assert.ok(level >= 0.9)
  })

  it('a look at very little of all that is planned has a level below 1, and an interval', () => {
    for (const [first, most] of [
      [5, 100],
      [2, 40],
      [1, 1000],
    ] as const)
      for (const level of looks(lookAt(first, most).map((repeats) => repeats / most))) {
        assert.ok(level >= 0.95 && level < 1, `${level}`)
        const { low, high } = rate(
          [
            [1, 0, 1, 1, 0],
            [1, 1, 1, 1, 0],
          ],
          { level },
        )
        assert.ok(low >= 0 && low < 0.7 && high > 0.7 && high <= 1, `${level}: [${low}, ${high}]`)
      }
  })

  it('one look at the end is no look before it', () =>
    close(looks([1])[0] as number, 0.95, 1e-9, 'one'))

  it('shares that do not ascend, or are more than all, are refused', () => {
    for (const shares of [[0.5, 0.5], [0.5, 0.4], [0], [0.5, 1.2]])
      assert.throws(() => looks(shares), /argument_invalid|shares/)
    assert.throws(() => looks([1], { spending: 'early' as never }), /late, even/)
  })

  it('are at half as many repeats again each time, up to the most', () => {
    assert.deepEqual(lookAt(1, 6), [1, 2, 3, 5, 6])
    assert.deepEqual(lookAt(40, 40), [40])
  })

  it('two that are the same are told apart in at most 5 of 100 runs over all looks', () => {
    const at = lookAt(3, 20)
    const levels = looks(at.map((repeats) => repeats / 20))
    const random = rng('looks')
    const runs = 250
    let [held, unheld] = [0, 0]
    for (let run = 0; run < runs; run++) {
      const rates = Array.from({ length: 8 }, () => 0.2 + 0.6 * random())
      const pairs = rates.map(() => ({ a: [] as number[], b: [] as number[] }))
      let [found, naive] = [false, false]
      for (const [look, repeats] of at.entries()) {
        for (const [i, { a, b }] of pairs.entries())
          while (a.length < repeats)
            for (const side of [a, b]) side.push(random() < (rates[i] as number) ? 1 : 0)
        const decided = (level: number) =>
          compare(pairs, { target: 'these', level }).verdict !== 'cannot tell'
        found ||= decided(levels[look] as number)
        naive ||= decided(0.95)
      }
      if (found) held++
      if (naive) unheld++
    }
    // 5 in 100, with three standard errors of 250 runs.
    assert.ok(held <= 12.5 + 3 * 3.5, `${held} of ${runs}`)
    assert.ok(unheld > 1.5 * held, `${unheld} of ${runs} where nothing is held`)
  })
})
