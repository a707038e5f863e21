/**
 * A run's folder: written as trials end, read back to the same rows.
 *
 * A trial's line in `trials.ndjson` is written last, so a line there means that everything else
 * about the trial is there too.
 */
import {
  appendFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Digest, digest } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import { makeFolder, readJson, unreadable, unwritable, writing } from '../files.ts'
import type { Json, JsonObject } from '../json.ts'
import { LineWriter } from '../lines.ts'
import type { Lock } from '../lock.ts'
import { redactedJson } from '../secrets.ts'
import { LineWindow } from '../window.ts'
import type { Place, Placed } from './cell.ts'
import type { Columns } from './columns.ts'
import type { Manifest, TrialRecord } from './records.ts'
import { LOCK, lock } from './run-lock.ts'

export const FILES = {
  manifest: 'manifest.json',
  trials: 'trials.ndjson',
  decisions: 'decisions.ndjson',
  transcripts: 'transcripts.ndjson',
  audit: 'audit.ndjson',
  servers: 'servers.ndjson',
  /** Of a run over a queue: who took part, and results that do not count. */
  workers: 'workers.ndjson',
  discarded: 'discarded.ndjson',
} as const

/** A provider's export as a trial left it: the text exactly as it was handed out. */
export type TrialExport = { server: string; provider: string; text: string }

/** What is kept of a trial beside its record. */
export type TrialParts = {
  decisions: readonly Json[] | readonly object[]
  /** The providers' exports, the first server's first. */
  audits: readonly TrialExport[]
  transcript: JsonObject
  /**
   * What real servers wrote to their standard error, and how they ended. It proves nothing, and no
   * digest names it.
   */
  logs?: readonly { server: string; text: string }[] | undefined
}

/**
 * Trials whose evidence may be in the folder before their records are. After a crash at most as
 * many are without a record.
 */
export const MOST_UNRECORDED = 256
const RECORD_EVERY_MS = 1000

/** What became of a trial: its record, the number of its line, and where its lines stand. */
export type Written = {
  record: TrialRecord
  line: number
  places: ReadonlyMap<Placed, Place>
}

/** Writes a run. One writer per folder: it holds the folder's lock until it is closed. */
export class RunWriter {
  readonly dir: string
  private readonly lock: Lock
  private readonly trials: LineWriter
  private readonly evidence: { decisions: LineWriter; transcripts: LineWriter; audit: LineWriter }
  /** Records of trials whose evidence is not known to be on the disk yet. */
  private unrecorded: string[] = []
  /** Who waits until these are written. */
  private waiting: (() => void)[] = []
  /** Bytes of the trial log once all records are written, and its lines. */
  private recorded: { sizeBytes: number; lines: number }
  private recordedAt = performance.now()
  private timer: NodeJS.Timeout | undefined
  private failed: { cause: unknown } | null = null

  private constructor(dir: string, lock: Lock, lines: number) {
    this.dir = dir
    this.lock = lock
    const open = (name: string) => writing(join(dir, name), () => new LineWriter(join(dir, name)))
    this.trials = open(FILES.trials)
    this.evidence = {
      decisions: open(FILES.decisions),
      transcripts: open(FILES.transcripts),
      audit: open(FILES.audit),
    }
    this.recorded = { sizeBytes: this.trials.sizeBytes, lines }
  }

  /**
   * Begin a run in a new or empty folder. @throws TouchstoneError `file_exists` when something is
   * there already, `file_unwritable`, `run_locked`
   */
  static async create(
    dir: string,
    manifest: Manifest,
    options: Parameters<typeof lock>[1] = {},
  ): Promise<RunWriter> {
    if (
      statSync(dir, { throwIfNoEntry: false })?.isDirectory() &&
      readdirSync(dir).some((name) => !LEFT_BEHIND.test(name))
    ) {
      throw new TouchstoneError(
        'file_exists',
        'expected a new or empty folder for the run, got one with files in it',
        { where: dir },
      )
    }
    try {
      makeFolder(dir)
    } catch (cause) {
      throw unwritable(dir, cause, 'a folder for the run')
    }
    const held = await lock(dir, options)
    try {
      writeManifest(dir, manifest)
      return new RunWriter(dir, held, 0)
    } catch (cause) {
      held.release()
      throw cause
    }
  }

  /**
   * Go on with a run that was made whole under the lock that is handed in.
   *
   * @param lines how many its trial log has
   */
  static reopen(dir: string, held: Lock, lines: number): RunWriter {
    return new RunWriter(dir, held, lines)
  }

  /**
   * @throws TouchstoneError `run_locked` when another process has taken the folder, since this one
   *   stood still for long
   */
  confirm(): void {
    this.guarded(() => {})
    this.throwFailure()
  }

  /**
   * Plan more trials: the manifest is written anew, in one step. @throws TouchstoneError
   * `file_unwritable`
   */
  replan(manifest: Manifest): void {
    this.flush()
    this.guarded(() => writeManifest(this.dir, manifest))
    this.throwFailure()
  }

  /**
   * Write a trial: its evidence (exports, transcript, decisions) and then its record, whose digests
   * are filled in here.
   *
   * A record is written only once the disk holds the evidence that it names. Records of one second
   * are written together; `close` writes what is left.
   *
   * @param recorded told once the disk holds the record
   * @throws TouchstoneError `file_unwritable`; nothing more is written after that
   */
  append(record: TrialRecord, parts: TrialParts, recorded?: () => void): Written {
    this.throwFailure()
    const { key, attempt } = record
    const lines = linesOf(record, parts)
    const places = new Map<Placed, Place>()
    this.guarded(() => {
      const { decisions, transcripts, audit } = this.evidence
      audit.append(lines.audit)
      places.set('transcripts', { ...transcripts.append([lines.transcript]) })
      if (parts.logs?.length) {
        const told = parts.logs.map((one) => `${redactedJson({ key, attempt, ...one })}\n`)
        appendFileSync(join(this.dir, FILES.servers), told.join(''))
      }
      if (lines.decisions.length) places.set('decisions', decisions.append(lines.decisions))
      const text = redactedJson(lines.record)
      this.unrecorded.push(text)
      if (recorded) this.waiting.push(recorded)
      const sizeBytes = Buffer.byteLength(text)
      places.set('trials', { from: this.recorded.sizeBytes, sizeBytes })
      this.recorded.sizeBytes += sizeBytes + 1
      this.recorded.lines++
      const waited = performance.now() - this.recordedAt
      if (waited >= RECORD_EVERY_MS || this.unrecorded.length >= MOST_UNRECORDED) this.record()
      else this.timer ??= setTimeout(this.recordInTime, RECORD_EVERY_MS - waited).unref()
    })
    this.throwFailure()
    return { record: lines.record, line: this.recorded.lines, places }
  }

  /** Add lines to a file that no record names. @throws TouchstoneError `file_unwritable` */
  note(file: 'workers' | 'discarded', lines: readonly JsonObject[]): void {
    this.throwFailure()
    const text = lines.map((line) => `${redactedJson(line)}\n`).join('')
    this.guarded(() => appendFileSync(join(this.dir, FILES[file]), text))
    this.throwFailure()
  }

  /**
   * Write what waits, so that the folder can be read while the run goes on. @throws TouchstoneError
   * `file_unwritable`
   */
  flush(): void {
    this.throwFailure()
    this.guarded(() => this.record())
    this.throwFailure()
  }

  /** Write the records whose evidence waits, after the disk has taken the evidence. */
  private record(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    for (const writer of Object.values(this.evidence)) writer.sync()
    this.trials.append(this.unrecorded)
    this.trials.sync()
    this.unrecorded = []
    this.recordedAt = performance.now()
    const told = this.waiting
    this.waiting = []
    for (const tell of told) tell()
  }

  private readonly recordInTime = () => {
    if (!this.failed) this.guarded(() => this.record())
  }

  /** Nothing is written into a folder that another process has taken. */
  private guarded(write: () => void): void {
    try {
      this.lock.confirm()
      write()
    } catch (cause) {
      this.failed ??= { cause }
    }
  }

  /** Write what waits, and give the folder back. Throws what could not be written. */
  close(): void {
    clearTimeout(this.timer)
    if (!this.failed) this.guarded(() => this.record())
    for (const writer of [...Object.values(this.evidence), this.trials]) {
      try {
        writer.close()
      } catch (cause) {
        this.failed ??= { cause }
      }
    }
    this.lock.release()
    this.throwFailure()
  }

  private throwFailure(): void {
    if (!this.failed) return
    const { cause } = this.failed
    if (cause instanceof TouchstoneError) throw cause
    throw unwritable(
      this.dir,
      cause,
      'a folder that can be written (what is there stays, and resume goes on from it)',
    )
  }
}

/** A trial as it is written: its record with the digests filled in, and its evidence as lines. */
export function linesOf(record: TrialRecord, parts: TrialParts) {
  const { key, attempt } = record
  const transcript = redactedJson(parts.transcript)
  const decisions = parts.decisions.map((decision) => JSON.stringify({ key, attempt, decision }))
  const audit = parts.audits.map((one) => JSON.stringify({ key, attempt, ...one }))
  const digests: TrialRecord['digests'] = {
    decisions: digestOfLines(decisions),
    audit: digestOfExports(parts.audits),
    transcript: digest(transcript),
  }
  return { record: { ...record, digests }, decisions, transcript, audit }
}

/** What a process leaves in a run's folder that ended before the manifest was there. */
const LEFT_BEHIND = /^(manifest\.json\.draft|run\.lock(\.[\w-]+)?)$/

/**
 * Under another name first: a folder with a manifest has a whole one. @throws TouchstoneError
 * `file_unwritable`
 */
function writeManifest(dir: string, manifest: Manifest): void {
  const draft = join(dir, `${FILES.manifest}.draft`)
  try {
    writeFileSync(draft, `${redactedJson(manifest, 2)}\n`)
    renameSync(draft, join(dir, FILES.manifest))
  } catch (cause) {
    throw unwritable(join(dir, FILES.manifest), cause)
  }
}

/** The digest over a trial's exports: of the one text, or of the texts' digests; null for none. */
export function digestOfExports(exports: readonly Pick<TrialExport, 'text'>[]): Digest | null {
  const digests = exports.map(({ text }) => digest(text))
  return digests.length > 1 ? digest(digests.join('\n')) : (digests[0] ?? null)
}

/** SHA-256 over lines as they stand in a file, each with its line feed. */
export function digestOfLines(lines: readonly string[]): Digest {
  return digest(lines.map((line) => `${line}\n`).join(''))
}

/** What a folder holds: its manifest, and the trials that count as columns. */
export type RunFolder = { dir: string; manifest: Manifest; columns: Columns; attempts: number }

/**
 * A record that was read, and its line in the trial log: its number from 1, and where it stands.
 */
export type ReadRecord = { record: TrialRecord; line: number; place: Place }

/** Lines after which readers let other work go on. */
export const BREATH_LINES = 1 << 12

/** Let other work go on. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * The records of a run's folder, in the order written. A torn last line, which a crash leaves, is
 * no record.
 *
 * @throws TouchstoneError `run_invalid` for a record of another shape, `run_damaged` for a line
 *   that is none, with file and line
 */
export async function eachRecord(dir: string, see: (read: ReadRecord) => void): Promise<void> {
  const { recordOfLine } = await import('./record-line.ts')
  const path = join(dir, FILES.trials)
  if (!existsSync(path)) return
  const window = new LineWindow(path)
  try {
    while (window.next() && window.whole) {
      const { line, place: from, sizeBytes } = window
      const where = () => `${path}:${line}`
      const record = recordOfLine(window.bytes, where)
      if (record) see({ record, line, place: { from, sizeBytes } })
      if (line % BREATH_LINES === 0) await breathe()
    }
  } finally {
    window.close()
  }
}

/**
 * Refuse a run's folder in which one of its files is a link, a pipe, a device or a folder: a pipe
 * keeps whoever reads it waiting without end, and a link leads out of the folder.
 *
 * @throws TouchstoneError `run_invalid`; `file_unreadable` for what is no folder, or a closed one
 */
export function requirePlainFiles(dir: string): void {
  for (const name of [...Object.values(FILES), LOCK]) {
    const where = join(dir, name)
    let found: ReturnType<typeof statSync>
    try {
      found = lstatSync(where, { throwIfNoEntry: false })
    } catch (cause) {
      throw unreadable(dir, cause, "a run's folder")
    }
    if (!found || found.isFile()) continue
    const got =
      (found.isSymbolicLink() && 'a link') ||
      (found.isFIFO() && 'a pipe') ||
      (found.isDirectory() ? 'a folder' : 'a device or socket')
    throw new TouchstoneError('run_invalid', `expected a plain file, got ${got}`, { where })
  }
}

/**
 * Every reader of a run's folder begins here.
 *
 * @throws TouchstoneError `run_unknown` when there is no run; `run_invalid`, `file_unreadable`
 */
export async function readManifest(dir: string): Promise<Manifest> {
  requirePlainFiles(dir)
  const path = join(dir, FILES.manifest)
  if (!existsSync(path))
    throw new TouchstoneError(
      'run_unknown',
      `expected a run's folder with ${FILES.manifest}, got none`,
      { where: dir },
    )
  const { requireManifest } = await import('./records.ts')
  return requireManifest(readJson(path), path)
}
