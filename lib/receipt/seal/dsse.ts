/**
 * DSSE envelopes signed with Ed25519: the signature covers the bytes that are shipped, so nothing
 * is re-serialised to check it.
 *
 * @see https://github.com/secure-systems-lab/dsse (protocol 1.0.2)
 */

import { sign as cryptoSign, verify as cryptoVerify } from 'node:crypto'
import { onlyMembers } from '../../arguments.ts'
import { canonical } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, parse } from '../../json.ts'
import { keyIdOf, privateKeyOf, publicKeyOf } from './keys.ts'

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

export type Envelope = {
  payloadType: string
  /** Base64 of the payload's bytes. */
  payload: string
  /** `keyid` is a hint that nothing authenticates. */
  signatures: { keyid: string; sig: string }[]
}

export type Opened = {
  /** `unsigned`: no signature at all. `not_by_key`: none that this key made. */
  signature: 'verified' | 'unsigned' | 'not_by_key'
  payloadType: string
  /** The bytes that were signed. Parse these and no others. */
  payload: Uint8Array
}

/**
 * The pre-authentication encoding: what is signed.
 *
 * @example
 * new TextDecoder().decode(pae('http://example.com/HelloWorld', 'hello world'))
 * // 'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
 */
export function pae(payloadType: string, payload: string | Uint8Array): Uint8Array {
  if (
    typeof payloadType !== 'string' ||
    (typeof payload !== 'string' && !(payload instanceof Uint8Array))
  )
    throw new TouchstoneError(
      'argument_invalid',
      'expected a payload type and text or bytes, got something else',
      {
        where: 'pae',
      },
    )
  const encode = (text: string) => new TextEncoder().encode(text)
  const body = typeof payload === 'string' ? encode(payload) : payload
  const type = encode(payloadType)
  return Buffer.concat([encode(`DSSEv1 ${type.length} `), type, encode(` ${body.length} `), body])
}

/**
 * Put a payload into an envelope, signed with each key.
 *
 * @param payload bytes, text, or data that is written as RFC 8785 text
 * @param options `key`: an Ed25519 private key as PEM, or several. Without one the envelope is
 *   unsigned and says so by an empty list
 * @throws TouchstoneError `key_invalid`
 */
export function seal(
  payload: unknown,
  options: { key?: string | readonly string[]; payloadType?: string } = {},
): Envelope {
  onlyMembers(options, ['key', 'payloadType'], 'options')
  const { payloadType = PAYLOAD_TYPE, key = [] } = options
  const body =
    payload instanceof Uint8Array
      ? payload
      : new TextEncoder().encode(typeof payload === 'string' ? payload : canonical(payload))
  const signed = pae(payloadType, body)
  const keys = typeof key === 'string' ? [key] : key
  return {
    payloadType,
    payload: Buffer.from(body).toString('base64'),
    signatures: keys.map((pem) => {
      const own = privateKeyOf(pem)
      return { keyid: keyIdOf(own), sig: cryptoSign(null, signed, own).toString('base64') }
    }),
  }
}

/**
 * Take a payload out of an envelope and check its signature with a key that the caller trusts.
 *
 * Never with a key that the envelope names: `keyid` only sorts. Base64 is read in both alphabets,
 * padded or not.
 *
 * @param options `key`: an Ed25519 public key as PEM. Without it a signed envelope comes back as
 *   `not_by_key`
 * @param options `payloadType`: the type that is expected, default that of in-toto statements
 * @throws TouchstoneError `envelope_invalid` for what is no envelope, or one of another payload
 *   type; `key_invalid`
 */
export function open(input: unknown, options: { key?: string; payloadType?: string } = {}): Opened {
  onlyMembers(options, ['key', 'payloadType'], 'options')
  const { payloadType: expected = PAYLOAD_TYPE, key } = options
  const envelope = readEnvelope(input)
  if (envelope.payloadType !== expected)
    throw new TouchstoneError(
      'envelope_invalid',
      `expected ${expected}, got ${JSON.stringify(envelope.payloadType)}`,
      {
        where: 'envelope.payloadType',
      },
    )
  const payload = base64(envelope.payload, 'envelope.payload')
  const signed = pae(envelope.payloadType, payload)
  const trusted = key === undefined ? null : publicKeyOf(key)
  const good =
    trusted !== null &&
    envelope.signatures.some(({ sig }, i) =>
      cryptoVerify(null, signed, trusted, base64(sig, `envelope.signatures[${i}].sig`)),
    )
  const signature = envelope.signatures.length === 0 ? 'unsigned' : good ? 'verified' : 'not_by_key'
  return { signature, payloadType: envelope.payloadType, payload }
}

/** Signatures of an envelope that are looked at. Each costs a check. */
const MOST_SIGNATURES = 100

/**
 * Read an envelope strictly, from its data, text or bytes. @throws TouchstoneError
 * `envelope_invalid`, `json_*`
 */
export function readEnvelope(input: unknown): Envelope {
  const value =
    typeof input === 'string' || input instanceof Uint8Array ? parse(input, 'envelope') : input
  const fail = (expected: string, where: string): never => {
    throw new TouchstoneError('envelope_invalid', `expected ${expected}, got something else`, {
      where,
    })
  }
  if (!isObject(value)) return fail('an object', 'envelope')
  const { payloadType, payload, signatures } = value
  if (typeof payloadType !== 'string') return fail('a text', 'envelope.payloadType')
  if (typeof payload !== 'string') return fail('base64 text', 'envelope.payload')
  if (!Array.isArray(signatures)) return fail('a list', 'envelope.signatures')
  if (signatures.length > MOST_SIGNATURES)
    return fail(`at most ${MOST_SIGNATURES} signatures`, 'envelope.signatures')
  return {
    payloadType,
    payload,
    signatures: signatures.map((one, i) => {
      if (!isObject(one) || typeof one['sig'] !== 'string')
        return fail('base64 text', `envelope.signatures[${i}].sig`)
      return { keyid: typeof one['keyid'] === 'string' ? one['keyid'] : '', sig: one['sig'] }
    }),
  }
}

/**
 * Standard or URL alphabet, not both; padding whole or absent; nothing that a lenient decoder would
 * skip.
 */
function base64(text: string, where: string): Uint8Array {
  const bare = text.replace(/={0,2}$/, '')
  const form = /^[A-Za-z0-9+/]*$/.test(bare) || /^[A-Za-z0-9_-]*$/.test(bare)
  const padded = text.length !== bare.length
  const bytes = Buffer.from(bare, 'base64')
  const again = bytes.toString('base64').replace(/=+$/, '')
  if (
    !form ||
    (padded && text.length % 4 !== 0) ||
    again !== bare.replaceAll('-', '+').replaceAll('_', '/')
  )
    throw new TouchstoneError('envelope_invalid', 'expected base64, got other text', { where })
  return bytes
}
