/**
 * Resampling: cases first, then trials inside each drawn case, so that both sources of chance are
 * in the spread.
 *
 * For display and for figures without a formula. It is a little too wide where trials vary much
 * (the inner draw counts their spread twice) and knows nothing of values it has not seen, so it is
 * not the default for rates.
 */
import { drawCount, eachCase, inside, optionsOf, source } from './domain.ts'
import type { Interval } from './interval.ts'
import { quantileOfSorted } from './quantile.ts'
import { type Rng, rng as seeded } from './random.ts'

export type Bootstrap = {
  /** Percentile interval; NaN at both ends when it would have no width. */
  interval: Interval
  /** The resampled means, ascending. */
  sorted: Float64Array
  draws: number
  level: number
  reason?: string
}

/**
 * Hierarchical bootstrap of the mean over cases.
 *
 * @param cases          one array per case of scores in [0, 1]; empty arrays are left out
 * @param options.level  confidence in (0, 1), default 0.95
 * @param options.draws  whole, >= 100, default 10,000
 * @param options.rng    default a fixed seed, so that the same data give the same interval
 * @throws               `argument_invalid` for a score outside [0, 1] or a bad option
 * @see                  Davison & Hinkley 1997, section 3.8; Efron & Tibshirani 1993, chapter 13
 * @example
 * bootstrap([[1, 1, 0], [0, 0, 1], [1, 1, 1]], { draws: 1000 }).sorted.length // 1000
 * bootstrap([[1, 1], [1, 1]]).interval // { low: NaN, high: NaN }
 */
export function bootstrap(
  cases: readonly (readonly number[])[],
  options: { level?: number; draws?: number; rng?: Rng } = {},
): Bootstrap {
  eachCase(cases)
  optionsOf(options, ['level', 'draws', 'rng'])
  const level = inside(options.level ?? 0.95, 'options.level')
  const draws = drawCount(options.draws ?? 10_000, 'options.draws')
  const random = source(options.rng ?? seeded('bootstrap'), 'options.rng')
  const used = cases.filter((values) => values.length > 0)
  const nothing = { interval: { low: NaN, high: NaN }, sorted: new Float64Array(0), draws, level }
  if (used.length < 2)
    return { ...nothing, reason: 'fewer than two cases: nothing is known about other cases' }
  const flat = Float64Array.from(used.flat())
  const starts: number[] = []
  for (let i = 0, start = 0; i < used.length; i++) {
    starts.push(start)
    start += used[i]?.length ?? 0
  }
  const sorted = new Float64Array(draws)
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0
    for (let i = 0; i < used.length; i++) {
      const chosen = Math.floor(random() * used.length)
      const start = starts[chosen] as number
      const trials = (used[chosen] as readonly number[]).length
      let inner = 0
      // One number gives several indexes: after each, the fraction left over is uniform again, with
      // fewer digits.
      let left = random()
      let spent = 1
      for (let k = 0; k < trials; k++) {
        if ((spent *= trials) > 1e7) {
          left = random()
          spent = trials
        }
        left *= trials
        const index = Math.floor(left)
        left -= index
        inner += flat[start + index] as number
      }
      sum += inner / trials
    }
    sorted[draw] = sum / used.length
  }
  sorted.sort()
  const interval = {
    low: quantileOfSorted(sorted, (1 - level) / 2),
    high: quantileOfSorted(sorted, (1 + level) / 2),
  }
  if (!(interval.high > interval.low)) {
    return { ...nothing, sorted, reason: 'no spread: a resample can only repeat what was seen' }
  }
  return { interval, sorted, draws, level }
}
