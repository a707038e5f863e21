import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compare, compareReliability, passHatK, rng } from '../../../lib/stats/index.ts'
import { passes } from '../known.ts'

describe('comparing by pass^k', () => {
  it('the difference is that of the estimates without bias, over cases with k trials of both', () => {
    const pairs = [
      { a: passes(3, 5), b: passes(5, 5) },
      { a: passes(4, 5), b: passes(4, 5) },
      { a: passes(2, 2), b: passes(0, 5) },
    ]
    for (const target of ['these', 'like these'] as const) {
      const found = compareReliability(pairs, 3, { target })
      assert.ok(Math.abs(found.difference - (1 - passHatK(3, 5, 3)) / 2) < 1e-12)
      assert.deepEqual([found.cases, found.missing], [2, 1])
    }
  })

  it('with k = 1 it is the comparison of rates about other cases', () => {
    const pairs = Array.from({ length: 8 }, (_, i) => ({
      a: passes(i % 4, 5),
      b: passes(i % 6, 5),
    }))
    const [one, plain] = [compareReliability(pairs, 1), compare(pairs)]
    assert.ok(Math.abs(one.low - plain.low) < 1e-9 && Math.abs(one.high - plain.high) < 1e-9)
    assert.equal(one.verdict, plain.verdict)
  })

  it('b against a is the mirror of a against b, and the interval holds its estimate', () => {
    const random = rng('mirror')
    for (let run = 0; run < 50; run++) {
      const pairs = Array.from({ length: 6 }, () => ({
        a: passes(Math.floor(random() * 6), 5),
        b: passes(Math.floor(random() * 6), 5),
      }))
      for (const target of ['these', 'like these'] as const) {
        const there = compareReliability(pairs, 3, { target })
        const back = compareReliability(
          pairs.map(({ a, b }) => ({ a: b, b: a })),
          3,
          { target },
        )
        assert.ok(Math.abs(there.low + back.high) < 1e-7, `${target}: ${there.low} ${back.high}`)
        assert.ok(there.low <= there.difference && there.difference <= there.high)
      }
    }
  })

  it('run again it covers the true difference of these cases', () => {
    const random = rng('covers')
    const runs = 300
    let covered = 0
    for (let run = 0; run < runs; run++) {
      const rates = Array.from({ length: 10 }, () => [0.3 + 0.6 * random(), 0.3 + 0.6 * random()])
      const trials = (p: number) => Array.from({ length: 5 }, () => (random() < p ? 1 : 0))
      const { low, high } = compareReliability(
        rates.map(([a = 0, b = 0]) => ({ a: trials(a), b: trials(b) })),
        3,
        { target: 'these' },
      )
      const truth = rates.reduce((sum, [a = 0, b = 0]) => sum + b ** 3 - a ** 3, 0) / rates.length
      if (low <= truth && truth <= high) covered++
    }
    assert.ok(covered / runs >= 0.93 - 3 * 0.013, `${covered} of ${runs}`)
  })

  it('scores that are not 0 or 1, and a k of 0, are refused', () => {
    assert.throws(() => compareReliability([{ a: [0.5], b: [1] }], 1), /pairs\[0\]\.a\[0\]/)
    assert.throws(() => compareReliability([{ a: [1], b: [1] }], 0), /k/)
  })
})
