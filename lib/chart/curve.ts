/**
 * Step curves: which share lies at or below each value. What ecdf and latency charts have in
 * common.
 */

import type { Json, JsonObject } from '../json.ts'
import { Chart, type ChartKind } from './chart.ts'
import { frame, lineLegend, nothing, tips } from './draw/spec.ts'
import { DASH } from './draw/theme.ts'
import { axis, SHARE_TICKS } from './rows/quantity.ts'
import { type Curves, curvesInText, rangeOf } from './text/curve-lines.ts'
import { labels } from './text/names.ts'
import { page } from './text/plot.ts'

const WIDTH_PX = 420
const HEIGHT_PX = 230
/**
 * Steps of one curve that a picture this wide can show; curves with more are thinned, their ends
 * kept.
 */
const MOST_STEPS = 400

/** The corners of a curve: one per distinct value, thinned to what can be seen. */
function steps(values: number[], total: number): { x: number; share: number; count: number }[] {
  const sorted = Float64Array.from(values).sort()
  const corners: { x: number; share: number; count: number }[] = []
  for (const [i, x] of sorted.entries()) {
    if (x !== sorted[i + 1]) corners.push({ x, share: (i + 1) / total, count: i + 1 })
  }
  const every = Math.ceil(corners.length / MOST_STEPS)
  return corners.filter((_, i) => i === 0 || i === corners.length - 1 || i % every === 0)
}

/** A chart of curves, or of the sentence that there are none. */
export function curveChart<Row>(
  kind: ChartKind,
  rows: Row[],
  drawing: Curves,
  empty: string,
): Chart<Row> {
  const { title, notes, curves } = drawing
  return new Chart<Row>({
    kind,
    title,
    notes,
    rows,
    spec: curves.length ? drawCurves(drawing) : nothing(title, notes, empty),
    text: (look) => page(title, notes, curves.length ? curvesInText(drawing, look) : [empty], look),
  })
}

function drawCurves(drawing: Curves): JsonObject {
  const { curves, quantity, unit, log } = drawing
  const names = labels(curves.map((curve) => curve.name))
  const series = curves.map((curve) => `${names.get(curve.name)} (${curve.remark})`)
  const { low, high, ticks } = rangeOf(drawing)
  const values = curves.flatMap((curve, c) => {
    const corners = steps(curve.values, curve.total)
    if (curve.total === 0) return []
    // From zero up to the first value, and on to the right edge at the height that was reached:
    // zero for no value at all.
    const first = { x: corners[0]?.x ?? low, share: 0, count: 0 }
    const line = [first, ...corners, { ...(corners.at(-1) ?? first), x: high }]
    return line.map((corner, order) => ({
      series: series[c] ?? '',
      order,
      ...corner,
      of: curve.total,
      point: curve.values.length <= 20 && order > 0 && order <= corners.length,
    }))
  })
  const legend = lineLegend(series, WIDTH_PX)
  const color: JsonObject = {
    field: 'series',
    type: 'nominal',
    scale: { domain: series as Json[] },
    legend,
  }
  const x: JsonObject = {
    field: 'x',
    type: 'quantitative',
    scale: {
      type: log ? 'log' : 'linear',
      domain: [low, high],
      nice: false,
      ...(log ? {} : { zero: false }),
    },
    axis: axis(log ? `${quantity}, logarithmic` : quantity, unit, ticks),
  }
  const y: JsonObject = {
    field: 'share',
    type: 'quantitative',
    scale: { domain: [0, 1] },
    axis: axis(drawing.what, 'share', SHARE_TICKS),
  }
  return frame(drawing.title, drawing.notes, {
    width: WIDTH_PX,
    height: HEIGHT_PX,
    data: { values },
    layer: [
      {
        mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2 },
        encoding: {
          x,
          y,
          color,
          strokeDash: {
            field: 'series',
            type: 'nominal',
            scale: { domain: series as Json[], range: DASH },
            legend,
          },
          order: { field: 'order', type: 'quantitative' },
        },
      },
      {
        transform: [{ filter: 'datum.point' }],
        mark: { type: 'point', filled: true, opacity: 1, size: 36 },
        encoding: {
          x,
          y,
          color,
          tooltip: tips(['series', 'curve'], ['x', quantity], ['count', 'at or below'], 'of'),
        },
      },
    ],
  })
}
