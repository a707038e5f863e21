/**
 * CloudTrail's digest files, which sign log files: a chain for each trail and region, an hour a
 * link. Each names the SHA-256 of every log file of its hour, is signed (SHA256withRSA), and holds
 * the signature of the link before it.
 *
 * A log file is authentic when a digest file of a whole chain lists its hash, each link is what the
 * next one says it is, and each is signed. A bucket holds chains of several trails and regions;
 * those that do not list a log say nothing about it.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type JsonObject, parse } from '../../json.ts'
import { textAt } from './entry-members.ts'
import type { AuthenticityOptions } from './importer.ts'
import type { Authenticity } from './record.ts'

/**
 * Check a log file against a chain of digest files. Broken evidence is a finding in `detail`, never
 * a thrown error.
 *
 * @param log bytes of the log file, gzipped or not; the signed hash is over the unpacked bytes
 * @throws TouchstoneError `key_invalid` for a public key that is none
 */
export function authenticityOf(log: Uint8Array, options: AuthenticityOptions): Authenticity {
  const { digests = [], publicKey } = options
  if (digests.length === 0 && publicKey === undefined)
    return {
      method: 'none',
      verified: false,
      detail: 'no digest files and no public key were given',
    }
  const method = 'cloudtrail_digest_chain'
  const failed = (detail: string): Authenticity => ({ method, verified: false, detail })
  const unchecked = (detail: string): Authenticity => ({ method: 'none', verified: false, detail })
  if (digests.length === 0) return unchecked('not checked: no digest files were given')
  if (publicKey === undefined || publicKey.length === 0)
    return unchecked('not checked: no public key was given')

  const found = logsIn(digests, publicKey)
  if (typeof found === 'string') return failed(found)
  let hash: string
  try {
    hash = digest(inflate(log)).slice(7)
  } catch {
    return failed('the log file is no whole gzip data')
  }
  const chain = found.get(hash)
  if (!chain) return failed('no digest file lists this log file’s hash')
  if (chain.broken !== null) return failed(chain.broken)
  return {
    method,
    verified: true,
    detail: `listed in a whole chain of ${chain.links} signed digest files`,
  }
}

/** A chain, and what is wrong with it. */
type Chain = { links: number; broken: string | null }

/** Chains are checked once for all log files of a folder, whose list of digest files is frozen. */
const checked = new WeakMap<object, Map<string, Map<string, Chain> | string>>()

/**
 * The hashes of log files that the digest files list, each with its chain; or why a digest file
 * cannot be read.
 */
function logsIn(
  digests: NonNullable<AuthenticityOptions['digests']>,
  publicKey: string | readonly string[],
): Map<string, Chain> | string {
  const texts = [publicKey].flat()
  const keys = texts.map(rsaKey)
  if (!Object.isFrozen(digests)) return checkedChains(digests, keys)
  const byKeys = checked.get(digests) ?? new Map<string, Map<string, Chain> | string>()
  checked.set(digests, byKeys)
  const name = JSON.stringify(texts)
  const made = byKeys.get(name) ?? checkedChains(digests, keys)
  byKeys.set(name, made)
  return made
}

function checkedChains(
  digests: NonNullable<AuthenticityOptions['digests']>,
  keys: readonly KeyObject[],
): Map<string, Chain> | string {
  let links: Link[]
  try {
    links = digests.map(({ bytes, signature }) => linkOf(bytes, signature))
  } catch (error) {
    return `a digest file could not be read: ${(error as Error).message}`
  }
  const logs = new Map<string, Chain>()
  for (const chain of Map.groupBy(links, trailOf).values()) {
    const made = { links: chain.length, broken: problemIn(chain, keys) }
    for (const hash of chain.flatMap((link) => link.logs)) {
      const known = logs.get(hash)
      // Listed twice, a log is as authentic as the worse of the two.
      if (!known || known.broken === null) logs.set(hash, made)
    }
  }
  return logs
}

/** Account, region and trail of a digest file: its object's name without its time. */
function trailOf({ bucket, object }: Link): string {
  return `${bucket}/${object.replace(/\/\d{4}\/\d{2}\/\d{2}\//, '/').replace(/_\d{8}T\d{6}Z(?=\.|$)/, '')}`
}

/** What is wrong with a chain, newest link first, or null. */
function problemIn(chain: Link[], keys: readonly KeyObject[]): string | null {
  const links = chain.toSorted((a, b) =>
    a.end < b.end ? 1 : a.end > b.end ? -1 : a.hash < b.hash ? -1 : 1,
  )
  for (const [i, link] of links.entries()) {
    const newer = links[i - 1]
    const signature = newer ? newer.previousSignature : link.signature
    if (newer && newer.previousObject !== link.object)
      return `a link is missing before ${newer.object}`
    if (newer && newer.previousHash !== link.hash)
      return `the digest file ${link.object} was changed`
    if (!signature) return `no signature for the newest digest file, ${link.object}`
    const signed = `${link.end}\n${link.bucket}/${link.object}\n${link.hash}\n${link.previousSignature ?? 'null'}`
    if (!keys.some((key) => isSigned(signed, signature, key)))
      return `the signature of ${link.object} does not verify`
  }
  return null
}

type Link = {
  object: string
  bucket: string
  end: string
  hash: string
  signature: string | null
  previousSignature: string | null
  previousObject: string | null
  previousHash: string | null
  logs: string[]
}

/** True for a digest file of CloudTrail. */
export function isDigestFile(document: JsonObject): boolean {
  return 'digestS3Object' in document && Array.isArray(document['logFiles'])
}

function linkOf(input: string | Uint8Array, signature: string | undefined): Link {
  const bytes = inflate(typeof input === 'string' ? new TextEncoder().encode(input) : input)
  const file = parse(bytes, 'digest file')
  const text = (name: string) => (isObject(file) ? textAt(file, name) : null)
  const [object, bucket, end] = [
    text('digestS3Object'),
    text('digestS3Bucket'),
    text('digestEndTime'),
  ]
  const logs = isObject(file) ? file['logFiles'] : null
  if (object === null || bucket === null || end === null || !Array.isArray(logs))
    throw new TouchstoneError(
      'export_invalid',
      'expected digestS3Object, digestS3Bucket, digestEndTime and logFiles',
      {
        where: 'digest file',
      },
    )
  if (text('digestSignatureAlgorithm') !== 'SHA256withRSA')
    throw new TouchstoneError('export_invalid', 'expected SHA256withRSA', {
      where: 'digestSignatureAlgorithm',
    })
  return {
    object,
    bucket,
    end,
    hash: digest(bytes).slice(7),
    signature: signature ?? null,
    previousSignature: text('previousDigestSignature'),
    previousObject: text('previousDigestS3Object'),
    previousHash: text('previousDigestHashValue'),
    logs: logs.flatMap((log) => {
      const hash = isObject(log) && log['hashAlgorithm'] === 'SHA-256' ? log['hashValue'] : null
      return typeof hash === 'string' ? [hash] : []
    }),
  }
}

function rsaKey(text: string): KeyObject {
  try {
    const key = text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs1' })
    if (key.asymmetricKeyType === 'rsa') return key
  } catch (cause) {
    throw new TouchstoneError(
      'key_invalid',
      'expected an RSA public key, as PEM or base64 of PKCS#1',
      {
        where: 'publicKey',
        cause,
      },
    )
  }
  throw new TouchstoneError('key_invalid', 'expected an RSA public key, got another kind', {
    where: 'publicKey',
  })
}

function isSigned(text: string, signature: string, key: KeyObject): boolean {
  if (!/^([0-9a-fA-F]{2})+$/.test(signature)) return false
  return verify('sha256', new TextEncoder().encode(text), key, Buffer.from(signature, 'hex'))
}

function inflate(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
    ? gunzipSync(bytes, { maxOutputLength: 1 << 30 })
    : bytes
}
