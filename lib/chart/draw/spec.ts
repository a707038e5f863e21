/**
 * The frame that all specs share: schema, theme, heading, data inside; and what is drawn where
 * there is nothing to draw.
 */
import type { Json, JsonObject } from '../../json.ts'
import { measure } from './font.ts'
import { config, heading } from './theme.ts'

export function schema(major: number): string {
  return `https://vega.github.io/schema/vega-lite/v${major}.json`
}

/**
 * A whole Vega-Lite spec: heading and theme round what a kind of chart draws.
 *
 * @param widthPx what the chart takes from its leftmost label to its rightmost, so that the heading
 *   is broken to fit
 */
export function frame(
  title: string,
  notes: string[],
  drawing: JsonObject,
  widthPx = 560,
): JsonObject {
  return {
    $schema: schema(6),
    title: heading(title, notes, Math.max(480, widthPx)),
    config: config('light'),
    ...drawing,
  }
}

/** The widest of some labels, in pixels. */
export function widest(texts: string[]): number {
  return Math.max(0, ...texts.map((text) => measure(text, 11)))
}

/** What is drawn for no rows: a sentence, never an empty axis that could be read as zero. */
export function nothing(title: string, notes: string[], why: string): JsonObject {
  return frame(title, notes, {
    width: 420,
    height: 40,
    data: { values: [{ why }] },
    mark: { type: 'text', style: 'note', align: 'left', baseline: 'middle' },
    encoding: { text: { field: 'why', type: 'nominal' }, x: { value: 0 }, y: { value: 20 } },
  })
}

/**
 * A vertical place in pixels that each row of the data gives in `field`, for marks that share a
 * band.
 */
export function offsetBy(field: string): JsonObject {
  return { expr: `datum.${field}` }
}

/** A row per name, in the order given. `labelOffset` moves the names to the mark that they name. */
export function band(field: string, names: string[], labelOffset = 0): JsonObject {
  return {
    field,
    type: 'nominal',
    scale: { domain: names as Json[], paddingInner: 0, paddingOuter: 0 },
    axis: { title: null, grid: false, labelOffset, labelPadding: 10 },
  }
}

/**
 * Bounds as a dotted line with a stroke at each end: another shape than an interval's bar, so that
 * they stand apart without colour.
 *
 * @param along the encoding of a field on the axis of the values, and `across` that of the row
 * @param more  where the line lies, as of the mark that it belongs to
 */
export function boundMarks(
  along: (field: string) => JsonObject,
  across: JsonObject,
  more: JsonObject = {},
  way: 'x' | 'y' = 'x',
): JsonObject[] {
  const transform = [{ filter: 'isValid(datum.boundLow)' }]
  const line = { type: 'rule', style: 'quiet', strokeWidth: 1.5, strokeDash: [2, 3], ...more }
  const orient = way === 'x' ? 'vertical' : 'horizontal'
  const end = {
    type: 'tick',
    style: 'quiet',
    orient,
    size: way === 'x' ? 11 : 5,
    thickness: 1.5,
    ...more,
  }
  const at = (field: string): JsonObject =>
    way === 'x' ? { x: along(field), y: across } : { x: across, y: along(field) }
  return [
    { transform, mark: line, encoding: { ...at('boundLow'), [`${way}2`]: { field: 'boundHigh' } } },
    ...['boundLow', 'boundHigh'].map((field) => ({ transform, mark: end, encoding: at(field) })),
  ]
}

/**
 * A legend of lines, with their colour and dash: beside each other where the names fit, else below
 * each other.
 */
export function lineLegend(names: string[], widthPx: number): JsonObject {
  const beside = names.reduce((sum, name) => sum + widest([name]) + 45, 0) <= widthPx
  return {
    title: null,
    columns: beside ? 0 : 1,
    symbolType: 'stroke',
    symbolSize: 320,
    symbolStrokeWidth: 2.5,
  }
}

/**
 * Fields shown when a reader of the page points at a mark, each under its own name or the one given
 * with it.
 */
export function tips(...fields: (string | [field: string, title: string])[]): JsonObject[] {
  return fields.map((one) => {
    const [field, title] = typeof one === 'string' ? [one, one] : one
    return { field, type: 'nominal', title }
  })
}
