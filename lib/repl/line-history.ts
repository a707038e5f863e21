/**
 * What was typed in earlier sessions. One JSON string per entry and line, so that an entry of many
 * lines stays one entry, and two sessions that append at once lose nothing.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { printable } from '../errors.ts'
import { makeFolder, replaceFile } from '../files.ts'

export type History = {
  /** Entries, newest first. */
  entries: string[]
  /** Keep an entry, unless it repeats the newest one. */
  add(entry: string): void
}

const KEPT = 1000

/**
 * Where history is kept unless told otherwise: `TOUCHSTONE_HISTORY`, else under the user's state
 * folder.
 */
export function defaultHistoryPath(): string {
  const state = process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state')
  return process.env['TOUCHSTONE_HISTORY'] || join(state, 'touchstone', 'history')
}

/**
 * Read a history file and keep adding to it. A folder that cannot be written to costs the history,
 * not the session.
 *
 * @param path file of JSON strings, oldest first; null keeps history for this session only
 */
export function openHistory(path: string | null): History {
  let lines: string[] = []
  if (path) {
    try {
      lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
      if (lines.length > 2 * KEPT) {
        lines = lines.slice(-KEPT)
        replaceFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
      }
    } catch {
      // A first session has none.
    }
  }
  const entries = lines.slice(-KEPT).flatMap(entryOf).reverse()
  return {
    entries,
    add(entry) {
      if (entry.trim() === '' || entries[0] === entry) return
      entries.unshift(entry)
      if (!path) return
      try {
        makeFolder(dirname(path))
        // It may hold what a person pasted: for their eyes only.
        appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
      } catch {
        // Said in the description above.
      }
    },
  }
}

function entryOf(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line)
    // What a terminal would obey, or not show, is left out: a line must be what Enter would run.
    return typeof entry === 'string' && printable(entry) === entry ? [entry] : []
  } catch {
    return []
  }
}
