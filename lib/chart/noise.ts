/**
 * Noise: differences of a configuration with itself beside the differences that are claimed, on one
 * axis.
 */
import { onlyOptions } from '../arguments.ts'
import { foreign } from '../display.ts'
import { Chart } from './chart.ts'
import {
  boundsNote,
  type Difference,
  differencesInText,
  drawDifferences,
  readDifference,
} from './difference.ts'
import { nothing } from './draw/spec.ts'
import {
  type Counted,
  capital,
  counted,
  type Direction,
  intervalNote,
  type Target,
} from './rows/notes.ts'
import type { Unit } from './rows/quantity.ts'
import { readRows } from './rows/rows.ts'
import { short } from './text/names.ts'
import { page, type TextLook } from './text/plot.ts'

export type NoiseRow = Difference & {
  label: string
  /** Which comparison this is. Default: `A/A` when the label begins with `A/A`, else `A/B`. */
  kind?: 'A/A' | 'A/B'
}

export type NoiseOptions = Counted &
  Target &
  Pick<Direction, 'better'> & {
    /** What was measured. Default `share that pass`. */
    metric?: string
    /** `share` (default; differences in [-1, 1]) or a unit as written. */
    unit?: Unit
    title?: string
  }

/**
 * Noise chart: how large a difference comes about without any cause, beside the differences in
 * question. The ranges of A/A rows are shaded over the whole height.
 *
 * @throws TouchstoneError `chart_invalid` naming row and field
 * @example
 * noise([{ label: 'A/A', difference: 0.02, low: -0.08, high: 0.11 }, { label: 'A/B', difference: 0.2, low: 0.1, high: 0.3 }]).kind // 'noise'
 */
export function noise(rows: readonly NoiseRow[], options: NoiseOptions = {}): Chart<NoiseRow> {
  onlyOptions(options, 'cases repeats target level better metric unit title')
  const unit = options.unit ?? 'share'
  const metric = short(foreign(options.metric ?? 'share that pass'), 60)
  const read = readRows(rows, (row) => {
    const label = row.text('label')
    row.once('label')
    const kind =
      row.oneOf('kind', ['A/A', 'A/B'] as const) ?? (label.startsWith('A/A') ? 'A/A' : 'A/B')
    return { kind, line: readDifference(row, unit, label, kind === 'A/A' ? 'plain' : 'main') }
  })
  const lines = read.map(({ line }) => line)
  const bands = read.flatMap(({ kind, line: { low, high } }) =>
    kind === 'A/A' && low !== null && high !== null ? [{ low, high }] : [],
  )
  const aa = read.some(({ kind }) => kind === 'A/A')
  const title =
    options.title ??
    `${capital(metric)}: differences${aa ? ', and how large they come by chance' : ''}`
  const n = counted(options)
  const shading = bands.length
    ? ' Shaded: the interval of A/A, the same configuration against itself.'
    : ''
  const missing =
    aa || !read.length
      ? ''
      : ' No A/A comparison: how large a difference comes by chance is not shown.'
  const notes = [
    `${n ? `${n}. ` : ''}${intervalNote('Bar', options)}${shading}${boundsNote(lines)}${missing}${options.better ? ` ${options.better === 'lower' ? 'Left' : 'Right'} of zero is better.` : ''}`,
  ]
  const drawing = {
    title,
    notes,
    lines,
    unit,
    what: `difference in ${metric}`,
    bands,
  }
  const empty = 'No comparisons.'
  const text = (look: TextLook) =>
    page(title, notes, read.length ? differencesInText(drawing, look) : [empty], look)
  return new Chart<NoiseRow>({
    kind: 'noise',
    title,
    notes,
    rows: read.map(({ kind, line: { name, role: _, reason, ...row } }) => ({
      label: name,
      kind,
      ...row,
      ...(reason ? { reason } : {}),
    })),
    spec: read.length ? drawDifferences(drawing) : nothing(title, notes, empty),
    text,
  })
}
