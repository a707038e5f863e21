/**
 * Two configurations of one run, compared by case: the metric that was asked about, the others
 * adjusted for each other, and the levels of evidence as an ordinal outcome.
 */
import { count } from '../../display.ts'
import {
  compare,
  compareLevels,
  compareReliability,
  holm,
  jointSignFlip,
  type OrdinalComparison,
  type Pair,
  rng,
  type Target,
  wrongWinner,
} from '../../stats/index.ts'
import type { Manifest } from '../records.ts'
import type { Cells, StatRow } from '../rows.ts'
import {
  type Adjusted,
  type Among,
  adjusted,
  type MetricComparison,
  meansTable,
  pairsAmong,
} from './among.ts'
import { heldOver } from './look-level.ts'
import { requireConfigurations, usable } from './measure.ts'
import {
  type CaseScores,
  type ComparedMetric,
  familyOfCases,
  metricNamed,
  powerOf,
  scoresByCase,
} from './metrics.ts'

/** Scores of two configurations, paired by case. */
export function pairsOf(
  manifest: Manifest,
  rows: Cells,
  a: string,
  b: string,
  compared: ComparedMetric,
): (Pair & { id: string })[] {
  requireConfigurations(manifest, a, b)
  const metric = powerOf(compared).base
  const families = familyOfCases(manifest)
  const right = new Map(scoresByCase(rows, manifest, b, metric).map((one) => [one.case, one]))
  return scoresByCase(rows, manifest, a, metric).map((one) => {
    const { case: id, scores, shaken } = one
    const other = right.get(id)
    return {
      id,
      family: families.get(id) ?? id,
      a: scores,
      b: other?.scores ?? [],
      lost: { a: withoutScore(one), b: other ? withoutScore(other) : 0 },
      shaken: { a: shaken, b: other?.shaken ?? [] },
    }
  })
}

/**
 * Trials of a case that are in no rate. Which ones cannot be judged may be the agent's choice, and
 * which ones are not there that of whoever had the folder, so they leave a verdict as open as
 * errors do.
 */
function withoutScore({ missing, absent, unjudged, oneSided }: CaseScores): number {
  return missing + absent + unjudged + oneSided.length
}

/** For each of the two whose trials are not all there, how many are not. */
function absentReasons(manifest: Manifest, rows: Cells, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const absent = manifest.cases.reduce((n, { id }) => n + (rows.absent?.(id, name) ?? 0), 0)
    return absent > 0 ? [`${name}: ${count(absent, 'planned trial')} not there`] : []
  })
}

export type CompareChoice = {
  metric?: ComparedMetric
  target?: Target
  level?: number
  equivalence?: number
  /** Which comparisons this one is one of, see `Among`. */
  among?: Among
}

/** Compare b with a. @throws TouchstoneError `configuration_unknown`, `argument_invalid` */
export function compareMetric(
  manifest: Manifest,
  rows: Cells,
  a: string,
  b: string,
  choice: CompareChoice = {},
): MetricComparison {
  const metric = choice.metric ?? 'goal'
  const { better } = metricNamed(metric)
  const options = {
    better,
    names: [a, b] as const,
    ...(choice.target && { target: choice.target }),
    ...(choice.level !== undefined && { level: choice.level }),
    ...(choice.equivalence !== undefined && { equivalence: choice.equivalence }),
  }
  const pairs = pairsOf(manifest, rows, a, b, metric)
  const { k } = powerOf(metric)
  const compared = k > 1 ? compareReliability(pairs, k, options) : compare(pairs, options)
  const reasons = [...compared.reasons, ...absentReasons(manifest, rows, [a, b])]
  return { ...compared, reasons, metric, a, b }
}

/** What one question was answered: a metric named in advance, and the others. */
export type Answer = {
  /** Adjusted for the other configurations that it could have been asked of. */
  primary: Adjusted
  /** Metrics that apply and say something, adjusted for all of them and for all configurations. */
  others: Adjusted[]
}

/** All metrics of two configurations, for both questions. */
export type Comparisons = Answer & {
  a: string
  b: string
  /**
   * `these`: run again, on exactly these cases. `like these`: other cases. `primary` and `others`
   * are those of the target that was asked for.
   */
  answers: { these: Answer; 'like these': Answer }
  /**
   * How often single runs, one of each, would put the two in the wrong order on the primary metric,
   * or level. NaN where trials that lost an attempt to an error, or are not there, could change it.
   */
  singleRuns: { wrong: number; level: number }
  /**
   * Are b's calls better evidenced? Over calls that claim a change, by derived level. Adjusted with
   * the others.
   */
  levels: Omit<OrdinalComparison, 'each'> & { pAdjusted: number }
  /** How many comparisons of these two stand here for each question. */
  count: number
  /** How many pairs of configurations the numbers are adjusted for. */
  pairs: number
  /** Whether the metric that was asked about and the others are adjusted as one family. */
  together: boolean
  /** The metrics of the family of the one that was asked about, where they were chosen. */
  family?: readonly ComparedMetric[]
}

type One = { metric: ComparedMetric; x: string; y: string; mine: boolean }

/** What is compared of two configurations where nothing else is said. */
export const COMPARED = ['goal', 'attack', 'overclaim', 'underclaim', 'unneeded'] as const

/**
 * Compare b with a on one primary metric and, more strictly, on the others, for both questions.
 *
 * @param choice.family metrics that make one family with the primary one; the others are another
 */
export function compareAll(
  manifest: Manifest,
  rows: Cells,
  a: string,
  b: string,
  choice: CompareChoice & { family?: readonly ComparedMetric[] } = {},
): Comparisons {
  requireConfigurations(manifest, a, b)
  const level = heldOver(manifest, choice.level)
  const primaryMetric = choice.metric ?? 'goal'
  const pairs = pairsAmong(
    manifest.configurations.map(({ name }) => name),
    a,
    b,
    choice.among,
  )
  const together = choice.among === 'page'
  const table = meansTable(manifest, rows)
  const { each, ...ordinal } = compareLevels(levelPairs(manifest, rows, a, b), {
    level,
    rng: rng('levels'),
  })
  const family = choice.family?.filter((metric) => metric !== primaryMetric) ?? []
  const otherMetrics = COMPARED.filter(
    (metric) =>
      metric !== primaryMetric &&
      !family.includes(metric) &&
      table.differences(a, b, metric).some((d) => d !== null),
  )
  const ofAllPairs = (metric: ComparedMetric) =>
    pairs.map(([x, y]): One => ({ metric, x, y, mine: x === a && y === b }))
  // The metric that was asked about stands first.
  const lists = (
    together
      ? [[primaryMetric, ...family, ...otherMetrics]]
      : [[primaryMetric, ...family], otherMetrics]
  ).map((metrics) => metrics.flatMap(ofAllPairs))
  let levels = { ...ordinal, pAdjusted: ordinal.p }
  const answer = (target: Target): Answer => {
    const compared = (metric: ComparedMetric, p: number, among: number): Adjusted => {
      const asked = { ...choice, metric, target }
      const alone = compareMetric(manifest, rows, a, b, { ...asked, level })
      return among === 1
        ? {
            ...alone,
            pAdjusted: alone.pDecisive,
            among,
            alone: { low: alone.low, high: alone.high },
          }
        : adjusted(
            alone,
            compareMetric(manifest, rows, a, b, { ...asked, level: 1 - (1 - level) / among }),
            p,
            among,
          )
    }
    let p: number[][]
    if (target === 'these') {
      const exact = (list: One[]) =>
        holm(
          list.map(({ metric, x, y }) =>
            pairs.length === 1 && list.length === 1
              ? Number.NaN
              : compareMetric(manifest, rows, x, y, { metric, target }).pDecisive,
          ),
        )
      p = lists.map(exact)
    } else {
      const column = ({ metric, x, y }: One) => table.byFamily(table.differences(x, y, metric))
      const steps = table.byFamily(each.map((one) => (one === null ? null : 2 * one - 1)))
      // The levels of evidence are one of the others.
      p = lists.map((list) =>
        jointSignFlip([...list.map(column), ...(list === lists.at(-1) ? [steps] : [])]),
      )
      levels = { ...ordinal, pAdjusted: p.at(-1)?.at(-1) as number }
    }
    const [primary, ...others] = lists.flatMap((list, i) =>
      list.flatMap((one, j) =>
        one.mine ? [compared(one.metric, p[i]?.[j] as number, list.length)] : [],
      ),
    )
    return {
      primary: primary as Adjusted,
      others: others.filter(({ cases, metric }) => cases > 0 || family.includes(metric)),
    }
  }
  const answers = { these: answer('these'), 'like these': answer('like these') }
  const asked = answers[choice.target ?? 'like these'] ?? answer(choice.target as Target)
  const tried = pairsOf(manifest, rows, a, b, asked.primary.metric).filter(
    (pair) => pair.a.length > 0 && pair.b.length > 0,
  )
  return {
    a,
    b,
    ...asked,
    answers,
    singleRuns: asked.primary.bounds ? { wrong: NaN, level: NaN } : wrongWinner(tried),
    levels,
    count: asked.others.length + 1 + (ordinal.cases > 0 ? 1 : 0),
    pairs: pairs.length,
    together,
    ...(choice.family && { family: [primaryMetric, ...family] }),
  }
}

/** Counts of calls by derived level, lowest first, paired by case. */
function levelPairs(manifest: Manifest, rows: Cells, a: string, b: string) {
  const counts = (trials: StatRow[]) =>
    (['asserted', 'observed_confirmed', 'verified'] as const).map((level) =>
      trials.reduce((sum, row) => sum + row.levels[level], 0),
    )
  return manifest.cases.map(({ id }) => ({
    id,
    a: counts(usable(rows, id, a)),
    b: counts(usable(rows, id, b)),
  }))
}
