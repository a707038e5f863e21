/**
 * What may be kept of a call's arguments: plain words made harmless, identifying ones hashed under
 * a domain.
 *
 * The hash follows assay.tool_target.v0, which was first written in Rust, so white space is trimmed
 * by Unicode's White_Space and not by `String.prototype.trim`: the two differ at U+FEFF and U+0085.
 */
import { type Digest, digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'

const WHITE_SPACE =
  '\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const LEADING = new RegExp(`^[${WHITE_SPACE}]+`)
const WHITE = new RegExp(`[${WHITE_SPACE}]`)

/**
 * Trim Unicode White_Space at both ends, as Rust's `str::trim` does.
 *
 * @example
 * trim('\u0085 a \u3000') // 'a'
 */
export function trim(text: string): string {
  const start = text.replace(LEADING, '')
  let end = start.length
  // A pattern anchored at the end would be tried at every blank inside the text: quadratic on
  // hostile input.
  while (end > 0 && WHITE.test(start[end - 1] as string)) end--
  return start.slice(0, end)
}

/**
 * The hash that stands in a target instead of an identifying value. Pseudonymous, not anonymous:
 * who guesses the value can check the guess.
 *
 * @param domain what kind of value it is, such as `github_key_title`
 * @example
 * targetHash('github_key_title', 'ci-key') // 'sha256:a65a94d25524f87fbb5ce6d3fde202c02a5b532f27e1ba3b5708076e1ba75ccf'
 */
export function targetHash(domain: string, value: string): Digest {
  if (typeof domain !== 'string' || typeof value !== 'string')
    throw new TouchstoneError(
      'argument_invalid',
      `expected a domain and a text, got ${typeof domain}, ${typeof value}`,
      {
        where: 'targetHash',
      },
    )
  return digest(`assay.tool_target.v0:${domain}:${trim(value).toLowerCase()}`)
}

/**
 * The hash of an identifying value, byte for byte: no blank is trimmed and no letter is changed. Of
 * a value that needs neither it is the same as `targetHash`.
 *
 * @throws TouchstoneError `argument_invalid` for half a surrogate pair, which no UTF-8 holds
 * @example
 * exactHash('github_key_title', 'ci-key') // 'sha256:a65a94d25524f87fbb5ce6d3fde202c02a5b532f27e1ba3b5708076e1ba75ccf'
 * exactHash('github_key_title', 'CI-key') === exactHash('github_key_title', 'ci-key') // false
 */
export function exactHash(domain: string, value: string): Digest {
  if (typeof domain !== 'string' || typeof value !== 'string' || !value.isWellFormed())
    throw new TouchstoneError('argument_invalid', 'expected a domain and a well-formed text', {
      where: 'exactHash',
    })
  return digest(`assay.tool_target.v0:${domain}:${value}`)
}

/** The hash of who did it, by the provider's own name for them. */
export function actorHash(provider: string, name: string): Digest {
  return exactHash(`${provider}_actor`, name.toWellFormed())
}

/** The hash of a provider's id of an object. */
export function objectHash(provider: string, id: string): Digest {
  return exactHash(`${provider}_object`, id.toWellFormed())
}

/**
 * A value from a file of others as text: what is no text is shown as JSON. Control characters and
 * half a surrogate pair become U+FFFD.
 */
export function harmless(value: unknown): string {
  const text: string = typeof value === 'string' ? value : (JSON.stringify(value) ?? typeof value)
  return text.replace(/\p{Cc}/gu, '\ufffd').toWellFormed()
}

const SECRETS = new Set(
  'public_key private_key token access_token authorization secret credential password api_key'.split(
    ' ',
  ),
)

/** True for an argument name that is dropped rather than hashed, because it holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRETS.has(name.toLowerCase())
}
