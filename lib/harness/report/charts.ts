/**
 * A run's numbers as rows for charts. The charts draw; every estimate and interval comes from the
 * summary.
 */
import type { Chart } from '../../chart/index.ts'
import * as chart from '../../chart/index.ts'
import { gotWord } from '../../choice.ts'
import { count } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import {
  familyOfCases,
  filledScores,
  METRICS,
  type Measure,
  type Metric,
  measureNamed,
  metricNamed,
  pairsOf,
  scoresByCase,
} from '../../log/index.ts'
import { type Comparison, mean, type Pair, reliability } from '../../stats/index.ts'
import { extremesOf, hasLost } from '../../stats/pairs/compare.ts'
import { activityRows } from './activity-rows.ts'
import { QUESTIONS } from './compared/comparison-text.ts'
import type { RunComparison } from './compared/run-comparison.ts'
import { heatOf, MOST_ROWS, named } from './heat-rows.ts'
import type { PlotKind } from './plot-kinds.ts'
import { Run } from './result.ts'

/** What a chart of a run may be asked for. Each kind takes some of these and refuses the others. */
export type PlotOptions = {
  /** The rate that is drawn. Default `goal`. */
  metric?: Metric | undefined
  /** The measure whose distribution is drawn. Default `duration_ms`. */
  measure?: Measure | undefined
  /** The two configurations that are compared. Default: the first two of the run. */
  a?: string | undefined
  b?: string | undefined
  /** The kind of cases that is drawn, such as `lying_success`. Default: all cases. */
  kind?: string | undefined
}

type Options = PlotOptions

const TAKES: { [kind in PlotKind]: readonly (keyof Options)[] } = {
  strip: ['metric', 'kind'],
  heat: ['metric', 'kind'],
  slope: ['metric', 'a', 'b', 'kind'],
  forest: ['metric', 'a', 'b', 'kind'],
  levels: ['kind'],
  ecdf: ['measure', 'kind'],
  reliability: ['metric', 'kind'],
  noise: ['metric', 'a', 'b', 'kind'],
  activity: ['kind'],
}

type Drawing = (run: Run, metric: Metric, options: Options) => Chart

const KINDS: { [kind in PlotKind]: Drawing } = {
  strip(run, metric) {
    const rows = run.summary().map(({ configuration, rates }) => {
      const { estimate, low, high, again, repeats, reason } = rates[metric]
      const could = rates[metric].lost ?? rates[metric].open
      return {
        configuration,
        estimate,
        low,
        high,
        againLow: again.low,
        againHigh: again.high,
        ...boundsOf(could?.none.low, could?.all.high),
        ...(could && {
          againBoundLow: could.none.again.low,
          againBoundHigh: could.all.again.high,
        }),
        runs: repeats.map((value) => ({ value })),
        ...(reason !== undefined && { reason }),
      }
    })
    return chart.strip(rows, {
      metric: METRICS[metric].label,
      cases: casesFor(run, metric),
      repeats: run.manifest.repeats,
    }) as Chart
  },
  heat: heatOf,
  slope(run, metric, options) {
    const [a, b] = two(run, options)
    const pairs = pairsOf(run.manifest, run.counted, a, b, metric)
    const rows = pairs.flatMap((pair) => {
      const shares = { case: pair.id, a: mean(pair.a), b: mean(pair.b) }
      if (!(pair.a.length && pair.b.length)) return []
      const could = hasLost([pair]) ? couldBe(pair) : undefined
      return [could ? { ...shares, ...could } : shares]
    })
    const left = pairs.length - rows.length
    const more = `${count(left, 'case')} left out: of one of the two no trial counts there.`
    return chart.slope(rows, { a, b, ...named(metric), ...(left > 0 && { more }) }) as Chart
  },
  forest(run, metric, options) {
    const [a, b] = two(run, options)
    const { answers } = run.compare(a, b, { metric })
    const overall = questionsOf(answers).map(([question, one]) => ({
      label: `all, ${question}`,
      difference: one.difference,
      low: one.low,
      high: one.high,
      ...boundsOfAll(one),
    }))
    const rows = pairsOf(run.manifest, run.counted, a, b, metric).map((pair) => {
      const none = [...(pair.a.length ? [] : [a]), ...(pair.b.length ? [] : [b])].join(' and ')
      const could = hasLost([pair]) ? couldBe(pair) : undefined
      return {
        case: pair.id,
        difference: mean(pair.b) - mean(pair.a),
        ...(none && { reason: `no trial of ${none} counts` }),
        ...(could && boundsOf(could.bLow - could.aHigh, could.bHigh - could.aLow)),
      }
    })
    const half = MOST_ROWS / 2
    const known = rows.filter(({ difference }) => !Number.isNaN(difference))
    const sorted = known.toSorted((p, q) => q.difference - p.difference)
    const few = sorted.length > MOST_ROWS
    const shown = few ? [...sorted.slice(0, half), ...sorted.slice(-half)] : rows
    const more = `The ${half} largest and ${half} smallest of ${rows.length} cases; { kind } draws one kind.`
    return chart.forest(shown, {
      a,
      b,
      ...named(metric),
      ...(few && { more }),
      overall,
    }) as Chart
  },
  levels(run) {
    const rows = run.summary().flatMap(({ configuration, levels }) =>
      (['asserted', 'observed_confirmed', 'verified'] as const).map((level) => ({
        configuration,
        level,
        count: levels[level],
      })),
    )
    return chart.levels(rows) as Chart
  },
  ecdf(run, _metric, { measure = 'duration_ms' }) {
    const { label, unit, of } = measureNamed(measure)
    const rows = run.configurations.map((configuration) => ({
      configuration,
      // A trial whose tokens or cost are not known has no place on the curve.
      values: [...run.columns.rows(configuration)]
        .filter((row) => row.outcome !== 'error')
        .map(of)
        .filter((value) => value !== null),
    }))
    return chart.ecdf(rows, { quantity: label, unit }) as Chart
  },
  reliability(run, metric) {
    const { better, label } = METRICS[metric]
    const lower = better === 'lower'
    const tried = run.configurations.map((configuration) =>
      scoresByCase(run.counted, run.manifest, configuration, metric),
    )
    // One set of cases for every k and configuration: those with all the trials, or with the most
    // that any case has of all.
    const fewest = (tried[0] ?? []).map((_, i) =>
      Math.min(...tried.map((cases) => cases[i]?.scores.length ?? 0)),
    )
    const most = Math.max(1, ...fewest)
    const kin = familyOfCases(run.manifest)
    const chosen = <T>(list: readonly T[]) => list.filter((_, i) => fewest[i] === most)
    const families = chosen((tried[0] ?? []).map((one) => kin.get(one.case)))
    // Of what had better not happen, reliable is that it does not.
    const turned = (scores: number[]) => (lower ? scores.map((score) => 1 - score) : scores)
    const all = { families: (tried[0] ?? []).map((one) => kin.get(one.case)) }
    const rows = run.configurations.flatMap((configuration, c) => {
      const cases = chosen((tried[c] ?? []).map(({ scores }) => turned(scores)))
      const open = filledScores(run.counted, run.manifest, configuration, metric)
      const [worst, best] = [open?.none, open?.all].map((some) => some?.map(turned))
      const [least, greatest] = lower ? [best, worst] : [worst, best]
      const boundsAt = (k: number) =>
        least && greatest
          ? boundsOf(reliability(least, k, all).low, reliability(greatest, k, all).high)
          : undefined
      return Array.from({ length: run.manifest.repeats }, (_, i) => {
        const k = i + 1
        const could = boundsAt(k)
        const none = { estimate: null, reason: `no case has ${k} trials` }
        if (k > most) return { configuration, k, ...none, ...could }
        const { passHatK, low, high } = reliability(cases, k, { families })
        return { configuration, k, estimate: passHatK, low, high, ...could }
      })
    })
    return chart.reliability(rows, {
      cases: families.length,
      repeats: most,
      title: lower
        ? `Reliability: the chance that of k repeats none is: ${label}`
        : `Reliability: pass^k, the chance that all of k repeats are: ${label}`,
    }) as Chart
  },
  noise(run, metric, options) {
    const [a, b] = two(run, options)
    const { answers } = run.compare(a, b, { metric })
    const rows = questionsOf(answers).map(([question, one]) => ({
      label: `${b} - ${a}, ${question}`,
      difference: one.difference,
      low: one.low,
      high: one.high,
      ...boundsOfAll(one),
    }))
    return chart.noise(rows, { ...named(metric), target: 'the question of its row' }) as Chart
  },
  activity: (run) => chart.activity(activityRows(run)) as Chart,
}

/** Both ends as a chart takes them; undefined where one is not known. */
function boundsOf(
  low = Number.NaN,
  high = Number.NaN,
): { boundLow: number; boundHigh: number } | undefined {
  return Number.isNaN(low + high) ? undefined : { boundLow: low, boundHigh: high }
}

/** The bounds of a difference, with chance in them where it is known. */
const boundsOfAll = ({ bounds }: { bounds: Comparison['bounds'] }) =>
  boundsOf(bounds?.low, bounds?.high) ?? boundsOf(bounds?.worst, bounds?.best)

/** Where both means of a case could lie with its trials that are in no rate. */
function couldBe(pair: Pair): { aLow: number; aHigh: number; bLow: number; bHigh: number } {
  const [worst, best] = extremesOf([pair], ([one]) => one as Pair)
  return { aLow: mean(best.a), aHigh: mean(worst.a), bLow: mean(worst.b), bHigh: mean(best.b) }
}

/** Both answers about the primary metric, the first question first. */
function questionsOf(answers: RunComparison['answers']) {
  return (['these', 'like these'] as const).map(
    (target) => [QUESTIONS[target], answers[target].primary] as const,
  )
}

/**
 * Draw a run. @throws TouchstoneError `argument_invalid` for an unknown kind, metric or
 * configuration
 */
export function plot(run: Run, kind: PlotKind, options: Options): Chart {
  if (!Object.hasOwn(KINDS, kind)) {
    throw new TouchstoneError(
      'argument_invalid',
      `expected one of ${Object.keys(KINDS).join(', ')}, ${gotWord(kind, Object.keys(KINDS))}`,
      { where: 'plot' },
    )
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || (TAKES[kind] as readonly string[]).includes(name)) continue
    const takes = TAKES[kind].length === 0 ? 'no option' : `only ${TAKES[kind].join(', ')}`
    throw new TouchstoneError(
      'argument_invalid',
      `expected ${takes} for ${kind}, ${gotWord(name, TAKES[kind])}`,
      {
        where: 'plot',
      },
    )
  }
  const metric = options.metric ?? 'goal'
  metricNamed(metric)
  return KINDS[kind](ofKind(run, options.kind), metric, options)
}

/**
 * The part of a run with the cases of one kind. @throws TouchstoneError `argument_invalid` naming
 * the kinds there are
 */
function ofKind(run: Run, kind: string | undefined): Run {
  if (kind === undefined) return run
  const cases = run.manifest.cases.filter((one) => one.kind === kind)
  if (cases.length === 0) {
    const kinds = [...new Set(run.manifest.cases.map((one) => one.kind))].sort()
    throw new TouchstoneError(
      'argument_invalid',
      `expected one of ${kinds.join(', ')}, got "${kind}"`,
      {
        where: 'plot kind',
      },
    )
  }
  const ids = new Set(cases.map(({ id }) => id))
  return new Run({
    dir: run.dir,
    manifest: { ...run.manifest, cases },
    trials: run.trials.filter((row) => ids.has(row.case)),
    earlier: run.earlier.filter((row) => ids.has(row.case)),
    problems: run.problems,
  })
}

function casesFor(run: Run, metric: Metric): number {
  return scoresByCase(run.counted, run.manifest, run.configurations[0] as string, metric).length
}

function two(run: Run, options: Options): [string, string] {
  const a = options.a ?? run.configurations[0]
  const b = options.b ?? run.configurations[1]
  if (a === undefined || b === undefined) {
    throw new TouchstoneError('argument_invalid', 'expected a run of two configurations, got one', {
      where: 'plot',
    })
  }
  return [a, b]
}
