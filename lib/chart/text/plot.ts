/**
 * A chart's axis in characters: a value becomes a column, and marks are set into a line of fixed
 * width.
 */
import { foreign, type Look, pad, textWidth } from '../../display.ts'
import { broken } from './names.ts'

export type TextLook = Look & {
  /** Only ASCII characters in what the chart itself draws. Names keep theirs. Default false. */
  ascii?: boolean
}

/** The characters that charts draw with, and what stands for them where only ASCII is safe. */
const UNICODE = {
  line: '─',
  left: '├',
  right: '┤',
  mean: '●',
  axis: '│',
  one: '•',
  zero: '┊',
  arrow: '→',
  full: '█',
  empty: '░',
  bounds: '┄',
}
const ASCII: typeof UNICODE = {
  line: '-',
  left: '[',
  right: ']',
  mean: 'o',
  axis: '|',
  one: '.',
  zero: ':',
  arrow: '>',
  full: '#',
  empty: '.',
  bounds: '.',
}

export function glyphs(look: TextLook): typeof UNICODE {
  return look.ascii ? ASCII : UNICODE
}

/** True where the environment says that a terminal shows ASCII only. */
export function asciiOnly(environment: Record<string, string | undefined>): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || ''
  return environment['TERM'] === 'dumb' || locale === 'C' || locale === 'POSIX'
}

export type TextScale = { low: number; high: number; cells: number; log?: boolean }

/** The column of a value, 0 to `cells - 1`. */
export function column(value: number, scale: TextScale): number {
  const at = (x: number) => (scale.log ? Math.log(x) : x)
  const span = at(scale.high) - at(scale.low)
  const share = span > 0 ? (at(value) - at(scale.low)) / span : 0.5
  return Math.min(scale.cells - 1, Math.max(0, Math.round(share * (scale.cells - 1))))
}

/** What trials that are lost could make of an interval, both ends or neither: `(┄├──●──┤┄┄)`. */
export type BoundEnds = { boundLow?: number | null; boundHigh?: number | null }

/** A line of `cells` columns, into which marks are set; a later mark covers an earlier one. */
export class Line {
  private readonly cells: string[]

  constructor(cells: number) {
    this.cells = new Array<string>(cells).fill(' ')
  }

  set(at: number, character: string): this {
    if (at >= 0 && at < this.cells.length) this.cells[at] = character
    return this
  }

  fill(from: number, to: number, character: string): this {
    for (let at = from; at <= to; at++) this.set(at, character)
    return this
  }

  /** Fill what is still blank; `blank`: the characters that count as that. */
  under(from: number, to: number, character: string, blank = ' '): this {
    for (let at = from; at <= to; at++)
      if (blank.includes(this.cells[at] ?? '?')) this.set(at, character)
    return this
  }

  /** Set a text so that its middle stands at a column, moved inwards where it would stick out. */
  write(text: string, middle: number): this {
    const start = Math.min(
      this.cells.length - text.length,
      Math.max(0, middle - Math.floor(text.length / 2)),
    )
    for (const [i, character] of [...text].entries()) this.set(start + i, character)
    return this
  }

  toString(): string {
    return this.cells.join('')
  }
}

/**
 * An interval with its value: `├───●──┤`. The value alone where there is no interval, a blank line
 * where there is neither.
 */
export function intervalLine(
  row: {
    value: number | null
    low: number | null
    high: number | null
    /** A second interval inside or about the first. */
    again?: { low: number; high: number } | null
  } & BoundEnds,
  scale: TextScale,
  look: TextLook,
  more: { zero?: number; mark?: string } = {},
): Line {
  const g = glyphs(look)
  const line = new Line(scale.cells)
  if (more.zero !== undefined) line.set(column(more.zero, scale), g.zero)
  if (row.low !== null && row.high !== null) {
    const [from, to] = [column(row.low, scale), column(row.high, scale)]
    line.fill(from, to, g.line).set(from, g.left).set(to, g.right)
  }
  if (row.again)
    line.fill(column(row.again.low, scale), column(row.again.high, scale), look.ascii ? '=' : '━')
  if (row.value !== null) line.set(column(row.value, scale), more.mark ?? g.mean)
  return boundsUnder(line, row, scale, look)
}

/** Bounds in brackets, where nothing else stands but what they may be set `over`. */
export function boundsUnder(
  line: Line,
  { boundLow: low, boundHigh: high }: BoundEnds,
  scale: TextScale,
  look: TextLook,
  over = '',
): Line {
  if (low == null || high == null) return line
  const [from, to] = [column(low, scale), column(high, scale)]
  const g = glyphs(look)
  const blank = ` ${over}`
  line.under(from, from, '(', blank).under(to, to, ')', blank)
  return line.under(from, to, g.bounds)
}

/**
 * Values as marks: one value in a column is a dot, several are their number, ten and more a `+`.
 */
export function dotLine(values: readonly number[], scale: TextScale, look: TextLook): Line {
  const counts = new Map<number, number>()
  for (const value of values) {
    const at = column(value, scale)
    counts.set(at, (counts.get(at) ?? 0) + 1)
  }
  const line = new Line(scale.cells)
  for (const [at, n] of counts) line.set(at, n === 1 ? glyphs(look).one : n > 9 ? '+' : String(n))
  return line
}

/** The axis: a rule with a mark at each tick, and a line of tick labels above it. */
export function axisLines(
  ticks: number[],
  scale: TextScale,
  say: (value: number) => string,
  look: TextLook,
): [string, string] {
  const g = glyphs(look)
  const names = new Line(scale.cells)
  const rule = new Line(scale.cells).fill(0, scale.cells - 1, g.line)
  const taken: [from: number, to: number][] = []
  // Ends first: where labels would touch, those between are left out, and their ticks stay.
  const [first, ...rest] = ticks
  const last = rest.pop()
  for (const tick of [first, last, ...rest]) {
    if (tick === undefined) continue
    const [text, at] = [say(tick), column(tick, scale)]
    rule.set(at, look.ascii ? '+' : '┼')
    const from = Math.min(scale.cells - text.length, Math.max(0, at - Math.floor(text.length / 2)))
    const to = from + text.length
    if (from < 0 || taken.some((other) => from <= other[1] && to >= other[0])) continue
    names.write(text, at)
    taken.push([from, to])
  }
  return [names.toString(), rule.toString()]
}

/**
 * About `n` round numbers that cover a range: steps of 1, 2 or 5 times a power of ten; powers of
 * ten on a log axis.
 */
export function niceTicks(low: number, high: number, n = 5, log = false): number[] {
  if (log) {
    const out: number[] = []
    for (let e = Math.floor(Math.log10(low)); 10 ** e <= high * 1.0000001; e++)
      if (10 ** e >= low * 0.9999999) out.push(10 ** e)
    return out.length > 1 ? out : [low, high]
  }
  if (!(high > low)) return [low]
  const rough = (high - low) / n
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.9999999) ?? 10 * power
  const out: number[] = []
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    out.push(Number((i * step).toPrecision(12)))
  return out
}

/**
 * A title and its notes over the body of a text chart, no line wider than the look. Lines of the
 * body may carry colours; one that is too wide is broken and loses them.
 */
export function page(title: string, notes: string[], body: string[], look: TextLook): string {
  const head = [foreign(title, 300), ...notes.map((note) => foreign(note, 600))]
  return [...head, '', ...body.map((line) => line.trimEnd())]
    .flatMap((line) => broken(line, look.width ?? 100))
    .join('\n')
}

/** Pad every text to the widest, so that a column stands straight. */
export function padAll(texts: string[], align: 'left' | 'right' = 'left'): string[] {
  const width = Math.max(0, ...texts.map(textWidth))
  return texts.map((text) => pad(text, width, align))
}
