/**
 * One configuration run again and again over days: how much runs differ of themselves, and where
 * the next one lands.
 */
import { tQuantile } from '../distribution.ts'
import { eachCase, inside, list, optionsOf, whole } from '../domain.ts'
import { total } from '../same-cases.ts'
import { mean } from '../variance.ts'

/** A run: one array of scores in [0, 1] per case, none of them empty. */
export type RunScores = readonly (readonly number[])[]

/** The variance of a run's mean over its cases that its trials alone give it. */
type Spread = (trials: readonly number[]) => number

/**
 * Rates of all runs together: of its own trials a run of 5 of 5 shows no spread, and would be taken
 * for surer than any other. As if one more trial of each case had come out as all do on average, so
 * that no spread is 0.
 */
function spreadOver(runs: readonly RunScores[]): Spread {
  const cases = (runs[0] as RunScores).map((_, c) => {
    const scores = runs.map((run) => run[c] as readonly number[])
    return {
      trials: scores.reduce((sum, { length }) => sum + length, 0),
      passed: scores.reduce((sum, one) => sum + total(one), 0),
    }
  })
  const all = cases.reduce((sum, { trials }) => sum + trials, 0)
  const overall = (cases.reduce((sum, { passed }) => sum + passed, 0) + 1) / (all + 2)
  const spreads = cases.map(({ trials, passed }) => {
    const rate = (passed + overall) / (trials + 1)
    // (n + 1) / n: about its own mean a sample spreads less than about the true one.
    return (rate * (1 - rate) * (trials + 1)) / trials
  })
  return (counts) =>
    spreads.reduce((sum, spread, c) => sum + spread / (counts[c] as number), 0) / cases.length ** 2
}

type Seen = { means: number[]; variances: number[] }

function seenIn(runs: readonly RunScores[], spread = spreadOver(runs)): Seen {
  return {
    means: runs.map((run) => mean(run.map(mean))),
    variances: runs.map((run) => spread(run.map(({ length }) => length))),
  }
}

/** Weighted mean, and the sum of weights, where days add a variance to that of the trials. */
function centerOf({ means, variances }: Seen, days: number): { center: number; weight: number } {
  let [sum, weight] = [0, 0]
  for (const [i, value] of means.entries()) {
    const w = 1 / (days + (variances[i] as number))
    sum += w * value
    weight += w
  }
  return { center: sum / weight, weight }
}

/** Cochran's Q of one group. */
function squares(seen: Seen, days: number): number {
  const { center } = centerOf(seen, days)
  return seen.means.reduce(
    (sum, value, i) => sum + (value - center) ** 2 / (days + (seen.variances[i] as number)),
    0,
  )
}

function requireRuns(runs: readonly RunScores[], where: string): void {
  for (const [i, run] of list(runs, 'runs', where).entries()) {
    const at = `${where}[${i}]`
    const cases = runs[0]?.length ?? 0
    whole(list(run, 'arrays of scores, one per case', at).length, 1, 1e9, `${at}.length`)
    whole(run.length, cases, cases, `${at}.length`)
    for (const [c, { length }] of eachCase(run, at).entries())
      whole(length, 1, 1e9, `${at}[${c}].length`)
  }
}

/**
 * How much runs of the same configuration differ, against what their trials alone explain: a
 * placebo across days.
 *
 * @param groups  runs of one and the same configuration each; the runs of a group are of the same
 *   cases, in the same order
 * @returns       `ratio`: the variance of runs over what trials explain (1: nothing more); `df`:
 *   runs beyond the first of each group; NaN and 0 where no group has two runs
 * @throws        `argument_invalid` for a run without cases, a case without trials or a score
 *   outside [0, 1]
 * @see           Cochran 1954 (Q); McCullagh & Nelder 1989, 4.5 (overdispersion); known answers:
 *   fixtures/stats/over-time.json
 * @example
 * runNoise([[[[1, 0, 0, 1, 0]], [[1, 1, 1, 1, 1]]]]) // { ratio: 3.8739, df: 1 }
 */
export function runNoise(groups: readonly (readonly RunScores[])[]): { ratio: number; df: number } {
  const seen = groupsOf(groups, 'groups')
  const df = freedom(seen)
  const q = seen.reduce((sum, group) => sum + squares(group, 0), 0)
  return { ratio: df === 0 ? Number.NaN : q / df, df }
}

function groupsOf(groups: readonly (readonly RunScores[])[], where: string): Seen[] {
  for (const [g, group] of list(groups, 'runs of one configuration', where).entries())
    requireRuns(group, `${where}[${g}]`)
  return groups.filter(({ length }) => length > 0).map((group) => seenIn(group))
}

function freedom(groups: readonly Seen[]): number {
  return groups.reduce((sum, { means }) => sum + means.length - 1, 0)
}

/**
 * What is believed of days before they are seen: that they move a rate by 6 points (standard
 * deviation), as surely as 4 runs beyond a first would show. Two runs that happen to be alike do
 * not show that days are. How often the interval then holds: test/bench/README.md.
 */
const BELIEVED = { deviation: 0.06, df: 4 }

/**
 * Where the next run lands if nothing has changed: a prediction interval from the runs before it.
 *
 * A run varies by its trials and by its day. What its trials give is computed from the rates of all
 * runs together, so that runs of the same size count the same. What days give is what was seen of
 * it, beside 4 degrees of freedom of days that differ by 6 points: with two runs nobody knows it,
 * and an interval that takes it for unknown says nothing at all. Where days differ by 10 points
 * and few runs were made, the interval is too narrow (it held in 88 of 100 in the worst cell).
 *
 * @param past    the runs before, at least one, of the same cases in the same order
 * @param trials  of each case in the run to come
 * @param options.unchanged  groups of runs of one and the same configuration, from which the noise
 *   from day to day is taken; default the runs before as one group
 * @param options.level      confidence in (0, 1), default 0.95
 * @returns       `expected`: between the lowest and the highest mean of the runs before
 * @throws        `argument_invalid`
 * @see           Paule & Mandel 1982; Higgins, Thompson & Spiegelhalter 2009 (prediction in a
 *   random-effects model); known answers: fixtures/stats/over-time.json
 * @example
 * const runs = [3, 5, 4].map((passed) => [[0, 1, 2, 3, 4].map((i) => (i < passed ? 1 : 0))])
 * nextRun(runs, [5]) // { expected: 0.8, low: 0.2443, high: 1 }
 */
export function nextRun(
  past: readonly RunScores[],
  trials: readonly number[],
  options: { unchanged?: readonly (readonly RunScores[])[]; level?: number } = {},
): { expected: number; low: number; high: number } {
  whole(list(past, 'runs', 'past').length, 1, 1e9, 'past.length')
  requireRuns(past, 'past')
  const cases = (past[0] as RunScores).length
  whole(
    list(trials, 'counts of trials, one per case', 'trials').length,
    cases,
    cases,
    'trials.length',
  )
  for (const [c, count] of trials.entries()) whole(count, 1, 1e9, `trials[${c}]`)
  const { unchanged, level = 0.95 } = optionsOf(options, ['unchanged', 'level'])
  inside(level, 'options.level')
  const spread = spreadOver(past)
  const before = seenIn(past, spread)
  const groups = unchanged === undefined ? [before] : groupsOf(unchanged, 'options.unchanged')
  const own = spread(trials)
  const days = varianceOfDays(groups, own)
  const { center, weight } = centerOf(before, days)
  const critical = tQuantile((1 + level) / 2, freedom(groups) + BELIEVED.df)
  const reach = critical * Math.sqrt(days + own + 1 / weight)
  const { means } = before
  return {
    // A weighted mean may leave the range of its parts by a rounding.
    expected: Math.min(Math.max(...means), Math.max(Math.min(...means), center)),
    low: Math.max(0, center - reach),
    high: Math.min(1, center + reach),
  }
}

/**
 * The variance at which the runs, and those that are believed, differ as much as they should: each
 * of `df` by one. Runs of one size then differ as their sample variance says.
 */
function varianceOfDays(groups: readonly Seen[], own: number): number {
  const df = freedom(groups) + BELIEVED.df
  const excess = (days: number) =>
    groups.reduce((sum, group) => sum + squares(group, days), 0) +
    (BELIEVED.df * (BELIEVED.deviation ** 2 + own)) / (days + own) -
    df
  let [low, high] = [0, 1]
  if (excess(0) <= 0) return 0
  while (high - low > 1e-12) {
    const middle = (low + high) / 2
    if (excess(middle) > 0) low = middle
    else high = middle
  }
  return high
}
