/** The lines below a title: n, target and interval, said the same way under every chart. */
import { count } from '../display.ts'

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

/** A metric as the first word of a title. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
