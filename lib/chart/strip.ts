/**
 * Strip: for each configuration the estimate with its interval, and under it each repeat as a dot
 * of its own.
 *
 * Made for few repeats: five dots say what five runs did, where a box or a bar with a standard
 * deviation would pretend to more.
 */

import { onlyOptions } from '../arguments.ts'
import { count, foreign, tone } from '../display.ts'
import type { JsonObject } from '../json.ts'
import { Chart } from './chart.ts'
import { band, boundMarks, frame, nothing, offsetBy, tips, widest } from './draw/spec.ts'
import { BOUNDS_NOTE, capital, counted, intervalNote } from './rows/notes.ts'
import { axis, say, sayBounds, sayInterval, sayWithin, type Unit } from './rows/quantity.ts'
import { FINITE, type RowReader, readRows, SHARE } from './rows/rows.ts'
import { type Lane, lanes } from './text/lanes.ts'
import { labels, short } from './text/names.ts'
import {
  dotLine,
  intervalLine,
  niceTicks,
  page,
  type TextLook,
  type TextScale,
} from './text/plot.ts'

export type StripRow = {
  configuration: string
  /** In the chart's unit; NaN or null where it is undefined. */
  estimate: number | null
  /** Both ends of the interval in the chart's unit, or neither. */
  low: number | null
  high: number | null
  /** A second interval, for the same cases run again: drawn thick, and the first one thin. */
  againLow?: number | null
  againHigh?: number | null
  /**
   * The interval with each trial that was lost or not judged counted against, and counted for: both
   * ends, or neither. Drawn dotted.
   */
  boundLow?: number | null
  boundHigh?: number | null
  /**
   * One per repeat: its mean over the cases, in the chart's unit, and over how many trials (for
   * tooltips).
   */
  runs: { value: number; n?: number }[]
  /** Why the estimate is undefined. */
  reason?: string
}

export type StripOptions = {
  /** What was measured. Default `share that pass`. */
  metric?: string
  /** `share` (default; values in [0, 1]) or a unit as written: `ms`, `tokens`, `USD`. */
  unit?: Unit
  /** How many cases and repeats the rows are over. */
  cases?: number
  repeats?: number
  /** What the interval speaks about. Default `cases like these`. */
  target?: string
  /** Confidence of the interval, in (0, 1). Default 0.95. */
  level?: number
  title?: string
}

type Row = Required<Omit<StripRow, 'reason'>> & {
  label: string
  said: string
  saidAgain: string
  /** Repeats, whether each has a dot or not. */
  repeats: number
}

const WIDTH_PX = 420
const DOT_PX = 8
/** Repeats up to which each has a dot: in one place they stand below each other. */
const MOST_DOTS = 80

/**
 * Strip chart of configurations: estimate, interval, and every repeat.
 *
 * @param rows in the order in which they shall stand; an empty array draws a sentence
 * @throws TouchstoneError `chart_invalid` naming row and field
 * @example
 * const c = strip([{ configuration: 'a', estimate: 0.5, low: 0.4, high: 0.6, runs: [{ value: 0.5 }] }], { metric: 'goal rate', cases: 24, repeats: 5 })
 * c.notes[0] // '24 cases, 5 repeats each. Bar: 95% interval for cases like these. Dot: one repeat, its mean over the cases.'
 * strip([{ configuration: 'a', estimate: 62, low: 50, high: 70, runs: [] }]) // throws chart_invalid
 */
export function strip(rows: readonly StripRow[], options: StripOptions = {}): Chart<StripRow> {
  onlyOptions(options, 'metric unit cases repeats target level title')
  const unit = options.unit ?? 'share'
  const metric = short(foreign(options.metric ?? 'share that pass'), 60)
  const bounds = unit === 'share' ? SHARE : FINITE
  const read = readRows(rows, (row) => readStrip(row, bounds))
  const named = labels(read.map((row) => row.configuration))
  const crowded = read.some(({ runs }) => runs.length > MOST_DOTS)
  const shown: Row[] = read.map((row) => ({
    ...row,
    runs: crowded ? [] : row.runs,
    repeats: row.runs.length,
    label: named.get(row.configuration) ?? '',
    againLow: row.againLow ?? null,
    againHigh: row.againHigh ?? null,
    boundLow: row.boundLow ?? null,
    boundHigh: row.boundHigh ?? null,
    said: said(row, unit),
    saidAgain:
      row.againLow == null || row.againHigh == null
        ? ''
        : `again ${sayInterval(row.againLow, row.againHigh, unit)}`,
  }))
  const title = options.title ?? `${capital(metric)} by configuration`
  const notes = [stripNote(options, shown, crowded)]
  const spec = shown.length
    ? drawn(shown, unit, metric, title, notes)
    : nothing(title, notes, 'No configurations.')
  const text = (look: TextLook) =>
    page(title, notes, shown.length ? inText(shown, unit, look) : ['No configurations.'], look)
  return new Chart<StripRow>({ kind: 'strip', title, notes, rows: read, spec, text })
}

function readStrip(row: RowReader, bounds: typeof SHARE) {
  const configuration = row.text('configuration')
  row.once('configuration')
  const estimate = row.maybe('estimate', bounds)
  const reason = row.optionalText('reason')
  const runs = row.list('runs').map((run) => {
    const value = run.needed('value', bounds)
    return run.has('n') ? { value, n: run.count('n') } : { value }
  })
  const again = row.interval(bounds, ['againLow', 'againHigh'])
  return {
    configuration,
    estimate,
    ...row.interval(bounds),
    ...(again.low !== null && { againLow: again.low, againHigh: again.high }),
    ...row.bounds(bounds),
    runs,
    ...(reason ? { reason } : {}),
  }
}

function said(row: ReturnType<typeof readStrip>, unit: Unit): string {
  const bounds = sayBounds(row, unit)
  if (row.estimate === null)
    return `undefined: ${foreign(row.reason ?? '', 60) || (row.runs.length ? 'no estimate was given' : 'no runs')}${bounds}`
  const none = row.low === null || row.high === null ? ' (no interval)' : ''
  return sayWithin(row.estimate, row.low, row.high, unit) + none + bounds
}

function stripNote(options: StripOptions, rows: readonly Row[], crowded: boolean): string {
  const n = counted(options)
  const both = rows.some(({ againLow }) => againLow !== null)
  const bounds = rows.some(({ boundLow }) => boundLow !== null) ? ` ${BOUNDS_NOTE}` : ''
  const bar = both
    ? `Thick bar: these cases, run again. ${intervalNote('Thin bar', options)}`
    : intervalNote('Bar', options)
  const dots = crowded
    ? 'Repeats are too many for a dot each.'
    : 'Dot: one repeat, its mean over the cases.'
  return `${n ? `${n}. ` : ''}${bar}${bounds} ${dots}`
}

/**
 * The range that the axis covers: all of [0, 1] for shares, else from zero when nothing is below
 * it.
 */
function domain(rows: Row[], unit: Unit): { low: number; high: number; ticks: number[] } {
  if (unit === 'share') return { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1] }
  const all = rows.flatMap((row) => [
    row.estimate,
    row.low,
    row.high,
    row.againLow,
    row.againHigh,
    row.boundLow,
    row.boundHigh,
    ...row.runs.map((run) => run.value),
  ])
  const values = all.filter((value) => value !== null)
  const low = Math.min(0, ...values)
  const high = Math.max(...values, low === 0 ? 0 : low)
  const ticks = niceTicks(low, high > low ? high : low + 1)
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0)
  const end = (ticks.at(-1) ?? 1) >= high ? (ticks.at(-1) ?? 1) : (ticks.at(-1) ?? 0) + step
  const start = (ticks[0] ?? 0) <= low ? (ticks[0] ?? 0) : (ticks[0] ?? 0) - step
  return { low: start, high: end, ticks: niceTicks(start, end) }
}

/** Dots that would overlap stand below each other, each at its own value. */
function stack(values: number[], pxPerUnit: number): number[] {
  const lastOf: number[] = []
  const order = values.map((value, i) => ({ value, i })).sort((a, b) => a.value - b.value)
  const levels = new Array<number>(values.length).fill(0)
  for (const { value, i } of order) {
    const px = value * pxPerUnit
    let level = 0
    while (lastOf[level] !== undefined && px - (lastOf[level] ?? 0) < DOT_PX) level++
    lastOf[level] = px
    levels[i] = level
  }
  return levels
}

function drawn(
  rows: Row[],
  unit: Unit,
  metric: string,
  title: string,
  notes: string[],
): JsonObject {
  const range = domain(rows, unit)
  const stacks = rows.map((row) =>
    stack(
      row.runs.map((run) => run.value),
      WIDTH_PX / (range.high - range.low),
    ),
  )
  const deepest = Math.max(0, ...stacks.flat())
  const step = 38 + DOT_PX * deepest
  const bar = 14 - step / 2
  const runs = rows.flatMap((row, r) =>
    row.runs.map((run, i) => ({
      configuration: row.label,
      repeat: i + 1,
      value: run.value,
      trials: run.n ?? null,
      below: bar + 12 + DOT_PX * (stacks[r]?.[i] ?? 0),
    })),
  )
  const both = rows.some(({ againLow }) => againLow !== null)
  const open = rows.some(({ boundLow }) => boundLow !== null)
  const values = rows.map(({ label, configuration, estimate, low, high, ...row }) => ({
    configuration: label,
    name: foreign(configuration, 400),
    estimate,
    low,
    high,
    ...(both && { againLow: row.againLow, againHigh: row.againHigh }),
    ...(open && { boundLow: row.boundLow, boundHigh: row.boundHigh }),
    said: [row.said, row.saidAgain].filter(Boolean).join('; '),
  }))
  const y = band(
    'configuration',
    rows.map((row) => row.label),
    bar,
  )
  const scale = { domain: [range.low, range.high], nice: false, zero: false }
  const x = (field: string): JsonObject => ({
    field,
    type: 'quantitative',
    scale,
    axis: axis(metric, unit, range.ticks),
  })
  const defined = [{ filter: 'isValid(datum.estimate)' }]
  const ranged = [{ filter: 'isValid(datum.low) && isValid(datum.high)' }]
  return frame(
    title,
    notes,
    {
      width: WIDTH_PX,
      height: { step },
      datasets: { rows: values, runs },
      layer: [
        ...(open ? boundMarks(x, y, { yOffset: bar }) : []).map((mark) => ({
          data: { name: 'rows' },
          ...mark,
        })),
        {
          data: { name: 'rows' },
          transform: ranged,
          mark: {
            type: 'rule',
            style: 'accent',
            strokeWidth: both ? 1.5 : 3,
            strokeCap: 'round',
            yOffset: bar,
          },
          encoding: { x: x('low'), x2: { field: 'high' }, y },
        },
        ...(both
          ? [
              {
                data: { name: 'rows' },
                transform: [{ filter: 'isValid(datum.againLow)' }],
                mark: {
                  type: 'rule',
                  style: 'accent',
                  strokeWidth: 5,
                  strokeCap: 'butt',
                  yOffset: bar,
                },
                encoding: { x: x('againLow'), x2: { field: 'againHigh' }, y },
              },
            ]
          : []),
        {
          data: { name: 'rows' },
          transform: defined,
          mark: {
            type: 'point',
            style: 'accent',
            filled: true,
            opacity: 1,
            size: 90,
            yOffset: bar,
          },
          encoding: {
            x: x('estimate'),
            y,
            tooltip: tips(['name', 'configuration'], ['said', 'estimate']),
          },
        },
        {
          data: { name: 'runs' },
          mark: {
            type: 'circle',
            style: 'quiet',
            opacity: 1,
            size: 40,
            yOffset: offsetBy('below'),
          },
          encoding: {
            x: x('value'),
            y,
            tooltip: tips('configuration', 'repeat', 'value', 'trials'),
          },
        },
        {
          data: { name: 'rows' },
          mark: {
            type: 'text',
            style: 'label',
            align: 'left',
            baseline: 'middle',
            dx: 14,
            yOffset: bar,
          },
          encoding: { x: { value: 'width' }, y, text: { field: 'said', type: 'nominal' } },
        },
      ],
    },
    widest(rows.map((row) => row.label)) +
      WIDTH_PX +
      widest(rows.map((row) => [row.said, row.saidAgain].filter(Boolean).join('; '))) +
      20,
  )
}

function inText(rows: Row[], unit: Unit, look: TextLook): string[] {
  let stacked = false
  const body = rows.flatMap((row): Lane[] => {
    const { estimate: value, againLow, againHigh } = row
    const again =
      againLow === null || againHigh === null ? null : { low: againLow, high: againHigh }
    const bar = (scale: TextScale) => `${intervalLine({ ...row, value, again }, scale, look)}`
    const main: Lane = {
      name: row.configuration,
      drawn: value === null && row.boundLow === null ? null : bar,
      said: row.said,
      ...(value === null && { below: true }),
      role: 'main',
    }
    if (!row.runs.length) return [main]
    const dots = (scale: TextScale) => {
      const values = row.runs.map((run) => run.value)
      const line = `${dotLine(values, scale, look)}`
      stacked ||= /[2-9+]/.test(line)
      return line
    }
    const counts = [count(row.repeats, 'run'), row.saidAgain].filter(Boolean).join(', ')
    return [main, { name: '', drawn: dots, said: counts, role: 'quiet' }]
  })
  const lines = lanes(
    body,
    { ...domain(rows, unit), say: (value) => say(value, unit), most: 61 },
    look,
  )
  const key = 'A digit under a bar: that many repeats in one place.'
  return stacked ? [...lines, tone(key, 'quiet', look)] : lines
}
