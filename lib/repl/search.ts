/**
 * Reverse search in what was typed before: Ctrl-R, as the shells have it.
 *
 * It knows no terminal: keys go in, and what the line then shows comes out.
 */
import type { Key } from 'node:readline'

/** What the line shows while it is searched. */
export type Shown = { prompt: string; line: string; cursor: number }

/**
 * What a key does: the search goes on; the entry that was found is taken, and the key then does
 * what it does on that line; or the line is again what it was.
 */
export type Answer = 'searching' | 'taken' | 'left'

export type Search = {
  press(text: string | undefined, key: Key): Answer
  /** Pasted text is searched for, up to its first line break. */
  paste(text: string): void
  shown(): Shown
  /** What is searched for. */
  query(): string
}

/**
 * Begin a search.
 *
 * @param history earlier entries, newest first
 * @param start   the line before the search
 * @param last    what the search before was for: Ctrl-R on an empty query takes it again
 */
export function searchHistory(
  history: readonly string[],
  start: { line: string; cursor: number },
  last = '',
): Search {
  let query = ''
  let failed = false
  // Place in the history; -1: the line before the search.
  let at = -1
  let found = { line: start.line, cursor: start.cursor }

  /** The next entry from a place on that holds the query, in a direction. */
  const seek = (from: number, step: 1 | -1) => {
    for (let i = from; i >= 0 && i < history.length; i += step) {
      const line = history[i] as string
      const cursor = line.lastIndexOf(query)
      // What is on the line already is no news.
      if (cursor < 0 || (i !== at && line === found.line && at >= 0)) continue
      at = i
      found = { line, cursor }
      failed = false
      return
    }
    failed = true
  }
  const again = () => {
    at = -1
    found = { line: start.line, cursor: start.cursor }
    failed = false
    if (query !== '') seek(0, 1)
  }
  const more = (text: string) => {
    query += text
    seek(Math.max(at, 0), 1)
  }

  return {
    press(text, key) {
      if (key.ctrl && (key.name === 'g' || key.name === 'c')) return 'left'
      if (key.ctrl && (key.name === 'r' || key.name === 's')) {
        if (query === '') more(last)
        else seek(key.name === 'r' ? at + 1 : at - 1, key.name === 'r' ? 1 : -1)
        return 'searching'
      }
      if (key.name === 'backspace' || (key.ctrl && key.name === 'h')) {
        query = [...query].slice(0, -1).join('')
        again()
        return 'searching'
      }
      const typed = !key.ctrl && !key.meta && text !== undefined && !/\p{Cc}/u.test(text)
      if (!typed || text === '') return 'taken'
      more(text)
      return 'searching'
    },
    paste(text) {
      more(text.split(/\r|\n/)[0]?.replaceAll('\t', ' ') ?? '')
    },
    shown: () => ({
      prompt: `(${failed ? 'failed ' : ''}reverse-i-search)\`${query}': `,
      ...found,
    }),
    query: () => query,
  }
}
