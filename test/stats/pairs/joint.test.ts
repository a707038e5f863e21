import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rng, signFlip } from '../../../lib/stats/index.ts'
import { jointSignFlip, letters } from '../../../lib/stats/pairs/joint.ts'
import { close, known } from '../known.ts'

describe('several comparisons over the same cases', () => {
  it('agree with step-down max-T over all sign patterns in R', () => {
    for (const { id, input, expected } of known<{ columns: number[][] }, { adjusted: number[] }>(
      'joint',
    )) {
      const adjusted = jointSignFlip(input.columns)
      for (const [i, p] of expected.adjusted.entries())
        close(adjusted[i] as number, p, 1e-12, `${id}, ${i}`)
    }
  })

  it('alone give the mid-p of the sign-flip test, and none is below it together with others', () => {
    const random = rng('joint alone')
    for (let run = 0; run < 30; run++) {
      const columns = Array.from({ length: 3 }, () =>
        Array.from({ length: 9 }, () => Math.round(random() * 10 - 4) / 5),
      )
      const together = jointSignFlip(columns)
      for (const [i, column] of columns.entries()) {
        const { midP } = signFlip(column, { unit: 0.2 })
        close(jointSignFlip([column])[0] as number, midP, 1e-12, 'alone')
        assert.ok((together[i] as number) >= midP - 1e-12)
        assert.ok((together[i] as number) <= 1)
      }
    }
  })

  it('the same column twice costs nothing, and one in which nothing moves neither', () => {
    const column = [0.2, 0.4, 0.4, 0, 0.6, 0.2, -0.2]
    const [alone] = jointSignFlip([column])
    assert.deepEqual(jointSignFlip([column, column, column.map(() => 0)]), [alone, alone, 1])
  })

  it('drawn at random they are near what enumeration gives, and never 0', () => {
    const column = Array.from({ length: 20 }, (_, i) => (i % 3 === 0 ? -0.2 : 0.4))
    const { midP } = signFlip(column, { unit: 0.2 })
    const [sampled] = jointSignFlip([column], { draws: 40_000 })
    assert.ok(Math.abs((sampled as number) - midP) < 4 * Math.sqrt(midP / 40_000))
    assert.ok((jointSignFlip([column.map(() => 1)], { draws: 100 })[0] as number) > 0)
  })

  it('columns of different length are refused', () => {
    assert.throws(() => jointSignFlip([[1], [1, 2]]), /columns\[1\]\.length/)
  })
})

describe('letters', () => {
  it('two share a letter exactly where they were not told apart, for any pattern', () => {
    const random = rng('letters')
    for (let run = 0; run < 200; run++) {
      const count = 1 + Math.floor(random() * 7)
      const pairs = Array.from({ length: count }, (_, i) =>
        Array.from({ length: count - i - 1 }, (_, j) => [i, i + 1 + j] as const),
      ).flat()
      const apart = pairs.filter(() => random() < 0.4)
      const text = letters(count, apart)
      for (const pair of pairs) {
        const [x, y] = pair.map((i) => new Set(text[i])) as [Set<string>, Set<string>]
        assert.equal(x.isDisjointFrom(y), apart.includes(pair), `${count} ${JSON.stringify(apart)}`)
      }
      assert.ok(text[0]?.includes('a'))
    }
  })

  it('a number of nothing is refused', () => {
    assert.throws(() => letters(2, [[0, 2]]), /apart\[0\]\[1\]/)
  })
})
