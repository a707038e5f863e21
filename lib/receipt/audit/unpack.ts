/**
 * The entries of an export: one document, documents line after line, an array, an envelope; each
 * also gzipped.
 */
import { gunzipSync } from 'node:zlib'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { documentsIn } from '../../lines.ts'
import { MAX_DEPTH, pagesIn, unwrapped } from './containers.ts'

/** Largest export that is unpacked, in bytes: a small gz must not fill the memory. */
export const MAX_EXPORT_BYTES = 1 << 30

/** How an envelope is opened. `entries` is null when the document is one entry. */
export type Envelope = {
  entries(document: JsonObject): Json[] | null
  scopeOf?(document: JsonObject): string | null
}

export type Entry = { entry: Json; line: number; scope: string | null }

/** Bytes as they were before gzip, if they were gzipped. */
export function unpack(bytes: Uint8Array, name: string): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_EXPORT_BYTES })
  } catch (cause) {
    throw new TouchstoneError(
      'export_invalid',
      `expected gzip data, got ${(cause as Error).message}`,
      {
        where: name,
        cause,
      },
    )
  }
}

/**
 * The entries of an export with their places: the line, or the place in the list.
 *
 * @param skip told of each line that is passed over, with the reason
 */
export function* entriesOf(
  bytes: Uint8Array,
  name: string,
  envelope: Envelope,
  skip: (line: number, reason: string) => void = () => {},
): Generator<Entry> {
  let place = 0
  const pages = pagesIn(bytes)
  for (const page of pages ?? [bytes]) {
    const documents = documentsIn(page, name, (error, line) => {
      // One number that no double holds spoils its line and not the export.
      if (error.code !== 'json_unsafe_number') return false
      skip(line, `${error.code}: ${error.message}`)
      return true
    })
    for (const { value, line } of documents) {
      if (line !== null && !isObject(value) && !Array.isArray(value))
        yield { entry: value, line, scope: null }
      else
        for (const one of opened(value, envelope, name))
          yield { ...one, line: pages === null && line !== null ? line : ++place }
    }
  }
}

/**
 * The entries in a document: those of a list, each of which may be an envelope, those of an
 * envelope, or itself.
 */
function* opened(
  document: Json,
  envelope: Envelope,
  name: string,
  depth = 0,
): Generator<Omit<Entry, 'line'>> {
  const inner = function* (list: readonly Json[]) {
    for (const one of list)
      if (depth < MAX_DEPTH && (isObject(one) || Array.isArray(one)))
        yield* opened(one, envelope, name, depth + 1)
      else yield { entry: one, scope: null }
  }
  if (Array.isArray(document)) return yield* inner(document)
  if (!isObject(document))
    throw new TouchstoneError('export_invalid', 'expected audit entries, got another JSON value', {
      where: name,
    })
  const wrapped = unwrapped(document)
  if (wrapped) return yield* inner(wrapped)
  const inside = envelope.entries(document)
  const scope = inside ? (envelope.scopeOf?.(document) ?? null) : null
  if (inside) for (const entry of inside) yield { entry, scope }
  else yield { entry: document, scope: null }
}
