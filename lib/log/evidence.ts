/**
 * Evidence files read attempt by attempt: whose lines stand together where, and their digest, in
 * the memory of one attempt.
 */
import { createHash, hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type Line, streamLines } from '../lines.ts'
import { digestOfExports, type TrialExport } from './folder.ts'

/** What a digest in a trial's record names. */
export type Kind = 'decisions' | 'transcript' | 'audit'

/** Lines that stand together and name one attempt. */
export type Group = {
  key: string
  attempt: number
  /**
   * Bytes of the file: where the first line begins, and where the line behind the last one does.
   */
  from: number
  end: number
  /** Of the lines as their kind of evidence is digested; null for no export. */
  digest: Uint8Array | null
}

const NEWLINE = Buffer.from('\n')

/** How a line of evidence begins. The writer always puts `key` and `attempt` first. */
const HEAD = /^\{"key":("(?:[^"\\]|\\.)*"),"attempt":(\d+)[,}]/
/** Keys are shorter than this, but for those that nobody of us wrote. */
const HEAD_BYTES = 512

/**
 * A line that names no attempt ends a group and is in none. An unfinished last line is passed over.
 */
export async function* groups(path: string, kind: Kind): AsyncGenerator<Group> {
  if (!existsSync(path)) return
  let current: Gathered | null = null
  for await (const line of streamLines(path)) {
    if (!line.whole) break
    if (current?.takes(line)) continue
    if (current) yield current.group(kind)
    current = Gathered.of(line)
  }
  if (current) yield current.group(kind)
}

/** The lines of a group, as few stretches of bytes as they lie in. */
class Gathered {
  private readonly key: string
  private readonly attempt: number
  private readonly head: Buffer
  private readonly from: number
  private end: number
  private readonly parts: Buffer[]

  private constructor(key: string, attempt: number, head: Buffer, line: Line) {
    this.key = key
    this.attempt = attempt
    this.head = Buffer.from(head)
    this.from = line.next - line.bytes.length - 1
    this.end = line.next
    this.parts = [bufferOf(line.bytes)]
  }

  static of({ bytes, ...line }: Line): Gathered | null {
    const buffer = bufferOf(bytes)
    const found =
      HEAD.exec(buffer.toString('utf8', 0, HEAD_BYTES)) ?? HEAD.exec(buffer.toString('utf8'))
    if (!found) return null
    const head = buffer.subarray(0, Buffer.byteLength(found[0]))
    const key = JSON.parse(found[1] as string) as string
    return new Gathered(key, Number(found[2]), head, { ...line, bytes })
  }

  /** Add a line, if it begins as the others do. */
  takes({ bytes, next }: Line): boolean {
    const line = bufferOf(bytes)
    const { head, parts } = this
    if (line.length < head.length || line.compare(head, 0, head.length, 0, head.length) !== 0)
      return false
    const last = parts.at(-1) as Buffer
    const follows = last.byteOffset + last.length + 1 === line.byteOffset
    if (follows && last.buffer === line.buffer)
      parts[parts.length - 1] = between(last, line.byteOffset + line.length)
    else parts.push(line)
    this.end = next
    return true
  }

  group(kind: Kind): Group {
    const { key, attempt, from, end } = this
    return { key, attempt, from, end, digest: this.digest(kind) }
  }

  private digest(kind: Kind): Uint8Array | null {
    const { parts } = this
    if (kind === 'audit') {
      const made = digestOfExports(this.lines().flatMap(exportIn))
      return made === null ? null : Buffer.from(made.slice('sha256:'.length), 'hex')
    }
    const [only] = parts
    if (only && parts.length === 1) {
      if (kind === 'transcript') return hash('sha256', only, 'buffer')
      const end = only.byteOffset + only.length
      const behind = new Uint8Array(only.buffer, end, Math.min(1, only.buffer.byteLength - end))
      if (behind[0] === NEWLINE[0]) return hash('sha256', between(only, end + 1), 'buffer')
    }
    const made = createHash('sha256')
    for (const [i, part] of parts.entries()) {
      if (i > 0) made.update(NEWLINE)
      made.update(part)
    }
    if (kind === 'decisions') made.update(NEWLINE)
    return made.digest()
  }

  private lines(): string[] {
    return Buffer.concat(this.parts.flatMap((part, i) => (i > 0 ? [NEWLINE, part] : [part])))
      .toString('utf8')
      .split('\n')
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length)
}

function between(first: Buffer, end: number): Buffer {
  return Buffer.from(first.buffer as ArrayBuffer, first.byteOffset, end - first.byteOffset)
}

function exportIn(line: string): Pick<TrialExport, 'text'>[] {
  try {
    const { text } = JSON.parse(line) as { text: unknown }
    return typeof text === 'string' ? [{ text }] : []
  } catch {
    return []
  }
}

/**
 * The digests that records name, 96 bytes for an attempt, and which of them were found. Attempts
 * are numbered by their lines in the trial log.
 */
export class Named {
  private digests = Buffer.alloc(0)
  private flags = new Uint8Array(0)

  /** Take what the record in that line names. An empty file has the digest that no line gives. */
  add(line: number, named: { [kind in Kind]: string | null }): void {
    if (line >= this.flags.length) {
      const size = Math.max(1024, 2 * this.flags.length, line + 1)
      const digests = Buffer.alloc(size * KINDS.length * 32)
      digests.set(this.digests)
      const flags = new Uint8Array(size)
      flags.set(this.flags)
      Object.assign(this, { digests, flags })
    }
    this.flags[line] = 0
    for (const [i, kind] of KINDS.entries()) {
      const digest = named[kind]
      if (digest === null || digest === EMPTY[kind]) continue
      this.flags[line] = (this.flags[line] as number) | (1 << i)
      this.digests.write(digest.slice('sha256:'.length), this.at(line, i), 'hex')
    }
  }

  found(line: number, kind: Kind, digest: Uint8Array | null): void {
    const i = KINDS.indexOf(kind)
    const at = this.at(line, i)
    if (digest && this.digests.compare(digest, 0, 32, at, at + 32) === 0)
      this.flags[line] = (this.flags[line] as number) & ~(1 << i)
  }

  /** Something that the record names was not found. `but` are kinds that were not looked for. */
  damaged(line: number, but: ReadonlySet<Kind>): boolean {
    return KINDS.some((kind, i) => !but.has(kind) && ((this.flags[line] ?? 0) & (1 << i)) !== 0)
  }

  private at(line: number, i: number): number {
    return (line * KINDS.length + i) * 32
  }
}

const KINDS = ['decisions', 'transcript', 'audit'] as const satisfies readonly Kind[]
const EMPTY = {
  decisions: `sha256:${hash('sha256', '')}`,
  transcript: `sha256:${hash('sha256', '')}`,
  audit: null,
}
