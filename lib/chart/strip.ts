/**
 * Strip: for each configuration the estimate with its interval, and under it each repeat as a dot
 * of its own.
 *
 * Made for few repeats: five dots say what five runs did, where a box or a bar with a standard
 * deviation would pretend to more.
 */

import { onlyOptions } from '../arguments.ts'
import { count, foreign, tone } from '../display.ts'
import { Chart } from './chart.ts'
import { nothing } from './draw/spec.ts'
import { BOUNDS_NOTE, capital, counted, intervalNote } from './rows/notes.ts'
import { say, sayBounds, sayInterval, sayWithin, type Unit } from './rows/quantity.ts'
import { FINITE, type RowReader, readRows, SHARE } from './rows/rows.ts'
import { drawStrip, rangeOf, type StripLine } from './strip-picture.ts'
import { type Lane, lanes } from './text/lanes.ts'
import { labels, short } from './text/names.ts'
import {
  boundsUnder,
  dotLine,
  glyphs,
  intervalLine,
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
  /** The same of the second interval. */
  againBoundLow?: number | null
  againBoundHigh?: number | null
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
  const shown: StripLine[] = read.map((row) => ({
    ...row,
    runs: crowded ? [] : row.runs,
    repeats: row.runs.length,
    label: named.get(row.configuration) ?? '',
    againLow: row.againLow ?? null,
    againHigh: row.againHigh ?? null,
    boundLow: row.boundLow ?? null,
    boundHigh: row.boundHigh ?? null,
    againBoundLow: row.againBoundLow ?? null,
    againBoundHigh: row.againBoundHigh ?? null,
    said: said(row, unit),
    saidAgain:
      row.againLow == null || row.againHigh == null
        ? ''
        : `again ${sayInterval(row.againLow, row.againHigh, unit)}${sayBounds(againBounds(row), unit)}`,
  }))
  const title = options.title ?? `${capital(metric)} by configuration`
  const notes = [stripNote(options, shown, crowded)]
  const spec = shown.length
    ? drawStrip(shown, unit, metric, title, notes)
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
  const could = row.interval(bounds, ['againBoundLow', 'againBoundHigh'])
  return {
    configuration,
    estimate,
    ...row.interval(bounds),
    ...(again.low !== null && { againLow: again.low, againHigh: again.high }),
    ...row.bounds(bounds),
    ...(could.low !== null && { againBoundLow: could.low, againBoundHigh: could.high }),
    runs,
    ...(reason ? { reason } : {}),
  }
}

/** The bounds of the second interval. */
const againBounds = (row: Partial<Pick<StripRow, 'againBoundLow' | 'againBoundHigh'>>) => ({
  boundLow: row.againBoundLow ?? null,
  boundHigh: row.againBoundHigh ?? null,
})

function said(row: ReturnType<typeof readStrip>, unit: Unit): string {
  const bounds = sayBounds(row, unit)
  if (row.estimate === null)
    return `undefined: ${foreign(row.reason ?? '', 60) || (row.runs.length ? 'no estimate was given' : 'no runs')}${bounds}`
  const none = row.low === null || row.high === null ? ' (no interval)' : ''
  return sayWithin(row.estimate, row.low, row.high, unit) + none + bounds
}

function stripNote(options: StripOptions, rows: readonly StripLine[], crowded: boolean): string {
  const n = counted(options)
  const both = rows.some(({ againLow }) => againLow !== null)
  const open = rows.some((row) => row.boundLow !== null || row.againBoundLow !== null)
  const inner = rows.some((row) => row.againBoundLow !== null)
    ? ' Inner ends: of the thick bar.'
    : ''
  const bounds = open ? ` ${BOUNDS_NOTE}${inner}` : ''
  const bar = both
    ? `Thick bar: these cases, run again. ${intervalNote('Thin bar', options)}`
    : intervalNote('Bar', options)
  const dots = crowded
    ? 'Repeats are too many for a dot each.'
    : 'Dot: one repeat, its mean over the cases.'
  return `${n ? `${n}. ` : ''}${bar}${bounds} ${dots}`
}

function inText(rows: StripLine[], unit: Unit, look: TextLook): string[] {
  let stacked = false
  const body = rows.flatMap((row): Lane[] => {
    const { estimate: value, againLow, againHigh } = row
    const again =
      againLow === null || againHigh === null ? null : { low: againLow, high: againHigh }
    const bar = (scale: TextScale) => {
      const line = intervalLine({ ...row, value, again }, scale, look)
      return `${boundsUnder(line, againBounds(row), scale, look, glyphs(look).line)}`
    }
    const main: Lane = {
      name: row.configuration,
      drawn: value === null && row.boundLow === null && row.againBoundLow === null ? null : bar,
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
    { ...rangeOf(rows, unit), say: (value) => say(value, unit), most: 61 },
    look,
  )
  const key = 'A digit under a bar: that many repeats in one place.'
  return stacked ? [...lines, tone(key, 'quiet', look)] : lines
}
