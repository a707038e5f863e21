/**
 * The record of one observed tool call (assay.tool_decision_surface.v0), and how one is read from
 * somebody else's bytes.
 *
 * Reading is strict about everything a level rests on. A wrong member is an error that names its
 * place; it is never read as "nothing was claimed".
 */
import { type Digest, isDigest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { IRREVERSIBILITY, type Irreversibility } from './classifier.ts'

export const SURFACE_SCHEMA = 'assay.tool_decision_surface.v0'

/** The ladder, lowest rung first. */
export const LEVELS = ['asserted', 'observed_confirmed', 'verified'] as const
export type Level = (typeof LEVELS)[number]

export type VerificationSource = 'observed_read_followup' | 'provider_audit_import'

export type SideEffect = {
  asserted: boolean
  level: Level
  verification_source: VerificationSource | null
  verification_subject_digest: Digest | null
  irreversibility_class?: Irreversibility
}

/**
 * Our one member beside v0: where in a run the call stood, and what a read saw. Readers of v0
 * ignore it.
 */
export type Observation = {
  run_id: string
  seq: number
  /** ISO 8601 time, where the recorder had one. */
  at?: string
  /** Hash of whose credentials the call used. */
  actor_hash?: Digest
  /** Hashes of request ids, idempotency keys and audit ids that the answer named. */
  request_ids?: Digest[]
  /** What a read showed: targets projected and redacted like those of calls. */
  read?: { complete: boolean; targets: JsonObject[] }
  /** What a policy in front of the server decided, where one stands there. */
  policy?: PolicyRecord
}

/** A policy's decision on one call. The words are those of the profile privileged-mcp-action. */
export type PolicyRecord = {
  reason: string
  drift_state: string
  /** How the policy came to a listing of the tool to compare with. Absent when it compares none. */
  establish?: { path: string; outcome: string }
  /** The error that the caller was given for a denial, and the digest of the whole answer. */
  denial?: { code: number; origin: string; reason: string; response_digest: Digest }
}

export type Decision = {
  server: { id: string; transport: 'mcp'; declared_manifest_digest?: string }
  tool: { name: string; category: string | null }
  classification: string
  reason_code: string
  detail?: string
  action: {
    class: string
    verb: string | null
    resource_type: string | null
    target: JsonObject | null
    required_scope: string | null
  }
  decision: {
    effect: 'allow' | 'deny' | 'error'
    source: string
    rule_id: string | null
    enforced: boolean
  }
  response: {
    status: string
    side_effect_asserted: boolean
    side_effect_verified: boolean
    side_effect: SideEffect
  }
  redaction: {
    arguments_redacted: true
    credential_alias: string | null
    secret_material_stored: false
    sanitized_fields?: string[]
  }
  correlation: { basis: string; traceparent: string | null; source_class: 'propagated' | null }
  observation?: Observation
}

export type Surface = {
  schema: typeof SURFACE_SCHEMA
  observed_tool_decisions: Decision[]
  non_claims: string[]
}

/** What `verify` needs of a decision, checked. `asserted` is re-derived by the rule, not copied. */
export type ReadDecision = {
  tool: string
  server: string | null
  classification: string | null
  action: { verb: Json; resource_type: Json; target: Json }
  asserted: boolean
  succeeded: boolean
  /** What the decision itself says of the claim. */
  claimed: boolean
  effect: 'allow' | 'deny' | 'error'
  status: string
  stored: { level: Level; verified: boolean; digest: Digest | null }
  irreversibility: Irreversibility | null
  observation: Observation | null
}

/**
 * Read the decisions out of a surface, an array of decisions, one decision, or a line of a run's
 * `decisions.ndjson`.
 *
 * @param where name of the input for messages
 * @throws TouchstoneError `surface_invalid` naming field and place
 */
export function decisionsIn(input: unknown, where = 'decisions'): unknown[] {
  if (Array.isArray(input)) return input
  if (!isObject(input)) fail('expected a surface or a list of decisions', input, where)
  if (
    typeof input['key'] === 'string' &&
    isObject(input['decision']) &&
    'tool' in input['decision']
  )
    return [input['decision']]
  if ('response' in input && 'tool' in input && !('observed_tool_decisions' in input))
    return [input]
  if (input['schema'] !== SURFACE_SCHEMA)
    fail(`expected ${SURFACE_SCHEMA}`, input['schema'], `${where}: schema`)
  const list = input['observed_tool_decisions']
  if (!Array.isArray(list)) fail('expected an array', list, `${where}: observed_tool_decisions`)
  return list
}

/**
 * Check one decision and take from it what levels are derived from.
 *
 * @throws TouchstoneError `surface_invalid` naming field and place
 */
export function readDecision(input: unknown, where: string): ReadDecision {
  const decision = object(input, where)
  const tool = text(object(decision['tool'], `${where}.tool`)['name'], `${where}.tool.name`)
  const response = object(decision['response'], `${where}.response`)
  const said = flag(response['side_effect_asserted'], `${where}.response.side_effect_asserted`)
  const status = text(response['status'], `${where}.response.status`)
  const effect = object(decision['decision'], `${where}.decision`)['effect']
  if (effect !== 'allow' && effect !== 'deny' && effect !== 'error')
    fail('expected allow | deny | error', effect, `${where}.decision.effect`)
  const verified = response['side_effect_verified'] ?? false
  const stored = storedOf(response['side_effect'], `${where}.response.side_effect`)
  if (stored.asserted !== null && stored.asserted !== said)
    fail(
      `expected ${said}, as side_effect_asserted says`,
      stored.asserted,
      `${where}.response.side_effect.asserted`,
    )
  const action = isObject(decision['action']) ? decision['action'] : {}
  const classification = decision['classification']
  const server = isObject(decision['server']) ? decision['server']['id'] : null
  return {
    tool,
    server: typeof server === 'string' ? server : null,
    classification: typeof classification === 'string' ? classification : null,
    action: {
      verb: (action['verb'] as Json) ?? null,
      resource_type: (action['resource_type'] as Json) ?? null,
      target: (action['target'] as Json) ?? null,
    },
    asserted: said && effect === 'allow' && status === 'success',
    succeeded: effect === 'allow' && status === 'success',
    claimed: said,
    effect,
    status,
    stored: {
      level: stored.level,
      verified: flag(verified, `${where}.response.side_effect_verified`),
      digest: stored.digest,
    },
    irreversibility: stored.irreversibility,
    observation: observationOf(decision['observation'], `${where}.observation`),
  }
}

function storedOf(input: unknown, where: string) {
  if (input === undefined || input === null)
    return { asserted: null, level: 'asserted' as Level, digest: null, irreversibility: null }
  const block = object(input, where)
  const level = block['level']
  if (!LEVELS.includes(level as Level))
    fail(`expected ${LEVELS.join(' | ')}`, level, `${where}.level`)
  const source = block['verification_source'] ?? null
  if (source !== null && source !== 'observed_read_followup' && source !== 'provider_audit_import')
    fail(
      'expected null | observed_read_followup | provider_audit_import',
      source,
      `${where}.verification_source`,
    )
  const subject = block['verification_subject_digest'] ?? null
  if (subject !== null && !isDigest(subject))
    fail(
      'expected null or "sha256:" and 64 lower-case hex digits',
      subject,
      `${where}.verification_subject_digest`,
    )
  const irreversibility = block['irreversibility_class'] ?? null
  if (irreversibility !== null && !IRREVERSIBILITY.includes(irreversibility as Irreversibility))
    fail(
      `expected ${IRREVERSIBILITY.join(' | ')}`,
      irreversibility,
      `${where}.irreversibility_class`,
    )
  return {
    asserted: flag(block['asserted'], `${where}.asserted`),
    level: level as Level,
    digest: subject as Digest | null,
    irreversibility: irreversibility as Irreversibility | null,
  }
}

function observationOf(input: unknown, where: string): Observation | null {
  if (input === undefined || input === null) return null
  const seen = object(input, where)
  const seq = seen['seq']
  if (!Number.isSafeInteger(seq) || (seq as number) < 0)
    fail('expected a whole number >= 0', seq, `${where}.seq`)
  const made: Observation = { run_id: text(seen['run_id'], `${where}.run_id`), seq: seq as number }
  if (seen['at'] !== undefined) {
    made.at = text(seen['at'], `${where}.at`)
    if (Number.isNaN(Date.parse(made.at))) fail('expected an ISO 8601 time', made.at, `${where}.at`)
  }
  if (seen['actor_hash'] !== undefined) {
    const actor = seen['actor_hash']
    if (!isDigest(actor)) fail('expected a digest', actor, `${where}.actor_hash`)
    made.actor_hash = actor
  }
  if (seen['request_ids'] !== undefined) {
    const ids = seen['request_ids']
    if (!Array.isArray(ids) || !ids.every(isDigest))
      fail('expected a list of digests', ids, `${where}.request_ids`)
    made.request_ids = ids
  }
  if (seen['read'] !== undefined && seen['read'] !== null) {
    const read = object(seen['read'], `${where}.read`)
    const targets = read['targets']
    if (!Array.isArray(targets) || !targets.every(isObject))
      fail('expected a list of targets', targets, `${where}.read.targets`)
    made.read = { complete: flag(read['complete'], `${where}.read.complete`), targets }
  }
  return made
}

/** What a value is, in a word, for messages. */
export function shapeOf(value: unknown): string {
  if (value === null) return 'null'
  return value === undefined ? 'nothing' : Array.isArray(value) ? 'a list' : typeof value
}

function object(value: unknown, where: string): JsonObject {
  return isObject(value) ? value : fail('expected an object', value, where)
}

function text(value: unknown, where: string): string {
  return typeof value === 'string' ? value : fail('expected a text', value, where)
}

function flag(value: unknown, where: string): boolean {
  return typeof value === 'boolean' ? value : fail('expected true or false', value, where)
}

function fail(expected: string, got: unknown, where: string): never {
  const shown =
    got === undefined
      ? 'nothing'
      : typeof got === 'object'
        ? got === null
          ? 'null'
          : Array.isArray(got)
            ? 'a list'
            : 'an object'
        : JSON.stringify(String(got).slice(0, 60))
  throw new TouchstoneError('surface_invalid', `${expected}, got ${shown}`, { where })
}
