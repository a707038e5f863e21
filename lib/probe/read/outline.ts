/**
 * What the tests need of a JSON-RPC result, in a bounded size: a server's megabyte is read once and
 * not carried on.
 *
 * Tools are not in it. They are read from the answer's own text, which is kept until then
 * (`tools.ts`).
 */
import { isObject } from '../../json.ts'

/**
 * A member as the server gave it, when it is a word, a number or the like; `absent`, or the type of
 * everything else.
 */
export type Given = string | number | boolean | null | 'absent' | '(text)' | '(object)' | '(array)'

export type Outline = {
  /** As given by `initialize`, when it is a text of at most 64 characters. */
  protocolVersion: string | null
  /** As given by `server/discover`; null when it is no list. At most 1,000 texts. */
  supportedVersions: string[] | null
  server: { name: string | null; version: string | null; title: string | null } | null
  /** Names of capabilities, at most 64; null when there is no object. */
  capabilities: string[] | null
  /** At most 16,384 characters. */
  instructions: string | null
  /** The cursor of the next page; null at the end. An empty text is a cursor. */
  nextCursor: string | null
  resultType: Given
  ttlMs: Given
  cacheScope: Given
}

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/** Read a result. Total: any JSON value has an outline. */
export function outlineOf(result: unknown): Outline {
  const fields = objectOr(result)
  const info = fields['serverInfo'] ?? objectOr(fields['_meta'])[SERVER_INFO]
  const { capabilities, supportedVersions, nextCursor } = fields
  return {
    protocolVersion: textUpTo(fields['protocolVersion'], 64),
    supportedVersions: Array.isArray(supportedVersions)
      ? supportedVersions.slice(0, 1_000).flatMap((version) => textUpTo(version, 64) ?? [])
      : null,
    server: isObject(info)
      ? {
          name: cut(info['name'], 256),
          version: cut(info['version'], 256),
          title: cut(info['title'], 256),
        }
      : null,
    capabilities: isObject(capabilities) ? firstKeys(capabilities, 64) : null,
    instructions: cut(fields['instructions'], 16_384),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : null,
    resultType: given(fields, 'resultType'),
    ttlMs: given(fields, 'ttlMs'),
    cacheScope: given(fields, 'cacheScope'),
  }
}

function given(fields: Record<string, unknown>, name: string): Given {
  const value = fields[name]
  if (value === undefined) return 'absent'
  if (typeof value === 'string') return /^[\w/-]{1,32}$/.test(value) ? value : '(text)'
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  return Array.isArray(value) ? '(array)' : '(object)'
}

function objectOr(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

function textUpTo(value: unknown, most: number): string | null {
  return typeof value === 'string' && value.length <= most ? value.toWellFormed() : null
}

function cut(value: unknown, most: number): string | null {
  return typeof value === 'string' ? value.slice(0, most).toWellFormed() : null
}

/** Not `Object.keys`, which would list all of a server's hundred thousand members to keep 64. */
function firstKeys(value: Record<string, unknown>, most: number): string[] {
  const keys: string[] = []
  for (const key in value) {
    if (keys.length === most) break
    keys.push(key.slice(0, 64).toWellFormed())
  }
  return keys
}
