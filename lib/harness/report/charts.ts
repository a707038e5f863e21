/** A run's numbers as rows for charts. The charts draw; every estimate and interval comes from the summary. */
import type { Chart } from '../../chart/index.ts'
import * as chart from '../../chart/index.ts'
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import {
  familyOfCases,
  METRICS,
  type Measure,
  type Metric,
  measureNamed,
  metricNamed,
  pairsOf,
  scoresByCase,
} from '../../log/index.ts'
import { mean, reliability } from '../../stats/index.ts'
import type { PlotKind, Run } from './result.ts'

/** What a chart of a run may be asked for. Each kind takes some of these and refuses the others. */
export type PlotOptions = {
  /** The rate that is drawn. Default `goal`. */
  metric?: Metric | undefined
  /** The measure whose distribution is drawn. Default `duration_ms`. */
  measure?: Measure | undefined
  /** The two configurations that are compared. Default: the first two of the run. */
  a?: string | undefined
  b?: string | undefined
}

type Options = PlotOptions

const TAKES: { [kind in PlotKind]: readonly (keyof Options)[] } = {
  strip: ['metric'],
  heat: ['metric'],
  slope: ['metric', 'a', 'b'],
  forest: ['metric', 'a', 'b'],
  levels: [],
  ecdf: ['measure'],
  reliability: ['metric'],
  noise: ['metric', 'a', 'b'],
}

type Drawing = (run: Run, metric: Metric, options: Options) => Chart

const KINDS: { [kind in PlotKind]: Drawing } = {
  strip(run, metric) {
    const rows = run.summary().map(({ configuration, rates }) => {
      const { estimate, low, high, repeats, reason } = rates[metric]
      return {
        configuration,
        estimate,
        low,
        high,
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
  heat(run, metric) {
    const kinds = new Map(
      run.manifest.cases.map((one) => [
        one.id,
        one.adversarial ? 'attack' : one.twin === null ? 'benign' : 'fault',
      ]),
    )
    const rows = run.configurations.flatMap((configuration) =>
      scoresByCase(run.trials, run.manifest, configuration, metric).map(
        ({ case: id, scores, missing }) => ({
          case: id,
          configuration,
          passes: scores.filter((score) => score === 1).length,
          trials: scores.length,
          errors: missing,
          kind: kinds.get(id) ?? '',
        }),
      ),
    )
    return chart.heat(rows, { metric: METRICS[metric].label }) as Chart
  },
  slope(run, metric, options) {
    const [a, b] = two(run, options)
    const rows = pairsOf(run.manifest, run.trials, a, b, metric).flatMap((pair) =>
      pair.a.length && pair.b.length ? [{ case: pair.id, a: mean(pair.a), b: mean(pair.b) }] : [],
    )
    return chart.slope(rows, { a, b, metric: METRICS[metric].label }) as Chart
  },
  forest(run, metric, options) {
    const [a, b] = two(run, options)
    const { difference, low, high } = run.compare(a, b, { metric }).primary
    const rows = pairsOf(run.manifest, run.trials, a, b, metric).flatMap((pair) =>
      pair.a.length && pair.b.length
        ? [{ case: pair.id, difference: mean(pair.b) - mean(pair.a) }]
        : [],
    )
    return chart.forest(rows, {
      a,
      b,
      metric: METRICS[metric].label,
      overall: { difference, low, high },
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
    const usable = run.trials.filter((row) => row.outcome !== 'error')
    const rows = run.configurations.map((configuration) => ({
      configuration,
      // A trial whose tokens or cost are not known has no place on the curve.
      values: usable
        .filter((row) => row.configuration === configuration)
        .map(of)
        .filter((value) => value !== null),
    }))
    return chart.ecdf(rows, { quantity: label, unit }) as Chart
  },
  reliability(run, metric) {
    const tried = run.configurations.map((configuration) =>
      scoresByCase(run.trials, run.manifest, configuration, metric),
    )
    // One set of cases for every k and configuration: those with all the trials, or with the most that any case has of all.
    const fewest = (tried[0] ?? []).map((_, i) =>
      Math.min(...tried.map((cases) => cases[i]?.scores.length ?? 0)),
    )
    const most = Math.max(1, ...fewest)
    const kin = familyOfCases(run.manifest)
    const chosen = <T>(list: readonly T[]) => list.filter((_, i) => fewest[i] === most)
    const families = chosen((tried[0] ?? []).map((one) => kin.get(one.case)))
    const rows = run.configurations.flatMap((configuration, c) => {
      const cases = chosen((tried[c] ?? []).map(({ scores }) => scores))
      return Array.from({ length: run.manifest.repeats }, (_, i) => {
        const k = i + 1
        if (k > most) return { configuration, k, estimate: null, reason: `no case has ${k} trials` }
        const { passHatK, low, high } = reliability(cases, k, { families })
        return { configuration, k, estimate: passHatK, low, high }
      })
    })
    return chart.reliability(rows, {
      cases: families.length,
      repeats: most,
    }) as Chart
  },
  noise(run, metric, options) {
    const [a, b] = two(run, options)
    const { difference, low, high } = run.compare(a, b, { metric }).primary
    return chart.noise([{ label: `${b} - ${a}`, difference, low, high }], {
      metric: METRICS[metric].label,
    }) as Chart
  },
}

/** Draw a run. @throws TouchstoneError `argument_invalid` for an unknown kind, metric or configuration */
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
  return KINDS[kind](run, metric, options)
}

function casesFor(run: Run, metric: Metric): number {
  return scoresByCase(run.trials, run.manifest, run.configurations[0] as string, metric).length
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
