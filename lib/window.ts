/**
 * A file read through one buffer, line by line. Lines that belong together lie together in it, so
 * that they are looked at as bytes and nothing of them is copied.
 */
import { constants } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { TouchstoneError } from './errors.ts'
import { unreadable } from './files.ts'

const NEWLINE = 10
const CHUNK_BYTES = 1 << 20
/** The longest text that V8 makes. */
const MOST_BYTES: number = constants.MAX_STRING_LENGTH

/**
 * Reads a plain file. `next()` goes to the next line; what the members say is about that line, and
 * `bytes` and `stretch()` are valid until `next()` is called again.
 */
export class LineWindow {
  readonly path: string
  /** The number of the line, from 1. */
  line = 0
  /** The line ends with a line feed. */
  whole = false
  private readonly fd: number
  private readonly seen: ((bytes: Uint8Array) => void) | null
  private buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  /** The place in the file of the buffer's first byte. */
  private origin = 0
  private from = 0
  private to = 0
  /** Where the next line begins. */
  private at = 0
  private end = 0
  private kept: number | null = null
  private keptLine = 0

  /**
   * @param seen told of all bytes of the file, in their order
   * @throws TouchstoneError `file_unreadable`
   */
  constructor(path: string, seen: ((bytes: Uint8Array) => void) | null = null) {
    this.path = path
    this.seen = seen
    try {
      this.fd = openSync(path, 'r')
    } catch (cause) {
      throw unreadable(path, cause)
    }
    this.buffer[0] = NEWLINE
  }

  /**
   * @returns false at the end of the file
   * @throws TouchstoneError `file_unreadable`, also for a line that is longer than a text can be
   */
  next(): boolean {
    this.from = this.at
    // A line feed stands behind the last byte that was read, so that a search ends there.
    let found = this.buffer.indexOf(NEWLINE, this.from)
    while (found === this.end) {
      const searched = found - this.from
      if (!this.fill()) {
        if (this.from === this.end) return false
        found = this.end
        break
      }
      found = this.buffer.indexOf(NEWLINE, this.from + searched)
    }
    this.whole = found < this.end
    this.to = found
    this.at = this.whole ? found + 1 : found
    this.line++
    return true
  }

  /** The line without its line feed. */
  get bytes(): Buffer {
    return this.buffer.subarray(this.from, this.to)
  }

  get sizeBytes(): number {
    return this.to - this.from
  }

  /** Where the line begins, in bytes from the start of the file. */
  get place(): number {
    return this.origin + this.from
  }

  /** True when the line begins with these bytes. */
  startsWith(head: Uint8Array): boolean {
    if (this.to - this.from < head.length) return false
    return this.buffer.compare(head, 0, head.length, this.from, this.from + head.length) === 0
  }

  /** Keep the lines from this one on, until `keep` is called again. */
  keep(): void {
    this.kept = this.from
    this.keptLine = this.line
  }

  /**
   * The lines that are kept, as they stand in the file.
   *
   * @param through true: the current line among them; false: only those before it
   */
  stretch(through: boolean): { bytes: Buffer; from: number; line: number } {
    const from = this.kept ?? this.from
    const bytes = this.buffer.subarray(from, through ? this.at : this.from)
    return { bytes, from: this.origin + from, line: this.keptLine }
  }

  close(): void {
    closeSync(this.fd)
  }

  /** Drop the lines that are not kept, and read on. False at the end of the file. */
  private fill(): boolean {
    const first = this.kept ?? this.from
    this.buffer.copyWithin(0, first, this.end)
    this.origin += first
    for (const name of ['from', 'to', 'at', 'end'] as const) this[name] -= first
    if (this.kept !== null) this.kept = 0
    if (this.end + 1 >= this.buffer.length) {
      if (this.buffer.length > MOST_BYTES)
        throw new TouchstoneError(
          'file_unreadable',
          `expected lines of at most ${MOST_BYTES} bytes, got more`,
          { where: `${this.path}:${this.line + 1}` },
        )
      const grown = Buffer.allocUnsafe(2 * this.buffer.length)
      this.buffer.copy(grown, 0, 0, this.end)
      this.buffer = grown
    }
    const read = this.read(this.buffer.length - 1 - this.end)
    this.seen?.(this.buffer.subarray(this.end, this.end + read))
    this.end += read
    this.buffer[this.end] = NEWLINE
    return read > 0
  }

  private read(sizeBytes: number): number {
    try {
      return readSync(this.fd, this.buffer, this.end, sizeBytes, this.origin + this.end)
    } catch (cause) {
      throw unreadable(this.path, cause)
    }
  }
}
