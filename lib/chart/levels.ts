/** Levels: for each configuration, how far up the ladder of evidence its claimed effects came. */

import { onlyOptions } from '../arguments.ts'
import { count, cut, foreign, pad, textWidth, tone } from '../display.ts'
import type { JsonObject } from '../json.ts'
import { Chart } from './chart.ts'
import { band, frame, nothing, tips, widest } from './draw/spec.ts'
import { axis, SHARE_TICKS } from './rows/quantity.ts'
import { readRows } from './rows/rows.ts'
import { labels } from './text/names.ts'
import { page, type TextLook } from './text/plot.ts'

/** The levels of evidence and, below them, `none`: no effect was claimed. Lowest first. */
export const RUNGS = ['none', 'asserted', 'observed_confirmed', 'verified'] as const
export type Rung = (typeof RUNGS)[number]

export type LevelsRow = {
  configuration: string
  level: Rung
  /** Effects whose highest level this is: a whole number >= 0. */
  count: number
}

export type LevelsOptions = {
  /** What is counted. Default `effects`. */
  noun?: string
  title?: string
}

/**
 * Grey, orange, blue, dark blue: darker with each rung, so that the ladder also stands on a grey
 * print.
 */
const COLORS: Record<Rung, string> = {
  none: '#e9ecee',
  asserted: '#edb45f',
  observed_confirmed: '#559acb',
  verified: '#1c5d94',
}
const INK: Record<Rung, string> = {
  none: '#1f2428',
  asserted: '#1f2428',
  observed_confirmed: '#1f2428',
  verified: '#ffffff',
}
const BLOCKS: Record<Rung, [unicode: string, ascii: string]> = {
  none: ['·', '.'],
  asserted: ['░', '-'],
  observed_confirmed: ['▒', '+'],
  verified: ['█', '#'],
}

const WIDTH_PX = 420

type Ladder = { name: string; label: string; counts: Record<Rung, number>; total: number }

/**
 * Stacked ladder: one bar per configuration, as long as the whole, split by level; counts inside,
 * the total beside it.
 *
 * @param rows one per configuration and level; a level that is not there counts 0
 * @throws TouchstoneError `chart_invalid` naming row and field, also for a pair given twice
 * @example
 * levels([{ configuration: 'naive', level: 'asserted', count: 12 }, { configuration: 'naive', level: 'verified', count: 3 }]).kind // 'levels'
 * levels([{ configuration: 'naive', level: 'proven', count: 3 }]) // throws chart_invalid
 */
export function levels(rows: readonly LevelsRow[], options: LevelsOptions = {}): Chart<LevelsRow> {
  onlyOptions(options, 'noun title')
  const noun = foreign(options.noun ?? 'effects', 40)
  const read = readRows(rows, (row): LevelsRow => {
    const configuration = row.text('configuration')
    const level = row.oneOf('level', RUNGS) ?? row.fail('level', `one of ${RUNGS.join(', ')}`)
    row.once('configuration', 'level')
    return { configuration, level, count: row.count('count') }
  })
  const names = labels(read.map((row) => row.configuration))
  const ladders = [...names].map(([name, label]): Ladder => {
    const counts: Record<Rung, number> = {
      none: 0,
      asserted: 0,
      observed_confirmed: 0,
      verified: 0,
    }
    for (const row of read) if (row.configuration === name) counts[row.level] = row.count
    return { name, label, counts, total: RUNGS.reduce((sum, level) => sum + counts[level], 0) }
  })
  const title = options.title ?? `How far the evidence goes: ${noun} by level`
  const all = ladders.reduce((sum, ladder) => sum + ladder.total, 0)
  const notes = [
    `${all.toLocaleString('en-US')} ${noun} in ${count(ladders.length, 'configuration')}. Number: ${noun} at that level and no higher. Counts, not estimates: no interval.`,
  ]
  const empty = 'No configurations.'
  return new Chart<LevelsRow>({
    kind: 'levels',
    title,
    notes,
    rows: read,
    spec: ladders.length ? drawn(ladders, noun, title, notes) : nothing(title, notes, empty),
    text: (look) => page(title, notes, ladders.length ? inText(ladders, look) : [empty], look),
  })
}

function drawn(ladders: Ladder[], noun: string, title: string, notes: string[]): JsonObject {
  const values = ladders.flatMap(({ label, counts, total }) => {
    let from = 0
    return RUNGS.flatMap((level) => {
      const n = counts[level]
      if (n === 0) return []
      const start = from / total
      from += n
      const said = (n / total) * WIDTH_PX > String(n).length * 7 + 4 ? String(n) : ''
      return [
        {
          configuration: label,
          level,
          count: n,
          of: total,
          from: start,
          to: from / total,
          middle: (start + from / total) / 2,
          said,
        },
      ]
    })
  })
  // A part too small for its number has it beside the bar.
  const totals = ladders.map(({ label, total }) => {
    const small = values.filter((part) => part.configuration === label && part.said === '')
    const beside = small.map((part) => `${part.level} ${part.count}`).join(', ')
    const n = `n = ${total.toLocaleString('en-US')}${beside ? ` (${beside})` : ''}`
    return { configuration: label, said: total ? n : `undefined: no ${noun}` }
  })
  const y = band(
    'configuration',
    ladders.map((ladder) => ladder.label),
  )
  const x = (field: string): JsonObject => ({
    field,
    type: 'quantitative',
    scale: { domain: [0, 1], nice: false },
    axis: axis(`share of ${noun}`, 'share', SHARE_TICKS),
  })
  const color: JsonObject = {
    field: 'level',
    type: 'nominal',
    scale: { domain: [...RUNGS], range: RUNGS.map((level) => COLORS[level]) },
    legend: {
      title: null,
      symbolType: 'square',
      symbolStrokeWidth: 0,
      symbolSize: 140,
      direction: 'horizontal',
    },
  }
  const layer: JsonObject[] = [
    {
      data: { name: 'parts' },
      mark: { type: 'bar', height: 22, stroke: { expr: 'background' }, strokeWidth: 1.5 },
      encoding: {
        x: x('from'),
        x2: { field: 'to' },
        y,
        color,
        tooltip: tips('configuration', 'level', 'count', 'of'),
      },
    },
    ...RUNGS.map(
      (level): JsonObject => ({
        data: { name: 'parts' },
        transform: [{ filter: { field: 'level', equal: level } }],
        mark: {
          type: 'text',
          fontSize: 11,
          fontWeight: 'bold',
          baseline: 'middle',
          fill: INK[level],
        },
        encoding: { x: x('middle'), y, text: { field: 'said', type: 'nominal' } },
      }),
    ),
    {
      data: { name: 'totals' },
      mark: { type: 'text', style: 'label', align: 'left', baseline: 'middle', dx: 14 },
      encoding: { x: { value: 'width' }, y, text: { field: 'said', type: 'nominal' } },
    },
  ]
  const widthPx =
    widest(ladders.map((ladder) => ladder.label)) +
    WIDTH_PX +
    widest(totals.map((total) => total.said)) +
    20
  return frame(
    title,
    notes,
    { width: WIDTH_PX, height: { step: 32 }, datasets: { parts: values, totals }, layer },
    widthPx,
  )
}

/**
 * Parts of a whole as whole cells: largest remainders get the cells that rounding down leaves, and
 * no part that is there gets none.
 */
function cells(counts: number[], total: number, width: number): number[] {
  if (total === 0 || width === 0) return counts.map(() => 0)
  const exact = counts.map((n) => (n / total) * width)
  const out = exact.map((x, i) => ((counts[i] ?? 0) > 0 ? Math.max(1, Math.floor(x)) : 0))
  const sum = () => out.reduce((a, b) => a + b, 0)
  while (sum() !== width) {
    const sign = sum() < width ? 1 : -1
    let best = -1
    for (const [i, x] of exact.entries()) {
      if ((counts[i] ?? 0) === 0 || (sign < 0 && (out[i] ?? 0) <= 1)) continue
      const gain = (x - (out[i] ?? 0)) * sign
      if (best < 0 || gain > ((exact[best] ?? 0) - (out[best] ?? 0)) * sign) best = i
    }
    if (best < 0) break
    out[best] = (out[best] ?? 0) + sign
  }
  return out
}

function inText(ladders: Ladder[], look: TextLook): string[] {
  const width = look.width ?? 100
  // The names of the levels are spelled out below; over the numbers they may be short.
  const heads =
    width < 56 ? ['none', 'assd', 'obs', 'verif'] : ['none', 'asserted', 'observed', 'verified']
  const numbers = RUNGS.map((level, i) =>
    Math.max(
      heads[i]?.length ?? 0,
      ...ladders.map((ladder) => String(ladder.counts[level]).length),
    ),
  )
  const right = numbers.reduce((sum, n) => sum + n + 2, 0)
  const longest = Math.max(...ladders.map((ladder) => textWidth(ladder.label)))
  const nameWidth = Math.min(longest, Math.max(10, Math.floor(width * 0.3)))
  const room = Math.min(40, width - nameWidth - 2 - right)
  const barWidth = room < 6 ? 0 : room
  const names = labels(
    ladders.map((ladder) => ladder.name),
    nameWidth,
  )
  const glyph = (level: Rung) => BLOCKS[level][look.ascii ? 1 : 0]
  const key = tone(RUNGS.map((level) => `${glyph(level)} ${level}`).join(', '), 'quiet', look)
  if (room < 0) {
    const said = ({ counts }: Ladder) =>
      RUNGS.map((level) => `${counts[level]} ${level}`).join(', ')
    return ladders.map((ladder) => `${names.get(ladder.name)}: ${said(ladder)}`)
  }
  const head = heads.map((head, i) => pad(head, (numbers[i] ?? 0) + 2, 'right')).join('')
  const rows = ladders.map(({ name, counts, total }) => {
    const lengths = cells(
      RUNGS.map((level) => counts[level]),
      total,
      barWidth,
    )
    const bar = total
      ? RUNGS.map((level, i) => glyph(level).repeat(lengths[i] ?? 0)).join('')
      : barWidth
        ? cut('undefined: nothing to count', barWidth)
        : ''
    const said = RUNGS.map((level, i) =>
      pad(String(counts[level]), (numbers[i] ?? 0) + 2, 'right'),
    ).join('')
    return `${pad(names.get(name) ?? '', nameWidth)}  ${pad(bar, barWidth)}${said}`
  })
  return [`${' '.repeat(nameWidth + 2 + barWidth)}${tone(head, 'quiet', look)}`, ...rows, '', key]
}
