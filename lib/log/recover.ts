/**
 * A run that was interrupted: what its folder holds, and how it is made whole again.
 *
 * A trial's record is written last. Evidence behind that of the last recorded trial belongs to trials
 * that nobody finished: it is set aside in files of its own, never deleted. A record whose evidence
 * is not what its digests say is damaged, and its trial is run again.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { digest } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import { streamLines, tornTail } from '../lines.ts'
import {
  digestOfExports,
  digestOfLines,
  FILES,
  MOST_UNRECORDED,
  type RunFolder,
  readRun,
  type TrialExport,
} from './folder.ts'
import type { TrialRecord } from './records.ts'

/** The end of a file that belongs to no recorded trial. */
export type Tail = { file: string; from: number; sizeBytes: number }

export type Inspected = RunFolder & {
  /** Keys of trials whose evidence is damaged. */
  damaged: Set<string>
  /** The highest attempt of each key that any file names, its tail apart. */
  lastAttempt: Map<string, number>
  tails: Tail[]
}

type Group = { key: string; attempt: number; lines: string[] }
type Kind = 'decisions' | 'transcript' | 'audit'

const EVIDENCE: readonly [string, Kind, (lines: string[]) => string | null][] = [
  [FILES.decisions, 'decisions', digestOfLines],
  [FILES.transcripts, 'transcript', (lines) => digest(lines.join('\n'))],
  [FILES.audit, 'audit', (lines) => digestOfExports(lines.flatMap(exportIn))],
]

/**
 * Look at a run's folder. Nothing in it is changed.
 *
 * @throws TouchstoneError `run_unknown`, `run_invalid`; `run_damaged` when evidence of more trials
 *   than a crash can leave has no record
 */
export async function inspectRun(dir: string): Promise<Inspected> {
  const run = await readRun(dir)
  const recorded = new Map<string, TrialRecord>()
  const lastAttempt = new Map<string, number>()
  const see = (key: string, attempt: number) =>
    lastAttempt.set(key, Math.max(attempt, lastAttempt.get(key) ?? 0))
  for (const record of run.attempts) {
    recorded.set(idOf(record), record)
    see(record.key, record.attempt)
  }
  const damaged = new Set<string>()
  const tails: Tail[] = []
  const torn = tornTail(join(dir, FILES.trials))
  if (torn.sizeBytes > 0) tails.push({ file: FILES.trials, ...torn })
  const unrecorded = new Set<string>()
  for (const [file, kind, digestOf] of EVIDENCE) {
    const path = join(dir, file)
    // Runs of earlier versions have a file for each export, which `receipt.verify` checks.
    if (kind === 'audit' && !existsSync(path) && existsSync(join(dir, 'audit'))) continue
    const whole = new Set<string>()
    let end = 0
    let behind: Group[] = []
    for await (const group of groups(path)) {
      const record = recorded.get(idOf(group))
      if (!record) {
        behind.push({ ...group, lines: [] })
        continue
      }
      for (const { key, attempt } of behind) see(key, attempt)
      behind = []
      end = group.end
      if (record.digests[kind] === digestOf(group.lines)) whole.add(idOf(group))
    }
    for (const group of behind) unrecorded.add(idOf(group))
    const empty = digestOf([])
    for (const [id, record] of recorded) {
      const expected = record.digests[kind]
      if (!whole.has(id) && expected !== null && expected !== empty) damaged.add(record.key)
    }
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (end < size) tails.push({ file, from: end, sizeBytes: size - end })
  }
  if (unrecorded.size > MOST_UNRECORDED)
    throw new TouchstoneError(
      'run_damaged',
      `expected records of all trials but the last ${MOST_UNRECORDED}, got evidence of ${unrecorded.size} trials without a record: put ${FILES.trials} back as it was, or begin a new run in another folder`,
      { where: join(dir, FILES.trials) },
    )
  return { ...run, damaged, lastAttempt, tails }
}

/**
 * Set the ends of files that belong to no recorded trial aside, each into a file of its own beside
 * the log. The caller holds the run's lock.
 *
 * @returns the paths of the files that were made
 */
export function setAside(dir: string, tails: readonly Tail[], now = new Date()): string[] {
  const stamp = now.toISOString().replaceAll(':', '-')
  return tails.map(({ file, from, sizeBytes }) => {
    const path = join(dir, file)
    const aside = `${path}.${stamp}.cut`
    copyRange(path, aside, from, sizeBytes)
    const fd = openSync(path, 'r+')
    try {
      ftruncateSync(fd, from)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    return aside
  })
}

function copyRange(from: string, to: string, start: number, sizeBytes: number): void {
  const [source, target] = [openSync(from, 'r'), openSync(to, 'wx')]
  try {
    const chunk = Buffer.alloc(1 << 20)
    for (let at = start; at < start + sizeBytes; ) {
      const most = Math.min(chunk.length, start + sizeBytes - at)
      const read = readSync(source, chunk, 0, most, at)
      if (read === 0) break
      for (let written = 0; written < read; )
        written += writeSync(target, chunk, written, read - written)
      at += read
    }
    fsyncSync(target)
  } finally {
    closeSync(source)
    closeSync(target)
  }
}

function idOf({ key, attempt }: { key: string; attempt: number }): string {
  return `${key}#${attempt}`
}

/** How a line of evidence begins. The writer always puts `key` and `attempt` first. */
const HEAD = /^\{"key":("(?:[^"\\]|\\.)*"),"attempt":(\d+)[,}]/

/** Lines that stand together and name one attempt. A line that names none ends a group. */
async function* groups(path: string): AsyncGenerator<Group & { end: number }> {
  if (!existsSync(path)) return
  let current: (Group & { end: number }) | null = null
  for await (const { bytes, next: end, whole } of streamLines(path)) {
    if (!whole) break
    const text = Buffer.from(bytes).toString('utf8')
    const head = HEAD.exec(text)
    const [key, attempt] = head ? [JSON.parse(head[1] as string) as string, Number(head[2])] : []
    if (current && current.key === key && current.attempt === attempt) {
      current.lines.push(text)
      current.end = end
      continue
    }
    if (current) yield current
    current = key === undefined ? null : { key, attempt: attempt as number, lines: [text], end }
  }
  if (current) yield current
}

function exportIn(line: string): Pick<TrialExport, 'text'>[] {
  try {
    const { text } = JSON.parse(line) as { text: unknown }
    return typeof text === 'string' ? [{ text }] : []
  } catch {
    return []
  }
}
