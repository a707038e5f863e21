/**
 * The two files of a bundle, out of its tar archive as a stream. No file is written, and no name is
 * followed.
 *
 * The archive has to be exactly what a bundle is: `manifest.json`, then `events.ndjson`, both
 * plain, and zero bytes wherever there is neither a header nor a file. A reader that skips what it
 * does not know would see another archive than the next one.
 */
import type { Extract, ExtractEvents } from 'tar-stream'
import { type Limits, NotWhole } from './not-whole.ts'

export const MANIFEST = 'manifest.json'
export const EVENTS = 'events.ndjson'
const NAMES = [MANIFEST, EVENTS] as const

const BLOCK = 512

/** An archive ends with two blocks of zeros; writers fill up to their own record size. */
const END_BYTES = 2 * BLOCK
const MOST_END_BYTES = 1 << 20

/** What is told of the files, in the order of the archive. Each may throw. */
export type Sink = {
  manifest(bytes: Uint8Array): void
  /** Before the first chunk of events. */
  events(sizeBytes: number): void
  chunk(bytes: Uint8Array): void
}

/** @throws NotWhole, and what the sink throws */
export async function readArchive(
  unpacked: AsyncIterable<Uint8Array>,
  limits: Limits,
  sink: Sink,
): Promise<void> {
  const { extract } = await import('tar-stream')
  // With so small a mark `drain` says that what was written has been taken in whole.
  const tar = extract({ highWaterMark: 1 })
  const entries: Entry[] = []
  const manifest: Uint8Array[] = []
  let failure: unknown = null
  // What is thrown inside of a stream's event would be nobody's. It is kept, and thrown by the loop
  // below.
  const guarded = (work: () => void): void => {
    if (failure !== null) return
    try {
      work()
    } catch (cause) {
      failure = cause
    }
  }
  tar.on('error', () => {})
  tar.on('entry', (_, stream, next) => {
    guarded(() => {
      const entry = admit(stream, entries, limits)
      entries.push(entry)
      if (entry.name === EVENTS) sink.events(entry.sizeBytes)
    })
    const take =
      entries.length === 1
        ? (chunk: Uint8Array) => manifest.push(Buffer.from(chunk))
        : (chunk: Uint8Array) => sink.chunk(chunk)
    stream.on('data', (chunk) => guarded(() => void take(chunk as Uint8Array)))
    stream.on('end', () => {
      if (entries.length === 1) guarded(() => sink.manifest(Buffer.concat(manifest)))
      next()
    })
  })

  let at = 0
  try {
    for await (const blocks of wholeBlocks(unpacked)) {
      const taken = await written(tar, blocks)
      if (failure !== null) throw failure
      if (!taken)
        throw entries.length === NAMES.length
          ? trailing()
          : broken('tar_header', 'expected a tar header, got other bytes', `tar byte ${at}`)
      requireZeros(blocks, at, entries)
      at += blocks.length
      if (at - endOf(entries) > MOST_END_BYTES && entries.length === NAMES.length) throw trailing()
    }
  } finally {
    tar.destroy()
  }
  requireAll(entries, at)
}

/** False when the reader refused the blocks. */
async function written(tar: Extract, blocks: Uint8Array): Promise<boolean> {
  await new Promise<void>((resolve) => {
    const over = () => {
      tar.off('drain', over)
      tar.off('close', over)
      resolve()
    }
    tar.on('drain', over)
    tar.on('close', over)
    tar.write(blocks)
  })
  return !tar.destroying
}

type Entry = { name: string; from: number; sizeBytes: number }

/** The next file, if the archive may have it there. */
function admit(
  { header, offset }: ExtractEvents['entry'][1],
  before: Entry[],
  limits: Limits,
): Entry {
  const { name, type, linkname, size: sizeBytes } = header
  const where = `entry ${before.length + 1}`
  const refuse = (reason: string, expected: string): never => {
    const shown = JSON.stringify(name.slice(0, 60))
    throw broken(reason, `expected ${expected}, got ${shown}`, where)
  }
  // A header that only says something of the next one (pax, GNU long name) stands between, and is
  // not handed out.
  if (offset !== endOf(before))
    throw broken('tar_hidden_header', 'expected the next file, got a block that is none', where)
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) refuse('entry_absolute', 'a plain name')
  if (name.split(/[/\\]/).includes('..')) refuse('entry_parent', 'a plain name')
  if (type !== 'file' || linkname)
    throw broken('entry_type', `expected a plain file, got ${type ?? 'an unknown type'}`, where)
  if (before.some((one) => one.name === name)) refuse('entry_twice', 'each file once')
  if (!NAMES.includes(name as (typeof NAMES)[number])) refuse('entry_unknown', NAMES.join(' and '))
  if (name !== NAMES[before.length]) refuse('entry_order', `${NAMES[before.length]} first`)
  const most = name === MANIFEST ? limits.manifestBytes : limits.unpackedBytes
  if (sizeBytes > most)
    throw broken('entry_too_large', `expected at most ${most} bytes, got ${sizeBytes}`, name)
  return { name, from: offset + BLOCK, sizeBytes }
}

/** Where the block behind the last file begins. */
function endOf(entries: readonly Entry[]): number {
  const last = entries.at(-1)
  return last ? Math.ceil((last.from + last.sizeBytes) / BLOCK) * BLOCK : 0
}

/** Every byte of these blocks that is in no header and in no file is zero. */
function requireZeros(blocks: Uint8Array, at: number, entries: readonly Entry[]): void {
  let from = at
  const last = at + blocks.length
  for (const entry of [...entries, null]) {
    const to = entry === null ? last : Math.min(entry.from - BLOCK, last)
    for (; from < to; from++) {
      if (blocks[from - at] === 0) continue
      if (from >= endOf(entries)) throw trailing()
      throw broken(
        'tar_padding',
        'expected zeros behind a file, got other bytes',
        `tar byte ${from}`,
      )
    }
    if (entry !== null) from = Math.max(from, entry.from + entry.sizeBytes)
  }
}

function requireAll(entries: readonly Entry[], sizeBytes: number): void {
  const last = entries.at(-1)
  if (last && sizeBytes < last.from + last.sizeBytes)
    throw broken('tar_truncated', `expected ${last.sizeBytes} bytes, got the end`, last.name)
  const missing = NAMES[entries.length]
  if (missing !== undefined)
    throw broken('entry_missing', `expected ${missing}, got the end of the archive`, 'tar')
  if (sizeBytes - endOf(entries) < END_BYTES)
    throw broken('tar_truncated', 'expected two blocks of zeros at the end, got fewer', 'tar')
}

/** Chunks cut anew, so that each is whole blocks of a tar archive. */
async function* wholeBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % BLOCK)
    if (whole > 0) yield bytes.subarray(0, whole)
    rest = bytes.subarray(whole)
  }
  if (rest.length > 0)
    throw broken('tar_truncated', `expected blocks of ${BLOCK} bytes, got a part of one`, 'tar')
}

function trailing(): NotWhole {
  return broken('tar_trailing_data', 'expected zeros behind the last file, got other bytes', 'tar')
}

function broken(reason: string, detail: string, where: string): NotWhole {
  return new NotWhole('archive', reason, detail, where)
}
