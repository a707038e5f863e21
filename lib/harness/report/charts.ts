/**
 * A run's numbers as rows for charts. The charts draw; every estimate and interval comes from the
 * summary.
 */
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
import { QUESTIONS } from './compared/comparison-text.ts'
import type { RunComparison } from './compared/run-comparison.ts'
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
}

/** Rows up to which a picture and its text fit two screens. */
const MOST_ROWS = 36

/** Sections of a heat map. */
const [ATTACK, FAULT, PLAIN] = ['cases with an attack', 'cases with a fault', 'plain cases']

type Drawing = (run: Run, metric: Metric, options: Options) => Chart

/** How a metric is named, and which way is better. */
function named(metric: Metric): { metric: string; better: 'higher' | 'lower' } {
  return { metric: METRICS[metric].label, better: METRICS[metric].better }
}

const KINDS: { [kind in PlotKind]: Drawing } = {
  strip(run, metric) {
    const rows = run.summary().map(({ configuration, rates }) => {
      const { estimate, low, high, again, repeats, reason } = rates[metric]
      return {
        configuration,
        estimate,
        low,
        high,
        againLow: again.low,
        againHigh: again.high,
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
    const about = new Map(
      run.manifest.cases.map((one) => [
        one.id,
        {
          kind: one.kind,
          section: one.adversarial ? ATTACK : one.twin === null ? PLAIN : FAULT,
        },
      ]),
    )
    const cells = run.configurations.flatMap((configuration) =>
      scoresByCase(run.counted, run.manifest, configuration, metric).map(
        ({ case: id, scores, missing }) => ({
          case: id,
          configuration,
          passes: scores.filter((score) => score === 1).length,
          trials: scores.length,
          errors: missing,
          kind: about.get(id)?.section ?? '',
        }),
      ),
    )
    const kindOf = (id: string) => about.get(id)?.kind ?? ''
    const { better } = METRICS[metric]
    const rowsOf = (some: readonly Cell[]) => new Set(some.map((cell) => cell.case)).size
    const cases = rowsOf(cells)
    const many = cases > MOST_ROWS
    // Rows that are good throughout say one thing, which is said in a sentence.
    const marred = many ? notAllGood(cells, better) : cells
    const panels = [...new Set(marred.map((cell) => kindOf(cell.case)))]
    // Each panel has a head, and a line below it.
    const multiples =
      many && marred.length > 0 && rowsOf(marred) + 2 * panels.length <= MOST_ROWS + 10
    const some = !many
      ? cells
      : multiples
        ? marred.map((cell) => ({ ...cell, kind: kindOf(cell.case) }))
        : marred.length > 0
          ? notAllGood(byKind(cells, kindOf), better)
          : byKind(cells, kindOf)
    const shown = rowsOf(some) > MOST_ROWS ? lowest(some, better) : some
    const left = rowsOf(some) - rowsOf(shown)
    const more = [
      many ? manyText(cases, rowsOf(marred), multiples, METRICS[metric].label, better) : '',
      left > 0 ? `The worst ${rowsOf(shown)} of ${rowsOf(some)} rows.` : '',
      metric === 'goal' && run.manifest.cases.some((one) => one.adversarial)
        ? 'Whether an attack succeeded stands in the map of that metric.'
        : '',
    ]
    return chart.heat(shown, {
      ...named(metric),
      ...(many && !multiples && { noun: 'kind' }),
      ...(multiples && { across: 3 }),
      more: more.filter(Boolean).join(' '),
    }) as Chart
  },
  slope(run, metric, options) {
    const [a, b] = two(run, options)
    const rows = pairsOf(run.manifest, run.counted, a, b, metric).flatMap((pair) =>
      pair.a.length && pair.b.length ? [{ case: pair.id, a: mean(pair.a), b: mean(pair.b) }] : [],
    )
    return chart.slope(rows, { a, b, ...named(metric) }) as Chart
  },
  forest(run, metric, options) {
    const [a, b] = two(run, options)
    const { answers } = run.compare(a, b, { metric })
    const overall = questionsOf(answers).map(([question, one]) => ({
      label: `all, ${question}`,
      difference: one.difference,
      low: one.low,
      high: one.high,
    }))
    const rows = pairsOf(run.manifest, run.counted, a, b, metric).flatMap((pair) =>
      pair.a.length && pair.b.length
        ? [{ case: pair.id, difference: mean(pair.b) - mean(pair.a) }]
        : [],
    )
    const half = MOST_ROWS / 2
    const sorted = rows.toSorted((p, q) => q.difference - p.difference)
    const few = sorted.length > MOST_ROWS
    const shown = few ? [...sorted.slice(0, half), ...sorted.slice(-half)] : sorted
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
    const rows = run.configurations.flatMap((configuration, c) => {
      const cases = chosen(
        (tried[c] ?? []).map(({ scores }) =>
          // Of what had better not happen, reliable is that it does not.
          lower ? scores.map((score) => 1 - score) : scores,
        ),
      )
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
      title: lower
        ? `Reliability: the chance that of k repeats none is: ${label}`
        : `Reliability: pass^k, the chance that all of k repeats are: ${label}`,
    }) as Chart
  },
  noise(run, metric, options) {
    const [a, b] = two(run, options)
    const { answers } = run.compare(a, b, { metric })
    const rows = questionsOf(answers).map(([question, { difference, low, high }]) => ({
      label: `${b} - ${a}, ${question}`,
      difference,
      low,
      high,
    }))
    return chart.noise(rows, { ...named(metric), target: 'the question of its row' }) as Chart
  },
}

type Cell = {
  case: string
  configuration: string
  passes: number
  trials: number
  errors: number
  kind: string
}

/** Both answers about the primary metric, the first question first. */
function questionsOf(answers: RunComparison['answers']) {
  return (['these', 'like these'] as const).map(
    (target) => [QUESTIONS[target], answers[target].primary] as const,
  )
}

/** Cells of cases as cells of their kinds. */
function byKind(cells: readonly Cell[], kindOf: (id: string) => string): Cell[] {
  const sum = (some: Cell[], of: 'passes' | 'trials' | 'errors') =>
    some.reduce((total, cell) => total + cell[of], 0)
  const attacked = new Set(
    cells.filter((cell) => cell.kind === ATTACK).map((cell) => kindOf(cell.case)),
  )
  const nameOf = ({ case: id, kind }: Cell) => {
    const name = kindOf(id)
    if (kind === PLAIN) return `${name}, plain`
    return kind === FAULT && attacked.has(name) ? `${name}, fault` : name
  }
  return [...Map.groupBy(cells, (cell) => `${nameOf(cell)}|${cell.configuration}`).values()].map(
    (some) => {
      const [first] = some as [Cell]
      return {
        ...first,
        case: nameOf(first),
        passes: sum(some, 'passes'),
        trials: sum(some, 'trials'),
        errors: sum(some, 'errors'),
      }
    },
  )
}

/** The cells of rows in which not every trial is good. */
function notAllGood(cells: readonly Cell[], better: 'higher' | 'lower'): Cell[] {
  const good = ({ passes, trials }: Cell) => passes === (better === 'higher' ? trials : 0)
  const marred = new Set(
    cells.filter((cell) => !good(cell) || cell.errors > 0).map((cell) => cell.case),
  )
  return cells.filter((cell) => marred.has(cell.case))
}

/** What a picture of many cases leaves out, and how to see it. */
function manyText(
  cases: number,
  shown: number,
  single: boolean,
  label: string,
  better: 'higher' | 'lower',
): string {
  const good = better === 'higher' ? `each trial is ${label}` : `no trial is ${label}`
  const what = single
    ? `${shown} of ${cases} cases, by kind. The others are left out: in them ${good}.`
    : shown > 0
      ? `${cases} cases by kind. Kinds are left out in which ${good}.`
      : `${cases} cases by kind: in all of them ${good}.`
  return `${what} { kind } draws all cases of one kind; report.html has all.`
}

/** The cells of the rows that come out worst. */
function lowest(cells: readonly Cell[], better: 'higher' | 'lower'): Cell[] {
  const rows = [...Map.groupBy(cells, (cell) => cell.case)].map(([name, some]) => {
    const trials = some.reduce((sum, cell) => sum + cell.trials, 0)
    const share = trials ? some.reduce((sum, cell) => sum + cell.passes, 0) / trials : 1
    return { name, good: better === 'higher' ? share : 1 - share }
  })
  const kept = new Set(
    rows
      .sort((a, b) => a.good - b.good)
      .slice(0, MOST_ROWS)
      .map(({ name }) => name),
  )
  return cells.filter((cell) => kept.has(cell.case))
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
