/** Rows of differences about a line at zero: what forest and noise charts have in common. */

import { cut, foreign, pad, textWidth, tone, wrap } from '../display.ts'
import type { JsonObject } from '../json.ts'
import { axis, sayDifference, sayWithin, type Unit } from './quantity.ts'
import { FINITE, labels, type RowReader, SHARE_DIFFERENCE } from './rows.ts'
import { band, frame, tips, widest } from './spec.ts'
import { axisLines, column, intervalLine, niceTicks, type TextLook } from './text/plot.ts'

export type Difference = {
  /** In the chart's unit, in [-1, 1] for shares; NaN or null where it is undefined. */
  difference: number | null
  /** Both ends of its interval, or neither. */
  low?: number | null
  high?: number | null
  /** Why the difference is undefined. */
  reason?: string
}

export type DifferenceLine = {
  name: string
  difference: number | null
  low: number | null
  high: number | null
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
  return { name, difference, ...row.interval(bounds), reason: row.optionalText('reason'), role }
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
    ...lines.flatMap((line) => [line.difference, line.low, line.high]).map((x) => Math.abs(x ?? 0)),
  )
  const step = niceTicks(0, far || (unit === 'share' ? 0.5 : 1), 4)[1] ?? (far || 1)
  const end =
    unit === 'share'
      ? Math.min(1, Math.ceil((far || step) / step) * step)
      : Math.ceil((far || step) / step) * step
  return { low: -end, high: end, ticks: niceTicks(-end, end, 4) }
}

function said(line: DifferenceLine, unit: Unit): string {
  if (line.difference === null)
    return `undefined: ${foreign(line.reason ?? 'no difference was given', 60)}`
  return sayWithin(line.difference, line.low, line.high, unit, true)
}

export function drawDifferences(drawing: Drawing): JsonObject {
  const { lines, unit } = drawing
  const names = labels(lines.map((line) => line.name))
  const { low, high, ticks } = range(drawing)
  const values = lines.map((line) => ({
    label: names.get(line.name) ?? '',
    difference: line.difference,
    low: line.low,
    high: line.high,
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
  const width = look.width ?? 100
  const beside = lines.map((line) => said(line, unit))
  const besideWidth = Math.max(
    6,
    ...lines.map((line, i) => (line.difference === null ? 0 : textWidth(beside[i] ?? ''))),
  )
  const longest = Math.max(...[...labels(lines.map((line) => line.name)).values()].map(textWidth))
  const nameWidth = Math.min(longest, Math.max(10, Math.floor(width * 0.3)))
  const names = labels(
    lines.map((line) => line.name),
    nameWidth,
  )
  const { low, high, ticks } = range(drawing)
  const room = Math.max(9, Math.min(61, width - nameWidth - besideWidth - 4))
  // An odd number of columns has a middle, where zero stands.
  const scale = { low, high, cells: room % 2 ? room : room - 1 }
  const [names0, rule] = axisLines(
    ticks,
    scale,
    (value) => sayDifference(value, unit).replace(/ \S+$/, ''),
    look,
  )
  const blank = ' '.repeat(nameWidth + 2)
  const shade = look.ascii ? '~' : '░'
  const body = lines.map((line, i) => {
    const name = pad(names.get(line.name) ?? '', nameWidth)
    const start = `${line.role === 'main' ? tone(name, 'strong', look) : name}  `
    // Nothing to draw leaves room for the reason.
    if (line.difference === null) return start + cut(beside[i] ?? '', width - nameWidth - 2)
    const mark = line.role === 'main' ? (look.ascii ? '#' : '◆') : undefined
    const drawn = intervalLine(
      { value: line.difference, low: line.low, high: line.high },
      scale,
      look,
      { zero: 0, mark },
    )
    const cells = [...drawn.toString()]
    for (const one of drawing.bands ?? []) {
      for (let at = column(one.low, scale); at <= column(one.high, scale); at++)
        if (cells[at] === ' ') cells[at] = shade
    }
    return `${start}${cells.join('')}  ${beside[i] ?? ''}`
  })
  const foot = `${drawing.what}${unit === 'share' ? ' (percentage points)' : unit ? ` (${foreign(unit, 20)})` : ''}`
  const feet = wrap(foot, width).split('\n')
  return [
    blank + names0,
    blank + tone(rule, 'quiet', look),
    ...body,
    '',
    ...feet.map((text) => tone(text, 'quiet', look)),
  ]
}
