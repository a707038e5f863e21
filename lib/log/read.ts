/**
 * What a run's folder holds of single trials, read by the byte where it stands: a trial is in
 * memory while it is looked at.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { TouchstoneError } from '../errors.ts'
import { unreadable } from '../files.ts'
import { decode, type JsonObject, parseLine } from '../json.ts'
import type { Placed } from './cell.ts'
import type { Columns } from './columns.ts'
import { FILES } from './folder.ts'
import type { TrialRecord } from './records.ts'

const CHUNK_BYTES = 1 << 20
const LINE_FEED = 10

export class LogReader {
  private readonly dir: string
  private readonly columns: Columns
  private readonly held: ReadonlyMap<string, TrialRecord> | null

  /** @param held records that are in memory, in the place of the log's */
  constructor(dir: string, columns: Columns, held: readonly TrialRecord[] | null = null) {
    this.dir = dir
    this.columns = columns
    this.held = held && new Map(held.map((record) => [record.key, record]))
  }

  /**
   * The records of trials, each read when it is its turn. Levels and outcomes are those of the
   * columns, which may come from the evidence.
   *
   * @param keys default: all, in the order of the manifest
   * @throws TouchstoneError `run_invalid` when the log is no longer the one that was read
   */
  *records(keys: Iterable<string> = this.columns.keys()): Generator<TrialRecord> {
    const { columns } = this
    const file = new LineFile(join(this.dir, FILES.trials))
    try {
      for (const key of keys) {
        const known = this.held?.get(key) ?? columns.stray(key)
        const [line = known] = known ? [] : this.linesOf(key, 'trials', file)
        if (!line) throw gone(file.path, key)
        const record = { ...line } as TrialRecord
        record.levels = columns.levels(key) ?? record.levels
        record.outcome = columns.outcome(key) ?? record.outcome
        yield record
      }
    } finally {
      file.close()
    }
  }

  /** Lines of evidence of the attempts that count, trial by trial; none for one that left none. */
  *evidence(
    name: 'decisions' | 'transcripts',
    keys: Iterable<string> = this.columns.keys(),
  ): Generator<JsonObject[]> {
    const file = new LineFile(join(this.dir, FILES[name]))
    try {
      for (const key of keys) yield this.linesOf(key, name, file)
    } finally {
      file.close()
    }
  }

  /** The file and the number of the line at which a trial's evidence begins. */
  whereOf(key: string, name: 'decisions' | 'transcripts'): string {
    const path = join(this.dir, FILES[name])
    const end = this.columns.place(key, name)?.from ?? 0
    const file = new LineFile(path)
    let line = 1
    try {
      for (let from = 0; from < end; from += CHUNK_BYTES)
        for (const byte of file.read(from, Math.min(CHUNK_BYTES, end - from)))
          if (byte === LINE_FEED) line++
    } finally {
      file.close()
    }
    return `${path}:${line}`
  }

  private linesOf(key: string, name: Placed, file: LineFile): JsonObject[] {
    const place = this.columns.place(key, name)
    if (place === null) return []
    const attempt = this.columns.attempt(key)
    return decode(file.read(place.from, place.sizeBytes), file.path)
      .split('\n')
      .map((text) => {
        const line = parseLine(text, file.path) as JsonObject
        if (line['key'] !== key || line['attempt'] !== attempt) throw gone(file.path, key)
        return line
      })
  }
}

function gone(path: string, key: string): TouchstoneError {
  return new TouchstoneError(
    'run_invalid',
    `expected the lines of ${key} where they were when the run was read, got others: open the run again`,
    { where: path },
  )
}

/** A file that is open while its lines are read. */
export class LineFile {
  readonly path: string
  private fd: number | null = null

  constructor(path: string) {
    this.path = path
  }

  read(from: number, sizeBytes: number): Uint8Array {
    try {
      this.fd ??= openSync(this.path, 'r')
      const bytes = Buffer.allocUnsafe(sizeBytes)
      let at = 0
      while (at < sizeBytes) {
        const read = readSync(this.fd, bytes, at, sizeBytes - at, from + at)
        if (read === 0) break
        at += read
      }
      return bytes.subarray(0, at)
    } catch (cause) {
      throw unreadable(this.path, cause)
    }
  }

  close(): void {
    if (this.fd !== null) closeSync(this.fd)
    this.fd = null
  }
}
