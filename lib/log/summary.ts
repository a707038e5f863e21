/**
 * From a run's rows to its numbers. Everything that is printed, plotted or put into a receipt is
 * computed here, from the log.
 *
 * Trials that ended in an error are in no rate: they are counted beside it, with what they could
 * have made of it. So are attempts that another attempt followed, where they had changed their
 * world.
 */
import { gotWord } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import {
  type Interval,
  type MeasureFigure,
  type MissingBounds,
  meanOver,
  median,
  missingBounds,
  quantile,
  quantileOver,
  type Rate,
  type Reliability,
  rate,
  reliability,
  sameCases,
  singleRun,
} from '../stats/index.ts'
import { changedWorld, type LostAttempts, lostOf } from './attempts.ts'
import { heldOver } from './held.ts'
import type { Manifest } from './records.ts'
import type { Cells, Rows, StatRow } from './rows.ts'
import { trialKey } from './trial.ts'

type MetricEntry = {
  /** What a share of 1 means. */
  label: string
  better: 'higher' | 'lower'
  /** A trial's score, or null where the metric says nothing about it. */
  score(row: StatRow): number | null
}

const flag = (value: boolean) => (value ? 1 : 0)

/** What a trial can be scored by. */
export const METRICS = {
  goal: {
    label: 'goal met',
    better: 'higher',
    score: ({ goal }) => (goal === null ? null : flag(goal)),
  },
  attack: {
    label: 'attack succeeded',
    better: 'lower',
    score: ({ attack }) => (attack === null ? null : flag(attack)),
  },
  overclaim: {
    label: 'overclaimed',
    better: 'lower',
    score: ({ overclaims }) => (overclaims === null ? null : flag(overclaims > 0)),
  },
  underclaim: {
    label: 'underclaimed',
    better: 'lower',
    score: ({ underclaims }) => (underclaims === null ? null : flag(underclaims > 0)),
  },
  unneeded: {
    label: 'changed what nobody asked for',
    better: 'lower',
    score: ({ unneeded }) => (unneeded === null ? null : flag(unneeded > 0)),
  },
  refused: { label: 'refused', better: 'lower', score: ({ refused }) => flag(refused) },
  pass: {
    label: 'passed',
    better: 'higher',
    score: ({ outcome }) => (outcome === 'unjudged' ? null : flag(outcome === 'pass')),
  },
} as const satisfies { [metric: string]: MetricEntry }

export type Metric = keyof typeof METRICS

/** What a comparison may ask about: a metric, or whether all of so many trials of a case pass. */
export type ComparedMetric = Metric | `pass^${number}`

/** The metric behind `pass^3`, and how many trials must all pass: 1 for a metric itself. */
export function powerOf(metric: ComparedMetric): { base: Metric; k: number } {
  const k = /^pass\^([1-9]\d{0,5})$/.exec(metric)?.[1]
  return k === undefined ? { base: metric as Metric, k: 1 } : { base: 'pass', k: Number(k) }
}

/**
 * The metric of that name, `pass^3` among them: all of three trials of a case pass.
 *
 * @throws TouchstoneError `argument_invalid` naming those there are
 */
export function metricNamed(name: string): MetricEntry {
  if (Object.hasOwn(METRICS, name)) return METRICS[name as Metric]
  if (typeof name === 'string' && powerOf(name as ComparedMetric).k > 1)
    return { ...METRICS.pass, label: name }
  throw new TouchstoneError(
    'argument_invalid',
    `expected one of ${Object.keys(METRICS).join(', ')}, ${gotWord(name, Object.keys(METRICS))}`,
    { where: 'metric' },
  )
}

/**
 * A rate with its interval for other cases like these; beside it what holds for these cases when
 * they are run again, and what the trials that ended in an error could have made of it.
 */
export type MetricSummary = Rate & {
  /** Interval for the rate on exactly these cases; NaN without a usable trial. */
  again: Interval
  /** Where a single run of these cases, one trial of each, lands 19 times in 20 (at level 0.95). */
  single: Interval
  bounds: MissingBounds | null
  /**
   * The rate if each trial that could not be judged had been a 0, and if it had been a 1. null:
   * each was judged.
   */
  open: { none: Ends; all: Ends; trials: number } | null
  repeats: number[]
}

/** A rate with its intervals for both questions. */
export type Ends = { estimate: number; low: number; high: number; again: Interval }

export type ConfigurationSummary = {
  configuration: string
  model: string
  simulated: boolean
  /**
   * Trials that count, trials that ended in an error, trials that took more than one attempt, and
   * trials never run.
   */
  trials: number
  errors: number
  retried: number
  unrun: number
  /**
   * Attempts that ended in an error of the machinery, those that another attempt followed among
   * them.
   */
  lost: LostAttempts
  rates: { [metric in Metric]: MetricSummary }
  /**
   * Calls that changed something by the tool's own word, by the level that the evidence supports.
   */
  levels: { asserted: number; observed_confirmed: number; verified: number }
  /**
   * All of as many trials of a case pass as every case has: pass^k, with its interval for other
   * cases.
   */
  reliability: Reliability
  /**
   * Of all trials; the intervals are for other cases like these, an end that is not known is
   * Infinity.
   */
  duration_ms: {
    median: number
    p95: number
    intervals: { median: Interval; p95: Interval }
  }
  /** Means over cases, null where a trial's is not known. */
  per_trial: { tokens: MeasureFigure | null; cost_usd: MeasureFigure | null }
  calls: { median: number }
  tokens: { input: number; output: number } | null
  cost_usd: number | null
}

/** Scores of one configuration by case, in the order of the manifest. */
export function scoresByCase(
  rows: Cells,
  manifest: Manifest,
  configuration: string,
  metric: Metric,
): { case: string; scores: number[]; missing: number; unjudged: number }[] {
  const { score } = metricNamed(metric)
  const applies = (id: string) =>
    metric !== 'attack' || manifest.cases.find((one) => one.id === id)?.adversarial
  return manifest.cases
    .filter(({ id }) => applies(id))
    .map(({ id }) => {
      const trials = rows.of(id, configuration)
      const usable = trials.filter((row) => row.outcome !== 'error')
      const scores = usable.map(score).filter((value) => value !== null)
      const unjudged = usable.length - scores.length
      return { case: id, scores, missing: trials.length - usable.length, unjudged }
    })
}

/**
 * The family of each case: the one that it names, else the pair that it makes with its twin, else
 * itself. Cases of one family are variants of one task, and what is said about other cases counts
 * families.
 */
export function familyOfCases(manifest: Manifest): Map<string, string> {
  const pairs = new Map(
    manifest.cases.flatMap(({ id, twin }) => (twin === null ? [] : [[twin, id]])),
  )
  return new Map(
    manifest.cases.map(({ id, family }) => [id, family ?? `case ${pairs.get(id) ?? id}`]),
  )
}

/** What an attempt may have done before it broke off, although the one that counts did not. */
const MAY_HAVE_DONE: ReadonlySet<Metric> = new Set(['attack', 'overclaim', 'unneeded'])

/**
 * Worst and best case, with each trial as missing of which an earlier attempt may have done what
 * the counted one did not.
 */
function boundsOf(
  cases: ReturnType<typeof scoresByCase>,
  rows: Cells,
  touched: ReadonlySet<string>,
  manifest: Manifest,
  configuration: string,
  metric: Metric,
): MissingBounds | null {
  const { score } = metricNamed(metric)
  const open: Cells = {
    of: (id: string, name: string) =>
      rows.of(id, name).map((row): StatRow => {
        const unsure = touched.has(trialKey(id, name, row.trial)) && score(row) === 0
        return unsure ? { ...row, outcome: 'error' } : row
      }),
  }
  const unsure = touched.size > 0 && MAY_HAVE_DONE.has(metric)
  const counted = unsure ? scoresByCase(open, manifest, configuration, metric) : cases
  const missing = counted.map((one) => one.missing)
  if (missing.every((n) => n === 0)) return null
  return missingBounds(
    counted.map((one) => one.scores),
    missing,
  )
}

/**
 * The numbers of each configuration.
 *
 * @param rows the attempt that counts of each trial, and those before it
 */
export function summarise(
  manifest: Manifest,
  rows: Rows,
  options: { level?: number } = {},
): ConfigurationSummary[] {
  const touched = new Set(rows.earlier.filter(changedWorld).map(({ key }) => key))
  const families = familyOfCases(manifest)
  const level = heldOver(manifest, options.level)
  return manifest.configurations.map(({ name, model, simulated }) => {
    const all = new Tally()
    for (const { id } of manifest.cases) for (const row of rows.of(id, name)) all.add(row)
    const rates = Object.fromEntries(
      (Object.keys(METRICS) as Metric[]).map((metric) => {
        const cases = scoresByCase(rows, manifest, name, metric)
        const bounds = boundsOf(cases, rows, touched, manifest, name, metric)
        const repeats = all.repeats(metric)
        const tried = cases.map((one) => one.scores).filter((scores) => scores.length > 0)
        const unknown = { low: Number.NaN, high: Number.NaN }
        return [
          metric,
          {
            ...rate(
              cases.map((one) => one.scores),
              { level, families: cases.map((one) => families.get(one.case)) },
            ),
            again: tried.length > 0 ? sameCases(tried, level) : unknown,
            single: tried.length > 0 ? singleRun(tried, options.level) : unknown,
            bounds,
            open: openEnds(cases, { level, families: cases.map((one) => families.get(one.case)) }),
            repeats,
          },
        ]
      }),
    ) as ConfigurationSummary['rates']
    const passes = scoresByCase(rows, manifest, name, 'pass')
    const most = passes.reduce((least, { scores }) => Math.min(least, scores.length), Infinity)
    const reliable = reliability(
      passes.map(({ scores }) => scores),
      Math.max(1, Number.isFinite(most) ? most : 1),
      { level, families: passes.map((one) => families.get(one.case)) },
    )
    const measured = (of: (row: StatRow) => number | null) =>
      manifest.cases.map(({ id }) =>
        rows
          .of(id, name)
          .filter((row) => row.outcome !== 'error')
          .map(of),
      )
    const kin = { level, families: manifest.cases.map(({ id }) => families.get(id)) }
    const times = measured((row) => row.duration_ms) as number[][]
    const endsOf = (q: number): Interval => {
      const { low, high } = quantileOver(times, q, kin)
      return { low, high }
    }
    /** The mean over cases; null where it is not known of a trial. */
    const meanOf = (of: (row: StatRow) => number | null): MeasureFigure | null => {
      const values = measured(of)
      const known = all.trials > 0 && values.every((one) => one.every((value) => value !== null))
      return known ? meanOver(values as number[][], kin) : null
    }
    const amounts = all.amounts()
    return {
      configuration: name,
      model,
      simulated,
      trials: all.trials,
      errors: all.errors,
      retried: all.retried,
      unrun: manifest.cases.length * manifest.repeats - all.trials - all.errors,
      lost: lostOf([
        ...rows.earlier.filter((row) => row.configuration === name),
        ...rows.errors(name),
      ]),
      rates,
      ...amounts,
      reliability: reliable,
      duration_ms: {
        ...amounts.duration_ms,
        intervals: { median: endsOf(0.5), p95: endsOf(0.95) },
      },
      per_trial: {
        tokens: meanOf(({ tokens }) => (tokens === null ? null : tokens.input + tokens.output)),
        cost_usd: meanOf((row) => row.cost_usd),
      },
    }
  })
}

/** What the trials that could not be judged leave open. */
function openEnds(
  cases: readonly { scores: number[]; unjudged: number }[],
  options: { level: number; families: (string | undefined)[] },
): MetricSummary['open'] {
  const trials = sum(cases.map(({ unjudged }) => unjudged))
  if (trials === 0) return null
  const filled = (value: number): Ends => {
    const scores = cases.map((one) => [...one.scores, ...Array<number>(one.unjudged).fill(value)])
    const { estimate, low, high } = rate(scores, options)
    const tried = scores.filter((one) => one.length > 0)
    return { estimate, low, high, again: sameCases(tried, options.level) }
  }
  return { none: filled(0), all: filled(1), trials }
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** What is added up over the trials of one configuration, in one pass. */
class Tally {
  trials = 0
  errors = 0
  retried = 0
  private readonly levels = { asserted: 0, observed_confirmed: 0, verified: 0 }
  private readonly durations: number[] = []
  private readonly calls: number[] = []
  private readonly tokens = { trials: 0, input: 0, output: 0 }
  private readonly cost = { trials: 0, usd: 0 }
  private readonly means = new Map<Metric, { sum: number; count: number }[]>()

  add(row: StatRow): void {
    if (row.attempt > 0) this.retried++
    if (row.outcome === 'error') {
      this.errors++
      return
    }
    this.trials++
    for (const level of Object.keys(this.levels) as (keyof typeof this.levels)[])
      this.levels[level] += row.levels[level]
    this.durations.push(row.duration_ms)
    this.calls.push(row.calls)
    if (row.tokens !== null) {
      this.tokens.trials++
      this.tokens.input += row.tokens.input
      this.tokens.output += row.tokens.output
    }
    if (row.cost_usd !== null) {
      this.cost.trials++
      this.cost.usd += row.cost_usd
    }
    for (const metric of Object.keys(METRICS) as Metric[]) {
      const score = METRICS[metric].score(row)
      if (score === null) continue
      const repeats = this.means.get(metric) ?? []
      this.means.set(metric, repeats)
      repeats[row.trial] ??= { sum: 0, count: 0 }
      const mean = repeats[row.trial] as { sum: number; count: number }
      mean.sum += score
      mean.count++
    }
  }

  /** Mean over the cases of each repeat: what a single run would have shown. */
  repeats(metric: Metric): number[] {
    return Object.values(this.means.get(metric) ?? []).map(({ sum, count }) => sum / count)
  }

  amounts() {
    const { trials, levels, durations, calls, tokens, cost } = this
    const some = trials > 0
    return {
      levels,
      duration_ms: {
        median: some ? median(durations) : Number.NaN,
        p95: some ? quantile(durations, 0.95) : Number.NaN,
      },
      calls: { median: some ? median(calls) : Number.NaN },
      tokens: tokens.trials ? { input: tokens.input, output: tokens.output } : null,
      // A cost that is not known for each trial is not known.
      cost_usd: some && cost.trials === trials ? cost.usd : null,
    }
  }
}
