/**
 * Heat: cases by configurations, with the passes written into each cell.
 *
 * Shows at a glance which cases always pass, which never do, and which are a matter of luck.
 */

import { onlyOptions } from '../arguments.ts'
import { type Column, count, foreign, pad, type Tone, table, textWidth, tone } from '../display.ts'
import type { JsonObject } from '../json.ts'
import { Chart } from './chart.ts'
import { frame, nothing, tips, widest } from './draw/spec.ts'
import { DIVERGING } from './draw/theme.ts'
import { capital, type Direction } from './rows/notes.ts'
import { type RowReader, readRows } from './rows/rows.ts'
import { labels } from './text/names.ts'
import { glyphs, page, type TextLook } from './text/plot.ts'

export type HeatRow = {
  case: string
  configuration: string
  /** Trials that passed, or of which the metric is true, 0 to `trials`. */
  passes: number
  /** Trials that count: those lost to errors of the infrastructure are not among them. */
  trials: number
  /** Trials lost to errors. Default 0. */
  errors?: number
  /** What the case is, such as `benign` or `adversarial`; cases of one kind stand together. */
  kind?: string
}

export type HeatOptions = Direction & {
  /** What a pass is. Default `passes`. */
  metric?: string
  /** What a row is. Default `case`. */
  noun?: string
  /** Kinds beside each other in the picture, as small multiples. Default 1: below each other. */
  across?: number
  title?: string
}

type Cell = {
  row: HeatRow
  case: string
  configuration: string
  said: string
  share: number | null
}
type Grid = {
  cells: Map<string, Cell>
  cases: { name: string; label: string; kind: string }[]
  configurations: string[]
}

/**
 * Heat map of passes, cases sorted from the best to the worst.
 *
 * @param rows one per case and configuration; a pair that is not there stays blank
 * @throws TouchstoneError `chart_invalid` naming row and field, also for a pair given twice
 * @example
 * const c = heat([{ case: 'a', configuration: 'naive', passes: 3, trials: 5 }], { metric: 'goal reached' })
 * c.title // 'Goal reached, by case and configuration'
 * heat([{ case: 'a', configuration: 'naive', passes: 6, trials: 5 }]) // throws chart_invalid
 */
export function heat(rows: readonly HeatRow[], options: HeatOptions = {}): Chart<HeatRow> {
  onlyOptions(options, 'better more metric noun across title')
  const read = readRows(rows, readHeat)
  const title =
    options.title ??
    `${capital(foreign(options.metric ?? 'passes', 60))}, by ${foreign(options.noun ?? 'case', 30)} and configuration`
  const lower = options.better === 'lower'
  const grid = arrange(read, lower)
  const notes = [heatNote(read, grid, options), ...(options.more ? [options.more] : [])]
  const empty = read.length === 0
  return new Chart<HeatRow>({
    kind: 'heat',
    title,
    notes,
    rows: read,
    spec: empty ? nothing(title, [], 'No cases.') : drawn(grid, title, notes, options),
    text: (look) =>
      page(title, empty ? [] : notes, empty ? ['No cases.'] : inText(grid, look, lower), look),
  })
}

function readHeat(row: RowReader): HeatRow {
  const trials = row.count('trials')
  const passes = row.count('passes')
  if (passes > trials) row.fail('passes', `at most ${trials} passes`)
  const kind = row.optionalText('kind')
  const [caseName, configuration] = [row.text('case'), row.text('configuration')]
  row.once('case', 'configuration')
  return {
    case: caseName,
    configuration,
    passes,
    trials,
    ...(row.has('errors') ? { errors: row.count('errors') } : {}),
    ...(kind ? { kind } : {}),
  }
}

/** The number of trials that most cells have; the larger of two that are as frequent. */
function usualOf(rows: readonly HeatRow[]): number {
  const counts = Map.groupBy(rows, (row) => row.trials)
  counts.delete(0)
  const [first] = [...counts].sort(([n, a], [m, b]) => b.length - a.length || m - n)
  return first?.[0] ?? 0
}

const key = (caseName: string, configuration: string) => JSON.stringify([caseName, configuration])

function arrange(rows: HeatRow[], lower: boolean): Grid {
  const usual = usualOf(rows)
  const caseLabels = labels(rows.map((row) => row.case))
  const configurationLabels = labels(
    rows.map((row) => row.configuration),
    24,
  )
  const cells = new Map<string, Cell>()
  const totals = new Map<string, { share: number; n: number; kind: string }>()
  for (const row of rows) {
    const id = key(row.case, row.configuration)
    const share = row.trials ? row.passes / row.trials : null
    const digits =
      row.trials === usual && row.trials > 0
        ? String(row.passes)
        : row.trials
          ? `${row.passes}/${row.trials}`
          : '-'
    const named = caseLabels.get(row.case) ?? ''
    const configuration = configurationLabels.get(row.configuration) ?? ''
    const said = row.errors ? `${digits}!` : digits
    cells.set(id, { row, share, said, case: named, configuration })
    const total = totals.get(row.case) ?? { share: 0, n: 0, kind: row.kind ?? '' }
    totals.set(
      row.case,
      share === null ? total : { ...total, share: total.share + share, n: total.n + 1 },
    )
  }
  const mean = (total: { share: number; n: number }) =>
    total.n ? (lower ? 1 - total.share / total.n : total.share / total.n) : -1
  const kinds = [...new Set([...totals.values()].map((total) => total.kind))]
  const cases = [...totals]
    .sort(([, a], [, b]) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || mean(b) - mean(a))
    .map(([name, { kind }]) => ({
      name,
      label: caseLabels.get(name) ?? '',
      kind: foreign(kind, 40),
    }))
  return { cells, cases, configurations: [...configurationLabels.keys()] }
}

function heatNote(rows: HeatRow[], grid: Grid, options: HeatOptions): string {
  const { metric, better, noun = 'case' } = options
  const trials = [...new Set(rows.map((row) => row.trials).filter((n) => n > 0))]
  const usual = usualOf(rows)
  const other = trials.length > 1 ? ', or of the number behind the slash' : ''
  const digits = usual
    ? better === undefined
      ? `Digit: passes of ${usual} ${usual === 1 ? 'trial' : 'trials'}${other}.`
      : `Digit: in how many of ${usual} ${usual === 1 ? 'trial' : 'trials'}${other}: ${foreign(metric ?? 'passed', 60)}. ${capital(better)} is better.`
    : ''
  const lost = rows.reduce((sum, row) => sum + (row.errors ?? 0), 0)
  const none = rows.some((row) => row.trials === 0) ? '-: no trial counts.' : ''
  const size = `${count(grid.cases.length, foreign(noun, 30))}, ${count(grid.configurations.length, 'configuration')}.`
  const blank =
    rows.length < grid.cases.length * grid.configurations.length ? 'Blank: not run.' : ''
  const errors = lost ? `!: with trials lost to errors, which do not count (${lost} in all).` : ''
  return [size, digits, none, blank, errors].filter(Boolean).join(' ')
}

const PANEL_TITLE = { fontSize: 11, fontWeight: 'bold', frame: 'group', anchor: 'start', offset: 6 }

function drawn(grid: Grid, title: string, notes: string[], options: HeatOptions): JsonObject {
  const { across = 1, better } = options
  const values = [...grid.cells.values()].map((cell) => ({
    case: cell.case,
    configuration: cell.configuration,
    kind: grid.cases.find((one) => one.name === cell.row.case)?.kind ?? '',
    share: cell.share,
    said: cell.said,
    passes: cell.row.passes,
    trials: cell.row.trials,
    errors: cell.row.errors ?? 0,
  }))
  const columns = [...labels(grid.configurations, 24).values()]
  const columnPx = Math.max(48, Math.ceil(widest(columns)) + 14)
  const range = better === 'lower' ? DIVERGING.toReversed() : DIVERGING
  const kinds = [...new Set(grid.cases.map((one) => one.kind))]
  const blocks = kinds.map((kind, i): JsonObject => {
    const own = grid.cases.filter((one) => one.kind === kind).map((one) => one.label)
    return {
      width: { step: columnPx },
      height: { step: 24 },
      transform: [{ filter: { field: 'kind', equal: kind } }],
      ...(kinds.length > 1 && { title: { text: kind || 'other', ...PANEL_TITLE } }),
      encoding: {
        x: {
          field: 'configuration',
          type: 'nominal',
          scale: { domain: columns },
          axis:
            i === 0 || across > 1
              ? { title: null, orient: 'top', labelAngle: 0, labelPadding: 8 }
              : null,
        },
        y: { field: 'case', type: 'nominal', scale: { domain: own }, axis: { title: null } },
        tooltip: tips('case', 'configuration', 'passes', 'trials', 'errors'),
      },
      layer: [
        {
          mark: { type: 'rect', stroke: { expr: 'background' }, strokeWidth: 2 },
          encoding: {
            color: {
              field: 'share',
              type: 'quantitative',
              scale: { domain: [0, 1], range },
              legend: null,
            },
          },
        },
        {
          mark: { type: 'text', fontSize: 12, baseline: 'middle', fontWeight: 'bold' },
          transform: [{ filter: 'isValid(datum.share)' }],
          encoding: {
            text: { field: 'said', type: 'nominal' },
            color: {
              condition: { test: 'datum.share < 0.08 || datum.share > 0.9', value: '#ffffff' },
              value: '#1f2428',
            },
          },
        },
        {
          mark: { type: 'text', style: 'note', fontSize: 12, baseline: 'middle' },
          transform: [{ filter: '!isValid(datum.share)' }],
          encoding: { text: { field: 'said', type: 'nominal' } },
        },
      ],
    }
  })
  const width = widest(grid.cases.map((one) => one.label)) + columns.length * columnPx
  if (across === 1)
    return frame(title, notes, { data: { values }, spacing: 14, vconcat: blocks }, width)
  const panels = { data: { values }, spacing: 24, columns: across, concat: blocks }
  return frame(title, notes, panels, width * Math.min(across, blocks.length))
}

function toneOf(share: number | null, lower: boolean): Tone {
  if (share !== 0 && share !== 1) return share === null ? 'quiet' : 'unsure'
  return (share === 1) !== lower ? 'good' : 'bad'
}

/**
 * Digits with a bar of one block a trial; configurations that do not fit beside each other stand in
 * tables below each other.
 */
function inText(grid: Grid, look: TextLook, lower: boolean): string[] {
  const width = look.width ?? 100
  const g = glyphs(look)
  const caseWidth = Math.min(32, Math.max(12, Math.floor(width * 0.35)))
  const names = labels(
    grid.cases.map((one) => one.name),
    caseWidth,
  )
  const heads = labels(grid.configurations, Math.max(8, Math.min(24, width - caseWidth - 4)))
  const cellText = (cell: Cell | undefined): string => {
    if (!cell) return ''
    const { passes, trials } = cell.row
    const bar =
      trials > 0 && trials <= 10
        ? ` ${g.full.repeat(passes)}${g.empty.repeat(trials - passes)}`
        : ''
    return tone(`${cell.said}${bar}`, toneOf(cell.share, lower), look)
  }
  const columns = grid.configurations.map((configuration) => {
    const head = heads.get(configuration) ?? ''
    const cells = grid.cases.map((one) => cellText(grid.cells.get(key(one.name, configuration))))
    return { head, cells, width: Math.max(textWidth(head), ...cells.map(textWidth)) }
  })
  const kinds = [...new Set(grid.cases.map((one) => one.kind))]
  const kindLabels = labels(kinds, caseWidth)
  const firsts =
    kinds.length > 1 ? kinds.map((kind) => (kind && kindLabels.get(kind)) || 'other') : ['case']
  const first = Math.max(4, ...[...names.values(), ...firsts].map(textWidth))
  const out: string[] = []
  for (let from = 0; from < columns.length; ) {
    let to = from
    for (
      let used = first;
      to < columns.length && (to === from || used + 2 + (columns[to]?.width ?? 0) <= width);
      to++
    ) {
      used += 2 + (columns[to]?.width ?? 0)
    }
    const shown = columns.slice(from, to)
    for (const [k, kind] of kinds.entries()) {
      if (out.length) out.push('')
      const rows = grid.cases.flatMap((one, i) =>
        one.kind === kind
          ? [
              [
                pad(names.get(one.name) ?? '', first),
                ...shown.map((column) => column.cells[i] ?? ''),
              ],
            ]
          : [],
      )
      const head: Column[] = [firsts[k] ?? '', ...shown.map((one) => one.head)].map((head) => ({
        head,
      }))
      out.push(...table(head, rows, { ...look, width }).split('\n'))
    }
    from = to
  }
  return out
}
