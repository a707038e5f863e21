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
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, unreadable } from '../../files.ts'
import { parse } from '../../json.ts'
import { FILES, type Manifest } from '../../log/index.ts'
import { Commitment, type Tree } from './commitment.ts'
import { type Evidence, readEvidence } from './run-evidence.ts'
import { attempt } from './step.ts'
import { type LoggedLine, readTrialLog, type TrialLog } from './trial-log.ts'

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

/** Files that a receipt commits to line by line. */
const LOGS = [FILES.trials, FILES.decisions, FILES.transcripts, FILES.audit] as const
export type Log = (typeof LOGS)[number]

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
  log: TrialLog
  evidence: Evidence
  /** The trees over the lines of the logs that were read and hashed. */
  trees: ReadonlyMap<Log, Tree>
}

/**
 * Read a folder. Of a trial are kept its row of numbers and where its lines stand.
 *
 * @param options `sizes`: those that a receipt has in bytes, by path; a file of another size is not
 *   hashed, and one that is more than twice as long is not read. `hash`: false hashes no file.
 *   `each`: told of every line of the trial log
 * @throws TouchstoneError `file_unreadable` for a folder or file that the system does not hand out
 */
export async function readRunBytes(
  dir: string,
  options: {
    sizes?: ReadonlyMap<string, number>
    hash?: boolean
    each?: ((line: LoggedLine) => void) | undefined
  } = {},
): Promise<RunBytes> {
  const { sizes, hash = true, each } = options
  const files: FileEntry[] = []
  const odd: string[] = []
  const tooLong = new Set<string>()
  const commitments = new Map<Log, Commitment>()
  for (const { path, plain } of namesIn(dir)) {
    const size = plain ? lstatSync(join(dir, path), { throwIfNoEntry: false })?.size : undefined
    if (size === undefined) {
      odd.push(path)
      continue
    }
    const expected = sizes ? (sizes.get(path) ?? 0) : size
    if (size > 2 * expected + (1 << 20)) tooLong.add(path)
    const hashed = hash && size === expected
    if (hashed && isLog(path)) commitments.set(path, new Commitment())
    files.push({
      path,
      digest: hashed && !isLog(path) ? await digestOfFile(join(dir, path)) : null,
      size_bytes: size,
    })
  }
  const { value: manifest, problem } = await readManifest(dir, files)
  const readable = new Set(files.flatMap(({ path }) => (tooLong.has(path) ? [] : [path])))
  const log = await readTrialLog(
    readable.has(FILES.trials) ? join(dir, FILES.trials) : null,
    manifest,
    commitments.get(FILES.trials),
    each,
  )
  const evidence = await readEvidence(dir, readable, log.index, commitments)
  for (const entry of files)
    if (isLog(entry.path)) entry.digest = commitments.get(entry.path)?.digest() ?? null
  const trees = new Map([...commitments].map(([name, made]) => [name, made.tree()]))
  return { dir, files, odd, tooLong, manifest, manifestProblem: problem, log, evidence, trees }
}

function isLog(path: string): path is Log {
  return (LOGS as readonly string[]).includes(path)
}

async function readManifest(
  dir: string,
  files: readonly FileEntry[],
): Promise<{ value: Manifest | null; problem: string | null }> {
  const { requireManifest } = await import('../../log/records.ts')
  return attempt(() => {
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
}

async function digestOfFile(path: string): Promise<Digest> {
  const hash = createHash('sha256')
  for await (const chunk of streamed(path)) hash.update(chunk)
  return `sha256:${hash.digest('hex')}`
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
