/**
 * One configuration run again and again over days: how much runs differ of themselves, and which
 * run is beyond that.
 */
import { tQuantile } from '../distribution.ts'
import { inside, list, named, number, optionsOf, positive, scores, whole } from '../domain.ts'
import { total } from '../same-cases.ts'
import { mean } from '../variance.ts'

/**
 * What one run says of one configuration: the mean over its cases, and the standard error that its
 * trials alone give it.
 */
export type RunMean = { mean: number; error: number }

/**
 * Mean over the cases of a run, with the standard error from its trials alone, as if one more trial
 * of each case had come out as all of the run do on average: above 0 for 5 of 5 as well.
 *
 * @param cases one array of scores in [0, 1] per case, none of them empty, at least one case
 * @throws      `argument_invalid` for a score outside [0, 1], or no case
 * @see         how often runs that are the same are taken for worse: test/bench/README.md
 * @example
 * runMean([[1, 1, 1, 0, 1], [1, 1, 1, 1, 1]]) // { mean: 0.9, error: 0.105 }
 */
export function runMean(cases: readonly (readonly number[])[]): RunMean {
  whole(list(cases, 'arrays of scores, one per case', 'cases').length, 1, 1e9, 'cases.length')
  for (const [i, values] of cases.entries())
    whole(scores(values, `cases[${i}]`).length, 1, 1e9, `cases[${i}].length`)
  const trials = cases.reduce((sum, { length }) => sum + length, 0)
  const overall = (cases.reduce((sum, values) => sum + total(values), 0) + 1) / (trials + 2)
  let sum = 0
  for (const values of cases) {
    const n = values.length
    const rate = (total(values) + overall) / (n + 1)
    // (n + 1) / n: about its own mean a sample spreads less than about the true one.
    sum += (rate * (1 - rate) * (n + 1)) / n ** 2
  }
  return { mean: mean(cases.map(mean)), error: Math.sqrt(sum) / cases.length }
}

/**
 * How much runs of the same configuration differ, against what their trials alone explain: a
 * placebo across days.
 *
 * @param groups  runs of one and the same configuration each
 * @returns       `ratio`: the variance of runs over what trials explain (1: nothing more); `df`:
 *   runs beyond the first of each group; NaN and 0 where no group has two runs
 * @throws        `argument_invalid` for an error that is not above 0
 * @see           Cochran 1954 (Q); McCullagh & Nelder 1989, 4.5 (overdispersion); known answers:
 *   fixtures/stats/over-time.json
 * @example
 * runNoise([[{ mean: 0.8, error: 0.02 }, { mean: 0.86, error: 0.02 }]]) // { ratio: 4.5, df: 1 }
 */
export function runNoise(groups: readonly (readonly RunMean[])[]): { ratio: number; df: number } {
  let q = 0
  let df = 0
  for (const [g, group] of list(groups, 'runs of one configuration', 'groups').entries()) {
    const center = weighted(group, `groups[${g}]`).mean
    for (const one of group) q += ((one.mean - center) / one.error) ** 2
    df += Math.max(0, group.length - 1)
  }
  return { ratio: df === 0 ? Number.NaN : q / df, df }
}

/** The mean of runs, each by how sure it is. */
function weighted(runs: readonly RunMean[], where: string): RunMean {
  let [sum, weight] = [0, 0]
  for (const [i, one] of list(runs, 'runs', where).entries()) {
    const w = 1 / positive(named(one, `${where}[${i}]`).error, `${where}[${i}].error`) ** 2
    sum += w * number(one.mean, `${where}[${i}].mean`)
    weight += w
  }
  return { mean: sum / weight, error: Math.sqrt(1 / weight) }
}

/**
 * So many runs that differ as their trials explain stand before those that were seen: without any,
 * days are thought to be alike.
 */
const BELIEVED = 4

/**
 * Where the next run lands if nothing has changed: a prediction interval from the runs before it.
 *
 * The noise from day to day is what was seen of it, beside 4 degrees of freedom of runs that differ
 * as their trials explain: with two runs nobody knows it, and then an interval that takes it for
 * unknown says nothing at all. Where days differ a lot and few runs were made, the interval is too
 * narrow. Runs are never taken to differ less than their trials make them.
 *
 * @param past          the runs before, at least one
 * @param now           the error of the run to come
 * @param options.noise from `runNoise`; without one, or with a df of 0, days are taken to be alike
 * @param options.level confidence in (0, 1), default 0.95
 * @throws              `argument_invalid`
 * @see                 Hahn & Meeker 1991 (prediction intervals); known answers:
 *   fixtures/stats/over-time.json
 * @example
 * const past = [{ mean: 0.8, error: 0.02 }, { mean: 0.84, error: 0.02 }, { mean: 0.82, error: 0.02 }]
 * nextRun(past, { error: 0.02 }, { noise: runNoise([past]) }) // { expected: 0.82, low: 0.7635, high: 0.8765 }
 */
export function nextRun(
  past: readonly RunMean[],
  now: { error: number },
  options: { noise?: { ratio: number; df: number }; level?: number } = {},
): { expected: number; low: number; high: number } {
  whole(list(past, 'runs', 'past').length, 1, 1e9, 'past.length')
  const level = inside(optionsOf(options, ['noise', 'level']).level ?? 0.95, 'options.level')
  const { ratio, df } = options.noise ?? { ratio: 1, df: 0 }
  number(ratio, 'options.noise.ratio')
  number(df, 'options.noise.df')
  const before = weighted(past, 'past')
  const error = Math.hypot(before.error, positive(named(now, 'now').error, 'now.error'))
  const critical = tQuantile((1 + level) / 2, df + BELIEVED)
  const seen = df > 0 ? ratio * df : 0
  const reach = critical * error * Math.sqrt(Math.max(1, (seen + BELIEVED) / (df + BELIEVED)))
  return {
    expected: before.mean,
    low: Math.max(0, before.mean - reach),
    high: Math.min(1, before.mean + reach),
  }
}
