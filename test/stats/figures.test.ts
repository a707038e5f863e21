/** Figures of measurements: known answers, how often their intervals hold, and what is not known. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { normalQuantile } from '../../lib/stats/distribution.ts'
import { meanOver, quantileOver } from '../../lib/stats/figures.ts'
import { type Rng, rng } from '../../lib/stats/random.ts'
import { close, known } from './known.ts'

const normal = (random: Rng) => normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, random())))

describe('meanOver', () => {
  it('agrees with R', () => {
    type Figure = { estimate: number; low: number; high: number }
    for (const { id, input, expected } of known<{ values: number[]; level: number }, Figure>(
      'figures',
    )) {
      const { level } = input
      const found = meanOver(
        input.values.map((value) => [value]),
        { level },
      )
      for (const name of ['estimate', 'low', 'high'] as const)
        close(found[name], expected[name], 1e-9, `${name} of ${id}`)
    }
  })

  it('holds for skewed times of few cases, where t alone does not', () => {
    const random = rng('skewed')
    const runs = 600
    let [held, byT] = [0, 0]
    for (let run = 0; run < runs; run++) {
      const cases = Array.from({ length: 8 }, () => [Math.exp(normal(random))])
      const { estimate, low, high } = meanOver(cases)
      const truth = Math.exp(0.5)
      if (low <= truth && truth <= high) held++
      // What lies below 0 in all leaves t alone; so does the mirror of t's lower end.
      const plain = meanOver([...cases.map(([value = 0]) => [value - 1e6])])
      if (plain.low + 1e6 <= truth && truth <= plain.high + 1e6) byT++
      assert.ok(high >= estimate && low >= 0)
    }
    assert.ok(held / runs >= 0.93 - 3 * 0.0104, `${held} of ${runs}`)
    assert.ok(byT / runs < 0.87, `t: ${byT} of ${runs}`)
  })

  it('is t where a value is 0 or below, and has no ends without a spread', () => {
    const { low, high, estimate } = meanOver([[0], [10], [30]])
    close(estimate - low, high - estimate, 1e-12, 'as far on both sides')
    assert.ok(Number.isNaN(meanOver([[5], [5], [5]]).low))
  })
})

describe('quantileOver', () => {
  it('holds for other cases, however much the cases differ, and says where an end is not known', () => {
    for (const [between, within, count] of [
      [1, 0.1, 3],
      [1, 0.5, 5],
      [1, 0.5, 20],
      [0.2, 0.8, 20],
    ] as const) {
      const random = rng(`quantiles ${between} ${count}`)
      const runs = 200
      const spread = Math.hypot(between, within)
      for (const q of [0.5, 0.95]) {
        let covered = 0
        for (let run = 0; run < runs; run++) {
          const cases = Array.from({ length: count }, () => {
            const center = between * normal(random)
            return Array.from({ length: 5 }, () => Math.exp(center + within * normal(random)))
          })
          const { low, high } = quantileOver(cases, q)
          const truth = Math.exp(normalQuantile(q) * spread)
          if (low <= truth && truth <= high) covered++
        }
        // Nominal 95 %, not below 93 %, with three standard errors of 200 runs.
        const name = `p${100 * q}, ${count} cases, ${between}`
        assert.ok(covered / runs >= 0.93 - 3 * 0.018, `${name}: ${covered} of ${runs}`)
      }
    }
  })

  it('ends are measurements, or not known: above Infinity, below 0 or -Infinity', () => {
    const few = [[1], [2], [3]]
    assert.deepEqual(quantileOver(few, 0.5), { estimate: 2, low: 0, high: Infinity })
    assert.equal(quantileOver([[-1], [2], [3]], 0.5).low, -Infinity)
    const many = Array.from({ length: 40 }, (_, i) => [i])
    const { low, high, estimate } = quantileOver(many, 0.5)
    assert.ok(low < estimate && estimate < high && Number.isInteger(low) && Number.isInteger(high))
    assert.ok(Number.isNaN(quantileOver([[1, 2, 3]], 0.5).low))
  })

  it('another unit gives the same ends in that unit, and a longer time never a lower end', () => {
    const random = rng('units')
    for (let run = 0; run < 50; run++) {
      const cases = Array.from({ length: 12 }, () => [random(), random(), random()])
      const { low, high } = quantileOver(cases, 0.5)
      const scaled = quantileOver(
        cases.map((values) => values.map((value) => 1024 * value)),
        0.5,
      )
      assert.deepEqual([scaled.low, scaled.high], [1024 * low, 1024 * high])
      const [first = [], ...rest] = cases
      const later = quantileOver([first.map((value) => value + 0.5), ...rest], 0.5)
      assert.ok(later.low >= low && later.high >= high)
    }
  })

  it('families count once', () => {
    const cases = Array.from({ length: 40 }, (_, i) => [i >> 1])
    const alone = quantileOver(cases, 0.5)
    const kin = quantileOver(cases, 0.5, { families: cases.map((_, i) => `f${i >> 1}`) })
    assert.ok(kin.high - kin.low > alone.high - alone.low)
  })
})
