/**
 * One entry of a provider's audit log, imported (assay.provider_audit_record.v0), and the checks
 * that it must pass by itself, before any call is looked at.
 */
import { type Digest, isDigest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { type Agreed, agreedOf, bindingDigest, type Subject } from '../surface/binding.ts'
import { shapeOf } from '../surface/decision.ts'
import { classifierOf } from '../surface/registry.ts'
import { instantOf } from './time.ts'

export const RECORD_SCHEMA = 'assay.provider_audit_record.v0'

const RECORD_NON_CLAIMS = [
  'imported from a provider audit export; Touchstone did not query the provider',
  'verifies that an audit entry binds to the observed call, not that the entry itself is authentic beyond its own signature',
] as const

export type Authenticity = {
  /** `none`: the export carries no signature of its own. */
  method: 'none' | 'cloudtrail_digest_chain'
  verified: boolean
  detail: string
}

export type AuditRecord = {
  schema: typeof RECORD_SCHEMA
  provider: string
  record_id: string
  subject: Subject
  binding_digest: Digest
  non_claims: string[]
  // What follows is ours; readers of v0 ignore it.
  /**
   * Where the entry stood: digest of the export, line (or place in the list) from 1, digest of the
   * entry.
   */
  source?: { name: string; digest: Digest; line: number; entry_digest: Digest }
  /** ISO 8601 time that the provider gives. */
  occurred_at?: string
  /** Name of the server whose log it is. Such a record is for calls to that server alone. */
  server?: string
  /** Hashes of request ids, idempotency keys and audit ids in the entry. */
  request_ids?: Digest[]
  /** Target fields outside the subject that must agree with the call's where both have them. */
  attributes?: JsonObject
  /** Hash of who did it. */
  actor_hash?: Digest
  /** Hash of the provider's id of the object. One object verifies one call. */
  object_hash?: Digest
  authenticity?: Authenticity
}

export type RecordRejection =
  | 'schema_wrong'
  | 'record_malformed'
  | 'record_id_missing'
  | 'duplicate_record_id'
  | 'digest_malformed'
  | 'record_inconsistent'
  | 'not_projectable'
  | 'outside_window'
  | 'time_unknown'
  | 'already_used'
  | 'authenticity_failed'
  | 'same_object'
  | 'taken_back'

/** A record as `verify` holds it. `reason` is null for one that may be offered to calls. */
export type ReadRecord = {
  provider: string
  server: string | null
  id: string
  class: string
  digest: Digest
  declared: string
  recomputed: Digest | null
  reason: RecordRejection | null
  detail: string
  occurredAt: number | null
  requestIds: readonly Digest[]
  agree: Agreed
  actor: Digest | null
  object: Digest | null
  authenticity: Authenticity | null
  source: { name: string; line: number } | null
  /** Digest of the whole record, for an order that does not depend on where it came from. */
  order: Digest
}

/**
 * Build a record out of what an importer found.
 *
 * @example
 * record({ provider: 'github', record_id: 'e1', subject: { action_class: 'github_deploy_key', verb: 'create',
 *   target: { owner: 'org', repo: 'prod-repo',
 *     key_title_hash: 'sha256:a65a94d25524f87fbb5ce6d3fde202c02a5b532f27e1ba3b5708076e1ba75ccf' } } }).binding_digest
 * // 'sha256:31f2007b91477601789c8803c3e32912a8a4510851cc55397d49a65bbc5e4ec3'
 */
export function record(
  parts: Pick<AuditRecord, 'provider' | 'record_id' | 'subject'> & Partial<AuditRecord>,
): AuditRecord {
  if (!isObject(parts))
    throw new TouchstoneError(
      'argument_invalid',
      `expected the parts of a record, got ${shapeOf(parts)}`,
      {
        where: 'record',
      },
    )
  return {
    schema: RECORD_SCHEMA,
    binding_digest: bindingDigest(parts.subject),
    non_claims: [...RECORD_NON_CLAIMS],
    ...parts,
  }
}

/**
 * Check a record by itself. A wrong record is data with a reason; only something that is no object
 * throws.
 *
 * @throws TouchstoneError `record_invalid`
 */
export function readRecord(input: unknown, where: string): ReadRecord {
  if (!isObject(input))
    throw new TouchstoneError(
      'record_invalid',
      'expected an audit record, got something that is no object',
      { where },
    )
  const text = (name: string) => (typeof input[name] === 'string' ? (input[name] as string) : '')
  const subject = isObject(input['subject']) ? input['subject'] : null
  const declared = text('binding_digest')
  const recomputed = subject ? bindingDigest(subject) : null
  const made: ReadRecord = {
    provider: text('provider'),
    server: text('server') || null,
    id: text('record_id'),
    class: typeof subject?.['action_class'] === 'string' ? subject['action_class'] : '',
    digest: recomputed ?? (declared as Digest),
    declared,
    recomputed,
    reason: null,
    detail: '',
    occurredAt: timeOf(input['occurred_at']),
    requestIds: Array.isArray(input['request_ids']) ? input['request_ids'].filter(isDigest) : [],
    agree: {},
    actor: isDigest(input['actor_hash']) ? input['actor_hash'] : null,
    object: isDigest(input['object_hash']) ? input['object_hash'] : null,
    authenticity: authenticityOf(input['authenticity']),
    source: sourceOf(input['source']),
    order: bindingDigest(input),
  }
  const reject = (reason: RecordRejection, detail: string): ReadRecord =>
    Object.assign(made, { reason, detail })

  if (input['schema'] !== RECORD_SCHEMA)
    return reject('schema_wrong', `expected schema ${RECORD_SCHEMA}`)
  if (made.id === '') return reject('record_id_missing', 'expected a record_id that is a text')
  if (made.provider === '') return reject('record_malformed', 'expected a provider that is a text')
  if (!subject || recomputed === null) return reject('not_projectable', 'the record has no subject')
  if (typeof input['binding_digest'] !== 'string')
    return reject('not_projectable', 'the record has no binding_digest')
  // Both are v0's `record_inconsistent`; the reason tells a slip of the pen from a changed subject.
  if (!isDigest(declared))
    return reject(
      'digest_malformed',
      'the declared digest is not "sha256:" and 64 lower-case hex digits',
    )
  if (declared !== recomputed)
    return reject(
      'record_inconsistent',
      'the digest of the record’s subject is not the one it declares',
    )
  const target = subject['target']
  const verb = subject['verb']
  if (made.class === '' || typeof verb !== 'string' || !isObject(target))
    return reject('not_projectable', 'the subject lacks an action class, a verb or a target')
  if (Object.values(target).some((value) => typeof value !== 'string'))
    return reject('not_projectable', 'a target value in the subject is no text')
  if (Object.hasOwn(input, 'occurred_at') && made.occurredAt === null)
    return reject('record_malformed', 'occurred_at is no ISO 8601 time with its distance from UTC')
  const attributes = input['attributes']
  if (isObject(attributes)) made.agree = agreedOf(classifierOf(made.class, verb), verb, attributes)
  return made
}

function timeOf(value: unknown): number | null {
  return typeof value === 'string' ? instantOf(value) : null
}

function authenticityOf(value: unknown): Authenticity | null {
  if (
    !isObject(value) ||
    typeof value['verified'] !== 'boolean' ||
    typeof value['detail'] !== 'string'
  )
    return null
  if (value['method'] !== 'none' && value['method'] !== 'cloudtrail_digest_chain') return null
  const { method, verified, detail } = value
  if (!verified || vouched.has(value)) return { method, verified, detail }
  return {
    method: 'none',
    verified: false,
    detail: 'the record says that it is authentic; nothing here has checked that',
  }
}

const vouched = new WeakSet<object>()

/**
 * Mark what an importer found by checking signatures itself. What a record says of its own
 * authenticity is only a claim.
 */
export function vouch(checked: Authenticity): Authenticity {
  vouched.add(checked)
  return checked
}

/**
 * What an import says of its authenticity: as found where it was made here, else a claim that
 * nothing has checked.
 */
export function authenticityHere(value: unknown): Authenticity {
  return (
    authenticityOf(value) ?? {
      method: 'none',
      verified: false,
      detail: 'nothing is said of its authenticity',
    }
  )
}

function sourceOf(value: unknown): ReadRecord['source'] {
  if (!isObject(value) || typeof value['name'] !== 'string' || typeof value['line'] !== 'number')
    return null
  return { name: value['name'], line: value['line'] }
}

/** True for what v0 calls `record_inconsistent`: the record's own digest does not hold. */
export function isInconsistent({ reason }: ReadRecord): boolean {
  return reason === 'record_inconsistent' || reason === 'digest_malformed'
}
