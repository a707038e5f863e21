/**
 * Power of the paired t test: how likely a true difference is to be found, and the smallest that is
 * found often enough.
 */
import { normalCdf, normalDensity, tQuantile } from '../distribution.ts'
import { finite, inside, optionsOf, positive } from '../domain.ts'

/**
 * P(T > critical) for a noncentral t with noncentrality `shift`, and its derivative by the shift.
 *
 * T = (Z + shift) / S, S^2 a chi-square over its degrees of freedom: the integral over u = ln S of
 * the normal tail. The weight falls off faster than exponentially on both sides, where the
 * trapezoidal rule is as good as exact.
 */
function upperTail(critical: number, shift: number, df: number): { share: number; slope: number } {
  const reach = 80 / df
  const from = -(reach / 2 + Math.sqrt(reach))
  const to = 0.5 * Math.log1p(reach + 2 * Math.sqrt(reach))
  const nodes = 240
  let weights = 0
  let share = 0
  let slope = 0
  for (let i = 0; i <= nodes; i++) {
    const u = from + ((to - from) * i) / nodes
    const s = Math.exp(u)
    const weight = Math.exp(df * (u - (s * s) / 2 + 0.5))
    weights += weight
    share += weight * normalCdf(shift - critical * s)
    slope += weight * normalDensity(shift - critical * s)
  }
  return { share: share / weights, slope: slope / weights }
}

/**
 * How often a paired t test finds a true difference, in its own direction.
 *
 * @param options.difference  the true mean difference over cases, >= 0
 * @param options.error       standard error of the mean difference, above 0
 * @param options.df          degrees of freedom, above 0; cases - 1 for a paired test
 * @param options.level       confidence in (0, 1), default 0.95
 * @returns                   a probability
 * @throws                    `argument_invalid` when a number is outside its domain
 * @see                       R's power.t.test(type = "paired"); known answers:
 *   fixtures/stats/plan.json
 * @example
 * power({ difference: 0.2, error: 0.3 / Math.sqrt(20), df: 19 }) // 0.8073
 */
export function power(options: {
  difference: number
  error: number
  df: number
  level?: number
}): number {
  optionsOf(options, ['difference', 'error', 'df', 'level'])
  finite(options.difference, 'options.difference')
  const { error, df, level = 0.95 } = options
  positive(error, 'options.error')
  positive(df, 'options.df')
  const critical = tQuantile((1 + inside(level, 'options.level')) / 2, df)
  return upperTail(critical, Math.abs(options.difference) / error, df).share
}

/**
 * The smallest true difference that a paired t test finds with a given power.
 *
 * @param options.error  standard error of the mean difference, above 0
 * @param options.df     degrees of freedom, above 0; cases - 1 for a paired test
 * @param options.level  confidence in (0, 1), default 0.95
 * @param options.power  in (0, 1) and above (1 - level) / 2, default 0.8
 * @returns              a difference in the unit of `error`
 * @throws               `argument_invalid` when a number is outside its domain
 * @see                  R's power.t.test(type = "paired"); known answers: fixtures/stats/plan.json
 * @example
 * detectable({ error: 0.3 / Math.sqrt(20), df: 19 }) // 0.19813
 */
export function detectable(options: {
  error: number
  df: number
  level?: number
  power?: number
}): number {
  optionsOf(options, ['error', 'df', 'level', 'power'])
  const { error, df, level = 0.95, power: wanted = 0.8 } = options
  positive(error, 'options.error')
  positive(df, 'options.df')
  inside(wanted, 'options.power')
  const critical = tQuantile((1 + inside(level, 'options.level')) / 2, df)
  let shift = Math.max(0, critical + tQuantile(wanted, df))
  let low = 0
  let high = Infinity
  for (let i = 0; i < 100; i++) {
    const { share, slope } = upperTail(critical, shift, df)
    if (share < wanted) low = shift
    else high = shift
    let next = shift - (share - wanted) / slope
    if (!(next > low && next < high)) next = high === Infinity ? 2 * shift + 1 : (low + high) / 2
    if (Math.abs(next - shift) <= 1e-12 * shift) break
    shift = next
  }
  return shift * error
}
