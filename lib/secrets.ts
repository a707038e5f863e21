/**
 * Secrets that this process was given: providers' keys, variables that a case or a configuration
 * names, values in the query of an address. What a run writes and what an error says goes through
 * `redacted`.
 */

/** A shorter value is not looked for: it would be found in ordinary words. */
const SHORTEST = 8

const known = new Set<string>()
let pattern: RegExp | null = null

const PEM =
  /^(?:-----BEGIN ((?:RSA )?PUBLIC KEY|CERTIFICATE)-----[A-Za-z0-9+/=\s]+-----END \1-----\s*)+$/

/**
 * True for a public key in a line of OpenSSH, and for public keys and certificates in PEM with
 * nothing beside them.
 *
 * @example
 * isPublicKey('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPv1 ci@acme') // true
 */
export function isPublicKey(text: string): boolean {
  const [, kind = '', blob = ''] =
    /^(\S{1,50}) (AAAA[A-Za-z0-9+/]+={0,2})(?: .{1,100})?$/.exec(text.trim()) ?? []
  // The name of its kind stands in the key again, behind its length.
  const named = Buffer.from(blob, 'base64').toString('latin1', 4, 4 + kind.length) === kind
  const ssh = /^(?:sk-)?(?:ssh|ecdsa-sha2)-/.test(kind) && named
  return ssh || PEM.test(text.trim())
}

/**
 * Remember a secret. Returns the value. A text of fewer than 8 characters is not remembered, nor is
 * a public key.
 */
export function keepSecret(value: string): string {
  const secret = value.trim()
  if (secret.length >= SHORTEST && !known.has(secret) && !isPublicKey(secret)) {
    known.add(secret)
    pattern = null
  }
  return value
}

/** Names of variables, headers and members of a query whose values are secret. */
const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie|signature/i

/**
 * Remember the values of those members whose names say that they are secret. Returns the members.
 */
export function keepSecrets<T extends { readonly [name: string]: string | undefined }>(
  members: T,
): T {
  for (const [name, value] of Object.entries(members))
    if (value !== undefined && SECRET_NAME.test(name)) keepBare(value)
  return members
}

/** Headers whose values say nothing that is secret. The value of any other header may be a key. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'host',
  'http-referer',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'openai-beta',
  'origin',
  'pragma',
  'prefer',
  'referer',
  'user-agent',
  'x-title',
])

/**
 * Remember the values of headers: all but those of headers whose names are known to carry no
 * secret. Returns the headers.
 */
export function keepHeaders<T extends { readonly [name: string]: string | undefined }>(
  headers: T,
): T {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !PLAIN_HEADERS.has(name.trim().toLowerCase())) keepBare(value)
  return headers
}

/** Remember a value, and of `Bearer KEY` the key alone as well. */
function keepBare(value: string): void {
  if (isPublicKey(value)) return
  keepSecret(value)
  const last = value.trim().split(/\s+/).at(-1)
  if (last !== undefined && last !== value) keepSecret(last)
}

/**
 * An address to show or to write: without a password, and without the values of its query that have
 * at least 8 characters or names that say that they are secret. Both are remembered. Another text
 * comes back as it is.
 */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  // Which member of a query is a key, its name need not say.
  const found = [...url.searchParams].filter(
    ([name, value]) => SECRET_NAME.test(name) || value.length >= SHORTEST,
  )
  if (found.length === 0 && url.password === '') return address
  for (const [name, value] of found) {
    keepSecret(value)
    url.searchParams.set(name, 'redacted')
  }
  if (url.password !== '') {
    keepSecret(decodeURIComponent(url.password))
    url.password = 'redacted'
  }
  return url.href
}

/**
 * A text in which each known secret is `[redacted]`: as it is, percent-encoded, escaped as in JSON
 * up to three deep, or in base64 at any offset, as in `Authorization: Basic`.
 */
export function redacted(text: string): string {
  const found = patternOf()
  return found === null ? text : text.replace(found, '[redacted]')
}

/** The JSON text of a value whose texts are `redacted`. */
export function redactedJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  // A number may have the digits of a secret, so the text is searched and the value is changed.
  const found = patternOf()
  if (found === null || text.search(found) < 0) return text
  return JSON.stringify(changed(JSON.parse(text)), null, indent)
}

/**
 * A value whose texts are `redacted`, at any depth; the value itself where none holds a secret.
 */
export function redactedValue<T>(value: T): T {
  const found = patternOf()
  return found === null || JSON.stringify(value).search(found) < 0 ? value : (changed(value) as T)
}

function changed(value: unknown): unknown {
  if (typeof value === 'string') return redacted(value)
  if (Array.isArray(value)) return value.map(changed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redacted(name), changed(item)]),
  )
}

function patternOf(): RegExp | null {
  if (pattern === null && known.size > 0) {
    const forms = new Set([...known].flatMap(formsOf))
    const longestFirst = [...forms].sort((a, b) => b.length - a.length)
    pattern = new RegExp(longestFirst.map(escaped).join('|'), 'g')
  }
  return pattern
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function formsOf(secret: string): string[] {
  const plain = secret.toWellFormed()
  const bytes = Buffer.from(plain)
  const encoded = [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url')
    // Characters at both ends also hold bits of what stands beside the secret.
    const first = Math.ceil((offset * 4) / 3)
    const last = Math.floor(((offset + bytes.length) * 4) / 3)
    const inner = whole.slice(first, last)
    return inner.length < SHORTEST ? [] : [inner, inner.replaceAll('-', '+').replaceAll('_', '/')]
  })
  // JSON is handed on in JSON.
  const escapes = [plain]
  for (let depth = 0; depth < 3; depth++) escapes.push(JSON.stringify(escapes[depth]).slice(1, -1))
  return [secret, encodeURIComponent(plain), ...new Set(escapes), ...encoded]
}
