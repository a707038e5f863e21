/** The panels of an activity chart: at work, errors and time taken, below each other. */
import type { Json, JsonObject } from '../json.ts'
import { tips } from './draw/spec.ts'
import {
  type Activity,
  type Bin,
  type Counts,
  elapsed,
  MOST_TICKS,
  middleOf,
  roundTimes,
  type Stretch,
  ticksOf,
} from './rows/spans.ts'
import { niceTicks } from './text/plot.ts'

export const WIDTH_PX = 560
/** Configurations up to which a picture has tall panels. */
const FEW = 6
const WHAT = ['at work', 'waiting for a limit']

export function activityPicture({ stretches, bins, panels }: Activity): JsonObject {
  const ticks = ticksOf(stretches, MOST_TICKS)
  const last = stretches.at(-1) as Stretch
  const end = last.at + last.to - last.from
  const waits = panels.some(({ counts }) => counts.waiting.some((n) => n > 0))
  const most = Math.max(
    ...panels.flatMap(({ counts: { working, waiting } }) =>
      Array.from(working, (n, i) => n + (waiting[i] as number)),
    ),
  )
  const errors = Math.max(0, ...panels.flatMap(({ counts }) => [...counts.errors]))
  const took = panels.flatMap(({ counts }) => counts.took).filter((list) => list.length > 0)
  // A time of no length has no place on a logarithmic axis; it is drawn at its lower end.
  const shortest = Math.max(0.5, Math.min(...took.map(([ms]) => ms as number)))
  const longest = Math.max(shortest, ...took.map((list) => list.at(-1) as number))
  const few = panels.length <= FEW
  const x = (below: boolean): JsonObject => ({
    field: 'x',
    type: 'quantitative',
    scale: { domain: [0, end], nice: false, zero: false },
    axis: {
      title: below ? 'time since the beginning' : null,
      labels: below,
      values: ticks.map(({ at }) => at),
      tickCount: ticks.length,
      labelExpr: lookUp(ticks.map(({ at, label }) => [at, label])),
      labelOverlap: 'greedy',
    },
  })
  const y = (field: string, title: string, more: JsonObject, height: number): JsonObject => ({
    field,
    type: 'quantitative',
    ...more,
    axis: {
      title,
      titleAngle: 0,
      titleAlign: 'left',
      titleBaseline: 'middle',
      titleX: -118,
      titleY: height / 2,
      minExtent: 56,
      ...(more['axis'] as JsonObject),
    },
  })
  const gaps = stretches.slice(1).map(({ at }, i) => {
    const before = stretches[i] as Stretch
    return { x: (before.at + before.to - before.from + at) / 2 }
  })
  const gapMarks = (below: boolean): JsonObject[] =>
    gaps.length === 0
      ? []
      : [
          {
            data: { values: gaps },
            mark: { type: 'rule', aria: false, style: 'quiet', strokeDash: [2, 3] },
            encoding: { x: x(below) },
          },
        ]
  const blocks = panels.flatMap(({ name, said, counts }, p): JsonObject[] => {
    const lowest = p === panels.length - 1
    const heights = few ? { work: 56, errors: 22, took: 44 } : { work: 34, errors: 14, took: 26 }
    const hasTook = counts.took.some((list) => list.length > 0)
    const hasErrors = counts.errors.some((n) => n > 0)
    const colour = {
      field: 'what',
      type: 'nominal',
      scale: { domain: waits ? WHAT : WHAT.slice(0, 1) },
      legend: waits ? { title: null, symbolType: 'square' } : null,
    }
    const work: JsonObject = {
      title: { text: `${name}: ${said}`, fontSize: 11, offset: 6, anchor: 'start', frame: 'group' },
      width: WIDTH_PX,
      height: heights.work,
      layer: [
        {
          data: { values: areas(bins, counts, waits) },
          mark: { type: 'area', aria: false, interpolate: 'step-after' },
          encoding: {
            x: x(lowest && !hasErrors && !hasTook),
            y: y(
              'low',
              'at work',
              {
                scale: { domain: [0, most || 1], nice: false },
                axis: { values: niceTicks(0, most || 1, 2) },
              },
              heights.work,
            ),
            y2: { field: 'high' },
            color: colour,
            detail: { field: 'part', type: 'nominal' },
          },
        },
        ...gapMarks(lowest && !hasErrors && !hasTook),
      ],
    }
    const failed: JsonObject = {
      width: WIDTH_PX,
      height: heights.errors,
      layer: [
        {
          data: {
            values: bins.flatMap(({ at, from, to }, i) =>
              counts.errors[i] ? [{ x: at, to: at + to - from, errors: counts.errors[i] }] : [],
            ),
          },
          mark: { type: 'rect', aria: false, style: 'label' },
          encoding: {
            x: x(lowest && !hasTook),
            x2: { field: 'to' },
            y: y(
              'errors',
              'errors',
              { scale: { domain: [0, errors] }, axis: { values: [errors] } },
              heights.errors,
            ),
            y2: { datum: 0 },
            tooltip: tips('errors'),
          },
        },
        ...gapMarks(lowest && !hasTook),
      ],
    }
    const spread = bins.flatMap(({ at, from, to }, i) => {
      const list = counts.took[i] as number[]
      if (list.length === 0) return []
      const place = (ms: number) => Math.max(shortest, ms)
      const [low, high] = [list[0] as number, list.at(-1) as number]
      return [
        {
          x: at + (to - from) / 2,
          low: place(low),
          high: place(high),
          middle: place(middleOf(list)),
          ended: list.length,
          shown: [low, middleOf(list), high].map(elapsed).join(', '),
        },
      ]
    })
    const scale = { type: 'log', domain: [shortest / 1.3, longest * 1.3], nice: false }
    const marks = roundTimes(shortest / 1.3, longest * 1.3, 3)
    const tookY = (field: string) =>
      y(
        field,
        'time taken',
        {
          scale,
          axis: {
            values: marks,
            tickCount: marks.length,
            labelExpr: lookUp(marks.map((ms) => [ms, elapsed(ms)])),
          },
        },
        heights.took,
      )
    const times: JsonObject = {
      width: WIDTH_PX,
      height: heights.took,
      data: { values: spread },
      layer: [
        {
          mark: { type: 'rule', aria: false, style: 'quiet', strokeWidth: 1.5 },
          encoding: { x: x(lowest), y: tookY('low'), y2: { field: 'high' } },
        },
        {
          mark: { type: 'point', aria: false, style: 'accent', filled: true, opacity: 1, size: 14 },
          encoding: {
            x: x(lowest),
            y: tookY('middle'),
            tooltip: tips('ended', ['shown', 'shortest, middle, longest']),
          },
        },
        ...gapMarks(lowest),
      ],
    }
    return [work, ...(hasErrors ? [failed] : []), ...(hasTook ? [times] : [])]
  })
  return { spacing: few ? 10 : 6, vconcat: blocks }
}

/** An expression that gives each value of an axis its label. */
function lookUp(labels: [number, string][]): string {
  const [values, texts] = [labels.map(([value]) => value), labels.map(([, text]) => text)]
  return `${JSON.stringify(texts)}[indexof(${JSON.stringify(values)}, datum.value)]`
}

/** The corners of both areas; each stretch is an area of its own and ends where it ends. */
function areas(bins: readonly Bin[], { working, waiting }: Counts, waits: boolean): Json[] {
  const corners = (what: string, part: string, i: number, x: number): Json => {
    const [work, wait] = [working[i] as number, waiting[i] as number]
    const [low, high] = what === WHAT[0] ? [0, work] : [work, work + wait]
    return { what, part, x, low, high }
  }
  return (waits ? WHAT : WHAT.slice(0, 1)).flatMap((what) =>
    bins.flatMap(({ stretch, at, from, to }, i) => {
      const part = `${what} ${stretch}`
      const ends = bins[i + 1]?.stretch !== stretch
      const corner = corners(what, part, i, at)
      return ends ? [corner, corners(what, part, i, at + to - from)] : [corner]
    }),
  )
}
