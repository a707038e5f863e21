/**
 * One gzip member (RFC 1952), unpacked as a stream, and nothing behind it.
 *
 * `createGunzip` goes on into a second member and passes over bytes behind the last one, both
 * without a word. So the frame is read here, and only the compressed data between header and
 * trailer goes to zlib.
 */
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { type Limits, NotWhole } from './not-whole.ts'

const FLAGS = { crc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }

/** Longest name or comment that a header may hold. */
const MOST_TEXT_BYTES = 1 << 10

const TRAILER_BYTES = 8

/** @throws NotWhole */
export async function* gunzip(
  chunks: AsyncIterable<Uint8Array>,
  limits: Limits,
): AsyncGenerator<Uint8Array> {
  const input = new Input(chunks, limits.packedBytes)
  try {
    await readHeader(input)
    const { crc, size } = yield* inflated(input, limits)
    await readTrailer(input, crc, size)
  } finally {
    input.close()
  }
}

/** The compressed data, unpacked. What lies behind it stays in the input. */
async function* inflated(
  input: Input,
  limits: Limits,
): AsyncGenerator<Uint8Array, { crc: number; size: number }> {
  const inflate = createInflateRaw({ chunkSize: 1 << 16 })
  // What fails on the way in comes out of the loop below. What zlib itself refuses leaves the
  // feeding waiting for ever.
  const fed = feed(inflate, input).catch((cause: Error) => void inflate.destroy(cause))
  let crc = 0
  let size = 0
  try {
    for await (const part of inflate as AsyncIterable<Uint8Array>) {
      crc = crc32(part, crc)
      size += part.length
      if (size > limits.unpackedBytes)
        throw broken(
          'unpacked_too_large',
          `expected at most ${limits.unpackedBytes} bytes unpacked, got more`,
        )
      yield part
    }
    await fed
    return { crc, size }
  } catch (cause) {
    throw failureOf(cause)
  } finally {
    inflate.destroy()
  }
}

/**
 * Hand the input to zlib chunk by chunk, and give back what lies behind the end of the compressed
 * data.
 */
async function feed(inflate: InflateRaw, input: Input): Promise<void> {
  for (;;) {
    const chunk = await input.next()
    if (chunk === null) break
    const before = inflate.bytesWritten
    await new Promise<void>((resolve, reject) => {
      inflate.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
    const taken = inflate.bytesWritten - before
    if (taken < chunk.length) {
      input.putBack(chunk.subarray(taken))
      return
    }
  }
  inflate.end()
}

function failureOf(cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') return truncated('compressed data')
  if (code?.startsWith('Z_'))
    return broken('gzip_data', `expected compressed data, got what zlib calls ${code}`)
  return cause
}

async function readHeader(input: Input): Promise<void> {
  const fixed = await input.take(10)
  const sums = [fixed ?? new Uint8Array()]
  const more = async (length: number): Promise<Uint8Array> => {
    const bytes = await input.take(length)
    if (bytes === null) throw truncated('header')
    sums.push(bytes)
    return bytes
  }
  if (fixed?.[0] !== 0x1f || fixed[1] !== 0x8b || fixed[2] !== 8)
    throw broken('gzip_header', 'expected a gzip file (1f 8b 08), got other bytes')
  const flags = fixed[3] as number
  if (flags & FLAGS.reserved)
    throw broken('gzip_header', 'expected no reserved flag in the gzip header, got one')
  if (flags & FLAGS.extra) {
    const [low = 0, high = 0] = await more(2)
    await more(low + high * 256)
  }
  for (const flag of [FLAGS.name, FLAGS.comment]) {
    if (!(flags & flag)) continue
    const text = await input.takeThrough(0, MOST_TEXT_BYTES)
    if (text === null)
      throw broken('gzip_header', `expected a text of at most ${MOST_TEXT_BYTES} bytes, got none`)
    sums.push(text)
  }
  if (flags & FLAGS.crc) {
    const expected = crc32(Buffer.concat(sums)) & 0xffff
    const [low = 0, high = 0] = await more(2)
    if (low + high * 256 !== expected)
      throw broken('gzip_header', 'expected the checksum of the gzip header, got another')
  }
}

async function readTrailer(input: Input, crc: number, size: number): Promise<void> {
  const trailer = await input.take(TRAILER_BYTES)
  if (trailer === null) throw truncated('trailer')
  const view = new DataView(trailer.buffer, trailer.byteOffset, TRAILER_BYTES)
  if (view.getUint32(0, true) !== crc)
    throw broken('gzip_crc', 'expected the CRC-32 of the unpacked bytes, got another')
  if (view.getUint32(4, true) !== size % 2 ** 32)
    throw broken('gzip_size', `expected the size ${size}, got ${view.getUint32(4, true)}`)
  const behind = await input.next()
  if (behind === null) return
  const first = await withMore(behind, input)
  if (first[0] === 0x1f && first[1] === 0x8b)
    throw broken('gzip_second_member', 'expected one gzip member, got another behind it')
  throw broken('gzip_trailing_data', 'expected the end of the file, got bytes behind the trailer')
}

/** At least two bytes where there are two: a chunk may end between them. */
async function withMore(bytes: Uint8Array, input: Input): Promise<Uint8Array> {
  if (bytes.length > 1) return bytes
  return Buffer.concat([bytes, (await input.next()) ?? new Uint8Array()])
}

function broken(reason: string, detail: string): NotWhole {
  return new NotWhole('archive', reason, detail, 'gzip')
}

function truncated(what: string): NotWhole {
  return broken('gzip_truncated', `expected a whole ${what}, got the end of the file`)
}

/** Chunks as one run of bytes. No chunk that it gives is empty. */
class Input {
  private readonly chunks: AsyncIterator<Uint8Array>
  private readonly mostBytes: number
  private total = 0
  private held: Uint8Array | null = null

  constructor(chunks: AsyncIterable<Uint8Array>, mostBytes: number) {
    this.chunks = chunks[Symbol.asyncIterator]()
    this.mostBytes = mostBytes
  }

  /** Nothing more is asked for: a file is closed. */
  close(): void {
    this.chunks.return?.()?.catch(() => {})
  }

  putBack(rest: Uint8Array): void {
    this.held = rest
  }

  async next(): Promise<Uint8Array | null> {
    const held = this.held
    this.held = null
    if (held !== null && held.length > 0) return held
    for (;;) {
      const { value, done } = await this.chunks.next()
      if (done) return null
      this.total += value.length
      if (this.total > this.mostBytes)
        throw broken(
          'bundle_too_large',
          `expected a file of at most ${this.mostBytes} bytes, got more`,
        )
      if (value.length > 0) return value
    }
  }

  /** Bytes up to and with this one, or null where it is not among so many. */
  async takeThrough(byte: number, mostBytes: number): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = []
    for (let read = 0; read < mostBytes; ) {
      const chunk = await this.next()
      if (chunk === null) return null
      const at = chunk.indexOf(byte)
      const length = at < 0 ? chunk.length : at + 1
      read += length
      parts.push(chunk.subarray(0, length))
      if (at < 0) continue
      this.putBack(chunk.subarray(length))
      return read > mostBytes ? null : Buffer.concat(parts)
    }
    return null
  }

  /** Exactly so many bytes, or null where there are fewer. */
  async take(length: number): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = []
    for (let missing = length; missing > 0; ) {
      const chunk = await this.next()
      if (chunk === null) return null
      parts.push(chunk.subarray(0, missing))
      if (chunk.length > missing) this.putBack(chunk.subarray(missing))
      missing -= Math.min(missing, chunk.length)
    }
    return Buffer.concat(parts)
  }
}
