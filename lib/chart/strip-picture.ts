/** The picture of a strip chart: a line of marks for each configuration, and its repeats below. */
import { foreign } from '../display.ts'
import type { JsonObject } from '../json.ts'
import { band, boundMarks, frame, offsetBy, tips, widest } from './draw/spec.ts'
import { axis, type Unit } from './rows/quantity.ts'
import type { StripRow } from './strip.ts'
import { niceTicks } from './text/plot.ts'

/** One configuration, with what is said beside it. */
export type StripLine = Required<Omit<StripRow, 'reason'>> & {
  label: string
  said: string
  saidAgain: string
  /** Repeats, whether each has a dot or not. */
  repeats: number
}

type Bound = 'boundLow' | 'boundHigh' | 'againBoundLow' | 'againBoundHigh'

const WIDTH_PX = 420
const DOT_PX = 8
/**
 * The range that the axis covers: all of [0, 1] for shares, else from zero when nothing is below
 * it.
 */
export function rangeOf(
  rows: StripLine[],
  unit: Unit,
): { low: number; high: number; ticks: number[] } {
  if (unit === 'share') return { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1] }
  const all = rows.flatMap((row) => [
    row.estimate,
    row.low,
    row.high,
    row.againLow,
    row.againHigh,
    row.boundLow,
    row.boundHigh,
    row.againBoundLow,
    row.againBoundHigh,
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

export function drawStrip(
  rows: StripLine[],
  unit: Unit,
  metric: string,
  title: string,
  notes: string[],
): JsonObject {
  const range = rangeOf(rows, unit)
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
  const values = rows.map(({ label, configuration, estimate, low, high, ...row }) => ({
    configuration: label,
    name: foreign(configuration, 400),
    estimate,
    low,
    high,
    ...(both && { againLow: row.againLow, againHigh: row.againHigh }),
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
  const boundsOf = (low: Bound, high: Bound, more: JsonObject) => {
    const values = rows
      .filter((row) => row[low] !== null)
      .map((row) => ({ configuration: row.label, boundLow: row[low], boundHigh: row[high] }))
    const marks = values.length > 0 ? boundMarks(x, y, more) : []
    return marks.map((mark): JsonObject => ({ data: { values }, ...mark }))
  }
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
        ...boundsOf('boundLow', 'boundHigh', { yOffset: bar }),
        ...boundsOf('againBoundLow', 'againBoundHigh', { yOffset: bar, size: 7 }),
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
