/**
 * Lanes: a name, marks on a scale that all rows share, and what they say in words beside them.
 *
 * Where a line has no room for all three, the words stand below the marks: a number is never cut.
 */
import { pad, textWidth, tone } from '../../display.ts'
import { broken, labels } from './names.ts'
import { axisLines, type TextLook, type TextScale } from './plot.ts'

export type Lane = {
  /** Empty for a further line of the row above. */
  name: string
  /** The marks; null where there is nothing to draw, and what is said takes their place. */
  drawn: ((scale: TextScale) => string) | null
  said: string
  /** What is said stands below the marks at any width. */
  below?: boolean
  /** `main` has its name in bold, `quiet` is grey throughout. */
  role?: 'main' | 'plain' | 'quiet'
}

type Axis = {
  low: number
  high: number
  ticks: number[]
  /** A tick in words; its unit, behind a space, is left out. */
  say: (value: number) => string
  /** Columns of the widest drawing. */
  most: number
  /** An odd number of columns has a middle, where zero stands. */
  odd?: boolean
}

const LEAST = 9

export function lanes(rows: readonly Lane[], axis: Axis, look: TextLook): string[] {
  const width = look.width ?? 100
  const named = rows.map((row) => row.name).filter(Boolean)
  const longest = Math.max(...[...labels(named).values()].map(textWidth))
  const nameWidth = Math.min(longest, Math.max(10, Math.floor(width * 0.3)))
  const names = labels(named, nameWidth)
  const wide = width - nameWidth - 2
  const beside = Math.max(
    0,
    ...rows.map((row) => (row.drawn && !row.below ? textWidth(row.said) : 0)),
  )
  const say = (value: number) => axis.say(value).replace(/ .*$/, '')
  const [first, last] = [axis.ticks[0], axis.ticks.at(-1)].map((x) => say(x ?? 0).length)
  const narrow = wide - 2 - beside < Math.max(LEAST, (first ?? 0) + (last ?? 0) + 1)
  const room = Math.min(axis.most, narrow ? wide : wide - 2 - beside)
  const scale = { low: axis.low, high: axis.high, cells: axis.odd && !(room % 2) ? room - 1 : room }
  const [ticks, rule] = axisLines(axis.ticks, scale, say, look)
  const blank = ' '.repeat(nameWidth + 2)
  const body = rows.flatMap(({ name, drawn, said, below = narrow, role = 'plain' }) => {
    const label = pad(names.get(name) ?? '', nameWidth)
    const start = `${role === 'main' ? tone(label, 'strong', look) : label}  `
    const soft = (text: string) => (role === 'quiet' ? tone(text, 'quiet', look) : text)
    const words = below || !drawn ? broken(said, wide) : [said]
    if (!drawn) return words.map((text, i) => (i ? blank : start) + soft(text))
    const marks = drawn(scale)
    if (!below) return [start + soft(`${marks}  ${said}`)]
    return [start + soft(marks), ...words.map((text) => blank + soft(text))]
  })
  return [blank + ticks, blank + tone(rule, 'quiet', look), ...body]
}
