/** Forest: the difference between two configurations in every case, and over all of them. */

import { onlyOptions } from '../arguments.ts'
import { foreign } from '../display.ts'
import { Chart } from './chart.ts'
import {
  boundsNote,
  type Difference,
  type DifferenceLine,
  differencesInText,
  drawDifferences,
  readDifference,
} from './difference.ts'
import { nothing } from './draw/spec.ts'
import { capital, counted, type Direction, intervalNote, type Target } from './rows/notes.ts'
import type { Unit } from './rows/quantity.ts'
import { readRows } from './rows/rows.ts'
import { short } from './text/names.ts'
import { page, type TextLook } from './text/plot.ts'

export type ForestRow = Difference & { case: string }

export type ForestOptions = Target &
  Direction & {
    /** Names of the two: the difference is b minus a. */
    a?: string
    b?: string
    /** The difference over all cases; several, each with a label, for several questions. */
    overall?: Difference | readonly (Difference & { label: string })[]
    /** What was measured. Default `share that pass`. */
    metric?: string
    /** `share` (default; differences in [-1, 1]) or a unit as written. */
    unit?: Unit
    repeats?: number
    title?: string
  }

/**
 * Forest plot: one row per case from the best difference to the worst, and the difference over all
 * cases below.
 *
 * @param rows intervals are optional, since five repeats of one case rarely support one
 * @throws TouchstoneError `chart_invalid` naming row and field
 * @example
 * const c = forest([{ case: 'x', difference: 0.4 }], { a: 'naive', b: 'careful', overall: { difference: 0.25, low: 0.1, high: 0.4 } })
 * c.title // 'Share that pass, careful minus naive, case by case'
 * forest([{ case: 'x', difference: 40 }]) // throws chart_invalid
 */
export function forest(rows: readonly ForestRow[], options: ForestOptions = {}): Chart<ForestRow> {
  onlyOptions(options, 'target level better more a b overall metric unit repeats title')
  const unit = options.unit ?? 'share'
  const metric = short(foreign(options.metric ?? 'share that pass'), 60)
  const minus = `${short(foreign(options.b ?? 'B'), 40)} minus ${short(foreign(options.a ?? 'A'), 40)}`
  const cases = readRows(rows, (row) => {
    const name = row.text('case')
    row.once('case')
    return readDifference(row, unit, name, 'plain')
  })
  const gain = (line: DifferenceLine) =>
    line.difference === null
      ? -Infinity
      : options.better === 'lower'
        ? -line.difference
        : line.difference
  const sorted = cases.toSorted((p, q) => gain(q) - gain(p))
  const several = Array.isArray(options.overall)
  const overall = readRows(
    several ? (options.overall as readonly Difference[]) : options.overall ? [options.overall] : [],
    (row) => {
      if (several) row.once('label')
      return readDifference(row, unit, several ? row.text('label') : 'all cases', 'main')
    },
    'overall',
  )
  const title = options.title ?? `${capital(metric)}, ${minus}, case by case`
  const asked = several ? { ...options, target: 'the question of its row' } : options
  const main = overall.length ? ` ${intervalNote('Diamond: all cases. Bar', asked)}` : ''
  const thin = cases.some((line) => line.low !== null)
    ? ' Thin bar: interval over the repeats of that case.'
    : ''
  const side = { higher: ' Right of zero is better.', lower: ' Left of zero is better.' }
  const better = options.better ? side[options.better] : ''
  const notes = [
    `${counted({ cases: cases.length, repeats: options.repeats })}.${main}${thin}${boundsNote([...cases, ...overall])}${better}`,
    ...(options.more ? [options.more] : []),
  ]
  const lines: DifferenceLine[] = [...sorted, ...overall]
  const drawing = { title, notes, lines, unit, what: `${metric}, ${minus}` }
  const text = (look: TextLook) =>
    page(title, notes, lines.length ? differencesInText(drawing, look) : ['No cases.'], look)
  return new Chart<ForestRow>({
    kind: 'forest',
    title,
    notes,
    rows: cases.map(({ name, role: _, reason, ...row }) => ({
      case: name,
      ...row,
      ...(reason ? { reason } : {}),
    })),
    spec: lines.length ? drawDifferences(drawing) : nothing(title, notes, 'No cases.'),
    text,
  })
}
