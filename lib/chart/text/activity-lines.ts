/** Activity in characters: a line of blocks for what each configuration did. */
import { tone } from '../../display.ts'
import {
  type Activity,
  type Counts,
  elapsed,
  MOST_TICKS,
  middleOf,
  type Panel,
  ticksOf,
} from '../rows/spans.ts'
import { broken } from './names.ts'
import { axisLines, column, Line, type TextLook } from './plot.ts'

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const ASCII_LEVELS = ['.', ':', '-', '=', '+', '*', '%', '#']
const LABEL = 11

/**
 * @param whole   the parts of the picture, by which heights and ticks are the same at every width
 * @param drawing the same in about so many parts
 */
export function activityText(
  whole: Activity,
  drawing: (parts: number) => Activity,
  look: TextLook,
): string[] {
  const width = look.width ?? 100
  const { stretches } = whole
  const most = Math.min(72, width - LABEL)
  const { bins, panels } = drawing(most - 2 * (stretches.length - 1))
  // A gap takes a column of its own.
  const columnOf = (i: number) => i + (bins[i]?.stretch ?? 0)
  const cells = bins.length + stretches.length - 1
  const levels = look.ascii ? ASCII_LEVELS : LEVELS
  const line = (mark: (i: number) => string) => {
    const made = new Line(cells)
    for (const [i, { stretch }] of bins.entries()) {
      made.set(columnOf(i), mark(i))
      if (bins[i + 1] && bins[i + 1]?.stretch !== stretch)
        made.set(columnOf(i) + 1, look.ascii ? ':' : '┊')
    }
    return made.toString()
  }
  const level = (value: number, full: number) =>
    value > 0
      ? (levels[Math.min(7, Math.max(0, Math.ceil((8 * value) / full - 1e-9) - 1))] ?? '')
      : ' '
  const highest = (of: (panel: Panel) => Iterable<number>) =>
    Math.max(...whole.panels.map(peak(of)))
  const full = highest(({ counts: { working, waiting } }) =>
    working.map((n, i) => n + (waiting[i] as number)),
  )
  const middles = (counts: Counts) => counts.took.map((list) => (list.length ? middleOf(list) : 0))
  const longest = highest(({ counts }) => middles(counts))
  const shortest = Math.min(
    longest / 8,
    ...whole.panels.flatMap(({ counts }) => middles(counts).filter((ms) => ms > 0)),
  )
  // As in the picture: a time that is twice as long stands so much higher, wherever it begins.
  const tookLevel = (ms: number) =>
    ms > 0 ? level(Math.log(ms / shortest) || 1e-9, Math.log(longest / shortest)) : ' '
  const ticks = ticksOf(stretches, MOST_TICKS).map(({ at, label }) => {
    const i = bins.findLastIndex((bin) => bin.at <= at + 1e-6)
    return { at: columnOf(Math.max(0, i)), label }
  })
  const named = new Map(ticks.map(({ at, label }) => [at, label]))
  const scale = { low: 0, high: cells - 1, cells }
  const [tickNames, rule] = axisLines(
    [...named.keys()],
    scale,
    (value) => named.get(column(value, scale)) ?? '',
    look,
  )
  const labelled = (label: string, text: string) => `${` ${label}`.padEnd(LABEL)}${text}`
  const body = panels.flatMap(({ name, said, counts }) => {
    const { working, waiting, errors } = counts
    const took = middles(counts)
    return [
      ...broken(`${name}: ${said}`, width),
      labelled(
        'at work',
        line((i) => level(working[i] as number, full)),
      ),
      ...(waiting.some((n) => n > 0)
        ? [
            labelled(
              'waiting',
              line((i) => level(waiting[i] as number, full)),
            ),
          ]
        : []),
      ...(errors.some((n) => n > 0)
        ? [
            labelled(
              'errors',
              line((i) => (errors[i] ? (errors[i] > 9 ? '+' : String(errors[i])) : ' ')),
            ),
          ]
        : []),
      ...(took.some((n) => n > 0)
        ? [
            labelled(
              'time taken',
              line((i) => tookLevel(took[i] as number)),
            ),
          ]
        : []),
    ]
  })
  const legend = [
    `Full height: ${Number(full.toPrecision(2))} at work${longest > 0 ? `; of time taken, the middle one, from ${elapsed(shortest)} to ${elapsed(longest)}, logarithmic` : ''}.`,
    panels.some(({ counts }) => counts.errors.some((n) => n > 0))
      ? ' Digit: that many errors, + for ten and more.'
      : '',
  ].join('')
  return [
    ' '.repeat(LABEL) + tickNames,
    ' '.repeat(LABEL) + tone(rule, 'quiet', look),
    ...body,
    '',
    ...broken(legend, width).map((text) => tone(text, 'quiet', look)),
  ]
}

function peak(of: (panel: Panel) => Iterable<number>): (panel: Panel) => number {
  return (panel) => {
    let most = 0
    for (const value of of(panel)) most = Math.max(most, value)
    return most
  }
}
