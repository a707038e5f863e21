/** When attempts waited for a provider's limit, as their transcripts say. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decode, parseLine } from '../json.ts'
import { LineWindow } from '../window.ts'
import { groups } from './evidence.ts'
import { FILES } from './folder.ts'
import { requireTranscript } from './transcript.ts'

/** From and to, in ms from the start of the trial, in order and apart. */
export type Waits = readonly (readonly [from: number, to: number])[]

/** How the times of a model's call begin, and a wait. Inside a text, quotes are escaped. */
const MODEL = Buffer.from('{"what":"model","from_ms":')
const WAITED = Buffer.from('"waited_ms":')

/**
 * The waits of each attempt whose model calls were timed: none of an agent of one's own, which
 * waits unseen. A wait stands at the beginning of the call in which it was.
 *
 * @returns by `nameOfAttempt`
 * @throws TouchstoneError `file_unreadable`, `run_damaged`
 */
export function waitsIn(dir: string): Map<string, Waits> {
  const found = new Map<string, Waits>()
  const path = join(dir, FILES.transcripts)
  if (!existsSync(path)) return found
  const window = new LineWindow(path)
  try {
    for (const { key, bytes, line, ...more } of groups(window)) {
      if (key === null || !('attempt' in more) || bytes.indexOf(MODEL) < 0) continue
      const name = nameOfAttempt(key, more.attempt)
      // Few wait: the others are not parsed.
      if (bytes.indexOf(WAITED) < 0) found.set(name, [])
      else found.set(name, waitsOf(decode(bytes, path), `${path}:${line}`))
    }
  } finally {
    window.close()
  }
  return found
}

export function nameOfAttempt(key: string, attempt: number): string {
  return `${attempt}|${key}`
}

function waitsOf(text: string, where: string): Waits {
  const [first = ''] = text.split('\n')
  const { times = [] } = requireTranscript(parseLine(first, where), () => where)
  let last = 0
  return times
    .filter(({ what, waited_ms: waited }) => what !== 'call' && waited !== undefined)
    .sort((a, b) => a.from_ms - b.from_ms)
    .map(({ from_ms: from, waited_ms: waited = 0 }): [number, number] => {
      const begin = Math.max(last, from)
      last = Math.max(begin, from + waited)
      return [begin, last]
    })
}
