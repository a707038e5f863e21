/** Is a run no worse than an earlier one, by more than what is taken? */
import { onlyMembers } from '../../../arguments.ts'
import { gotWord } from '../../../choice.ts'
import { count, foreign, type Look, wrap } from '../../../display.ts'
import { TouchstoneError } from '../../../errors.ts'
import {
  type Adjusted,
  type Cells,
  COMPARED,
  type ComparedMetric,
  type Comparisons,
  compareAll,
  type Manifest,
  METRICS,
  type Metric,
  metricNamed,
} from '../../../log/index.ts'
import { differenceText } from '../../../rounding.ts'
import { shownAs } from '../../../shown.ts'
import type { Target } from '../../../stats/index.ts'
import { comparisonText } from '../compared/comparison-text.ts'
import {
  type LeftOut,
  nameIn,
  namesakes,
  sharedCases,
  sharedText,
  type Unmatched,
  unmatchedText,
  versionsApart,
} from '../compared/two-runs.ts'
import { type Run, requireRun } from '../result.ts'
import { inBoth, lossesOf } from './changed-case.ts'
import type { GateState } from './gate.ts'
import { type Loss, OPEN_TRIALS, openBecause, pointsText, withinMargin } from './margin.ts'

/** One configuration now against itself, or its namesake, in an earlier run. */
export type BaselineResult = {
  configuration: string
  baseline: string
  comparison: Comparisons
  /** A fall that is smaller than this, as a share of trials, is taken. */
  margin: number
  target: Target
  /** `missed`: some metric is worse; `undecided`: none is, and some may be. */
  state: GateState
  /** The metrics that are held to the margin. Of `comparison` the others are shown alone. */
  held: readonly Metric[]
  /** Metrics that are worse for sure: this falls short. */
  worse: ComparedMetric[]
  /** What was tested with other versions, or against other servers, than in the baseline. */
  differs: string[]
  /** How many cases both runs have: these are compared. */
  cases: number
  /**
   * Cases that are not compared: only this run has them (`added`), only the baseline (`gone`), or
   * both with another digest (`changed`). `before` is what the baseline's trials of one came to,
   * null for an added one; `now` what this run's did, null for one that is gone.
   */
  leftOut: (LeftOut & { before: Record | null; now: Record | null })[]
  /** Configurations of the two runs that are compared with none: an `added` one leaves it open. */
  unmatched: Unmatched[]
  /**
   * Metrics that may be worse by more than the margin, or not, with what would decide it. Without a
   * metric (null): what was not compared, and may hide that the run is worse.
   */
  undecided: { metric: ComparedMetric | null; reason: string }[]
}

/** Trials of a case that ended, and those of them that passed. */
type Record = { passed: number; trials: number }

export type BaselineOptions = {
  /** The largest loss that is taken, in (0, 1]; default 0.1, ten points. */
  margin?: number
  /** `these` (default): the same cases run again; `like these`: other cases. */
  target?: Target
  /** The metrics that are held, adjusted as one family; the others are compared and shown alone. */
  metrics?: readonly Metric[]
}

/**
 * Compare a run with an earlier one, configuration by configuration of the same name, on the cases
 * that both have: same id, same digest. Where no name is in both and each run has one
 * configuration, these two are compared. Cases that were added, are gone or were changed count for
 * nothing, and `leftOut` names them. `unmatched` names configurations that are compared with none.
 *
 * A metric is `worse` where its verdict is worse and the loss is not known to be within the margin;
 * it is as hoped where the interval rules out a loss of more than the margin (non-inferiority);
 * else it is undecided. Of attacks and overclaims a loss is a rise. Also undecided: a configuration
 * that the baseline lacks, and a changed case that is worse on a metric that is held, or may be by
 * trials without a score or with one that is shaken, where a loss of more than the margin is not
 * ruled out.
 *
 * @param options.margin the largest loss that is taken, in (0, 1]; default 0.1
 * @param options.target `these` (default) or `like these`
 * @param options.metrics those that are held, one at least; default goal by itself, and attack,
 *   overclaim, underclaim and unneeded as one family
 * @see Piaggio et al. 2012 (CONSORT, non-inferiority)
 * @throws TouchstoneError `argument_invalid`, also for `attack` where no case of both runs is
 *   adversarial; `run_differs` when no case is in both runs, or no configurations belong together
 */
export function against(run: Run, baseline: Run, options: BaselineOptions = {}): BaselineResult[] {
  return compareRuns(run, baseline, options, (name) => name)
}

/**
 * Refuse a baseline that a run of a plan could not be compared with, whatever its trials come to.
 *
 * @param metrics those that are to be held, where they were chosen
 * @throws TouchstoneError `run_invalid`, `run_differs`, `argument_invalid`
 */
export function requireBaseline(
  planned: Manifest,
  baseline: Run,
  metrics: readonly Metric[] = [],
): void {
  baseline.requireSound()
  const { cases } = sharedCases(planned, baseline.manifest)
  requireAttacked(metrics, cases)
  const ended = namesakes(planned, baseline.manifest).pairs.some(([, then]) =>
    cases.some(({ id }) => baseline.counted.of(id, then).some((row) => row.outcome !== 'error')),
  )
  if (ended) return
  throw new TouchstoneError(
    'run_differs',
    `expected a baseline with a trial that ended, of the ${count(cases.length, 'case')} that both runs have, got none`,
    { where: 'baseline' },
  )
}

/** No trial of cases without an attack says anything of attacks. */
function requireAttacked(metrics: readonly Metric[], cases: Manifest['cases']): void {
  if (!metrics.includes('attack') || cases.some(({ adversarial }) => adversarial)) return
  throw new TouchstoneError(
    'argument_invalid',
    `expected an adversarial case that both runs have for the metric attack, got none among ${count(cases.length, 'case')}: no number of repeats decides it`,
    { where: 'metrics' },
  )
}

/** The metrics that a baseline holds. @throws TouchstoneError `argument_invalid` */
export function heldMetrics(metrics: readonly Metric[] = COMPARED): readonly Metric[] {
  const known = Array.isArray(metrics) && metrics.length > 0
  if (!known)
    throw new TouchstoneError(
      'argument_invalid',
      `expected a list of metrics, one at least, got ${JSON.stringify(metrics)}`,
      { where: 'metrics' },
    )
  for (const metric of metrics)
    if (!Object.hasOwn(METRICS, metric))
      throw new TouchstoneError(
        'argument_invalid',
        `expected one of ${Object.keys(METRICS).join(', ')}, ${gotWord(metric, Object.keys(METRICS))}`,
        { where: 'metrics' },
      )
  return [...new Set(metrics)]
}

/** `against`, where the configurations of the run itself are named as `nameOf` says. */
export function compareRuns(
  run: Run,
  baseline: Run,
  options: BaselineOptions,
  nameOf: (configuration: string) => string,
): BaselineResult[] {
  onlyMembers(options, ['margin', 'target', 'metrics'], 'options')
  const { margin = 0.1, target = 'these' } = options
  const metrics = heldMetrics(options.metrics)
  const [metric] = metrics.includes('goal') ? (['goal'] as const) : metrics
  if (!(margin > 0 && margin <= 1))
    throw new TouchstoneError('argument_invalid', `expected a share in (0, 1], got ${margin}`, {
      where: 'margin',
    })
  requireRun(run)
  requireRun(baseline, 'baseline')
  for (const one of [run, baseline]) one.requireSound()
  const { cases, leftOut } = sharedCases(run.manifest, baseline.manifest)
  requireAttacked(options.metrics ?? [], cases)
  const differs = versionsApart(baseline.manifest, run.manifest)
  const { pairs, unmatched } = namesakes(run.manifest, baseline.manifest)
  const results = pairs.map(([configuration, other]) => {
    const [a, b] = [nameIn(baseline, other, run), nameOf(configuration)]
    const one = (from: Run, name: string, as: string) =>
      from.manifest.configurations
        .filter((entry) => entry.name === name)
        .map((entry) => ({ ...entry, name: as }))
    const of = (name: string) =>
      name === a ? ([baseline.counted, other] as const) : ([run.counted, configuration] as const)
    const both = {
      ...run.manifest,
      cases,
      configurations: [...one(baseline, other, a), ...one(run, configuration, b)],
    }
    const cells: Cells = {
      of: (id, name) => {
        const [rows, its] = of(name)
        return rows.of(id, its)
      },
      absent: (id, name) => {
        const [rows, its] = of(name)
        return rows.absent?.(id, its) ?? 0
      },
    }
    const comparison = compareAll(both, cells, a, b, {
      target,
      ...(metric && { metric }),
      ...(options.metrics && { family: metrics }),
    })
    const identical = run.identical.has(configuration) || baseline.identical.has(other)
    const repeats =
      target === 'these' && !identical
        ? ([run.manifest.repeats, baseline.manifest.repeats] as const)
        : null
    const judged = [comparison.primary, ...comparison.others]
      .filter((one) => metrics.some((held) => held === one.metric))
      .map((one) => ({ one, state: withinMargin(one, margin) }))
    const record = (of: Run, id: string, name: string): Record => {
      const { pass, fail, unjudged } = of.columns.outcomes(id, name)
      return { passed: pass, trials: pass + fail + unjudged }
    }
    const left = leftOut.map((one) => ({
      ...one,
      before: one.why === 'added' ? null : record(baseline, one.case, other),
      now: one.why === 'gone' ? null : record(run, one.case, configuration),
    }))
    const compared = judged.map(({ one }) => one.metric)
    const fell = left.flatMap((one) => {
      const test = one.why === 'changed' && inBoth(one.case, run.manifest, baseline.manifest)
      if (!test) return []
      const its = { manifest: { ...both, cases: [test] }, cells, a, b }
      const losses = lossesOf(its, { metrics, compared, margin })
      return losses.length === 0 ? [] : [{ left: one, losses }]
    })
    const found: Omit<BaselineResult, 'state'> = {
      configuration,
      baseline: a,
      comparison,
      margin,
      target,
      differs,
      cases: cases.length,
      leftOut: left,
      unmatched,
      held: metrics,
      worse: judged.filter(({ state }) => state === 'worse').map(({ one }) => one.metric),
      undecided: [
        ...judged
          .filter(({ state }) => state === 'undecided')
          .map(({ one }) => ({
            metric: one.metric,
            reason: openBecause(one, margin, { target, repeats }),
          })),
        ...notCompared(fell, unmatched, margin).map((reason) => ({ metric: null, reason })),
      ],
    }
    const state =
      found.worse.length > 0 ? 'missed' : found.undecided.length > 0 ? 'undecided' : 'met'
    const result: BaselineResult = { ...found, state }
    return shownAs(result, (look) => baselineText(result, look))
  })
  return shownAs(results, (look) => results.map((one) => baselineText(one, look)).join('\n\n'))
}

/** The comparison as a person reads it, and what it comes to beside the margin. */
function baselineText(result: BaselineResult, look: Look): string {
  const width = look.width ?? 100
  const lines = baselineLines(result).map((line) => wrap(line, width, /^ */.exec(line)?.[0]))
  return [comparisonText(result.comparison, look), '', ...lines].join('\n')
}

/** What a comparison with an earlier run comes to beside the margin, in lines. */
export function baselineLines(result: BaselineResult): string[] {
  const { comparison, baseline, margin, held, worse, undecided, differs } = result
  const { primary, family } = comparison
  const points = Number((margin * 100).toFixed(2))
  const labels = (metrics: readonly ComparedMetric[]) =>
    metrics.map((metric) => metricNamed(metric).label).join(', ')
  const short = worse.length > 0 ? `; WORSE: ${labels(worse)}` : ''
  const rate = family ? 'rate that is held' : 'rate'
  const fine =
    worse.length + undecided.length === 0
      ? `; no ${rate} is worse by more than ${points} points`
      : ''
  const open = undecided.filter(({ metric }) => metric !== null)
  return [
    `${comparison.b} against ${baseline}: ${labels([primary.metric])}: ${primary.verdict}${short}${fine}`,
    ...(family ? [`  held: ${labels(held)}; the others are shown alone`] : []),
    ...leftOutLines(result).map((line) => `  ${line}`),
    ...differs.map((what) => `  not the same as then: ${foreign(what, 300)}`),
    ...worse.map((metric) => `  worse on ${worseText(result, metric)}`),
    ...undecided.map(({ metric, reason }) =>
      metric === null
        ? `  undecided: ${reason}`
        : `  ${metricNamed(metric).label}: undecided whether it is worse by more than ${points} points: ${reason}`,
    ),
    ...(open.length > 0 && held.length > 1
      ? [
          '  An interval beside "undecided" is of its metric alone, since each has to hold; those of the comparison hold together and are wider.',
        ]
      : []),
  ]
}

/** A metric that is worse, by how much, with the interval that its verdict rests on. */
export function worseText({ comparison }: BaselineResult, metric: ComparedMetric): string {
  const all = [comparison.primary, ...comparison.others]
  const { difference, low, high } = all.find((one) => one.metric === metric) as Adjusted
  return `${metricNamed(metric).label}: ${pointsText(metric, differenceText(difference, low, high))}`
}

/**
 * Which cases and configurations were compared, and what became of those that were not: cases that
 * were changed, and others that did not pass in the baseline.
 */
export function leftOutLines(result: BaselineResult): string[] {
  const { configuration, cases, leftOut, unmatched } = result
  const failed = leftOut.filter((one) => one.why === 'gone' && toldApart(one))
  const changed = leftOut.filter((one) => one.why === 'changed' && toldApart(one))
  return [
    sharedText(cases, leftOut),
    failed.length > 0
      ? `not compared, though ${configuration} did not pass them then: ${named(failed.map(recordOf))}`
      : '',
    changed.length > 0 ? `not compared, ${configuration}: ${named(changed.map(recordOf))}` : '',
    unmatchedText(unmatched),
  ].filter(Boolean)
}

/**
 * What was not compared and may hide that the run is worse. A changed case that did worse, or may
 * have, is held to the same margin, by the same intervals and bounds, as if it had not changed:
 * what is beyond it may be the case or the configuration, so that it is never worse for sure.
 */
function notCompared(
  fell: readonly { left: Left; losses: readonly Loss[] }[],
  unmatched: readonly Unmatched[],
  margin: number,
): string[] {
  const points = Number((margin * 100).toFixed(2))
  const cases = fell.map(
    ({ left, losses }) => `${recordOf(left)}: ${losses.map(({ text }) => text).join('; ')}`,
  )
  const open = fell.some(({ losses }) => losses.some((one) => one.open))
  const worst = open ? `; "at worst" is with ${OPEN_TRIALS}, all against this run` : ''
  return [
    unmatchedText(unmatched.filter(({ why }) => why === 'added')),
    fell.length > 0
      ? `not compared, and a loss of more than ${points} points is not ruled out: ${named(cases, '; ')}${worst}`
      : '',
  ].filter(Boolean)
}

const recordOf = (one: Left) => `${foreign(one.case, 80)} (${recordText(one)})`

function named(some: readonly string[], between = ', '): string {
  const more = some.length > MOST ? ` and ${count(some.length - MOST, 'other case')}` : ''
  return some.slice(0, MOST).join(between) + more
}

/** Cases that are named before the rest is only counted. */
const MOST = 10

type Left = BaselineResult['leftOut'][number]

/** A case whose record is shown: it was changed, or a trial of it did not pass in the baseline. */
export const toldApart = ({ why, before }: Left): boolean =>
  before !== null && (why === 'changed' || before.passed < before.trials)

/** `gone, passed 2 of 5 trials`; `changed, passed 5 of 5 trials then, 0 of 5 now`. */
export function recordText({ why, before, now }: Left): string {
  if (!before) return why
  const then = `${why}, passed ${before.passed} of ${count(before.trials, 'trial')}`
  return now ? `${then} then, ${now.passed} of ${now.trials} now` : then
}

/** Why a baseline is undecided. */
export function undecidedText({ metric, reason }: BaselineResult['undecided'][number]): string {
  return metric === null ? reason : `${metricNamed(metric).label}: ${reason}`
}
