/** RFC 8785 text of JSON values, and `sha256:` digests over it. */
import { hash } from 'node:crypto'
import canonicalizeJson from 'canonicalize'
import { TouchstoneError } from './errors.ts'
import { MAX_DEPTH } from './json.ts'

/** `sha256:` and 64 lower-case hexadecimal digits. */
export type Digest = `sha256:${string}`

const DIGEST = /^sha256:[0-9a-f]{64}$/

/** True when the value is a digest in the one form that is written here. */
export function isDigest(value: unknown): value is Digest {
  return typeof value === 'string' && DIGEST.test(value)
}

/**
 * SHA-256 of bytes, or of a text's UTF-8 bytes.
 *
 * @example
 * digest('') // 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
 */
export function digest(data: string | Uint8Array): Digest {
  return `sha256:${hash('sha256', data, 'hex')}`
}

/**
 * SHA-256 of a text under a domain line, so that equal texts with different meanings have different
 * digests.
 *
 * @param domain one line without its line feed, such as `assay-scenarios/v1`
 */
export function domainDigest(domain: string, text: string): Digest {
  return digest(`${domain}\n${text}`)
}

/**
 * RFC 8785 text of a JSON value.
 *
 * @throws TouchstoneError `json_value` for anything that JSON cannot say: undefined, NaN, a Map, a
 *   Date, a class instance, a hole in an array, a cycle or half a surrogate pair. Nothing is
 *   dropped in silence.
 * @example
 * canonical({ b: 1.0, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonical(value: unknown): string {
  requireJson(value, '', 0)
  try {
    return canonicalizeJson(value) as string
  } catch (cause) {
    throw new TouchstoneError(
      'json_value',
      'expected well-formed strings, got half a surrogate pair',
      { cause },
    )
  }
}

/** SHA-256 of a value's RFC 8785 text. */
export function digestOf(value: unknown): Digest {
  return digest(canonical(value))
}

function requireJson(value: unknown, path: string, depth: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return
    refuse(String(value), path)
  }
  if (typeof value !== 'object') refuse(typeof value, path)
  if (depth >= MAX_DEPTH) refuse(`nesting beyond ${MAX_DEPTH}, or a cycle`, path)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) requireJson(value[i], `${path}/${i}`, depth + 1)
    return
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    refuse(value.constructor?.name ?? 'an instance', path)
  for (const key of Object.keys(value)) {
    requireJson(
      (value as Record<string, unknown>)[key],
      `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      depth + 1,
    )
  }
}

function refuse(got: string, path: string): never {
  throw new TouchstoneError('json_value', `expected a JSON value, got ${got}`, {
    where: path || 'the value itself',
  })
}
