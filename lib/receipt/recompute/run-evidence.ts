/**
 * The evidence of a run, read once without a look at what it says: where the lines of each attempt
 * stand, and lines that are no attempt's. Of an attempt are kept 20 bytes for each file.
 */
import { join } from 'node:path'
import { TouchstoneError } from '../../errors.ts'
import { type Json, parseLine } from '../../json.ts'
import { type Line, textOf } from '../../lines.ts'
import {
  BREATH_LINES,
  breathe,
  FILES,
  groups,
  type Kind,
  LineFile,
  type RunIndex,
} from '../../log/index.ts'
import { LineWindow } from '../../window.ts'
import type { Commitment } from './commitment.ts'
import type { Log } from './run-folder.ts'
import { attempt, type Problem } from './step.ts'

/** A line of evidence: whose it is, its text, and what it says. */
export type KeyedLine = { line: number; id: string; text: string; value: { [name: string]: Json } }

/** `key` and `attempt` of a line as one text. */
export function attemptId(key: string, attempt: number): string {
  return `${key}#${attempt}`
}

/** A line that begins with a trial's key and attempt, or why it is none. */
export function keyedLine(
  one: Pick<Line, 'bytes' | 'line'>,
  file: string,
): { line: number; problem: string } | KeyedLine {
  const { line } = one
  const { value: read, problem } = attempt(() => {
    const text = textOf(one, file)
    return { text, value: parseLine(text, `${file}:${line}`) as { [name: string]: Json } | null }
  })
  if (read === null) return { line, problem: problem ?? 'unreadable' }
  const { key, attempt: number } = read.value ?? {}
  return typeof key === 'string' && typeof number === 'number'
    ? { line, id: attemptId(key, number), text: read.text, value: read.value ?? {} }
    : { line, problem: 'expected a line with key and attempt' }
}

/** The lines of one attempt. What is none of it, or cannot be read, is added to the problems. */
export function linesOfAttempt(
  id: string,
  file: string,
  texts: readonly string[],
  problems: Problem[],
): KeyedLine[] {
  return texts.flatMap((text, i) => {
    const one = keyedLine({ bytes: Buffer.from(text), line: i + 1 }, file)
    if ('id' in one && one.id === id) return [one]
    const detail = 'problem' in one ? one.problem : `it is a line of ${one.id}`
    problems.push({ code: 'evidence_foreign', where: `${file}:${i + 1}`, detail })
    return []
  })
}

/** The files by what a digest in a trial's record names, and the word of each in codes. */
const FILE_OF = {
  decisions: { file: FILES.decisions, word: 'decision' },
  transcript: { file: FILES.transcripts, word: 'transcript' },
  audit: { file: FILES.audit, word: 'audit' },
} as const satisfies { [kind in Kind]: { file: Log; word: string } }

export type Evidence = { [kind in Kind]: EvidenceFile }

/** @param readable paths of the files that may be read */
export async function readEvidence(
  dir: string,
  readable: ReadonlySet<string>,
  index: RunIndex,
  commitments: ReadonlyMap<Log, Commitment>,
): Promise<Evidence> {
  const read = async (kind: Kind) => {
    const { file } = FILE_OF[kind]
    const made = new EvidenceFile(dir, kind, index)
    if (readable.has(file)) await made.scan(commitments.get(file))
    return made
  }
  return {
    decisions: await read('decisions'),
    transcript: await read('transcript'),
    audit: await read('audit'),
  }
}

const NEWLINE = 10
const NOTHING = new Uint8Array(0)

/** Lines that stand together, and the number of the first. */
export type Lines = { bytes: Uint8Array; line: number }

/** One file of evidence. */
export class EvidenceFile {
  readonly problems: Problem[] = []
  private readonly file: Log
  private readonly word: string
  private readonly index: RunIndex
  private readonly lines: LineFile
  /** By the line of an attempt in the trial log. A size of 0: there is nothing. */
  private readonly from: Float64Array
  private readonly sizeBytes: Float64Array
  private readonly first: Uint32Array

  constructor(dir: string, kind: Kind, index: RunIndex) {
    const { file, word } = FILE_OF[kind]
    this.file = file
    this.word = word
    this.index = index
    this.lines = new LineFile(join(dir, file))
    const attempts = index.lines + 1
    this.from = new Float64Array(attempts)
    this.sizeBytes = new Float64Array(attempts)
    this.first = new Uint32Array(attempts)
  }

  async scan(commitment: Commitment | undefined): Promise<void> {
    const window = new LineWindow(this.lines.path, commitment?.seen)
    let seen = 0
    try {
      for (const group of groups(window)) {
        if (++seen % BREATH_LINES === 0) await breathe()
        const { bytes, line, from } = group
        commitment?.add(bytes)
        if (group.key !== null) this.found(group, from, bytes.length, line)
        else this.stray(bytes, from, line)
      }
    } catch (error) {
      // What the system refuses has its cause.
      if (!(error instanceof TouchstoneError) || error.cause !== undefined) throw error
      this.problem('unreadable', this.file, error.message)
    } finally {
      window.close()
    }
  }

  /** The lines of an attempt as they stand in the file. @param line its line in the trial log */
  of(line: number): Lines {
    const sizeBytes = this.sizeBytes[line] as number
    if (sizeBytes === 0) return { bytes: NOTHING, line: 0 }
    const bytes = this.lines.read(this.from[line] as number, sizeBytes)
    return { bytes, line: this.first[line] as number }
  }

  /** What they say. Lines that cannot be read are problems. */
  read({ bytes, line }: Lines): KeyedLine[] {
    const found: KeyedLine[] = []
    for (let from = 0, number = line; from < bytes.length; number++) {
      const at = bytes.indexOf(NEWLINE, from)
      const end = at < 0 ? bytes.length : at
      const one = keyedLine({ bytes: bytes.subarray(from, end), line: number }, this.file)
      if ('id' in one) found.push(one)
      else this.problem('unreadable', `${this.file}:${one.line}`, one.problem)
      from = end + 1
    }
    return found
  }

  close(): void {
    this.lines.close()
  }

  private found(
    of: { key: string; attempt: number },
    from: number,
    sizeBytes: number,
    first: number,
  ): void {
    const line = this.index.lineOf(of)
    const where = `${this.file}:${first}`
    if (line === undefined) {
      this.problem('unattributed', where, 'no trial in the log has this key')
    } else if (this.sizeBytes[line] !== 0) {
      const detail = `more lines of ${placeOf(of)} stand before`
      this.problem(this.word === 'audit' ? 'added' : 'out_of_place', where, detail)
    } else {
      this.from[line] = from
      this.sizeBytes[line] = sizeBytes
      this.first[line] = first
    }
  }

  /** A line that begins otherwise than a run writes it. */
  private stray(bytes: Uint8Array, from: number, line: number): void {
    const end = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length
    const one = keyedLine({ bytes: bytes.subarray(0, end), line }, this.file)
    if ('problem' in one) this.problem('unreadable', `${this.file}:${line}`, one.problem)
    else this.found(one.value as { key: string; attempt: number }, from, bytes.length, line)
  }

  private problem(what: string, where: string, detail: string): void {
    this.problems.push({ code: `${this.word}_${what}`, where, detail })
  }
}

/** A trial as it is named in problems. */
export function placeOf({ key, attempt }: { key: string; attempt: number }): string {
  return attempt === 0 ? `trial ${key}` : `trial ${key}, attempt ${attempt}`
}
