/**
 * A chart of one's own: any Vega-Lite drawing over rows, in the frame, fonts and colours of the
 * others.
 */

import { onlyOptions } from '../arguments.ts'
import { type Column, foreign, table, textWidth } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { Chart } from './chart.ts'
import { frame, nothing } from './draw/spec.ts'
import { short } from './text/names.ts'
import { page, type TextLook } from './text/plot.ts'

export type OwnOptions = {
  title: string
  /** The lines below the title: n, what was measured, how to read it. Default none. */
  notes?: string[]
}

/** Rows that the text form prints before it only counts. */
const SHOWN = 60
/** Columns that a text keeps before whole columns are left out. */
const LEAST = 14

/**
 * Draw what no kind of chart here draws.
 *
 * @param rows    plain objects; they become the data of the drawing and, in a terminal, a table
 * @param drawing a Vega-Lite unit, layer or facet without its data: `{ mark, encoding }`
 * @throws TouchstoneError `chart_invalid` for rows that are no plain objects, and for a drawing
 *   that reads or links to anything but its rows (`url`, `href`); a drawing that does not compile
 *   is refused when drawn
 * @example
 * const c = own([{ k: 1, error: 0.4 }, { k: 5, error: 0.2 }], {
 *   mark: 'line',
 *   encoding: { x: { field: 'k', type: 'quantitative' }, y: { field: 'error', type: 'quantitative' } },
 * }, { title: 'Error over repeats' })
 * c.kind // 'own'
 * c.text().split('\n').at(-1) // '5    0.2'
 */
export function own<Row extends object>(
  rows: readonly Row[],
  drawing: JsonObject,
  options: OwnOptions,
): Chart<Row> {
  onlyOptions(options, 'title notes')
  const read = rows.map((row, i) => plainRow(row, i))
  requireOwnRows(drawing, 'drawing')
  const { title, notes = [] } = options
  const spec = read.length
    ? frame(title, notes, { width: 420, height: 230, ...drawing, data: { values: read as Json[] } })
    : nothing(title, notes, 'No rows.')
  const text = (look: TextLook) =>
    page(title, notes, read.length ? inText(read, look) : ['No rows.'], look)
  return new Chart<Row>({ kind: 'own', title, notes, rows: [...rows], spec, text })
}

/**
 * Members of a drawing that name something elsewhere, or that a page would take as settings of its
 * own.
 */
const ELSEWHERE = new Set(['url', 'href', 'usermeta'])

function requireOwnRows(value: Json, where: string): void {
  if (value === null || typeof value !== 'object') return
  for (const [name, one] of Object.entries(value)) {
    if (ELSEWHERE.has(name))
      throw new TouchstoneError(
        'chart_invalid',
        `expected a drawing of its own rows, got "${name}"`,
        {
          where: `${where}.${name}`,
        },
      )
    requireOwnRows(one as Json, `${where}.${name}`)
  }
}

function plainRow(row: unknown, i: number): JsonObject {
  if (row === null || typeof row !== 'object' || Array.isArray(row)) {
    const got = row === null ? 'null' : Array.isArray(row) ? 'an array' : typeof row
    throw new TouchstoneError('chart_invalid', `expected a row object, got ${got}`, {
      where: `rows[${i}]`,
    })
  }
  // Names in rows may be somebody else's, and here the caller says where they are drawn.
  const safe = (_name: string, value: unknown) =>
    typeof value === 'string' ? foreign(value, 400) : value
  return JSON.parse(JSON.stringify(row, safe)) as JsonObject
}

function inText(rows: JsonObject[], look: TextLook): string[] {
  const width = look.width ?? 100
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const heads = names.map((name) => foreign(name, 40))
  const columns = names.map((name, i): Column => {
    const numbers = rows.every((row) => typeof (row[name] ?? 0) === 'number')
    return { head: heads[i] ?? '', align: numbers ? 'right' : 'left' }
  })
  const shown = rows.slice(0, SHOWN)
  const made = (n: number, most: number) =>
    table(
      columns.slice(0, n).map((column) => ({ ...column, head: short(column.head, most) })),
      shown.map((row) => names.slice(0, n).map((name) => short(cellOf(row[name]), most))),
      look,
    ).split('\n')
  // Texts become shorter where the table is too wide, and then columns are left out.
  let [n, most] = [names.length, 60]
  let lines = made(n, most)
  while (lines.some((line) => textWidth(line) > width) && n > 1) {
    if (most > LEAST) most = Math.max(LEAST, most / 2)
    else n--
    lines = made(n, most)
  }
  const left = heads.slice(n).join(', ')
  return [
    ...lines,
    ...(rows.length > SHOWN ? [`and ${rows.length - SHOWN} more rows`] : []),
    ...(left ? [`Columns that do not fit: ${left}.`] : []),
  ]
}

function cellOf(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return String(Number(value.toPrecision(4)))
  return foreign(typeof value === 'string' ? value : JSON.stringify(value), 60)
}
