/** `manifest.json`: what a bundle says of itself, to be compared with what is computed from it. */
import { type Digest, isDigest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type JsonObject, parse } from '../../json.ts'
import { shapeOf } from '../surface/decision.ts'
import { EVENTS, MANIFEST } from './archive.ts'
import { NotWhole } from './not-whole.ts'

/**
 * How digests are made. The line feed of `root` stands in it as two characters, a backslash and an
 * n.
 */
export const ALGORITHMS = {
  canon: 'jcs-rfc8785',
  hash: 'sha256',
  root: 'sha256(concat(content_hash + "\\n"))',
} as const

export const SCHEMA_VERSION = 1

export type Manifest = {
  bundleId: Digest
  runRoot: Digest
  runId: string
  eventCount: number
  file: { bytes: number; sha256: Digest }
}

const HEX = /^[0-9a-f]{64}$/

/**
 * Read a manifest strictly. Members that no check rests on, such as `producer`, may be anything.
 *
 * @throws NotWhole
 */
export function readManifest(bytes: Uint8Array): Manifest {
  const manifest = documentIn(bytes)
  const member = (path: string, value: unknown, expected: string, holds: boolean): void => {
    if (!holds) fail(path, expected, value)
  }
  const { schema_version, bundle_id, run_root, run_id, event_count } = manifest
  member(
    'schema_version',
    schema_version,
    String(SCHEMA_VERSION),
    schema_version === SCHEMA_VERSION,
  )
  member('bundle_id', bundle_id, DIGEST, isDigest(bundle_id))
  member('run_root', run_root, DIGEST, isDigest(run_root))
  member('run_id', run_id, 'a text', typeof run_id === 'string' && run_id !== '')
  member('event_count', event_count, 'a whole number >= 0', isCount(event_count))
  const algorithms = object(manifest, 'algorithms')
  for (const [name, value] of Object.entries(ALGORITHMS)) {
    const got = algorithms[name]
    member(`algorithms.${name}`, got, JSON.stringify(value), got === value)
  }
  const files = object(manifest, 'files')
  const names = Object.keys(files)
  member('files', names, `${EVENTS} alone`, names.length === 1 && names[0] === EVENTS)
  const { path, bytes: sizeBytes, sha256 } = object(files, EVENTS)
  member('files.path', path, EVENTS, path === EVENTS)
  member('files.bytes', sizeBytes, 'a whole number >= 0', isCount(sizeBytes))
  // The form of this one is told nowhere. With the prefix or without, it names the same bytes.
  const digest = typeof sha256 === 'string' && HEX.test(sha256) ? `sha256:${sha256}` : sha256
  member('files.sha256', sha256, DIGEST, isDigest(digest))
  return {
    bundleId: bundle_id as Digest,
    runRoot: run_root as Digest,
    runId: run_id as string,
    eventCount: event_count as number,
    file: { bytes: sizeBytes as number, sha256: digest as Digest },
  }
}

const DIGEST = '"sha256:" and 64 lower-case hex digits'

function documentIn(bytes: Uint8Array): JsonObject {
  if (startsWithMark(bytes))
    throw new NotWhole(
      'manifest',
      'manifest_byte_order_mark',
      'expected JSON, got a byte order mark before it',
      MANIFEST,
    )
  try {
    const value = parse(bytes, MANIFEST)
    return isObject(value) ? value : fail('the document', 'an object', value)
  } catch (cause) {
    if (!(cause instanceof TouchstoneError)) throw cause
    throw new NotWhole('manifest', `manifest_${cause.code}`, cause.message, MANIFEST)
  }
}

/** A byte order mark: readers differ in what they do with one. */
export function startsWithMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function object(parent: JsonObject, name: string): JsonObject {
  const value = parent[name]
  return isObject(value) ? value : fail(name, 'an object', value)
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function fail(path: string, expected: string, got: unknown): never {
  const reason = path.startsWith('algorithms.') ? 'manifest_algorithms' : 'manifest_member'
  throw new NotWhole(
    'manifest',
    reason,
    `expected ${expected}, got ${shownAs(got)}`,
    `${MANIFEST}: ${path}`,
  )
}

/**
 * A value of somebody else's as it may stand in a message: a short text or number, else only what
 * it is.
 */
export function shownAs(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : shapeOf(value)
}
