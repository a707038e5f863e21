/** Is a run no worse than an earlier one of the same cases, by more than what is taken? */
import { onlyMembers } from '../../../arguments.ts'
import { foreign, type Look, wrap } from '../../../display.ts'
import { TouchstoneError } from '../../../errors.ts'
import {
  type Adjusted,
  type ComparedMetric,
  type Comparisons,
  compareAll,
  metricNamed,
} from '../../../log/index.ts'
import { differenceText } from '../../../rounding.ts'
import { shownAs } from '../../../shown.ts'
import type { Target } from '../../../stats/index.ts'
import { namesakes, requireSameCases, versionsApart } from '../apart.ts'
import { comparisonText } from '../comparison-text.ts'
import { type Run, requireRun } from '../result.ts'

/** One configuration now against itself, or its namesake, in an earlier run. */
export type BaselineResult = {
  configuration: string
  baseline: string
  comparison: Comparisons
  /** A fall that is smaller than this, as a share of trials, is taken. */
  margin: number
  target: Target
  /** Metrics that are worse for sure: this falls short. */
  worse: ComparedMetric[]
  /** What was tested with other versions, or against other servers, than in the baseline. */
  differs: string[]
  /** Metrics that may be worse by more than the margin, or not, with what would decide it. */
  undecided: { metric: ComparedMetric; reason: string }[]
}

export type BaselineOptions = {
  /** The largest loss that is taken, in (0, 1]; default 0.1, ten points. */
  margin?: number
  /** `these` (default): the same cases run again; `like these`: other cases. */
  target?: Target
}

/**
 * Compare a run with an earlier one of the same cases, configuration by configuration of the same
 * name. Where no name is in both and each run has one configuration, these two are compared.
 *
 * A metric is `worse` where its verdict is worse and the loss is not known to be within the margin;
 * it is as hoped where the interval rules out a loss of more than the margin (non-inferiority);
 * else it is undecided. Of attacks and overclaims a loss is a rise.
 *
 * @param options.margin the largest loss that is taken, in (0, 1]; default 0.1
 * @param options.target `these` (default) or `like these`
 * @see Piaggio et al. 2012 (CONSORT, non-inferiority)
 * @throws TouchstoneError `argument_invalid`; `run_differs` when the cases are not the same, or no
 *   configurations belong together
 */
export function against(run: Run, baseline: Run, options: BaselineOptions = {}): BaselineResult[] {
  onlyMembers(options, ['margin', 'target'], 'options')
  const { margin = 0.1, target = 'these' } = options
  if (!(margin > 0 && margin <= 1))
    throw new TouchstoneError('argument_invalid', `expected a share in (0, 1], got ${margin}`, {
      where: 'margin',
    })
  requireRun(run)
  requireRun(baseline, 'baseline')
  for (const one of [run, baseline]) one.requireSound()
  requireSameCases(run, baseline)
  const [now, then] = [run.configurations, baseline.configurations]
  const pairs = namesakes(now, then)
  if (pairs.length === 0) {
    throw new TouchstoneError(
      'run_differs',
      `expected a configuration that both runs have, got ${now.join(', ')} and ${then.join(', ')}`,
      { where: 'baseline' },
    )
  }
  const results = pairs.map(([configuration, other]) => {
    const before = `${other} of ${baseline.id}`
    const differs = versionsApart(baseline.manifest, run.manifest)
    const one = (from: Run, name: string, as: string) =>
      from.manifest.configurations
        .filter((entry) => entry.name === name)
        .map((entry) => ({ ...entry, name: as }))
    const [a, b] = [other as string, configuration as string]
    const comparison = compareAll(
      {
        ...run.manifest,
        configurations: [...one(baseline, a, before), ...one(run, b, b)],
      },
      {
        of: (id, name) => (name === before ? baseline.counted.of(id, a) : run.counted.of(id, b)),
        absent: (id, name) =>
          (name === before ? baseline.counted.absent?.(id, a) : run.counted.absent?.(id, b)) ?? 0,
      },
      before,
      b,
      { target },
    )
    const judged = [comparison.primary, ...comparison.others].map((one) => {
      const state = withinMargin(one, margin)
      return { one, state }
    })
    const result: BaselineResult = {
      configuration: b,
      baseline: before,
      comparison,
      margin,
      target,
      differs,
      worse: judged.filter(({ state }) => state === 'worse').map(({ one }) => one.metric),
      undecided: judged
        .filter(({ state }) => state === 'undecided')
        .map(({ one }) => ({ metric: one.metric, reason: openBecause(run, one, margin, target) })),
    }
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
  const { configuration, baseline, comparison, margin, worse, undecided, differs } = result
  const points = Number((margin * 100).toFixed(2))
  const short =
    worse.length > 0
      ? `; WORSE: ${worse.map((metric) => metricNamed(metric).label).join(', ')}`
      : ''
  const fine =
    worse.length + undecided.length === 0 ? `; no rate is worse by more than ${points} points` : ''
  return [
    `${configuration} against ${baseline}: goal met: ${comparison.primary.verdict}${short}${fine}`,
    ...differs.map((what) => `  not the same as then: ${foreign(what, 300)}`),
    ...undecided.map(
      ({ metric, reason }) =>
        `  ${metricNamed(metric).label}: undecided whether it is worse by more than ${points} points: ${reason}`,
    ),
  ]
}

/**
 * The change towards the better, and its lower end; `hard`: if every trial without a score of its
 * own had gone against the run. Unadjusted: all metrics must hold, and no chance is given to the
 * best of them (intersection-union).
 */
function gain({ metric, difference, bounds, alone: { low, high } }: Adjusted): {
  now: number
  least: number
  hard: number
} {
  return metricNamed(metric).better === 'higher'
    ? { now: difference, least: low, hard: bounds?.low ?? low }
    : { now: -difference, least: -high, hard: -(bounds?.high ?? high) }
}

function withinMargin(one: Adjusted, margin: number): 'worse' | 'as hoped' | 'undecided' {
  const { least, hard } = gain(one)
  if (Math.min(least, hard) >= -margin) return 'as hoped'
  return one.verdict === 'worse' ? 'worse' : 'undecided'
}

/**
 * Why a loss of more than the margin is not ruled out, and how much more would decide it if the
 * difference stayed.
 */
function openBecause(run: Run, one: Adjusted, margin: number, target: Target): string {
  const { now, least } = gain(one)
  const [repeats, what] =
    target === 'these' ? [run.manifest.repeats, 'repeats'] : [one.cases, 'cases']
  if (!Number.isFinite(least)) return one.reasons.at(-1) ?? 'nothing to compare'
  const more = metricNamed(one.metric).better === 'higher' ? '' : ', where more is worse'
  const figures = `${differenceText(one.difference, one.alone.low, one.alone.high, -margin, margin)} points${more}`
  if (least >= -margin)
    return `${figures}; trials that did not run, ended in an error, lost an attempt to one, or could not be judged leave it open`
  // From here the loss itself is either ruled out or shown, whichever is nearer.
  const room = Math.max(now + margin, -now)
  const needed = Math.ceil(repeats * ((now - least) / room) ** 2)
  return `${figures}; about ${needed} ${what} in both runs instead of ${repeats} would decide it, if the difference stays`
}
