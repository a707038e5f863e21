/**
 * Slope: what became of every case from one configuration to another, while the cases are few
 * enough to follow.
 *
 * Beyond twenty cases lines pile up on a handful of levels, and a table of transitions takes over.
 */

import { onlyOptions } from '../arguments.ts'
import { count, foreign, pad, tone } from '../display.ts'
import type { Json, JsonObject } from '../json.ts'
import { Chart } from './chart.ts'
import { boundMarks, frame, lineLegend, nothing, offsetBy, tips, widest } from './draw/spec.ts'
import { BETTER, SAME, WORSE } from './draw/theme.ts'
import {
  BOUNDS_NOTE,
  capital,
  type Direction,
  TONES,
  TURNS,
  type Turn,
  turn,
} from './rows/notes.ts'
import { axis, SHARE_TICKS, say, sayBounds, sayDifference } from './rows/quantity.ts'
import { readRows, SHARE } from './rows/rows.ts'
import { type Lane, lanes } from './text/lanes.ts'
import { labels, short } from './text/names.ts'
import { boundsUnder, column, Line, page, type TextLook } from './text/plot.ts'
import { drawTransitions, transitionsInText } from './transition.ts'

export type SlopeRow = {
  case: string
  /** Share that passed under the first configuration, in [0, 1]. */
  a: number
  /** Share that passed under the second, in [0, 1]. */
  b: number
  /**
   * Where each of them could lie with the trials that were lost or not judged: all four, or none.
   * Drawn dotted.
   */
  aLow?: number
  aHigh?: number
  bLow?: number
  bHigh?: number
}

export type SlopeOptions = Direction & {
  /** Names of the two configurations. Defaults `A` and `B`. */
  a?: string
  b?: string
  /** What the shares are. Default `share that pass`. */
  metric?: string
  repeats?: number
  title?: string
}

/** Cases up to which lines can be followed. */
const FOLLOWED = 20
const WIDTH_PX = 220
const HEIGHT_PX = 260
const LABEL_PX = 14

/**
 * Slope chart for up to 20 cases, a transition table for more (then `kind` is `transition`).
 *
 * @throws TouchstoneError `chart_invalid` naming row and field, also for a case given twice
 * @example
 * const c = slope([{ case: 'x', a: 0.2, b: 0.8 }, { case: 'y', a: 1, b: 1 }], { a: 'naive', b: 'careful', metric: 'goal rate' })
 * c.notes[0] // '2 cases: 1 better, 0 worse, 1 the same under careful. Counts, not estimates: no interval.'
 * slope([{ case: 'x', a: 1, b: 4 }]) // throws chart_invalid
 */
export function slope(rows: readonly SlopeRow[], options: SlopeOptions = {}): Chart<SlopeRow> {
  onlyOptions(options, 'better more a b metric repeats title')
  const read = readRows(rows, (row): SlopeRow => {
    const name = row.text('case')
    row.once('case')
    const shares = { case: name, a: row.needed('a', SHARE), b: row.needed('b', SHARE) }
    const [a, b] = (['a', 'b'] as const).map((of) => row.interval(SHARE, [`${of}Low`, `${of}High`]))
    if (a?.low == null || b?.low == null) return shares
    return { ...shares, aLow: a.low, aHigh: a.high, bLow: b.low, bHigh: b.high } as SlopeRow
  })
  const [a, b] = [short(foreign(options.a ?? 'A'), 40), short(foreign(options.b ?? 'B'), 40)]
  const metric = short(foreign(options.metric ?? 'share that pass'), 60)
  const title = options.title ?? `${capital(metric)} of each case: ${a} to ${b}`
  const lower = options.better === 'lower'
  const turned = (way: Turn) => read.filter((row) => turn(row.a, row.b, lower) === way).length
  const [better, worse] = [turned('better'), turned('worse')]
  const each = options.repeats === undefined ? '' : `, ${count(options.repeats, 'repeat')} each`
  const followed = read.length <= FOLLOWED
  const open = read.filter((row) => row.aLow !== undefined).length
  const many = `Of ${count(open, 'case')} some trials were lost or not judged: what they could change is not drawn.`
  const notes = [
    `${count(read.length, 'case')}${each}: ${better} better, ${worse} worse, ${read.length - better - worse} the same under ${b}. Counts, not estimates: no interval.`,
    ...(lower ? ['Lower is better.'] : []),
    ...(open ? [followed ? BOUNDS_NOTE : many] : []),
    ...(options.more ? [options.more] : []),
  ]
  const empty = 'No cases.'
  const drawing = { title, notes, rows: read, a, b, metric, lower }
  const spec = followed ? drawn(drawing) : drawTransitions(drawing)
  const body = (look: TextLook) =>
    followed ? inText(drawing, look) : transitionsInText(drawing, look)
  return new Chart<SlopeRow>({
    kind: followed ? 'slope' : 'transition',
    title,
    notes,
    rows: read,
    spec: read.length ? spec : nothing(title, notes, empty),
    text: (look) => page(title, notes, read.length ? body(look) : [empty], look),
  })
}

export type Pairs = {
  title: string
  notes: string[]
  rows: SlopeRow[]
  a: string
  b: string
  metric: string
  /** Less of it is better. */
  lower: boolean
}

/** Names at the right end: those whose ends are too close to stand apart share a line. */
function endLabels(rows: SlopeRow[], names: Map<string, string>): { b: number; said: string }[] {
  const out: { b: number; names: string[] }[] = []
  for (const row of rows.toSorted((p, q) => q.b - p.b)) {
    const last = out.at(-1)
    const name = names.get(row.case) ?? ''
    if (last && (last.b - row.b) * HEIGHT_PX < LABEL_PX) last.names.push(name)
    else out.push({ b: row.b, names: [name] })
  }
  return out.map(({ b, names }) => {
    const shown: string[] = []
    for (const name of names)
      if (shown.length === 0 || [...shown, name].join(', ').length <= 56) shown.push(name)
    const more = names.length - shown.length
    return { b, said: `${shown.join(', ')}${more ? `, and ${more} more` : ''}` }
  })
}

function drawn({ title, notes, rows, a, b, metric, lower }: Pairs): JsonObject {
  const names = labels(
    rows.map((row) => row.case),
    28,
  )
  const sides =
    a === b
      ? [`${short(a, 10)} (first)`, `${short(b, 10)} (second)`]
      : [...labels([a, b], 20).values()]
  const groups = Map.groupBy(rows, (row) => `${row.a} ${row.b}`)
  const values = [...groups.values()].flatMap((group, pair) => {
    const cases = group.map((row) => names.get(row.case) ?? '')
    const first = group[0] as SlopeRow
    const shared = {
      pair,
      turn: turn(first.a, first.b, lower),
      n: group.length,
      cases: cases.join(', '),
    }
    return [
      { ...shared, side: sides[0] ?? '', share: first.a },
      { ...shared, side: sides[1] ?? '', share: first.b },
    ]
  })
  const most = Math.max(...values.map((value) => value.n))
  // Each case has a place of its own beside the ends, so that points and bounds stay to be seen.
  const aside = (i: number) => 10 + 6 * i
  const could = rows
    .filter((row) => row.aLow !== undefined)
    .flatMap(({ aLow = 0, aHigh = 0, bLow = 0, bHigh = 0 }, i) => [
      { side: sides[0] ?? '', boundLow: aLow, boundHigh: aHigh, aside: aside(i) },
      { side: sides[1] ?? '', boundLow: bLow, boundHigh: bHigh, aside: -aside(i) },
    ])
    .filter((one) => one.boundLow < one.boundHigh)
  const ends = endLabels(rows, names).map((end) => ({ ...end, side: sides[1] ?? '' }))
  const domain = TURNS.filter((kind) => values.some((value) => value.turn === kind))
  const colors = { better: BETTER, worse: WORSE, 'the same': SAME }
  const dashes = { better: [1, 0], worse: [6, 3], 'the same': [2, 2] }
  const legend = lineLegend([...domain], 420)
  const x: JsonObject = {
    field: 'side',
    type: 'nominal',
    scale: { domain: sides, type: 'point', padding: 0.12 },
    axis: {
      title: null,
      orient: 'top',
      labelAngle: 0,
      grid: false,
      labelFontWeight: 'bold',
      labelPadding: 12,
    },
  }
  const y: JsonObject = {
    field: 'share',
    type: 'quantitative',
    scale: { domain: [0, 1] },
    axis: axis(metric, 'share', SHARE_TICKS),
  }
  const kind = (range: Json[]): JsonObject => ({
    field: 'turn',
    type: 'nominal',
    scale: { domain, range },
    legend,
  })
  const color = kind(domain.map((one) => colors[one]))
  const strokeWidth: JsonObject = {
    field: 'n',
    type: 'quantitative',
    scale: { domain: [0, most], range: [0, Math.min(10, 2 * most)] },
    legend: null,
  }
  const tooltip = tips('cases', 'n', ['turn', 'under the second'])
  return frame(
    title,
    [...notes, ...(most > 1 ? ['Width of a line: cases that it stands for.'] : [])],
    {
      width: WIDTH_PX,
      height: HEIGHT_PX,
      data: { values },
      layer: [
        ...(could.length === 0
          ? []
          : boundMarks((field) => ({ ...y, field }), x, { xOffset: offsetBy('aside') }, 'y').map(
              (mark) => ({
                data: { values: could },
                ...mark,
              }),
            )),
        {
          mark: { type: 'line', strokeCap: 'butt' },
          encoding: {
            x,
            y,
            detail: { field: 'pair', type: 'nominal' },
            color,
            strokeDash: kind(domain.map((one) => dashes[one])),
            strokeWidth,
            tooltip,
          },
        },
        {
          mark: { type: 'point', filled: true, opacity: 1, size: 50 },
          encoding: { x, y, color, tooltip },
        },
        {
          data: { values: ends },
          mark: { type: 'text', style: 'label', align: 'left', baseline: 'middle', dx: 12 },
          encoding: { x, y: { ...y, field: 'b' }, text: { field: 'said', type: 'nominal' } },
        },
      ],
    },
    WIDTH_PX + widest(ends.map((end) => end.said)) + 60,
  )
}

function inText({ rows, a, b, lower }: Pairs, look: TextLook): string[] {
  const [from, to, line] = look.ascii ? ['o', '*', '-'] : ['○', '●', '─']
  const sorted = rows.toSorted((p, q) => q.b - q.a - (p.b - p.a))
  const body = sorted.map((row): Lane => {
    const change = row.a === row.b ? 'the same' : sayDifference(row.b - row.a, 'share')
    const shares = `${pad(say(row.a, 'share'), 4, 'right')} to ${pad(say(row.b, 'share'), 4, 'right')}`
    const as = TONES[turn(row.a, row.b, lower)]
    const { aLow = null, aHigh = null, bLow = null, bHigh = null } = row
    const could =
      aLow === null || aHigh === null || bLow === null || bHigh === null
        ? {}
        : { boundLow: bLow - aHigh, boundHigh: bHigh - aLow }
    return {
      name: row.case,
      drawn: (scale) => {
        const [start, end] = [column(row.a, scale), column(row.b, scale)]
        const drawn = new Line(scale.cells).fill(Math.min(start, end), Math.max(start, end), line)
        drawn.set(start, from).set(end, to)
        boundsUnder(drawn, { boundLow: aLow, boundHigh: aHigh }, scale, look)
        return `${boundsUnder(drawn, { boundLow: bLow, boundHigh: bHigh }, scale, look)}`
      },
      said: `${shares}  ${tone(change, as, look)}${sayBounds(could, 'share', true)}`,
    }
  })
  const axis = {
    low: 0,
    high: 1,
    ticks: SHARE_TICKS,
    say: (x: number) => say(x, 'share'),
    most: 51,
  }
  const key = [`${from} ${a}`, `${to} ${b}`].map((text) => tone(text, 'quiet', look))
  return [...lanes(body, axis, look), '', ...key]
}
