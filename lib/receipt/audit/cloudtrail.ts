/**
 * AWS CloudTrail log files, and the digest files that sign them.
 *
 * Each hourly digest file names the SHA-256 of every log file and is signed (SHA256withRSA); it also holds the signature of the
 * digest before it. Given the digest files, the newest signature and the public key, the chain is checked offline and every
 * record says what came of it.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { type JsonObject, parse } from '../../json.ts'
import { at } from '../surface/classifier.ts'
import { isObject } from '../surface/decision.ts'
import { harmless } from '../surface/target.ts'
import { kindOf, textAt, texts } from './entry.ts'
import type { AuthenticityOptions, Importer } from './importer.ts'
import type { Authenticity } from './record.ts'
import { isoOf } from './time.ts'

const effect = (action_class: string, verb: string) => ({ action_class, verb })
const kinds = {
  CreateAccessKey: effect('aws_iam_access_key', 'create'),
  DeleteAccessKey: effect('aws_iam_access_key', 'delete'),
  AttachRolePolicy: effect('aws_iam_role_policy', 'attach'),
  DetachRolePolicy: effect('aws_iam_role_policy', 'detach'),
  PutRolePolicy: effect('aws_iam_role_inline_policy', 'put'),
  DeleteRolePolicy: effect('aws_iam_role_inline_policy', 'delete'),
  CreateRole: effect('aws_iam_role', 'create'),
  CreateUser: effect('aws_iam_user', 'create'),
  DeleteUser: effect('aws_iam_user', 'delete'),
  AttachUserPolicy: effect('aws_iam_user_policy', 'attach'),
  DetachUserPolicy: effect('aws_iam_user_policy', 'detach'),
  PutUserPolicy: effect('aws_iam_user_inline_policy', 'put'),
  DeleteUserPolicy: effect('aws_iam_user_inline_policy', 'delete'),
  CreateGroup: effect('aws_iam_group', 'create'),
  DeleteGroup: effect('aws_iam_group', 'delete'),
  AddUserToGroup: effect('aws_iam_group_member', 'add'),
  RemoveUserFromGroup: effect('aws_iam_group_member', 'remove'),
  AttachGroupPolicy: effect('aws_iam_group_policy', 'attach'),
  DetachGroupPolicy: effect('aws_iam_group_policy', 'detach'),
}

export const cloudtrail: Importer = {
  name: 'cloudtrail',
  provider: 'aws',
  kinds,
  recognises: (document) =>
    Array.isArray(document['Records']) || ('eventSource' in document && 'eventName' in document),
  entries: (document) => (Array.isArray(document['Records']) ? document['Records'] : null),
  read(entry) {
    const name = textAt(entry, 'eventName')
    const source = textAt(entry, 'eventSource')
    if (name === null) return { skipped: 'the event has no eventName' }
    const kind = source === 'iam.amazonaws.com' ? kindOf(kinds, name) : undefined
    if (!kind) return { unmapped: harmless(`${source ?? '?'}:${name}`) }
    for (const member of ['errorCode', 'errorMessage'])
      if (entry[member] !== undefined && entry[member] !== null)
        return { skipped: `failed: ${harmless(entry[member]).slice(0, 60)}` }
    const id = textAt(entry, 'eventID')
    if (id === null) return { skipped: 'no eventID: the old shape 1.0 names no event' }
    const omitted = at(entry, 'requestParameters.omitted')
    if (omitted === true || omitted === 'true')
      return { skipped: 'the request parameters were cut by CloudTrail' }
    // Some services log a request that asked only whether it would be allowed.
    const dryRun = at(entry, 'requestParameters.dryRun') ?? at(entry, 'requestParameters.DryRun')
    if (dryRun === true || dryRun === 'true') return { skipped: 'dry run: nothing was kept' }
    const asked = (field: string) => textAt(entry, `requestParameters.${field}`)
    return {
      ...kind,
      record_id: id,
      values: {
        // The answer repeats the user where the request left it to the credentials.
        user_name: asked('userName') ?? textAt(entry, 'responseElements.accessKey.userName'),
        role_name: asked('roleName'),
        group_name: asked('groupName'),
        policy_arn: asked('policyArn'),
        policy_name: asked('policyName'),
        access_key_id: asked('accessKeyId'),
      },
      occurred_at: isoOf(textAt(entry, 'eventTime')),
      request_ids: texts(textAt(entry, 'requestID')),
      actor: textAt(entry, 'userIdentity.arn') ?? textAt(entry, 'userIdentity.principalId'),
      object: textAt(entry, 'responseElements.accessKey.accessKeyId'),
    }
  },
  authenticate: authenticityOf,
}

/**
 * Check a log file against a chain of digest files. Broken evidence is a finding in `detail`, never a thrown error.
 *
 * @param log bytes of the log file, gzipped or not; the signed hash is over the unpacked bytes
 * @throws TouchstoneError `key_invalid` for a public key that is none
 */
function authenticityOf(log: Uint8Array, options: AuthenticityOptions): Authenticity {
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
  const keys = [publicKey].flat().map(rsaKey)

  let links: Link[]
  try {
    links = digests.map(({ bytes, signature }) => linkOf(bytes, signature))
  } catch (error) {
    return failed(`a digest file could not be read: ${(error as Error).message}`)
  }
  links.sort((a, b) => (a.end < b.end ? 1 : a.end > b.end ? -1 : a.hash < b.hash ? -1 : 1))

  let hash: string
  try {
    hash = digest(inflate(log)).slice(7)
  } catch {
    return failed('the log file is no whole gzip data')
  }
  let listed = false
  for (const [i, link] of links.entries()) {
    const newer = links[i - 1]
    const signature = newer ? newer.previousSignature : link.signature
    if (newer && newer.previousObject !== link.object)
      return failed(`a link is missing before ${newer.object}`)
    if (newer && newer.previousHash !== link.hash)
      return failed(`the digest file ${link.object} was changed`)
    if (!signature) return failed(`no signature for the newest digest file, ${link.object}`)
    const signed = `${link.end}\n${link.bucket}/${link.object}\n${link.hash}\n${link.previousSignature ?? 'null'}`
    if (!keys.some((key) => isSigned(signed, signature, key)))
      return failed(`the signature of ${link.object} does not verify`)
    if (link.logs.includes(hash)) listed = true
  }
  if (!listed) return failed('no digest file lists this log file’s hash')
  return {
    method,
    verified: true,
    detail: `listed in a whole chain of ${links.length} signed digest files`,
  }
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
