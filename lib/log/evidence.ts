/**
 * Evidence files read attempt by attempt: whose lines stand together where, and their digest, in
 * the memory of one attempt.
 */
import { hash } from 'node:crypto'
import type { LineWindow } from '../window.ts'
import { digestOfExports, type TrialExport } from './folder.ts'

/** What a digest in a trial's record names. */
export type Kind = 'decisions' | 'transcript' | 'audit'

/** Lines that stand together and name one attempt. */
export type Group = {
  key: string
  attempt: number
  /** Where the first line begins, in bytes of the file. */
  from: number
  /** The number of the first line. */
  line: number
  /** The lines as they stand in the file, valid until the next group is asked for. */
  bytes: Buffer
  /** The last line ends with a line feed. */
  whole: boolean
}

/** A line that begins otherwise than a run writes it: it names no attempt. */
export type Stray = { key: null; from: number; line: number; bytes: Buffer; whole: boolean }

/** How a line of evidence begins. The writer always puts `key` and `attempt` first. */
const HEAD = /^\{"key":("(?:[^"\\]|\\.)*"),"attempt":(\d+)[,}]/
/** Keys are shorter than this, but for those that nobody of us wrote. */
const HEAD_BYTES = 192

/**
 * The lines of a file that are not empty, by the attempts that they name. A line that nobody
 * finished stands alone.
 */
export function* groups(window: LineWindow): Generator<Group | Stray> {
  let open: Opened | null = null
  while (window.next()) {
    const { whole } = window
    if (open && whole && window.startsWith(open.head)) continue
    if (open) yield { ...open.name, ...window.stretch(false), whole: true }
    open = null
    if (window.sizeBytes === 0) continue
    window.keep()
    open = opened(window.bytes)
    if (open && whole) continue
    const { bytes, from, line } = window.stretch(true)
    yield { ...(open ? open.name : { key: null }), bytes, from, line, whole }
    open = null
  }
  if (open) yield { ...open.name, ...window.stretch(false), whole: true }
}

type Opened = { head: Buffer; name: { key: string; attempt: number } }

function opened(line: Buffer): Opened | null {
  const found = HEAD.exec(line.toString('utf8', 0, HEAD_BYTES)) ?? HEAD.exec(line.toString('utf8'))
  if (!found) return null
  const head = Buffer.from(line.subarray(0, Buffer.byteLength(found[0])))
  const key = found[1] as string
  const plain = !key.includes('\\')
  return {
    head,
    name: { key: plain ? key.slice(1, -1) : JSON.parse(key), attempt: Number(found[2]) },
  }
}

/**
 * The digest of an attempt's lines as its record names it, each byte a character; null for no
 * export.
 */
export function digestOfGroup({ bytes }: Pick<Group, 'bytes'>, kind: Kind): string | null {
  if (kind === 'decisions') return hash('sha256', bytes, 'binary')
  const lines = bytes.subarray(0, bytes.length - 1)
  if (kind === 'transcript') return hash('sha256', lines, 'binary')
  const exports = lines.toString('utf8').split('\n').flatMap(exportIn)
  if (exports.length === 1 && exports[0]) return hash('sha256', exports[0].text, 'binary')
  const made = digestOfExports(exports)
  return made && Buffer.from(made.slice('sha256:'.length), 'hex').toString('latin1')
}

function exportIn(line: string): Pick<TrialExport, 'text'>[] {
  try {
    const { text } = JSON.parse(line) as { text: unknown }
    return typeof text === 'string' ? [{ text }] : []
  } catch {
    return []
  }
}

/** Lines for which one piece of memory stands. */
const PART_LINES = 1 << 14
const KINDS = ['decisions', 'transcript', 'audit'] as const satisfies readonly Kind[]
const LINE_BYTES = KINDS.length * 32
const EMPTY = {
  decisions: `sha256:${hash('sha256', '')}`,
  transcript: `sha256:${hash('sha256', '')}`,
  audit: null,
}

type Part = { digests: Buffer; flags: Uint8Array }

/**
 * The digests that records name, 97 bytes for an attempt, and which of them were found. Attempts
 * are numbered by their lines in the trial log.
 */
export class Named {
  private readonly parts: Part[] = []

  /** Take what the record in that line names. An empty file has the digest that no line gives. */
  add(line: number, named: { [kind in Kind]: string | null }): void {
    const { digests, flags } = this.partOf(line)
    const i = line % PART_LINES
    flags[i] = 0
    for (const [at, kind] of KINDS.entries()) {
      const digest = named[kind]
      if (digest === null || digest === EMPTY[kind]) continue
      flags[i] = (flags[i] as number) | (1 << at)
      digests.write(digest.slice('sha256:'.length), i * LINE_BYTES + at * 32, 'hex')
    }
  }

  /** True when it is what the record names. @param digest each byte a character */
  found(line: number, kind: Kind, digest: string | null): boolean {
    const { digests, flags } = this.partOf(line)
    const i = line % PART_LINES
    const at = KINDS.indexOf(kind)
    const from = i * LINE_BYTES + at * 32
    if (digest === null || digests.toString('latin1', from, from + 32) !== digest) return false
    flags[i] = (flags[i] as number) & ~(1 << at)
    return true
  }

  /** Something that the record names was not found. `but` are kinds that were not looked for. */
  damaged(line: number, but: ReadonlySet<Kind>): boolean {
    const flags = this.partOf(line).flags[line % PART_LINES] as number
    return KINDS.some((kind, at) => !but.has(kind) && (flags & (1 << at)) !== 0)
  }

  private partOf(line: number): Part {
    const i = Math.floor(line / PART_LINES)
    this.parts[i] ??= {
      digests: Buffer.alloc(PART_LINES * LINE_BYTES),
      flags: new Uint8Array(PART_LINES),
    }
    return this.parts[i]
  }
}
