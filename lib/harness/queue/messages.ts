/**
 * What travels over a queue: one opaque text per message, since a server may store structured data
 * in another order than it was given.
 */
import * as zlib from 'node:zlib'

/** All runs that are going on: a job each, which nobody takes. */
export const RUNS = 'touchstone-runs'
/** Runs that came to their end: their workers may leave. */
export const ENDED = 'touchstone-ended'
/** The tasks of a run. */
export const tasksOf = (run: string) => `touchstone-${run}`
/** What workers say besides their results: who they are, and results that came too late. */
export const notesOf = (run: string) => `touchstone-${run}-notes`

/** A message is never longer than this when it is unpacked. */
const MOST_BYTES = 256 << 20

export function pack(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return zlib.zstdCompressSync(Buffer.from(text)).toString('base64')
}

/** The value of a message. @throws Error when it is none: whatever a server hands out is checked */
export function unpack(message: string): unknown {
  const bytes = zlib.zstdDecompressSync(Buffer.from(message, 'base64'), {
    maxOutputLength: MOST_BYTES,
  })
  return JSON.parse(bytes.toString('utf8'))
}

/** The id of an attempt's job. BullMQ takes no `:` in it. */
export function idOf({ key, attempt }: { key: string; attempt: number }): string {
  return `${Buffer.from(key).toString('base64url')}-${attempt}`
}

/** The attempt that an id names, or null. */
export function attemptIn(id: string): { key: string; attempt: number } | null {
  const [, name, number] = /^([A-Za-z0-9_-]+)-(\d+)$/.exec(id) ?? []
  if (name === undefined) return null
  return { key: Buffer.from(name, 'base64url').toString('utf8'), attempt: Number(number) }
}
