/**
 * Two configurations of one run, compared by case: the metric that was asked about, the others under Holm's rule, the levels of
 * evidence as an ordinal outcome, and what has no upper end (time, calls, tokens, cost).
 */
import { gotWord } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import {
  type Comparison,
  compare,
  compareLevels,
  compareMedians,
  holm,
  type MeasureComparison,
  type OrdinalComparison,
  type Pair,
  rng,
  type Target,
  wrongWinner,
} from '../stats/index.ts'
import type { Manifest, TrialRecord } from './records.ts'
import { familyOfCases, type Metric, metricNamed, scoresByCase } from './summary.ts'

function requireConfigurations(manifest: Manifest, ...wanted: string[]): void {
  const names = manifest.configurations.map((one) => one.name)
  for (const name of wanted) {
    if (names.includes(name)) continue
    throw new TouchstoneError(
      'configuration_unknown',
      `expected one of ${names.join(', ')}, ${gotWord(name, names)}`,
      { where: 'configuration' },
    )
  }
}

/** Scores of two configurations, paired by case. */
export function pairsOf(
  manifest: Manifest,
  rows: readonly TrialRecord[],
  a: string,
  b: string,
  metric: Metric,
): (Pair & { id: string })[] {
  requireConfigurations(manifest, a, b)
  const families = familyOfCases(manifest)
  const right = new Map(scoresByCase(rows, manifest, b, metric).map((one) => [one.case, one]))
  return scoresByCase(rows, manifest, a, metric).map(({ case: id, scores, missing }) => ({
    id,
    family: families.get(id) ?? id,
    a: scores,
    b: right.get(id)?.scores ?? [],
    lost: { a: missing, b: right.get(id)?.missing ?? 0 },
  }))
}

export type CompareChoice = {
  metric?: Metric
  target?: Target
  level?: number
  equivalence?: number
}

/** One metric of two configurations. `verdict` says whether b is better than a. */
export type MetricComparison = Comparison & { metric: Metric; a: string; b: string }

/** Compare b with a. @throws TouchstoneError `configuration_unknown`, `argument_invalid` */
export function compareMetric(
  manifest: Manifest,
  rows: readonly TrialRecord[],
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
  return { ...compare(pairsOf(manifest, rows, a, b, metric), options), metric, a, b }
}

/** What one question was answered: a metric named in advance, and the others, held to Holm's stricter rule. */
export type Answer = {
  primary: MetricComparison
  /** Metrics that apply and say something, with p adjusted for their number; a verdict that does not survive is "cannot tell". */
  others: (MetricComparison & { pHolm: number })[]
}

/** All metrics of two configurations, for both questions. */
export type Comparisons = Answer & {
  a: string
  b: string
  /**
   * `these`: run again, on exactly these cases. `like these`: other cases. `primary` and `others` are those of the target that
   * was asked for.
   */
  answers: { these: Answer; 'like these': Answer }
  /** How often single runs, one of each, would put the two in the wrong order on the primary metric, or level. */
  singleRuns: { wrong: number; level: number }
  /** Are b's calls better evidenced? Over calls that claim a change, by derived level. Its p is in the Holm family of the others. */
  levels: OrdinalComparison & { pHolm: number }
  /** How many comparisons stand here for each question. */
  count: number
}

/** Compare b with a on one primary metric and, more strictly, on the others, for both questions. */
export function compareAll(
  manifest: Manifest,
  rows: readonly TrialRecord[],
  a: string,
  b: string,
  choice: CompareChoice = {},
): Comparisons {
  const level = choice.level ?? 0.95
  const ordinal = compareLevels(levelPairs(manifest, rows, a, b), { level, rng: rng('levels') })
  let levels = { ...ordinal, pHolm: ordinal.p }
  const answer = (target: Target): Answer => {
    const primary = compareMetric(manifest, rows, a, b, { ...choice, target })
    const compared = (['goal', 'attack', 'overclaim', 'underclaim', 'unneeded'] as const)
      .filter((metric) => metric !== primary.metric)
      .map((metric) => compareMetric(manifest, rows, a, b, { ...choice, metric, target }))
      .filter((one) => one.cases > 0)
    // Levels are compared over cases, so that their p belongs to the question about other cases.
    const adjusted = holmOf([
      ...compared.map((one) => one.pDecisive),
      ...(target === 'like these' ? [ordinal.p] : []),
    ])
    if (target === 'like these') levels = { ...ordinal, pHolm: adjusted.at(-1) as number }
    const others = compared.map((one, i) => {
      const pHolm = adjusted[i] as number
      const holds = pHolm <= 1 - level || one.verdict === 'same within d'
      return { ...one, pHolm, verdict: holds ? one.verdict : ('cannot tell' as const) }
    })
    return { primary, others }
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
    singleRuns: wrongWinner(tried),
    levels,
    count: asked.others.length + 1 + (ordinal.cases > 0 ? 1 : 0),
  }
}

/** Holm's adjusted p values; one that is undefined stays so and is not counted. */
function holmOf(raw: number[]): number[] {
  const defined = raw.filter((p) => Number.isFinite(p))
  const adjusted = holm(defined)
  let next = 0
  return raw.map((p) => (Number.isFinite(p) ? (adjusted[next++] as number) : Number.NaN))
}

function usableByCase(
  rows: readonly TrialRecord[],
  configuration: string,
): Map<string, TrialRecord[]> {
  return Map.groupBy(
    rows.filter((row) => row.configuration === configuration && row.outcome !== 'error'),
    (row) => row.case,
  )
}

/** Counts of calls by derived level, lowest first, paired by case. */
function levelPairs(manifest: Manifest, rows: readonly TrialRecord[], a: string, b: string) {
  const [left, right] = [usableByCase(rows, a), usableByCase(rows, b)]
  const counts = (trials: TrialRecord[] = []) =>
    (['asserted', 'observed_confirmed', 'verified'] as const).map((level) =>
      trials.reduce((sum, row) => sum + row.levels[level], 0),
    )
  return manifest.cases.map(({ id }) => ({ id, a: counts(left.get(id)), b: counts(right.get(id)) }))
}

/** What is measured of a trial without an upper end. */
const MEASURES = {
  duration_ms: { label: 'time per trial', unit: 'ms', of: (row) => row.duration_ms },
  steps: { label: 'steps per trial', unit: 'steps', of: (row) => row.steps },
  calls: { label: 'calls per trial', unit: 'calls', of: (row) => row.calls },
  tokens: {
    label: 'tokens per trial',
    unit: 'tokens',
    of: ({ tokens }) => (tokens === null ? null : tokens.input + tokens.output),
  },
  cost_usd: { label: 'cost per trial', unit: 'USD', of: (row) => row.cost_usd },
} as const satisfies { [measure: string]: MeasureRule }

/** What a measure is called, its unit, and its value for one trial: null where it is not known. */
type MeasureRule = { label: string; unit: string; of(row: TrialRecord): number | null }

export type Measure = keyof typeof MEASURES

/** The rule of a measure. @throws TouchstoneError `argument_invalid` for another name */
export function measureNamed(measure: Measure): MeasureRule {
  if (Object.hasOwn(MEASURES, measure)) return MEASURES[measure]
  throw new TouchstoneError(
    'argument_invalid',
    `expected one of ${Object.keys(MEASURES).join(', ')}, ${gotWord(measure, Object.keys(MEASURES))}`,
    { where: 'measure' },
  )
}

/**
 * Does b take more than a? Paired differences of case medians with a bootstrap interval. Trials without the measure are left out.
 *
 * @throws TouchstoneError `configuration_unknown`, `argument_invalid`
 */
export function compareMeasure(
  manifest: Manifest,
  rows: readonly TrialRecord[],
  a: string,
  b: string,
  measure: Measure,
): MeasureComparison {
  requireConfigurations(manifest, a, b)
  const { of } = measureNamed(measure)
  const [left, right] = [usableByCase(rows, a), usableByCase(rows, b)]
  const values = (trials: TrialRecord[] = []) => trials.map(of).filter((value) => value !== null)
  return compareMedians(
    manifest.cases.map(({ id }) => ({ id, a: values(left.get(id)), b: values(right.get(id)) })),
    { rng: rng(measure) },
  )
}
