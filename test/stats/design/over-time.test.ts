import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Arbitrary } from 'fast-check'
import { nextRun, type RunScores, rng, runNoise } from '../../../lib/stats/index.ts'
import fc from '../../property.ts'
import { close, known, passes } from '../known.ts'

/** Runs of 4 cases x 5 trials, each with that share of its 20 trials passed. */
const ofShares = (...shares: number[]): RunScores[] =>
  shares.map((share) => {
    const passed = Math.round(20 * share)
    return [0, 1, 2, 3].map((c) => passes(Math.floor((passed + 3 - c) / 4), 5))
  })
const FIVES = [5, 5, 5, 5]
const meanOf = (run: RunScores) =>
  run.reduce((sum, scores) => sum + scores.reduce((x, y) => x + y, 0) / scores.length, 0) /
  run.length

/** Runs of some cases; `sizes` makes the trials of each. */
const runsOf = (sizes: Arbitrary<number>): Arbitrary<RunScores[]> =>
  fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 })).chain(([cases, runs]) =>
    fc.array(
      fc.array(
        sizes.chain((n) => fc.integer({ min: 0, max: n }).map((c) => passes(c, n))),
        { minLength: cases, maxLength: cases },
      ),
      { minLength: runs, maxLength: runs },
    ),
  )

describe('runs over time', () => {
  it('noise and expectation are those of R', () => {
    for (const { id, input, expected } of known<
      { groups: { passed: number[]; trials: number[] }[][]; trials: number[] },
      { ratio: number; df: number; expected: number; low: number; high: number }
    >('over-time')) {
      const groups = input.groups.map((group) =>
        group.map(({ passed, trials }) => passed.map((c, i) => passes(c, trials[i] as number))),
      )
      const noise = runNoise(groups)
      close(noise.ratio, expected.ratio, 1e-9, `${id}: ratio`)
      assert.equal(noise.df, expected.df, id)
      const next = nextRun(groups.flat(), input.trials, { unchanged: groups })
      for (const name of ['expected', 'low', 'high'] as const)
        close(next[name], expected[name], 1e-7, `${id}: ${name}`)
    }
  })

  it('a run in which every trial passed counts for no more than another of its size', () => {
    for (const [shares, mean] of [
      [[0.7, 1], 0.85],
      [[0.7, 1, 0.25, 0.5], 0.6125],
      [[0.7, 1, 0.25, 0.5, 1], 0.69],
      [[0.95, 1, 0.8, 0.85, 1], 0.92],
    ] as const) {
      const { expected, low, high } = nextRun(ofShares(...shares), FIVES)
      close(expected, mean, 1e-12, `${shares}`)
      for (const share of shares)
        assert.ok(low <= share && share <= high, `${share} in [${low}, ${high}]`)
    }
  })

  it('expects what lies between the lowest and the highest of the runs before', () => {
    fc.assert(
      fc.property(runsOf(fc.integer({ min: 1, max: 8 })), (past) => {
        const means = past.map(meanOf)
        const { expected, low, high } = nextRun(
          past,
          (past[0] as RunScores).map(() => 3),
        )
        assert.ok(expected >= Math.min(...means) && expected <= Math.max(...means))
        assert.ok(0 <= low && low <= expected && expected <= high && high <= 1)
      }),
    )
  })

  it('of runs of one size expects the plain mean, in whatever order they are', () => {
    fc.assert(
      fc.property(runsOf(fc.constant(5)), (past) => {
        const trials = (past[0] as RunScores).map(() => 5)
        const one = nextRun(past, trials)
        close(one.expected, past.reduce((sum, run) => sum + meanOf(run), 0) / past.length, 1e-9, '')
        const other = nextRun(past.toReversed(), trials)
        for (const name of ['expected', 'low', 'high'] as const)
          assert.ok(Math.abs(other[name] - one[name]) < 1e-9, name)
      }),
    )
  })

  it('a larger run counts for more, and a run to come of fewer trials is less sure', () => {
    const small = [passes(1, 2)]
    const large = [passes(40, 40)]
    assert.ok(nextRun([small, large], [5]).expected > 0.75)
    const width = (trials: number) => {
      const { low, high } = nextRun([[passes(10, 20)], [passes(10, 20)]], [trials])
      return high - low
    }
    assert.ok(width(2) > width(20))
  })

  it('two runs that are alike do not show that days are, nor that nothing can fail', () => {
    const { low, high } = nextRun(ofShares(1, 1), FIVES)
    assert.ok(low < 0.9 && high === 1)
    const many = nextRun(ofShares(...Array.from({ length: 20 }, () => 1)), FIVES)
    assert.ok(many.low > 0.94 && many.low < 1)
  })

  it('finds a fall from 90 % to 40 % of 20 cases x 5, after one run and after ten', () => {
    const run = Array.from({ length: 20 }, (_, i) => passes(i % 2 ? 5 : 4, 5))
    for (const runs of [1, 2, 5, 10]) {
      const past = Array.from({ length: runs }, () => run)
      const level = 1 - 0.05 / runs
      assert.ok(
        nextRun(
          past,
          run.map(() => 5),
          { level },
        ).low > 0.4,
        `${runs} runs`,
      )
    }
  })

  it('runs that differ more than their trials explain make the next one less sure; fewer differences never surer than trials', () => {
    const width = (...shares: number[]) => {
      const { low, high } = nextRun(ofShares(...shares), FIVES)
      return high - low
    }
    assert.ok(width(0.2, 0.8, 0.5) > width(0.5, 0.55, 0.45))
    const alike = Array.from({ length: 20 }, () => ofShares(0.5)).flat()
    const { low, high } = nextRun(alike, FIVES)
    // 2.1 standard errors of 20 trials at one half.
    assert.ok(high - low > 2 * 2.08 * Math.sqrt(0.25 / 20))
  })

  it('without two runs of one configuration there is no noise to know', () => {
    assert.deepEqual(runNoise([ofShares(0.5), []]), { ratio: Number.NaN, df: 0 })
    const alike = ofShares(0.5, 0.5)
    const known = nextRun(alike, FIVES)
    const unknown = nextRun(alike, FIVES, { unchanged: alike.map((run) => [run]) })
    assert.ok(unknown.low < known.low && unknown.high > known.high)
  })

  it('refuses runs of other cases, of none, and cases without a trial', () => {
    assert.throws(() => nextRun([], FIVES), /past\.length/)
    assert.throws(() => nextRun([[]], []), /past\[0\]\.length/)
    assert.throws(() => nextRun([[[1]], [[1], [0]]], [5]), /past\[1\]\.length/)
    assert.throws(() => nextRun([[[1], []]], [5, 5]), /past\[0\]\[1\]\.length/)
    assert.throws(() => nextRun([[[1]]], [5, 5]), /trials\.length/)
    assert.throws(() => nextRun([[[1]]], [0]), /trials\[0\]/)
    assert.throws(() => nextRun([[[1]]], [1], { level: 1 }), /options\.level/)
    assert.throws(() => nextRun([[[1]]], [1], { unchanged: 5 as never }), /options\.unchanged/)
    assert.throws(() => runNoise([[[[2]]]]), /groups\[0\]\[0\]/)
  })

  it('an unchanged run is outside in at most about 5 of 100, where days are alike and where they are not', () => {
    for (const day of [0, 0.05]) {
      const random = rng(`days ${day}`)
      const runs = 400
      let outside = 0
      for (let i = 0; i < runs; i++) {
        const rates = Array.from({ length: 20 }, () => 0.3 + 0.5 * random())
        const all = Array.from({ length: 6 }, () => {
          const shift = day * (random() + random() + random() - 1.5) * 2
          return rates.map((p) => Array.from({ length: 5 }, () => (random() < p + shift ? 1 : 0)))
        })
        const now = meanOf(all.at(-1) as RunScores)
        const { low, high } = nextRun(
          all.slice(0, -1),
          rates.map(() => 5),
        )
        if (now < low || now > high) outside++
      }
      assert.ok(outside / runs <= 0.05 + 3 * 0.011, `days ${day}: ${outside} of ${runs}`)
    }
  })
})
