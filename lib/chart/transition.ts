/**
 * Transitions: for many cases, how many went from each level under one configuration to each level
 * under the other.
 */

import { type Column, count, foreign, table, textWidth, tone, wrap } from '../display.ts'
import type { Json, JsonObject } from '../json.ts'
import { frame } from './draw/spec.ts'
import { BETTER, SAME, WORSE } from './draw/theme.ts'
import { TONES, TURNS, turn } from './rows/notes.ts'
import { say } from './rows/quantity.ts'
import type { Pairs } from './slope.ts'
import type { TextLook } from './text/plot.ts'

/** Distinct shares up to which each has a row of its own. */
const MOST_LEVELS = 8

type Levels = { names: string[]; of: (share: number) => number }

/**
 * One level per share that occurs, or ranges when there are too many; 0 and 1 are levels of their
 * own in any case.
 */
function levelsOf(shares: number[]): Levels {
  const distinct = [...new Set(shares)].sort((a, b) => a - b)
  if (distinct.length <= MOST_LEVELS) {
    return {
      names: distinct.map((share) => say(share, 'share')),
      of: (share) => distinct.indexOf(share),
    }
  }
  const names = ['0%', '1-20%', '21-40%', '41-60%', '61-80%', '81-99%', '100%']
  return {
    names,
    of: (share) =>
      share === 0 ? 0 : share === 1 ? 6 : Math.min(5, Math.max(1, Math.ceil(share * 5 - 1e-9))),
  }
}

type Cell = { a: number; b: number; n: number }

function cellsOf(pairs: Pairs): { levels: Levels; cells: Cell[] } {
  const levels = levelsOf(pairs.rows.flatMap((row) => [row.a, row.b]))
  const counts = new Map<string, Cell>()
  for (const row of pairs.rows) {
    const [a, b] = [levels.of(row.a), levels.of(row.b)]
    const cell = counts.get(`${a} ${b}`) ?? { a, b, n: 0 }
    counts.set(`${a} ${b}`, { ...cell, n: cell.n + 1 })
  }
  return { levels, cells: [...counts.values()] }
}

export function drawTransitions(pairs: Pairs): JsonObject {
  const { levels, cells } = cellsOf(pairs)
  const most = Math.max(...cells.map((cell) => cell.n))
  const values = levels.names.flatMap((from, a) =>
    levels.names.map((to, b) => ({
      from,
      to,
      n: cells.find((cell) => cell.a === a && cell.b === b)?.n ?? 0,
      turn: turn(a, b, pairs.lower),
    })),
  )
  const names = levels.names as Json[]
  const x: JsonObject = {
    field: 'to',
    type: 'nominal',
    scale: { domain: names },
    axis: { title: foreign(`${pairs.metric} under ${pairs.b} (%)`), orient: 'top', labelAngle: 0 },
  }
  const y: JsonObject = {
    field: 'from',
    type: 'nominal',
    scale: { domain: names.toReversed() },
    axis: { title: foreign(`${pairs.metric} under ${pairs.a} (%)`) },
  }
  return frame(
    pairs.title,
    [...pairs.notes, 'Number: cases that went from the row to the column.'],
    {
      width: { step: 54 },
      height: { step: 30 },
      data: { values },
      encoding: { x, y },
      layer: [
        {
          mark: {
            type: 'rect',
            style: 'quiet',
            fillOpacity: 0.06,
            stroke: { expr: 'background' },
            strokeWidth: 2,
          },
        },
        {
          transform: [{ filter: 'datum.n > 0' }],
          mark: { type: 'rect', stroke: { expr: 'background' }, strokeWidth: 2 },
          encoding: {
            color: {
              field: 'turn',
              type: 'nominal',
              scale: { domain: [...TURNS], range: [BETTER, WORSE, SAME] },
              legend: { title: null, symbolType: 'square', symbolStrokeWidth: 0, symbolSize: 140 },
            },
            fillOpacity: {
              field: 'n',
              type: 'quantitative',
              scale: { domain: [0, most], range: [0.15, 0.6] },
              legend: null,
            },
          },
        },
        {
          transform: [{ filter: 'datum.n > 0' }],
          mark: {
            type: 'text',
            style: 'label',
            fontWeight: 'bold',
            fontSize: 12,
            baseline: 'middle',
          },
          encoding: { text: { field: 'n', type: 'quantitative' } },
        },
      ],
    },
  )
}

export function transitionsInText(pairs: Pairs, look: TextLook): string[] {
  const { levels, cells } = cellsOf(pairs)
  const columns: Column[] = [
    { head: '' },
    ...levels.names.map((head): Column => ({ head, align: 'right' })),
  ]
  const rows = levels.names
    .map((from, a) => [
      from,
      ...levels.names.map((_, b) => {
        const n = cells.find((cell) => cell.a === a && cell.b === b)?.n
        return n ? tone(String(n), TONES[turn(a, b, pairs.lower)], look) : look.ascii ? '.' : '·'
      }),
    ])
    .toReversed()
  const lines = table(columns, rows, look).split('\n')
  const width = look.width ?? 100
  if (lines.some((line) => textWidth(line) > width)) {
    return cells
      .toSorted((p, q) => q.a - p.a || p.b - q.b)
      .map(({ a, b, n }) => `${levels.names[a]} to ${levels.names[b]}: ${count(n, 'case')}`)
  }
  const what = `Number: cases; down: under ${pairs.a}, across: under ${pairs.b}. ${pairs.lower ? 'Left' : 'Right'} of the row's own level: better.`
  return [...lines, '', ...wrap(what, width).split('\n')]
}
