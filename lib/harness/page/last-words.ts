/** The last words of agents, short enough for a list of all trials. */
import type { Entry } from '../../log/index.ts'

/** Longest text of one trial, and of all together, in characters: the list is read at once. */
const MOST_EACH = 140
const MOST_IN_ALL = 1_200_000
/** Less than that says nothing: a list of so many trials does without. */
const LEAST = 24

/**
 * How many characters a list of so many trials has for each. 0: none.
 *
 * @example
 * lastWordsRoom(100) // 140
 * lastWordsRoom(10_790) // 111
 * lastWordsRoom(100_000) // 0
 */
export function lastWordsRoom(trials: number): number {
  const each = Math.min(MOST_EACH, Math.floor(MOST_IN_ALL / Math.max(1, trials)))
  return each < LEAST ? 0 : each
}

/**
 * What the agent said last, or the summary of its report, in one line.
 *
 * @param room in characters; a longer text ends in an ellipsis
 * @returns null where it said nothing
 */
export function lastWords(entries: readonly Entry[], room: number): string | null {
  for (const one of entries.toReversed()) {
    const said = one.kind === 'said' ? one.text : one.kind === 'report' ? one.summary : ''
    // What comes behind is never looked at: an answer may be a book.
    const text = said
      .slice(0, 8 * room)
      .replace(/\s+/g, ' ')
      .trim()
    if (text !== '') return text.length > room ? `${cutAt(text, room - 1)}…` : text
  }
  return null
}

/** The first characters, none of them in half. */
function cutAt(text: string, most: number): string {
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, most + 32))) {
    if (kept.length + segment.length > most) break
    kept += segment
  }
  return kept.trimEnd()
}
