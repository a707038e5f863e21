/**
 * A run that was interrupted: what its folder holds, and how it is made whole again.
 *
 * A trial's record is written last. Evidence behind that of the last recorded trial belongs to
 * trials that nobody finished: it is set aside in files of its own, never deleted. A record whose
 * evidence is not what its digests say is damaged.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { TouchstoneError } from '../errors.ts'
import { writing } from '../files.ts'
import { tornTail } from '../lines.ts'
import { LineWindow } from '../window.ts'
import { digestOfGroup, groups, type Kind, Named } from './evidence.ts'
import {
  BREATH_LINES,
  breathe,
  eachRecord,
  FILES,
  MOST_UNRECORDED,
  type ReadRecord,
  type RunFolder,
  readManifest,
} from './folder.ts'
import { LogReader } from './read.ts'
import type { Manifest } from './records.ts'
import { idOf, RunIndex } from './run-index.ts'

/** The end of a file that belongs to no recorded trial. */
export type Tail = { file: string; from: number; sizeBytes: number }

export type Inspected = RunFolder & {
  /** Keys of trials whose evidence is damaged. */
  damaged: Set<string>
  /** Attempts that evidence names and no record does, by key, its tail apart: the highest. */
  unrecorded: Map<string, number>
  tails: Tail[]
  /** Lines of the trial log. */
  lines: number
}

const EVIDENCE: readonly [string, Kind][] = [
  [FILES.decisions, 'decisions'],
  [FILES.transcripts, 'transcript'],
  [FILES.audit, 'audit'],
]

/**
 * Look at a run's folder, which may be one that is being written: nothing in it is changed. Each
 * record is handed to `see` and then only its columns are kept.
 *
 * @throws TouchstoneError `run_unknown`, `run_invalid`, a reading error with file and line;
 *   `run_damaged` when the trial log is not there beside evidence, or evidence of more trials than
 *   a crash can leave has no record
 */
export async function inspectRun(
  dir: string,
  see: (manifest: Manifest, read: ReadRecord) => void = () => {},
): Promise<Inspected> {
  const manifest = await readManifest(dir)
  requireTrialLog(dir)
  const index = new RunIndex(manifest)
  const { columns } = index
  const named = new Named()
  await eachRecord(dir, (read) => {
    const { record, line } = read
    const { key, attempt } = record
    // An attempt that did not end in an error, and was tried again since its evidence was damaged.
    if (columns.line(key) > 0 && columns.attempt(key) < attempt && columns.error(key) === null)
      for (const damaged of new LogReader(dir, columns).records([key])) columns.fail(damaged)
    index.add(read)
    named.add(line, record.digests)
    see(manifest, read)
  })
  const tails: Tail[] = []
  const torn = tornTail(join(dir, FILES.trials))
  if (torn.sizeBytes > 0) tails.push({ file: FILES.trials, ...torn })
  const lost = new Set<string>()
  const unrecorded: Inspected['unrecorded'] = new Map()
  const without = new Set<Kind>()
  for (const [file, kind] of EVIDENCE) {
    const path = join(dir, file)
    // Runs of earlier versions have a file for each export, which `receipt.verify` checks.
    if (kind === 'audit' && !existsSync(path) && existsSync(join(dir, 'audit'))) {
      without.add(kind)
      continue
    }
    let end = 0
    let behind: { key: string; attempt: number }[] = []
    if (existsSync(path)) {
      const window = new LineWindow(path)
      let seen = 0
      try {
        for (const group of groups(window)) {
          if (!group.whole) break
          if (++seen % BREATH_LINES === 0) await breathe()
          if (group.key === null) continue
          const { key, attempt, from, bytes } = group
          const line = index.lineOf(group)
          if (!line) {
            behind.push({ key, attempt })
            continue
          }
          for (const one of behind)
            unrecorded.set(one.key, Math.max(one.attempt, unrecorded.get(one.key) ?? 0))
          behind = []
          end = from + bytes.length
          named.found(line, kind, digestOfGroup(group, kind))
          if (kind !== 'audit' && line === columns.line(key))
            columns.setPlace(key, PLACED[kind], { from, sizeBytes: bytes.length - 1 })
        }
      } finally {
        window.close()
      }
    }
    for (const one of behind) lost.add(idOf(one))
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (end < size) tails.push({ file, from: end, sizeBytes: size - end })
  }
  if (lost.size > MOST_UNRECORDED)
    throw new TouchstoneError(
      'run_damaged',
      `expected records of all trials but the last ${MOST_UNRECORDED}, got evidence of ${lost.size} trials without a record: put ${FILES.trials} back as it was, or begin a new run in another folder`,
      { where: join(dir, FILES.trials) },
    )
  const damaged = new Set<string>()
  for (const key of columns.keys()) if (named.damaged(columns.line(key), without)) damaged.add(key)
  for (const [id, line] of index.rest())
    if (named.damaged(line, without)) damaged.add(id.slice(0, id.lastIndexOf('#')))
  const { attempts, lines } = index
  return { dir, manifest, columns, attempts, damaged, unrecorded, tails, lines }
}

/**
 * Refuse a folder that lost its trial log, which is made before any evidence is written. @throws
 * TouchstoneError `run_damaged`
 */
export function requireTrialLog(dir: string): void {
  const sizeOf = (file: string) => statSync(join(dir, file), { throwIfNoEntry: false })?.size
  const bare = EVIDENCE.every(([file]) => (sizeOf(file) ?? 0) === 0)
  if (bare || sizeOf(FILES.trials) !== undefined) return
  throw new TouchstoneError(
    'run_damaged',
    `expected ${FILES.trials} beside the evidence of trials, got none: put it back as it was, or begin a new run in another folder`,
    { where: join(dir, FILES.trials) },
  )
}

const PLACED = { decisions: 'decisions', transcript: 'transcripts' } as const

/**
 * Set the ends of files that belong to no recorded trial aside, each into a file of its own beside
 * the log. The caller holds the run's lock.
 *
 * @returns the paths of the files that were made
 * @throws TouchstoneError `file_unwritable`
 */
export function setAside(dir: string, tails: readonly Tail[], now = new Date()): string[] {
  const stamp = now.toISOString().replaceAll(':', '-')
  return tails.map(({ file, from, sizeBytes }) => {
    const path = join(dir, file)
    const aside = `${path}.${stamp}.cut`
    // Nothing is cut before the disk holds its copy.
    writing(aside, () => copyRange(path, aside, from, sizeBytes))
    writing(path, () => cutAt(path, from))
    return aside
  })
}

function cutAt(path: string, sizeBytes: number): void {
  const fd = openSync(path, 'r+')
  try {
    ftruncateSync(fd, sizeBytes)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
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
  } catch (cause) {
    rmSync(to, { force: true })
    throw cause
  } finally {
    closeSync(source)
    closeSync(target)
  }
}
