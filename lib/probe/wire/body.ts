/**
 * Reading a response body under a byte limit that holds for what comes over the wire and for what
 * it unpacks to.
 *
 * The limit stands in front of every parser: a chunk is cut to what is still allowed before anybody
 * looks at it.
 */
import type { Readable, Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { Shortfall, shortfallOf } from '../judge/outcome.ts'

const DECODERS: Record<string, () => Transform> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
}

/** How long a connection is kept for re-use while a body runs out after its answer was found. */
const LINGER_MS = 50

export type BodyLimits = {
  /** Bytes that are read of the body and of what it unpacks to. One more is too many. */
  maxBytes: number
  /** Told of every byte that came over the wire, of abandoned bodies too. */
  count(bytes: number): void
}

/**
 * Feed a body to `take` until it says that it has seen enough, or the body ends.
 *
 * We ask for `identity`; a server that compresses all the same is read through one gzip, deflate,
 * br or zstd layer.
 *
 * @param take gets each chunk; true ends the reading. It may take its time: nothing more is read
 *   until it is done
 * @returns `found` when `take` said so, once the body is out of the way; `ended` when the body
 *   ended
 * @throws Shortfall `answer_too_large`, `content_encoding`, and what the connection's own error
 *   means
 */
export function readBody(
  body: Readable,
  encoding: string | undefined,
  limits: BodyLimits,
  take: (chunk: Uint8Array) => boolean | Promise<boolean>,
): Promise<'found' | 'ended'> {
  const coding = (encoding ?? '').trim().toLowerCase()
  const unpacker = coding === '' || coding === 'identity' ? null : DECODERS[coding]?.()
  return new Promise((resolve, reject) => {
    let wireBytes = 0
    let readBytes = 0
    let settled = false
    const fail = (error: unknown) => {
      if (settled) return
      settled = true
      // An aborted body reports its abort once more; somebody must be listening or the process
      // ends.
      body.on('error', () => {})
      body.destroy()
      unpacker?.destroy()
      reject(error)
    }
    const finish = (how: 'found' | 'ended') => {
      if (settled) return
      settled = true
      if (how === 'ended') resolve(how)
      else abandon(body, unpacker ?? null).then(() => resolve(how))
    }
    if (unpacker === undefined) {
      body.on('error', () => {})
      fail(new Shortfall('content_encoding'))
      return
    }
    // What comes behind a chunk that is still being looked at waits until that is done.
    let looking: Promise<void> | null = null
    const afterLook = (next: () => void) => (looking === null ? next() : looking.then(next))
    const source = unpacker ?? body
    const read = (chunk: Uint8Array) => {
      if (settled) return
      const allowed = limits.maxBytes - readBytes
      readBytes += chunk.length
      const judge = (found: boolean) => {
        if (found) finish('found')
        else if (readBytes > limits.maxBytes) fail(new Shortfall('answer_too_large'))
      }
      const found = take(chunk.length > allowed ? chunk.subarray(0, allowed) : chunk)
      if (typeof found === 'boolean') return judge(found)
      source.pause()
      looking = found.then(judge, fail).then(() => {
        looking = null
        source.resume()
      })
    }
    body.on('data', (chunk: Uint8Array) => {
      limits.count(chunk.length)
      wireBytes += chunk.length
      if (!unpacker) {
        read(chunk)
        if (settled && wireBytes > limits.maxBytes) body.destroy()
      } else if (wireBytes > limits.maxBytes) fail(new Shortfall('answer_too_large'))
    })
    body.on('error', (error) => afterLook(() => fail(shortfallOf(error))))
    body.on('close', () => {
      afterLook(() => body.readableEnded || fail(new Shortfall('connection_dropped')))
    })
    if (unpacker) {
      unpacker.on('data', read)
      unpacker.on('end', () => finish('ended'))
      unpacker.on('error', (cause) =>
        afterLook(() => fail(new Shortfall('content_encoding', { cause }))),
      )
      body.pipe(unpacker)
    } else body.on('end', () => finish('ended'))
  })
}

/**
 * Let go of a body whose answer is known. One that ends by itself at once leaves its connection
 * free for the next request; one that stays open is cut. Resolves when it is gone.
 */
export function abandon(body: Readable, unpacker: Transform | null = null): Promise<void> {
  body.on('error', () => {})
  if (body.closed || body.readableEnded) return Promise.resolve()
  const gone = new Promise<void>((resolve) => body.once('close', resolve))
  if (unpacker) {
    body.destroy()
    unpacker.on('error', () => {})
    unpacker.destroy()
    return gone
  }
  const timer = setTimeout(() => body.destroy(), LINGER_MS)
  body.once('close', () => clearTimeout(timer))
  body.resume()
  return gone
}
