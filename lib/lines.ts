/**
 * Files of one JSON text per line (NDJSON): written by appending, read line by line in the memory
 * of one line.
 *
 * A line ends with a line feed. A line without one stands at the end of the file: a crash
 * interrupted its writer, or another program left the last line feed out. Readers are told
 * (`whole`) and decide.
 */
import { constants } from 'node:buffer'
import {
  closeSync,
  createReadStream,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { createGunzip } from 'node:zlib'
import { TouchstoneError } from './errors.ts'
import { unreadable } from './files.ts'
import { decode, type Json, parse, parseLine } from './json.ts'

const NEWLINE = 10
const CHUNK_BYTES = 1 << 18

/**
 * Longest line that is held. A small gzip file may unpack to a line without end, and no longer text
 * can be made.
 */
const MAX_LINE_BYTES: number = constants.MAX_STRING_LENGTH

/** One line of a file. */
export type Line = {
  /**
   * Without the line feed. At most `MAX_LINE_BYTES`; what a longer line holds behind them is left
   * out.
   */
  bytes: Uint8Array
  /** Number of the line, from 1. */
  line: number
  /** Where the next line begins, in bytes from the start of the (unpacked) file. */
  next: number
  /** The line ends with a line feed. */
  whole: boolean
}

/** A line as JSON. `sizeBytes` counts no line feed. */
export type JsonLine = { value: Json; line: number; text: string; next: number; sizeBytes: number }

/**
 * Cuts chunks into lines. Of a line longer than `mostBytes` that many bytes and one more are kept.
 */
export class Splitter {
  private parts: Uint8Array[] = []
  private held = 0
  private line = 0
  private next: number
  private readonly mostBytes: number

  constructor(from: number, mostBytes = MAX_LINE_BYTES) {
    this.next = from
    this.mostBytes = mostBytes
  }

  *push(chunk: Uint8Array): Generator<Line> {
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      this.hold(chunk.subarray(start, at))
      this.next += at + 1 - start
      start = at + 1
      yield this.take(true)
    }
    if (start < chunk.length) {
      this.hold(chunk.subarray(start))
      this.next += chunk.length - start
    }
  }

  *end(): Generator<Line> {
    if (this.held > 0) yield this.take(false)
  }

  private hold(part: Uint8Array): void {
    const kept = part.subarray(0, this.mostBytes + 1 - this.held)
    if (kept.length > 0) this.parts.push(kept)
    this.held += kept.length
  }

  private take(whole: boolean): Line {
    const { parts } = this
    const bytes = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
    this.parts = []
    this.held = 0
    return { bytes, line: ++this.line, next: this.next, whole }
  }
}

/**
 * The lines of a file as a stream; a file named `.gz` is unpacked. `bytes` are valid until the next
 * line is asked for.
 *
 * @param options `from`: byte at which a line begins, default 0; line numbers count from there.
 *   `signal` stops the reading
 * @throws TouchstoneError `file_unreadable`; the signal's reason
 */
export async function* streamLines(
  path: string,
  options: { from?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Line> {
  const { from = 0, signal } = options
  const raw = createReadStream(path, {
    highWaterMark: CHUNK_BYTES,
    ...(from > 0 && { start: from }),
    ...(signal && { signal }),
  })
  const stream = path.endsWith('.gz') ? raw.pipe(createGunzip()) : raw
  raw.on('error', (error) => {
    if (stream !== raw) stream.destroy(error)
  })
  const splitter = new Splitter(from)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) yield* splitter.push(chunk)
    yield* splitter.end()
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw unreadable(path, cause)
  } finally {
    raw.destroy()
  }
}

/** Like `streamLines`, at once and without unpacking. @throws TouchstoneError `file_unreadable` */
export function* linesOfFile(path: string, from = 0): Generator<Line> {
  const splitter = new Splitter(from)
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (cause) {
    throw unreadable(path, cause)
  }
  try {
    for (let at = from; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const length = read(fd, chunk, at, path)
      if (length === 0) break
      at += length
      yield* splitter.push(chunk.subarray(0, length))
    }
    yield* splitter.end()
  } finally {
    closeSync(fd)
  }
}

function read(fd: number, into: Buffer, at: number, path: string): number {
  try {
    return readSync(fd, into, 0, into.length, at)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** The lines of bytes that are in memory already. */
export function* linesIn(bytes: Uint8Array): Generator<Line> {
  const splitter = new Splitter(0)
  yield* splitter.push(bytes)
  yield* splitter.end()
}

/**
 * A line's text. @throws TouchstoneError `json_utf8`, or `file_unreadable` for a line that is too
 * long
 */
export function textOf({ bytes, line }: Pick<Line, 'bytes' | 'line'>, source: string): string {
  if (bytes.length > MAX_LINE_BYTES)
    throw new TouchstoneError(
      'file_unreadable',
      `expected lines of at most ${MAX_LINE_BYTES} bytes, got more`,
      { where: `${source}:${line}` },
    )
  return decode(bytes, `${source}:${line}`)
}

/**
 * Read lines as strict JSON. Empty lines are passed over, and so is a last line that nobody
 * finished.
 *
 * @param options `from`: byte at which a line begins, default 0
 * @throws TouchstoneError `file_unreadable`, or what `parse` throws, with file, line and column
 */
export async function* readLines(
  path: string,
  options: { from?: number; signal?: AbortSignal } = {},
): AsyncGenerator<JsonLine> {
  for await (const line of streamLines(path, options)) {
    const made = jsonOf(line, path)
    if (made) yield made
  }
}

/** Like `readLines`, at once. */
export function* readLinesSync(path: string, from = 0): Generator<JsonLine> {
  for (const line of linesOfFile(path, from)) {
    const made = jsonOf(line, path)
    if (made) yield made
  }
}

function jsonOf(line: Line, path: string): JsonLine | null {
  if (!line.whole) return null
  const text = textOf(line, path)
  if (text.trim() === '') return null
  const where = `${path}:${line.line}`
  const value = parseLine(text, where)
  return { value, line: line.line, text, next: line.next, sizeBytes: line.bytes.length }
}

/**
 * The JSON documents in bytes: one on any number of lines, or one per line where the first line is
 * a whole document and another line follows. Empty bytes hold none.
 *
 * @returns each with the number of its line, or null for one document alone
 * @throws TouchstoneError the codes of `parse`, and `file_unreadable` for a line that is too long
 */
export function* documentsIn(
  bytes: Uint8Array,
  source: string,
  passOver: (error: TouchstoneError, line: number) => boolean = () => false,
): Generator<{ value: Json; line: number | null }> {
  const texts = textsIn(bytes, source)
  const { value: first } = texts.next()
  if (!first) return
  const { value: second } = texts.next()
  if (!second || !isDocument(first.text)) return yield { value: parse(bytes, source), line: null }
  function* read({ text, line }: { text: string; line: number }) {
    let value: Json
    try {
      value = parse(text, `${source}:${line}`)
    } catch (error) {
      if (error instanceof TouchstoneError && passOver(error, line)) return
      throw error
    }
    yield { value, line }
  }
  yield* read(first)
  yield* read(second)
  for (const one of texts) yield* read(one)
}

function* textsIn(
  bytes: Uint8Array,
  source: string,
): Generator<{ text: string; line: number }, undefined> {
  for (const line of linesIn(bytes)) {
    const text = textOf(line, source)
    if (text.trim() !== '') yield { text, line: line.line }
  }
}

/** A text is a JSON document, or was meant to be one: its syntax is whole. */
export function isDocument(text: string): boolean {
  // What ends otherwise is no value: an export over many lines begins so.
  if (!/["}\]0-9el]/.test(text.trimEnd().at(-1) ?? '')) return false
  try {
    parse(text)
    return true
  } catch (error) {
    return (error as TouchstoneError).code !== 'json_syntax'
  }
}

/** Milliseconds between two requests to the disk to keep what was appended. */
const SYNC_EVERY_MS = 1000

/**
 * A file that only grows. Each `append` is one write of whole lines; the disk is asked to keep them
 * at most once per second, and at the end. What a crash left of an unfinished line is cut when the
 * file is opened.
 */
export class LineWriter {
  readonly path: string
  /** Bytes of the file. */
  sizeBytes: number
  private readonly fd: number
  private synced = performance.now()
  private dirty = false

  constructor(path: string) {
    this.path = path
    cutTornTail(path)
    this.fd = openSync(path, 'a')
    this.sizeBytes = fstatSync(this.fd).size
  }

  /** @returns where the lines stand, the last line feed apart */
  append(lines: string[]): { from: number; sizeBytes: number } {
    const from = this.sizeBytes
    if (lines.length === 0) return { from, sizeBytes: 0 }
    let bytes = Buffer.from(`${lines.join('\n')}\n`)
    this.sizeBytes += bytes.length
    const place = { from, sizeBytes: bytes.length - 1 }
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.fd, bytes))
    this.dirty = true
    if (performance.now() - this.synced >= SYNC_EVERY_MS) this.sync()
    return place
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

/** Cut the torn tail. Returns the bytes cut. */
export function cutTornTail(path: string): number {
  const { from, sizeBytes } = tornTail(path)
  if (sizeBytes === 0) return 0
  const fd = openSync(path, 'r+')
  try {
    ftruncateSync(fd, from)
  } finally {
    closeSync(fd)
  }
  return sizeBytes
}

/** What stands behind the last line feed: the rest of a line that a crash interrupted. */
export function tornTail(path: string): { from: number; sizeBytes: number } {
  if (!existsSync(path)) return { from: 0, sizeBytes: 0 }
  const size = statSync(path).size
  const from = wholeLength(path, size)
  return { from, sizeBytes: size - from }
}

/** Bytes up to and including the last line feed. */
function wholeLength(path: string, size: number): number {
  const fd = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(65536)
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - chunk.length)
      const length = readSync(fd, chunk, 0, end - start, start)
      const at = chunk.subarray(0, length).lastIndexOf(NEWLINE)
      if (at >= 0) return start + at + 1
      end = start
    }
    return 0
  } finally {
    closeSync(fd)
  }
}
