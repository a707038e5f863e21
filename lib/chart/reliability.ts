/** Reliability: pass^k over k, the chance that all of k repeats of a case pass. */

import { onlyOptions } from '../arguments.ts'
import { type Column, table } from '../display.ts'
import type { Json, JsonObject } from '../json.ts'
import { Chart } from './chart.ts'
import { boundMarks, frame, lineLegend, nothing, offsetBy, tips } from './draw/spec.ts'
import { DASH } from './draw/theme.ts'
import { BOUNDS_NOTE, type Counted, counted, intervalNote, type Target } from './rows/notes.ts'
import { axis, SHARE_TICKS, sayBounds, sayWithin } from './rows/quantity.ts'
import { readRows, SHARE } from './rows/rows.ts'
import { labels } from './text/names.ts'
import { page, type TextLook } from './text/plot.ts'

export type ReliabilityRow = {
  configuration: string
  /** Repeats that all have to pass: a whole number >= 1. */
  k: number
  /** In [0, 1]; NaN or null where it is undefined, as for k above the number of trials. */
  estimate: number | null
  low?: number | null
  high?: number | null
  /**
   * The interval with each trial that was lost or not judged counted against, and counted for: both
   * ends, or neither. Drawn dotted.
   */
  boundLow?: number | null
  boundHigh?: number | null
  /** Why the estimate is undefined. */
  reason?: string
}

export type ReliabilityOptions = Counted & Target & { title?: string }

type Row = {
  configuration: string
  k: number
  estimate: number | null
  low: number | null
  high: number | null
  boundLow?: number
  boundHigh?: number
  reason?: string
}

const WIDTH_PX = 420
const DODGE_PX = 7

/**
 * pass^k over k, one line per configuration, with intervals where there are any.
 *
 * @throws TouchstoneError `chart_invalid` naming row and field, also for a configuration and k
 *   given twice
 * @example
 * reliability([{ configuration: 'a', k: 1, estimate: 0.8 }, { configuration: 'a', k: 5, estimate: 0.4 }]).kind // 'reliability'
 * reliability([{ configuration: 'a', k: 0, estimate: 0.8 }]) // throws chart_invalid
 */
export function reliability(
  rows: readonly ReliabilityRow[],
  options: ReliabilityOptions = {},
): Chart<ReliabilityRow> {
  onlyOptions(options, 'cases repeats target level title')
  const read = readRows(rows, (row): Row => {
    const configuration = row.text('configuration')
    const k = row.count('k')
    if (k < 1) row.fail('k', 'a whole number >= 1')
    row.once('configuration', 'k')
    const reason = row.optionalText('reason')
    return {
      configuration,
      k,
      estimate: row.maybe('estimate', SHARE),
      ...row.interval(SHARE),
      ...row.bounds(SHARE),
      ...(reason ? { reason } : {}),
    }
  })
  const title = options.title ?? 'Reliability: pass^k, the chance that all of k repeats pass'
  const n = counted(options)
  const ranged = read.some((row) => row.low !== null)
  const open = read.some((row) => row.boundLow !== undefined)
  const gaps = read.filter((row) => row.estimate === null)
  const names = labels(read.map((row) => row.configuration))
  const undefinedNote = gaps
    .slice(0, 3)
    .map(
      (row) =>
        `${names.get(row.configuration)} at k = ${row.k}${row.reason ? ` (${row.reason})` : ''}`,
    )
    .join('; ')
  const more = gaps.length > 3 ? `; and ${gaps.length - 3} more` : ''
  const notes = [
    `${n ? `${n}. ` : ''}${ranged ? intervalNote('Bar', options) : 'No intervals were given.'}${open ? ` ${BOUNDS_NOTE}` : ''}`,
    ...(gaps.length ? [`Undefined: ${undefinedNote}${more}.`] : []),
  ]
  const empty = 'No configurations.'
  return new Chart<ReliabilityRow>({
    kind: 'reliability',
    title,
    notes,
    rows: read,
    spec: read.length ? drawn(read, names, title, notes) : nothing(title, notes, empty),
    text: (look) => page(title, notes, read.length ? inText(read, look) : [empty], look),
  })
}

function drawn(
  rows: Row[],
  names: Map<string, string>,
  title: string,
  notes: string[],
): JsonObject {
  const series = [...names.values()]
  const ks = [...new Set(rows.map((row) => row.k))].sort((a, b) => a - b)
  const values = rows.map((row) => {
    const label = names.get(row.configuration) ?? ''
    // Intervals of several configurations at one k stand beside each other.
    const dodge = (series.indexOf(label) - (series.length - 1) / 2) * DODGE_PX
    const { k, estimate, low, high, boundLow, boundHigh } = row
    const bounds =
      boundLow === undefined || boundHigh === undefined ? null : { boundLow, boundHigh }
    return {
      configuration: label,
      k,
      estimate,
      low,
      high,
      ...(bounds ?? {}),
      dodge,
      said: said(row),
    }
  })
  const scale = { domain: series as Json[] }
  const legend = lineLegend(series, WIDTH_PX)
  const color: JsonObject = { field: 'configuration', type: 'nominal', scale, legend }
  const x: JsonObject = {
    field: 'k',
    type: 'quantitative',
    scale: { domain: [(ks[0] ?? 1) - 0.5, (ks.at(-1) ?? 1) + 0.5], nice: false, zero: false },
    axis: {
      ...axis('k, the repeats that all have to pass', '', ks),
      grid: false,
      labelOverlap: true,
    },
  }
  const y = (field: string): JsonObject => ({
    field,
    type: 'quantitative',
    scale: { domain: [0, 1] },
    axis: axis('pass^k', 'share', SHARE_TICKS),
  })
  const xOffset = offsetBy('dodge')
  const dash: JsonObject = {
    field: 'configuration',
    type: 'nominal',
    scale: { ...scale, range: DASH },
    legend,
  }
  return frame(title, notes, {
    width: WIDTH_PX,
    height: 230,
    data: { values },
    layer: [
      ...(rows.some((row) => row.boundLow !== undefined) ? boundMarks(y, x, { xOffset }, 'y') : []),
      {
        transform: [{ filter: 'isValid(datum.low)' }],
        mark: { type: 'rule', strokeWidth: 1.5, xOffset, x2Offset: xOffset },
        encoding: { x, y: y('low'), y2: { field: 'high' }, color },
      },
      {
        mark: { type: 'line', strokeWidth: 2, xOffset },
        encoding: { x, y: y('estimate'), color, strokeDash: dash },
      },
      {
        transform: [{ filter: 'isValid(datum.estimate)' }],
        mark: { type: 'point', filled: true, opacity: 1, size: 55, xOffset },
        encoding: {
          x,
          y: y('estimate'),
          color,
          tooltip: tips('configuration', 'k', ['said', 'pass^k']),
        },
      },
    ],
  })
}

function said(row: Row): string {
  return sayWithin(row.estimate, row.low, row.high, 'share') + sayBounds(row, 'share')
}

/** One column per configuration, one row per k: configurations are few, and k may be many. */
function inText(rows: Row[], look: TextLook): string[] {
  const width = look.width ?? 100
  const names = labels(
    rows.map((row) => row.configuration),
    24,
  )
  const ks = [...new Set(rows.map((row) => row.k))].sort((a, b) => a - b)
  const out: string[] = []
  const widest = Math.max(24, ...rows.map((row) => said(row).length))
  const perTable = Math.max(1, Math.floor((width - 8) / (widest + 2)))
  const all = [...names]
  for (let from = 0; from < all.length; from += perTable) {
    const part = all.slice(from, from + perTable)
    const columns: Column[] = [
      { head: 'k', align: 'right' },
      ...part.map(([, label]) => ({ head: label })),
    ]
    const body = ks.map((k) => [
      String(k),
      ...part.map(([name]) => {
        const row = rows.find((one) => one.configuration === name && one.k === k)
        return row ? said(row) : ''
      }),
    ])
    if (out.length) out.push('')
    out.push(...table(columns, body, { ...look, width }).split('\n'))
  }
  return out
}
