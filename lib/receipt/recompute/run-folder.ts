/**
 * A run's folder as bytes: which files there are, and what each line is, before anything in them is
 * believed.
 *
 * Nothing here writes, and nothing that a file holds makes it throw: an auditor reads folders that
 * others have handled.
 */
import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Digest, digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, unreadable } from '../../files.ts'
import { type Json, parse, parseLine } from '../../json.ts'
import { type Line, streamLines, textOf } from '../../lines.ts'
import { FILES, type Manifest, type TrialRecord } from '../../log/index.ts'
import { leafHash } from '../seal/merkle.ts'

/** The files that hold the receipt itself. No receipt can commit to them. */
const RECEIPT_FILES = ['receipt.json', 'test-result.json'] as const

/** A manifest is never this long. It is read whole, so a longer one is not read at all. */
const MAX_MANIFEST_BYTES = 64 << 20

/**
 * One file, its path relative to the run's folder with `/` between names.
 *
 * `digest` is null for a file that was not read, since its size alone is not what the receipt has.
 */
export type FileEntry = { path: string; digest: Digest | null; size_bytes: number }

/** A line of the trial log. `record` is null where the line cannot be read; `problem` says why. */
export type LoggedAttempt = {
  line: number
  digest: Digest
  /** Its hash as a leaf of the log's tree. */
  leaf: Digest
  record: TrialRecord | null
  problem: string | null
}

export type RunBytes = {
  dir: string
  /** Every plain file but the receipt, by path. */
  files: FileEntry[]
  /** What is neither a file nor a folder, such as a link: its bytes could lie anywhere. */
  odd: string[]
  /** Files that are too long to be what the receipt has. They are not read. */
  tooLong: ReadonlySet<string>
  manifest: Manifest | null
  /** Why the manifest cannot be read. */
  manifestProblem: string | null
  log: LoggedAttempt[]
}

/**
 * Read a folder.
 *
 * @param options `sizes`: those that a receipt has in bytes, by path; a file of another size is not
 *   hashed, and one that is more than twice as long is not read. `hash`: false hashes no file
 * @throws TouchstoneError `file_unreadable` for a folder or file that the system does not hand out
 */
export async function readRunBytes(
  dir: string,
  options: { sizes?: ReadonlyMap<string, number>; hash?: boolean } = {},
): Promise<RunBytes> {
  const { requireManifest, requireTrialRecord } = await import('../../log/records.ts')
  const { sizes, hash = true } = options
  const files: FileEntry[] = []
  const odd: string[] = []
  const tooLong = new Set<string>()
  for (const { path, plain } of namesIn(dir)) {
    const size = plain ? lstatSync(join(dir, path), { throwIfNoEntry: false })?.size : undefined
    if (size === undefined) {
      odd.push(path)
      continue
    }
    const expected = sizes ? (sizes.get(path) ?? 0) : size
    if (size > 2 * expected + (1 << 20)) tooLong.add(path)
    if (!hash || size !== expected) files.push({ path, digest: null, size_bytes: size })
    else files.push({ path, ...(await digestOfFile(join(dir, path))) })
  }
  const has = (name: string) => files.some(({ path }) => path === name)
  const log: LoggedAttempt[] = []
  if (has(FILES.trials) && !tooLong.has(FILES.trials)) {
    for await (const one of streamLines(join(dir, FILES.trials))) {
      const { bytes, line } = one
      if (bytes.length === 0) continue
      const where = `${FILES.trials}:${line}`
      const { value, problem } = attempt(() =>
        requireTrialRecord(parseLine(textOf(one, FILES.trials), where), where),
      )
      const leaf: Digest = `sha256:${leafHash(bytes).toString('hex')}`
      log.push({ line, digest: digest(bytes), leaf, record: value, problem })
    }
  }
  const { value: manifest, problem } = attempt(() => {
    const entry = files.find(({ path }) => path === FILES.manifest)
    if (!entry)
      throw new TouchstoneError('run_unknown', `expected ${FILES.manifest}, got no such file`)
    if (entry.size_bytes > MAX_MANIFEST_BYTES)
      throw new TouchstoneError(
        'run_invalid',
        `expected a manifest of at most ${MAX_MANIFEST_BYTES} bytes, got ${entry.size_bytes}`,
      )
    return requireManifest(
      parse(readBytes(join(dir, FILES.manifest)), FILES.manifest),
      FILES.manifest,
    )
  })
  return { dir, files, odd, tooLong, manifest, manifestProblem: problem, log }
}

/**
 * What a reading gives, or why it gives nothing. Any error counts: what was handed in may have any
 * shape at all, and an auditor is told so. Messages name places inside the run's folder only.
 */
export function attempt<T>(read: () => T): { value: T | null; problem: string | null } {
  try {
    return { value: read(), problem: null }
  } catch (error) {
    const name = error instanceof TouchstoneError ? error.code : 'shape'
    return { value: null, problem: `${name}: ${(error as Error).message}` }
  }
}

/**
 * A line of `decisions.ndjson` or `transcripts.ndjson`: whose it is, its text, and what it says.
 */
export type KeyedLine = { line: number; id: string; text: string; value: { [name: string]: Json } }

/** `key` and `attempt` of a line as one text. */
export function attemptId(key: string, attempt: number): string {
  return `${key}#${attempt}`
}

/**
 * The lines of a file that begin with a trial's key and attempt. A line that cannot be read comes
 * as a problem.
 */
export async function* keyedLines(
  { dir, tooLong }: Pick<RunBytes, 'dir' | 'tooLong'>,
  file: string,
): AsyncGenerator<{ line: number; problem: string } | KeyedLine> {
  if (tooLong.has(file)) return
  const path = join(dir, file)
  // Only a plain file: a pipe or a device in its place need not have an end.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return
  for await (const one of streamLines(path)) if (one.bytes.length > 0) yield keyedLine(one, file)
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

async function digestOfFile(path: string): Promise<{ digest: Digest; size_bytes: number }> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of streamed(path)) {
    hash.update(chunk)
    size += chunk.length
  }
  return { digest: `sha256:${hash.digest('hex')}`, size_bytes: size }
}

async function* streamed(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** Every name below a folder, in an order that no file system decides. */
function namesIn(dir: string, under = ''): { path: string; plain: boolean }[] {
  const entries = (() => {
    try {
      return readdirSync(join(dir, under), { withFileTypes: true })
    } catch (cause) {
      throw unreadable(dir, cause, 'a readable folder')
    }
  })()
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = under === '' ? entry.name : `${under}/${entry.name}`
      if (entry.isDirectory()) return namesIn(dir, path)
      return (RECEIPT_FILES as readonly string[]).includes(path)
        ? []
        : [{ path, plain: entry.isFile() }]
    })
}
