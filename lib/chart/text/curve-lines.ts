/** Curves in characters: each value as a mark, and where each curve reaches some shares. */
import { type Column, foreign, pad, table, textWidth, tone, wrap } from '../../display.ts'
import { capital } from '../rows/notes.ts'
import { say, type Unit } from '../rows/quantity.ts'
import { labels } from './names.ts'
import { axisLines, dotLine, niceTicks, padAll, type TextLook } from './plot.ts'

export type Curve = {
  name: string
  /** Finite; above zero on a logarithmic axis. */
  values: number[]
  /**
   * What the share is of: at least as many as there are values, more where some never came to one.
   */
  total: number
  /** Said behind the name, such as `n = 5`. */
  remark: string
}

/** Curves over one axis. */
export type Curves = {
  title: string
  notes: string[]
  curves: Curve[]
  quantity: string
  unit: Unit
  log: boolean
  what: string
}

/** The range of the axis, and its ticks. */
export function rangeOf({ curves, log }: Curves): { low: number; high: number; ticks: number[] } {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const { values } of curves) {
    for (const value of values) {
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  }
  if (high < low) [low, high] = [log ? 1 : 0, 10]
  if (!log) {
    const start = Math.min(0, low)
    const end = high > start ? high + (high - start) * 0.03 : start + 1
    const ticks = niceTicks(start, end)
    return { low: Math.min(start, ticks[0] ?? start), high: end, ticks }
  }
  // Room at both ends, so that the first and the last step do not lie on the edge.
  ;[low, high] = high / low < 4 ? [low / 1.5, high * 1.5] : [low / 1.15, high * 1.15]
  const powers = niceTicks(low, high, 5, true)
  if (high / low > 3000) return { low, high, ticks: powers }
  // Few decades: 1, 2 and 5 of each, else there would hardly be a label.
  const ticks: number[] = []
  for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++) {
    ticks.push(
      ...[1, 2, 5]
        .map((m) => Number((m * 10 ** e).toPrecision(6)))
        .filter((tick) => tick >= low && tick <= high),
    )
  }
  return { low, high, ticks: ticks.length > 1 ? ticks : niceTicks(low, high, 4) }
}

/** The value at which a curve reaches a share; null where it never does. */
function reaches(sorted: Float64Array, total: number, share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * total - 1e-9) - 1)] ?? null
}

export function curvesInText(drawing: Curves, look: TextLook): string[] {
  const { curves, unit, log } = drawing
  const width = look.width ?? 100
  const { low, high, ticks } = rangeOf(drawing)
  const nameWidth = Math.min(
    Math.max(10, Math.floor(width * 0.3)),
    Math.max(...curves.map((curve) => textWidth(curve.name))),
  )
  const names = labels(
    curves.map((curve) => curve.name),
    Math.max(8, nameWidth),
  )
  const first = Math.max(...[...names.values()].map(textWidth))
  const scale = { low, high, cells: Math.max(20, Math.min(72, width - first - 2)), log }
  const short = (value: number) => say(value, unit).replace(/ .*$/, '')
  const [tickNames, rule] = axisLines(ticks, scale, short, look)
  const blank = ' '.repeat(first + 2)
  const dots = curves.map(
    (curve) => `${pad(names.get(curve.name) ?? '', first)}  ${dotLine(curve.values, scale, look)}`,
  )
  const shares = [0, 0.5, 0.9, 1]
  const rows = curves.map((curve) => {
    const sorted = Float64Array.from(curve.values).sort()
    const at = (share: number) => {
      const value = reaches(sorted, curve.total, share)
      return value === null ? (curve.total ? 'never' : '-') : say(value, unit)
    }
    return [names.get(curve.name) ?? '', ...shares.map(at)]
  })
  const heads = ['', '>0%', '50%', '90%', '100%']
  const columns = heads.map((head, i): Column => ({ head, align: i ? 'right' : 'left' }))
  const wide = table(columns, rows, { ...look, width: 1000 }).split('\n')
  const fits = wide.every((line) => textWidth(line) <= width)
  const lines = fits
    ? withRemarks(wide, curves, names, width)
    : rows.map(([name, ...at], i) => {
        const said = at.map((value, k) => `${heads[k + 1]} ${value}`)
        return `${name}: ${[...said, curves[i]?.remark].join('; ')}`
      })
  const shownUnit = unit ? ` (${unit === 'share' ? '%' : foreign(unit, 20)})` : ''
  const axisNote = `Axis: ${drawing.quantity}${shownUnit}${log ? ', logarithmic' : ''}.`
  const soft = (text: string) => wrap(text, width).split('\n')
  return [
    blank + tickNames,
    blank + tone(rule, 'quiet', look),
    ...dots,
    ...soft(`${axisNote} A digit: that many values in one place, + for ten and more.`).map((line) =>
      tone(line, 'quiet', look),
    ),
    '',
    ...soft(`${capital(drawing.quantity)} at which the ${drawing.what} reaches`),
    ...lines,
  ]
}

/** Remarks behind the lines of a table where all of them fit, else below it. */
function withRemarks(
  lines: string[],
  curves: Curve[],
  names: Map<string, string>,
  width: number,
): string[] {
  const [head = '', ...rows] = lines
  const straight = padAll(rows).map((row, i) => `${row}  ${curves[i]?.remark ?? ''}`)
  if (straight.every((line) => textWidth(line) <= width)) return [head, ...straight]
  return [
    ...lines,
    '',
    ...curves.map((curve) => wrap(`${names.get(curve.name)}: ${curve.remark}`, width)),
  ]
}
