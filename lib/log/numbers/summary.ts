/**
 * From a run's rows to its numbers. Everything that is printed, plotted or put into a receipt is
 * computed here, from the log.
 *
 * Trials that ended in an error, or are not there, are in no rate: they are counted beside it, with
 * what they could have made of it. So are attempts that another attempt followed, where their agent
 * had acted.
 */
import {
  type Interval,
  type MeasureFigure,
  type MissingBounds,
  meanOver,
  missingBounds,
  quantileOver,
  type Rate,
  type Reliability,
  rate,
  readLevel,
  reliability,
  sameCases,
  singleRun,
  trueShare,
} from '../../stats/index.ts'
import { type LostAttempts, lostOf } from '../attempts.ts'
import type { Manifest } from '../records.ts'
import type { Cells, Rows, StatRow } from '../rows.ts'
import { heldOver } from './look-level.ts'
import { type CaseScores, familyOfCases, METRICS, type Metric, scoresByCase } from './metrics.ts'
import { Tally } from './tally.ts'

/**
 * A rate with its interval for other cases like these; beside it what holds for these cases when
 * they are run again, and what the trials that ended in an error, lost an attempt to one, or are
 * not there could have made of it.
 */
export type MetricSummary = Rate & {
  /** Interval for the rate on exactly these cases; NaN without a usable trial. */
  again: Interval
  /** Where a single run of these cases, one trial of each, lands 19 times in 20 (at level 0.95). */
  single: Interval
  bounds: MissingBounds | null
  /**
   * The rate if each trial that could not be judged had been a 0, and if it had been a 1. Trials
   * that are known because they came out so are in it as they did. null: each was judged.
   */
  open: { none: Ends; all: Ends; trials: number } | null
  /**
   * The same, with each trial that `bounds` counts as missing a 0, or a 1, as well; `single`: where
   * a single run lands, from its low end with 0 to its high end with 1. Absent: none is.
   */
  lost?: { none: Ends; all: Ends; trials: number; single: Interval }
  repeats: number[]
  /**
   * Of overclaiming, where a judge model read prose: how many of the trials it read, and what was
   * counted before its errors were taken out. The rate and its intervals are corrected for them.
   */
  judge?: { trials: number; counted: Ends }
}

/** A rate with its intervals for both questions. */
export type Ends = { estimate: number; low: number; high: number; again: Interval }

type PassEnds = Pick<Reliability, 'passHatK' | 'low' | 'high'>

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
   * cases. `open`, absent where each trial is known for sure: the same if each trial that was in an
   * error, lost an attempt to one, could not be judged or is not there had failed, and had passed.
   */
  reliability: Reliability & { open?: { none: PassEnds; all: PassEnds; trials: number } }
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

/** Worst and best case of the trials that are missing: in an error, shaken, or not there. */
function boundsOf(counted: readonly CaseScores[]): MissingBounds | null {
  const missing = counted.map((one) => one.missing + one.absent)
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
  const families = familyOfCases(manifest)
  const level = heldOver(manifest, options.level)
  return manifest.configurations.map(({ name, model, simulated }) => {
    const all = new Tally()
    for (const { id } of manifest.cases) for (const row of rows.of(id, name)) all.add(row)
    const rates = Object.fromEntries(
      (Object.keys(METRICS) as Metric[]).map((metric) => {
        const cases = scoresByCase(rows, manifest, name, metric)
        const counted = scoresByCase(rows, manifest, name, metric, true)
        const bounds = boundsOf(counted)
        const kin = { level, families: cases.map((one) => families.get(one.case)) }
        const filled = withMissing(counted)
        const lost = bounds && openEnds(filled, manifest, kin)
        const repeats = all.repeats(metric)
        const tried = scoresOf(cases)
        const unknown = { low: Number.NaN, high: Number.NaN }
        const read = readByJudge(cases, manifest, kin)
        return [
          metric,
          {
            ...rate(
              cases.map((one) => one.scores),
              kin,
            ),
            again: tried.length > 0 ? sameCases(tried, level) : unknown,
            ...read,
            single: singleOf(tried, options.level),
            bounds,
            open: openEnds(cases, manifest, kin),
            ...(lost && {
              lost: {
                ...lost,
                single: {
                  low: singleOf(scoresOf(filledWith(filled, 0)), options.level).low,
                  high: singleOf(scoresOf(filledWith(filled, 1)), options.level).high,
                },
              },
            }),
            repeats,
          },
        ]
      }),
    ) as ConfigurationSummary['rates']
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
      reliability: reliabilityOf(manifest, rows, name, { level, families }),
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

type Kin = { level: number; families: (string | undefined)[] }

/** pass^k of a configuration for the largest k that every case has. */
function reliabilityOf(
  manifest: Manifest,
  rows: Rows,
  name: string,
  { level, families: all }: { level: number; families: Map<string, string> },
): ConfigurationSummary['reliability'] {
  const cases = scoresByCase(rows, manifest, name, 'pass')
  const least = Math.min(...cases.map(({ scores }) => scores.length))
  const k = Math.max(1, Number.isFinite(least) ? least : 1)
  const kin = { level, families: cases.map((one) => all.get(one.case)) }
  const found = reliability(
    cases.map(({ scores }) => scores),
    k,
    kin,
  )
  const open = filledScores(rows, manifest, name, 'pass')
  if (open === null) return found
  const ends = (scores: number[][]): PassEnds => {
    const { passHatK, low, high } = reliability(scores, k, kin)
    return { passHatK, low, high }
  }
  return { ...found, open: { none: ends(open.none), all: ends(open.all), trials: open.trials } }
}

/**
 * Scores by case with a 0, and with a 1, for each trial that is in no rate; how many these are.
 * null: each is in it.
 */
export function filledScores(
  rows: Cells,
  manifest: Manifest,
  configuration: string,
  metric: Metric,
): { none: number[][]; all: number[][]; trials: number } | null {
  const unknown = withMissing(scoresByCase(rows, manifest, configuration, metric, true))
  const trials = sum(unknown.map(({ unjudged, oneSided }) => unjudged + oneSided.length))
  if (trials === 0) return null
  const filled = (value: number) => filledWith(unknown, value).map(({ scores }) => scores)
  return { none: filled(0), all: filled(1), trials }
}

/** What is missing as what could not be judged: nothing is known of either. */
function withMissing(cases: readonly CaseScores[]): CaseScores[] {
  return cases.map((one) => ({
    ...one,
    unjudged: one.unjudged + one.missing + one.absent,
  }))
}

/** The scores of each case that has some. */
const scoresOf = (cases: readonly CaseScores[]): number[][] =>
  cases.map((one) => one.scores).filter((scores) => scores.length > 0)

/** Where a single run lands; NaN without a case. */
const singleOf = (cases: number[][], level?: number): Interval =>
  cases.length > 0 ? singleRun(cases, level) : { low: Number.NaN, high: Number.NaN }

/** What the trials that could not be judged leave open. */
function openEnds(
  cases: readonly CaseScores[],
  manifest: Manifest,
  kin: Kin,
): MetricSummary['open'] {
  const trials = sum(cases.map(({ unjudged, oneSided }) => unjudged + oneSided.length))
  if (trials === 0) return null
  const filled = (value: number): Ends => {
    const whole = filledWith(cases, value)
    return readByJudge(whole, manifest, kin) ?? endsOf(whole, kin)
  }
  return { none: filled(0), all: filled(1), trials }
}

/** The scores of all trials, those of which nothing is known with one value. */
function filledWith(cases: readonly CaseScores[], value: number): CaseScores[] {
  return cases.map((one) => ({
    ...one,
    scores: [...one.scores, ...one.oneSided, ...Array<number>(one.unjudged).fill(value)],
  }))
}

function endsOf(cases: readonly CaseScores[], { level, families }: Kin): Ends {
  const scores = cases.map((one) => one.scores)
  const { estimate, low, high } = rate(scores, { level, families })
  const tried = scores.filter((one) => one.length > 0)
  return { estimate, low, high, again: sameCases(tried, level) }
}

/**
 * The rate where a judge model read some of the trials, with its errors taken out and what is not
 * known of them in the intervals; null where it read none.
 */
function readByJudge(
  cases: readonly CaseScores[],
  { judge }: Manifest,
  kin: Kin,
): (Ends & Pick<MetricSummary, 'judge'>) | null {
  const tried = cases.filter(({ scores }) => scores.length > 0)
  const trials = sum(tried.map(({ read }) => read.length))
  if (judge === undefined || trials === 0) return null
  // Every case weighs the same in a rate, so the share that was read is a mean over cases too.
  const share = sum(tried.map(({ scores, read }) => read.length / scores.length)) / tried.length
  const positive = sum(tried.map(({ scores, read }) => sum(read) / scores.length)) / tried.length
  const counted = endsOf(cases, { ...kin, level: readLevel(kin.level) })
  const { estimate } = counted
  const options = { level: kin.level, read: { share, estimate: positive / share } }
  if (judge.sensitivity.of === 0 || judge.specificity.of === 0) {
    const open = { low: 0, high: 1 }
    return { estimate: Number.NaN, ...open, again: open, judge: { trials, counted } }
  }
  const corrected = (ends: Interval) => trueShare({ ...ends, estimate }, judge, options)
  const other = corrected(counted)
  const { low, high } = corrected(counted.again)
  const known = Number.isFinite(counted.low)
  return {
    estimate: other.estimate,
    low: known ? other.low : Number.NaN,
    high: known ? other.high : Number.NaN,
    again: { low, high },
    judge: { trials, counted: endsOf(cases, kin) },
  }
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
