/** Append-only files of one JSON text per line, and what a crash leaves of them. */
import {
  closeSync,
  createReadStream,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { TouchstoneError } from '../errors.ts'
import { decode, type Json, parse } from '../json.ts'

const NEWLINE = 10

/**
 * A file that only grows. Each `append` is one write of whole lines; the disk is asked to keep them at most once per
 * `syncEveryMs`, and at the end.
 */
export class LineWriter {
  readonly path: string
  private readonly fd: number
  private readonly syncEveryMs: number
  private synced = performance.now()
  private dirty = false

  constructor(path: string, options: { syncEveryMs?: number } = {}) {
    this.path = path
    this.syncEveryMs = options.syncEveryMs ?? 1000
    cutTornTail(path)
    this.fd = openSync(path, 'a')
  }

  append(lines: string[]): void {
    if (lines.length === 0) return
    let bytes = Buffer.from(`${lines.join('\n')}\n`)
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.fd, bytes))
    this.dirty = true
    if (performance.now() - this.synced >= this.syncEveryMs) this.sync()
  }

  sync(): void {
    if (this.dirty) fdatasyncSync(this.fd)
    this.dirty = false
    this.synced = performance.now()
  }

  close(): void {
    this.sync()
    closeSync(this.fd)
  }
}

/** Cut what stands behind the last line feed: the rest of a line that a crash interrupted. Returns the bytes cut. */
export function cutTornTail(path: string): number {
  if (!existsSync(path)) return 0
  const size = statSync(path).size
  const end = wholeLength(path, size)
  if (end === size) return 0
  const fd = openSync(path, 'r+')
  try {
    ftruncateSync(fd, end)
  } finally {
    closeSync(fd)
  }
  return size - end
}

/** Bytes up to and including the last line feed. */
function wholeLength(path: string, size: number): number {
  const fd = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(65536)
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - chunk.length)
      const read = readSync(fd, chunk, 0, end - start, start)
      const at = chunk.subarray(0, read).lastIndexOf(NEWLINE)
      if (at >= 0) return start + at + 1
      end = start
    }
    return 0
  } finally {
    closeSync(fd)
  }
}

/**
 * Read whole lines as strict JSON, one at a time, in bounded memory. A torn last line is left out: nobody finished it.
 *
 * @throws TouchstoneError `file_unreadable`, or what `parse` throws, with file, line and column
 */
export async function* readLines(
  path: string,
): AsyncGenerator<{ value: Json; line: number; text: string }> {
  let rest: Buffer[] = []
  let line = 0
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
      let start = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
        const bytes = rest.length
          ? Buffer.concat([...rest, chunk.subarray(start, at)])
          : chunk.subarray(start, at)
        rest = []
        start = at + 1
        line++
        const text = decode(bytes, `${path}:${line}`)
        if (text.trim()) yield { value: parse(text, `${path}:${line}`), line, text }
      }
      if (start < chunk.length) rest.push(chunk.subarray(start))
    }
  } catch (cause) {
    if (cause instanceof TouchstoneError) throw cause
    throw new TouchstoneError(
      'file_unreadable',
      `expected a readable file, got ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`,
      {
        where: path,
        cause,
      },
    )
  }
}
