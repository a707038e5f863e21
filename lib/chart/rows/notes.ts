/** The lines below a title: n, target and interval, said the same way under every chart. */
import { count } from '../../display.ts'

export type Counted = {
  /** Cases that the rows are over. */
  cases?: number
  /** Trials of each case and configuration. */
  repeats?: number
}

export type Target = {
  /** What an interval speaks about. Default `cases like these`. */
  target?: string
  /** Confidence of the intervals, in (0, 1). Default 0.95. */
  level?: number
}

export type Direction = {
  /** Whether more of it is better. Default `higher`: colours, signs and words turn with it. */
  better?: 'higher' | 'lower'
  /** A sentence behind the notes, such as how to see what is left out. */
  more?: string
}

/** `24 cases, 5 repeats each`, as far as it is known. */
export function counted({ cases, repeats }: Counted): string {
  const parts = [
    ...(cases === undefined ? [] : [count(cases, 'case')]),
    ...(repeats === undefined ? [] : [`${count(repeats, 'repeat')} each`]),
  ]
  return parts.join(', ')
}

/** `Bar: 95% interval for cases like these.` */
export function intervalNote(mark: string, { target, level }: Target): string {
  return `${mark}: ${Number(((level ?? 0.95) * 100).toFixed(2))}% interval for ${target ?? 'cases like these'}.`
}

/** What is drawn where not every trial is known. */
export const BOUNDS_NOTE =
  'Dotted, "of all": the same over all trials, from each one that was lost or not judged counted against to each counted for.'

/** A metric as the first word of a title. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

export const TURNS = ['better', 'worse', 'the same'] as const
export type Turn = (typeof TURNS)[number]
export const TONES = { better: 'good', worse: 'bad', 'the same': 'quiet' } as const

/** What going from one value to another is. `lower`: less of it is better. */
export function turn(from: number, to: number, lower: boolean): Turn {
  if (from === to) return 'the same'
  return to > from !== lower ? 'better' : 'worse'
}
