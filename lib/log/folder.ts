/**
 * A run's folder: written as trials end, read back to the same rows.
 *
 * A trial's line in `trials.ndjson` is written last, so a line there means that everything else about the trial is there too.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  writeFile,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Digest, digest } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import { readJson, unwritable } from '../files.ts'
import type { Json, JsonObject } from '../json.ts'
import { LineWriter, readLines } from '../lines.ts'
import { compactor } from './compact.ts'
import { type Manifest, requireManifest } from './manifest.ts'
import { lock } from './run-lock.ts'
import { requireTrialRecord, type TrialRecord } from './trial.ts'

export const FILES = {
  manifest: 'manifest.json',
  trials: 'trials.ndjson',
  decisions: 'decisions.ndjson',
  transcripts: 'transcripts.ndjson',
  audit: 'audit',
} as const

/** What is kept of a trial beside its record. */
export type TrialParts = {
  decisions: readonly Json[] | readonly object[]
  /** The provider's exports, the first server's first. */
  audits: readonly { server: string; text: string }[]
  transcript: JsonObject
}

/** Where the audit export of a trial stands in the folder. Attempts after the first have files of their own. */
export function auditPath(
  record: Pick<TrialRecord, 'case' | 'configuration' | 'trial' | 'attempt'>,
  server: string | null = null,
): string {
  const attempt = record.attempt === 0 ? '' : `.attempt-${record.attempt}`
  return join(
    FILES.audit,
    record.case,
    record.configuration,
    `${record.trial}${attempt}${server === null ? '' : `.${server}`}.json`,
  )
}

/** Trials that may be on their way to the disk. */
const MOST_WAITING = 32

/** Writes a run. One writer per folder: it holds the folder's lock until it is closed. */
export class RunWriter {
  readonly dir: string
  private readonly unlock: () => void
  private readonly trials: LineWriter
  private readonly decisions: LineWriter
  private readonly transcripts: LineWriter
  private readonly made = new Set<string>()
  private readonly compact = compactor()
  /** Resolves when every trial handed over so far is in the log. */
  private written: Promise<unknown> = Promise.resolve()
  private waiting = 0
  private failed: { cause: unknown } | null = null

  private constructor(dir: string, unlock: () => void) {
    this.dir = dir
    this.unlock = unlock
    this.trials = new LineWriter(join(dir, FILES.trials))
    this.decisions = new LineWriter(join(dir, FILES.decisions))
    this.transcripts = new LineWriter(join(dir, FILES.transcripts))
  }

  /** Begin a run in a new or empty folder. @throws TouchstoneError `file_exists` when something is there already, `file_unwritable` */
  static create(dir: string, manifest: Manifest): RunWriter {
    if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() && readdirSync(dir).length > 0) {
      throw new TouchstoneError(
        'file_exists',
        'expected a new or empty folder for the run, got one with files in it',
        {
          where: dir,
        },
      )
    }
    try {
      mkdirSync(dir, { recursive: true })
    } catch (cause) {
      throw unwritable(dir, cause, 'a folder for the run')
    }
    const unlock = lock(dir)
    try {
      // Under another name first: a folder with a manifest has a whole one.
      const draft = join(dir, `${FILES.manifest}.draft`)
      writeFileSync(draft, `${JSON.stringify(manifest, null, 2)}\n`)
      renameSync(draft, join(dir, FILES.manifest))
      return new RunWriter(dir, unlock)
    } catch (cause) {
      unlock()
      throw cause
    }
  }

  /** Go on with a run that `recover` made whole under the lock that is handed in. */
  static reopen(dir: string, unlock: () => void): RunWriter {
    return new RunWriter(dir, unlock)
  }

  /**
   * Write a trial: exports, transcript, decisions, and then its record, whose digests are filled in here.
   *
   * The exports are files of their own and written in the background, so the trial is in the log a little later: `close` waits
   * for all, and when too many are on their way this does too. What could not be written is thrown by whichever comes next.
   */
  async append(record: TrialRecord, parts: TrialParts): Promise<TrialRecord> {
    this.throwFailure()
    const transcript = JSON.stringify(parts.transcript)
    const lines = parts.decisions.map((decision) =>
      JSON.stringify({ key: record.key, attempt: record.attempt, decision }),
    )
    const audits = parts.audits.map(({ text }) => digest(text))
    const whole: TrialRecord = {
      ...record,
      digests: {
        decisions: digestOfLines(lines),
        audit:
          audits.length === 0
            ? null
            : audits.length === 1
              ? (audits[0] as Digest)
              : digest(audits.join('\n')),
        transcript: digest(transcript),
      },
    }
    const line = JSON.stringify(whole)
    const files = parts.audits.map(({ server, text }, i) =>
      this.write(auditPath(record, i === 0 ? null : server), text),
    )
    this.waiting++
    this.written = Promise.all([this.written, ...files])
      .then(() => {
        this.waiting--
        if (this.failed) return
        this.transcripts.append([transcript])
        this.decisions.append(lines)
        this.trials.append([line])
      })
      .catch((cause: unknown) => {
        this.failed ??= { cause }
      })
    if (this.waiting > MOST_WAITING) await this.written
    return this.compact(whole)
  }

  private async write(path: string, text: string): Promise<void> {
    const full = join(this.dir, path)
    const folder = dirname(full)
    if (!this.made.has(folder)) {
      mkdirSync(folder, { recursive: true })
      this.made.add(folder)
    }
    await new Promise<void>((resolve, reject) =>
      writeFile(full, text, (error) => (error ? reject(error) : resolve())),
    )
  }

  /** Wait for what is on its way, and give the folder back. Throws what could not be written. */
  async close(): Promise<void> {
    await this.written
    for (const writer of [this.transcripts, this.decisions, this.trials]) writer.close()
    this.unlock()
    this.throwFailure()
  }

  private throwFailure(): void {
    if (!this.failed) return
    throw unwritable(this.dir, this.failed.cause, 'a folder that can be written')
  }
}

/** SHA-256 over lines as they stand in a file, each with its line feed. */
export function digestOfLines(lines: readonly string[]): Digest {
  return digest(lines.map((line) => `${line}\n`).join(''))
}

/** What a folder holds: its manifest, and every attempt's record in the order written. */
export type RunFolder = { dir: string; manifest: Manifest; attempts: TrialRecord[] }

/**
 * Read a run's folder, which may be one that is being written: nothing in it is changed. A torn last line, which a crash leaves,
 * is no record.
 *
 * @throws TouchstoneError `run_unknown` when there is no run; `run_invalid` or a reading error with file and line
 */
export async function readRun(dir: string): Promise<RunFolder> {
  const path = join(dir, FILES.manifest)
  if (!existsSync(path))
    throw new TouchstoneError(
      'run_unknown',
      `expected a run's folder with ${FILES.manifest}, got none`,
      { where: dir },
    )
  const manifest = requireManifest(readJson(path), path)
  const attempts: TrialRecord[] = []
  const trials = join(dir, FILES.trials)
  const compact = compactor()
  if (existsSync(trials)) {
    for await (const { value, line } of readLines(trials))
      attempts.push(compact(requireTrialRecord(value, `${trials}:${line}`)))
  }
  return { dir, manifest, attempts }
}

/** The attempt that counts for each key: the last one. In the order in which keys were first seen. */
export function lastAttempts(attempts: readonly TrialRecord[]): TrialRecord[] {
  const last = new Map<string, TrialRecord>()
  for (const record of attempts) {
    const known = last.get(record.key)
    if (!known || record.attempt >= known.attempt) last.set(record.key, record)
  }
  return [...last.values()]
}
