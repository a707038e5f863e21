/** Rows of differences about a line at zero: what forest and noise charts have in common. */

import { foreign, tone } from '../display.ts'
import type { JsonObject } from '../json.ts'
import { band, boundMarks, frame, tips, widest } from './draw/spec.ts'
import { BOUNDS_NOTE } from './rows/notes.ts'
import { axis, sayBounds, sayDifference, sayWithin, type Unit } from './rows/quantity.ts'
import { FINITE, type RowReader, SHARE_DIFFERENCE } from './rows/rows.ts'
import { type Lane, lanes } from './text/lanes.ts'
import { labels } from './text/names.ts'
import { column, intervalLine, niceTicks, type TextLook, type TextScale } from './text/plot.ts'

export type Difference = {
  /** In the chart's unit, in [-1, 1] for shares; NaN or null where it is undefined. */
  difference: number | null
  /** Both ends of its interval, or neither. */
  low?: number | null
  high?: number | null
  /**
   * The interval with each trial that was lost or not judged lowering the difference, and raising
   * it: both ends, or neither. Drawn dotted.
   */
  boundLow?: number | null
  boundHigh?: number | null
  /** Why the difference is undefined. */
  reason?: string
}

export type DifferenceLine = {
  name: string
  difference: number | null
  low: number | null
  high: number | null
  boundLow?: number
  boundHigh?: number
  reason: string | undefined
  /** `main` lines are what the chart is about; `plain` ones stand beside them. */
  role: 'main' | 'plain'
}

/** Check the fields of a difference. @throws TouchstoneError `chart_invalid` */
export function readDifference(
  row: RowReader,
  unit: Unit,
  name: string,
  role: DifferenceLine['role'],
): DifferenceLine {
  const bounds = unit === 'share' ? SHARE_DIFFERENCE : FINITE
  const difference = row.maybe('difference', bounds)
  const ends = { ...row.interval(bounds), ...row.bounds(bounds) }
  return { name, difference, ...ends, reason: row.optionalText('reason'), role }
}

type Drawing = {
  title: string
  notes: string[]
  lines: DifferenceLine[]
  unit: Unit
  /** What is subtracted from what: the axis title, without its unit. */
  what: string
  /** Ranges shaded over the whole height. */
  bands?: { low: number; high: number }[]
}

const WIDTH_PX = 420

/** The range of the axis: as far to either side of zero, so that left and right look alike. */
function range({ lines, unit }: Drawing): { low: number; high: number; ticks: number[] } {
  const far = Math.max(
    0,
    ...lines
      .flatMap((line) => [line.difference, line.low, line.high, line.boundLow, line.boundHigh])
      .map((x) => Math.abs(x ?? 0)),
  )
  const step = niceTicks(0, far || (unit === 'share' ? 0.5 : 1), 4)[1] ?? (far || 1)
  const end =
    unit === 'share'
      ? Math.min(1, Math.ceil((far || step) / step) * step)
      : Math.ceil((far || step) / step) * step
  return { low: -end, high: end, ticks: niceTicks(-end, end, 4) }
}

function said(line: DifferenceLine, unit: Unit): string {
  const bounds = sayBounds(line, unit, true)
  if (line.difference === null)
    return `undefined: ${foreign(line.reason ?? 'no difference was given', 60)}${bounds}`
  return sayWithin(line.difference, line.low, line.high, unit, true) + bounds
}

/** The sentence about dotted lines, where there are some. */
export function boundsNote(lines: readonly DifferenceLine[]): string {
  return lines.some((line) => line.boundLow !== undefined) ? ` ${BOUNDS_NOTE}` : ''
}

export function drawDifferences(drawing: Drawing): JsonObject {
  const { lines, unit } = drawing
  const names = labels(lines.map((line) => line.name))
  const { low, high, ticks } = range(drawing)
  const open = lines.some((line) => line.boundLow !== undefined)
  const values = lines.map((line) => ({
    label: names.get(line.name) ?? '',
    difference: line.difference,
    low: line.low,
    high: line.high,
    ...(open && { boundLow: line.boundLow ?? null, boundHigh: line.boundHigh ?? null }),
    said: said(line, unit),
    role: line.role,
  }))
  const x = (field: string): JsonObject => ({
    field,
    type: 'quantitative',
    scale: { domain: [low, high], nice: false, zero: false },
    axis: axis(drawing.what, unit, ticks, true),
  })
  const y = band(
    'label',
    values.map((value) => value.label),
  )
  const marks = (
    role: string,
    style: string,
    thick: number,
    shape: string,
    size: number,
  ): JsonObject[] => [
    {
      transform: [{ filter: { field: 'role', equal: role } }, { filter: 'isValid(datum.low)' }],
      mark: { type: 'rule', style, strokeWidth: thick, strokeCap: 'round' },
      encoding: { x: x('low'), x2: { field: 'high' }, y },
    },
    {
      transform: [
        { filter: { field: 'role', equal: role } },
        { filter: 'isValid(datum.difference)' },
      ],
      mark: { type: 'point', style, filled: true, opacity: 1, shape, size },
      encoding: { x: x('difference'), y, tooltip: tips('label', ['said', 'difference']) },
    },
  ]
  const shades = (drawing.bands ?? []).map(
    (shade): JsonObject => ({
      data: { values: [shade] },
      mark: { type: 'rect', style: 'quiet', opacity: 0.14, stroke: null },
      encoding: { x: x('low'), x2: { field: 'high' } },
    }),
  )
  const layer = [
    ...shades,
    {
      data: { values: [{ zero: 0 }] },
      mark: { type: 'rule', style: 'zero' },
      encoding: { x: x('zero') },
    },
    ...(open ? boundMarks(x, y) : []),
    ...marks('plain', 'quiet', 1.5, 'circle', 50),
    ...marks('main', 'accent', 3.5, 'diamond', 150),
    {
      mark: { type: 'text', style: 'label', align: 'left', baseline: 'middle', dx: 14 },
      encoding: { x: { value: 'width' }, y, text: { field: 'said', type: 'nominal' } },
    },
  ]
  const widthPx =
    widest(values.map((value) => value.label)) +
    WIDTH_PX +
    widest(values.map((value) => value.said)) +
    20
  return frame(
    drawing.title,
    drawing.notes,
    { width: WIDTH_PX, height: { step: 22 }, data: { values }, layer: layer as JsonObject[] },
    widthPx,
  )
}

export function differencesInText(drawing: Drawing, look: TextLook): string[] {
  const { lines, unit } = drawing
  const shade = look.ascii ? '~' : '░'
  const drawn = (row: DifferenceLine) => (scale: TextScale) => {
    const mark = row.role === 'main' ? (look.ascii ? '#' : '◆') : undefined
    const ends = { ...row, value: row.difference }
    const line = intervalLine(ends, scale, look, { zero: 0, mark })
    for (const one of drawing.bands ?? [])
      line.under(column(one.low, scale), column(one.high, scale), shade)
    return `${line}`
  }
  const rows = lines.map((line): Lane => {
    const { name, role } = line
    return {
      name,
      drawn: line.difference === null && line.boundLow == null ? null : drawn(line),
      said: said(line, unit),
      ...(line.difference === null && { below: true }),
      role,
    }
  })
  const say = (value: number) => sayDifference(value, unit)
  const axis = { ...range(drawing), say, most: 61, odd: true }
  const foot = `${drawing.what}${unit === 'share' ? ' (percentage points)' : unit ? ` (${foreign(unit, 20)})` : ''}`
  return [...lanes(rows, axis, look), '', tone(foot, 'quiet', look)]
}
