import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextRun, type RunMean, rng, runMean, runNoise } from '../../../lib/stats/index.ts'
import { close, known, passes } from '../known.ts'

describe('runs over time', () => {
  it('noise and expectation are those of a weighted regression in R', () => {
    for (const { id, input, expected } of known<
      { groups: RunMean[][]; error: number },
      { ratio: number; df: number; expected: number; low: number; high: number }
    >('over-time')) {
      const noise = runNoise(input.groups)
      close(noise.ratio, expected.ratio, 1e-9, `${id}: ratio`)
      assert.equal(noise.df, expected.df, id)
      const next = nextRun(input.groups.flat(), { error: input.error }, { noise })
      for (const name of ['expected', 'low', 'high'] as const)
        close(next[name], expected[name], 1e-9, `${id}: ${name}`)
    }
  })

  it('the error of a run is above 0 where every trial passed, and falls with the trials', () => {
    const errors = [3, 5, 20].map((n) => runMean([passes(n, n), passes(n, n)]).error)
    assert.ok(errors.every((error, i) => error > 0 && error < (errors[i - 1] ?? 1)))
  })

  it('runs that differ more than their trials explain make the next one less sure; fewer differences never surer than trials', () => {
    const run = (mean: number) => ({ mean, error: 0.02 })
    const width = (...means: number[]) => {
      const past = means.map(run)
      const { low, high } = nextRun(past, run(0), { noise: runNoise([past]) })
      return high - low
    }
    assert.ok(width(0.6, 0.8, 0.7) > width(0.7, 0.72, 0.71))
    assert.equal(width(0.7, 0.7, 0.7), width(0.7, 0.701, 0.7))
  })

  it('without two runs of one configuration there is no noise to know', () => {
    assert.deepEqual(runNoise([[{ mean: 0.5, error: 0.1 }], []]), { ratio: Number.NaN, df: 0 })
    assert.throws(() => runNoise([[{ mean: 0.5, error: 0 }]]), /above 0/)
    assert.throws(() => nextRun([], { error: 0.1 }), /past\.length/)
  })

  it('an unchanged run is outside in at most about 5 of 100, where days are alike and where they are not', () => {
    for (const day of [0, 0.05]) {
      const random = rng(`days ${day}`)
      const runs = 400
      let outside = 0
      for (let i = 0; i < runs; i++) {
        const rates = Array.from({ length: 20 }, () => 0.3 + 0.5 * random())
        const means = Array.from({ length: 6 }, () => {
          const shift = day * (random() + random() + random() - 1.5) * 2
          return runMean(
            rates.map((p) => Array.from({ length: 5 }, () => (random() < p + shift ? 1 : 0))),
          )
        })
        const past = means.slice(0, -1)
        const now = means.at(-1) as RunMean
        const { low, high } = nextRun(past, now, { noise: runNoise([past]) })
        if (now.mean < low || now.mean > high) outside++
      }
      assert.ok(outside / runs <= 0.05 + 3 * 0.011, `days ${day}: ${outside} of ${runs}`)
    }
  })
})
