/** The heat map of a run: which cases and kinds it shows where not all of them fit. */
import * as chart from '../../chart/index.ts'
import { METRICS, type Metric, scoresByCase } from '../../log/index.ts'
import type { Run } from './result.ts'

/** Rows up to which a picture and its text fit two screens. */
export const MOST_ROWS = 36

/** Sections of a heat map. */
const [ATTACK, FAULT, PLAIN] = ['cases with an attack', 'cases with a fault', 'plain cases']

/** How a metric is named, and which way is better. */
export function named(metric: Metric): { metric: string; better: 'higher' | 'lower' } {
  return { metric: METRICS[metric].label, better: METRICS[metric].better }
}

type Cell = {
  case: string
  configuration: string
  passes: number
  trials: number
  errors: number
  kind: string
}

/** Passes of each case and configuration; of many cases, those that are not all good. */
export function heatOf(run: Run, metric: Metric): chart.Chart {
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
  }) as chart.Chart
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
