/** Ed25519 keys as PEM files: PKCS#8 and SubjectPublicKeyInfo, which openssl reads. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { writeNew } from '../../files.ts'

export type KeyPair = {
  /** PKCS#8 PEM. Whoever has it can sign. */
  privateKey: string
  /** SubjectPublicKeyInfo PEM. Give it to those who verify. */
  publicKey: string
  /** SHA-256 of the public key's DER, in hex. */
  keyId: string
}

/**
 * A new Ed25519 key pair, written to `<path>` (readable by its owner only) and `<path>.pub` when a
 * path is given.
 *
 * @throws TouchstoneError `file_exists`: no key is ever overwritten; `file_unwritable`
 * @example
 * generate().publicKey.split('\n')[0] // '-----BEGIN PUBLIC KEY-----'
 */
export function generate(path?: string): KeyPair {
  const pair = generateKeyPairSync('ed25519')
  const privateKey = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
  const publicKey = pair.publicKey.export({ format: 'pem', type: 'spki' }) as string
  if (path !== undefined) {
    for (const file of [path, `${path}.pub`])
      if (existsSync(file))
        throw new TouchstoneError(
          'file_exists',
          'expected a path without a key, got one that exists',
          { where: file },
        )
    writeNew(path, privateKey, { mode: 0o600 })
    writeNew(`${path}.pub`, publicKey)
  }
  return { privateKey, publicKey, keyId: keyIdOf(pair.publicKey) }
}

/**
 * @throws TouchstoneError `key_invalid` for what is no Ed25519 private key; the message never shows
 * it
 */
export function privateKeyOf(pem: string): KeyObject {
  return ed25519('private', () => createPrivateKey(pem))
}

/**
 * @throws TouchstoneError `key_invalid` for what is no Ed25519 public key, a private one included
 */
export function publicKeyOf(pem: string): KeyObject {
  return ed25519('public', () => (/PRIVATE KEY/.test(pem) ? null : createPublicKey(pem)))
}

function ed25519(half: 'private' | 'public', read: () => KeyObject | null): KeyObject {
  try {
    const key = read()
    if (key?.asymmetricKeyType === 'ed25519') return key
  } catch {
    // The cause could quote the key.
  }
  throw new TouchstoneError(
    'key_invalid',
    `expected an Ed25519 ${half} key as PEM, got something else`,
    { where: 'key' },
  )
}

/** SHA-256 of the public half's DER, in hex. */
export function keyIdOf(key: KeyObject): string {
  if (!(key instanceof KeyObject))
    throw new TouchstoneError('key_invalid', 'expected a key, got something else', { where: 'key' })
  const half = key.type === 'private' ? createPublicKey(key) : key
  return digest(half.export({ format: 'der', type: 'spki' })).slice(7)
}
