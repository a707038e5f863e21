/**
 * `events.ndjson`, read line by line: each event's content hash, id, place and run, and the digest
 * over all of them.
 *
 * The checks of a bundle count in one order, but a stream shows an event before the file's digest
 * is known. So the first failure of the lowest step is kept while reading, and told at the end.
 */
import { createHash } from 'node:crypto'
import { type Digest, digestOf, isDigest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject, parse } from '../../json.ts'
import { type Line, Splitter } from '../../lines.ts'
import { EVENTS } from './archive.ts'
import { isCount, type Manifest, shownAs, startsWithMark } from './manifest.ts'
import { type Limits, NotWhole, STEPS, type Step } from './not-whole.ts'

/** What the profile judges of an event. */
export type BundleEvent = { line: number; type: string; data: Json }

/** An event as it stands in a line. */
type Envelope = {
  type: string
  id: string
  subject: string | undefined
  runId: string
  seq: number
  contentHash: Digest
  data: Json
}

export class EventReader {
  /** Events read so far. */
  count = 0
  private readonly manifest: Manifest
  private readonly limits: Limits
  private readonly take: (event: BundleEvent) => void
  private readonly splitter: Splitter
  private readonly file = createHash('sha256')
  private readonly root = createHash('sha256')
  private failure: NotWhole | null = null

  /** @param take is given each event whose line, content and place hold */
  constructor(manifest: Manifest, limits: Limits, take: (event: BundleEvent) => void) {
    this.manifest = manifest
    this.limits = limits
    this.take = take
    this.splitter = new Splitter(0, limits.lineBytes)
  }

  /** The size that the archive gives for the file. */
  size(sizeBytes: number): void {
    const { bytes } = this.manifest.file
    if (sizeBytes !== bytes)
      this.fail('file_size', `expected ${bytes} bytes, got ${sizeBytes}`, EVENTS)
  }

  chunk(bytes: Uint8Array): void {
    this.file.update(bytes)
    for (const line of this.splitter.push(bytes)) this.line(line)
  }

  /** @throws NotWhole with what failed first, in the order of the steps */
  end(): void {
    for (const line of this.splitter.end()) this.line(line)
    const { manifest } = this
    const expect = (step: Step, expected: string | number, got: string | number) => {
      if (expected !== got) this.fail(step, `expected ${expected}, got ${got}`, EVENTS)
    }
    expect('file_digest', manifest.file.sha256, `sha256:${this.file.digest('hex')}`)
    expect('event_count', manifest.eventCount, this.count)
    const root = `sha256:${this.root.digest('hex')}`
    expect('run_root', manifest.runRoot, root)
    expect('bundle_id', manifest.bundleId, root)
    if (this.failure) throw this.failure
  }

  private line(line: Line): void {
    this.count++
    if (this.count > this.limits.events)
      throw new NotWhole(
        'archive',
        'events_too_many',
        `expected at most ${this.limits.events} events, got more`,
        EVENTS,
      )
    // What no check below this step could outrank any more is not looked at.
    if (this.settled('event')) return
    const where = `${EVENTS}:${line.line}`
    let event: Envelope
    try {
      event = envelopeIn(line, where, this.limits)
    } catch (cause) {
      if (!(cause instanceof NotWhole)) throw cause
      this.keep(cause)
      return
    }
    if (this.settled('content_hash')) return
    const { type, data, runId, seq } = event
    const hash = contentHash(event)
    if (hash !== event.contentHash)
      this.fail('content_hash', `expected ${hash}, got ${event.contentHash}`, where)
    this.root.update(`${hash}\n`)
    if (event.id !== `${runId}:${seq}`)
      this.fail('event_id', `expected run id and sequence, got ${shownAs(event.id)}`, where)
    if (seq !== this.count - 1)
      this.fail('sequence', `expected ${this.count - 1}, got ${seq}`, where)
    if (runId !== this.manifest.runId)
      this.fail('run_id', `expected the manifest's run, got ${shownAs(runId)}`, where)
    if (this.failure === null) this.take({ line: line.line, type, data })
  }

  private fail(step: Step, detail: string, where: string): void {
    this.keep(new NotWhole(step, step, detail, where))
  }

  private keep(failure: NotWhole): void {
    if (!this.settled(failure.step)) this.failure = failure
  }

  /** A failure of this step, or of one before it, is known. */
  private settled(step: Step): boolean {
    return this.failure !== null && STEPS.indexOf(this.failure.step) <= STEPS.indexOf(step)
  }
}

/** SHA-256 over what an event says. When it was said, and its place in the file, are not in it. */
export function contentHash(event: { type: string; subject?: string | undefined; data: Json }) {
  const { type, subject, data } = event
  return digestOf({
    specversion: '1.0',
    type,
    datacontenttype: 'application/json',
    ...(subject !== undefined && { subject }),
    data,
  })
}

function envelopeIn(line: Line, where: string, limits: Limits): Envelope {
  const refuse = (reason: string, detail: string, member = ''): never => {
    throw new NotWhole('event', reason, detail, where + member)
  }
  const { bytes } = line
  if (bytes.length > limits.lineBytes)
    refuse('line_too_long', `expected at most ${limits.lineBytes} bytes, got more`)
  if (!line.whole) refuse('line_feed_missing', 'expected a line feed at the end, got none')
  if (bytes.length === 0) refuse('line_empty', 'expected an event, got an empty line')
  if (startsWithMark(bytes)) refuse('byte_order_mark', 'expected JSON, got a byte order mark')
  // Inside of a JSON text a carriage return is white space. Some readers end a line there.
  if (bytes.includes(13)) refuse('carriage_return', 'expected a line feed alone, got CR')
  let value: Json
  try {
    value = parse(bytes, where)
  } catch (cause) {
    if (!(cause instanceof TouchstoneError)) throw cause
    return refuse(`event_${cause.code}`, cause.message)
  }
  if (!isObject(value)) return refuse('event_member', 'expected an object, got none')
  return readEnvelope(value, (name, expected) =>
    refuse('event_member', `expected ${expected}, got ${shownAs(value[name])}`, `: ${name}`),
  )
}

function readEnvelope(
  event: JsonObject,
  fail: (name: string, expected: string) => never,
): Envelope {
  for (const [name, expected] of [
    ['specversion', '1.0'],
    ['datacontenttype', 'application/json'],
  ] as const)
    if (event[name] !== expected) fail(name, `"${expected}"`)
  const text = (name: string): string => {
    const value = event[name]
    return typeof value === 'string' ? value : fail(name, 'a text')
  }
  for (const name of ['source', 'time']) text(name)
  const { assayseq: seq, assaycontenthash: contentHash } = event
  return {
    type: text('type'),
    id: text('id'),
    runId: text('assayrunid'),
    // An explicit null is neither a subject nor none.
    subject: Object.hasOwn(event, 'subject') ? text('subject') : undefined,
    seq: isCount(seq) ? seq : fail('assayseq', 'a whole number >= 0'),
    contentHash: isDigest(contentHash)
      ? contentHash
      : fail('assaycontenthash', '"sha256:" and 64 lower-case hex digits'),
    data: Object.hasOwn(event, 'data') ? (event['data'] as Json) : fail('data', 'a payload'),
  }
}
