/**
 * From an observed tool call to one decision of the surface.
 *
 * Neither arguments nor results are stored. What is kept is the projection that the call's
 * classifier names, hashed where it identifies; of a read's result, the same projection of the
 * items it showed.
 */

import { requireWord } from '../../arguments.ts'
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { type Classifier, meets, project, type Read, verbOf } from './classifier.ts'
import {
  type Decision,
  type Observation,
  type PolicyRecord,
  SURFACE_SCHEMA,
  type Surface,
  shapeOf,
} from './decision.ts'
import { answerOf, shownBy } from './read-answer.ts'
import { classifiersFor, type Known } from './registry.ts'
import { actorHash, exactHash, isSecretName } from './target.ts'

export const NON_CLAIMS = [
  'records what was observed at the tool boundary; a success is the tool’s own assertion',
  'does not query providers and holds no provider credentials',
  'arguments and results are not stored; targets are projected, identifying values hashed (pseudonymous, not anonymous)',
] as const

const STATUSES = ['success', 'error', 'denied', 'timeout'] as const
export type CallStatus = (typeof STATUSES)[number]

const EFFECTS = ['allow', 'deny', 'error'] as const

export type ObservedCall = {
  server: string
  tool: string
  arguments: unknown
  /** What the policy in front of the tool decided. Default `allow`. */
  effect?: (typeof EFFECTS)[number]
  /**
   * How the call ended: `success`, `error`, `denied` by a policy in front of the server, or
   * `timeout`, where no answer came. Only a success asserts an effect.
   */
  status: CallStatus
  /**
   * The MCP CallToolResult, where there was one. `isError: true` outweighs a status of `success`.
   */
  result?: unknown
  runId: string
  /** Place in the run's sequence of calls, a whole number >= 0. */
  seq: number
  /** ISO 8601 time of the answer. */
  at?: string
  /** Who the credentials of the call belong to, by the provider's own name, such as a login. */
  actor?: string
  /** The W3C trace context that came with the call. */
  traceparent?: unknown
  /**
   * What the policy that decided `effect` said of the call. Default: no policy stands in front of
   * the server.
   */
  policy?: PolicyRecord
}

/**
 * One observed tool call as a decision. Its level is always `asserted`: only `verify` derives more.
 *
 * @param classifiers which classifiers to use, default all that are registered
 * @throws TouchstoneError `argument_invalid` for a call without server, tool, run id or sequence
 *   number, and for a status or an effect that is none of those above
 * @example
 * const decision = observe({
 *   server: 'github', tool: 'add_deploy_key', status: 'success', runId: 'run-1', seq: 0,
 *   arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key', key: 'ssh-ed25519 AAAA' },
 * })
 * decision.action.target.key_title_hash // 'sha256:a65a94d25524f87fbb5ce6d3fde202c02a5b532f27e1ba3b5708076e1ba75ccf'
 * decision.response.side_effect.level // 'asserted'
 */
export function observe(call: ObservedCall, classifiers?: readonly Classifier[]): Decision {
  if (!isObject(call))
    throw new TouchstoneError('argument_invalid', `expected a call, got ${shapeOf(call)}`, {
      where: 'call',
    })
  for (const name of ['server', 'tool', 'runId'] as const) {
    if (typeof call[name] !== 'string')
      throw new TouchstoneError('argument_invalid', `expected a text, got ${typeof call[name]}`, {
        where: `call.${name}`,
      })
  }
  if (!Number.isSafeInteger(call.seq) || call.seq < 0)
    throw new TouchstoneError('argument_invalid', `expected a whole number >= 0, got ${call.seq}`, {
      where: 'call.seq',
    })

  const effect = call.effect ?? 'allow'
  // Whoever read an unknown word as "not done" would say that nothing was claimed.
  requireWord(call.status, 'a status', STATUSES, 'call.status')
  requireWord(effect, 'an effect', EFFECTS, 'call.effect')
  const result = isObject(call.result) ? call.result : undefined
  const status = result?.['isError'] === true && call.status === 'success' ? 'error' : call.status
  const asserted = effect === 'allow' && status === 'success'
  const args = isObject(call.arguments) ? call.arguments : undefined
  const known = classifiersFor(call.tool, call.server, classifiers)
  const { one, ...named } = classify(call.tool, known, args)
  const written = one && verbOf(one, known.name, args ?? {}) !== null

  const observation: Observation = { run_id: call.runId, seq: call.seq }
  if (call.at !== undefined) observation.at = call.at
  if (call.actor !== undefined && one) observation.actor_hash = actorHash(one.provider, call.actor)
  const answered = answerOf(result)
  const ids = requestIds(answered?.value, result)
  if (ids.length > 0) observation.request_ids = ids
  const declared = one && readOf(one, known.name, args ?? {})
  if (declared && asserted) {
    const peers = known.candidates.filter(
      (peer) => peer.resource_type === one.resource_type && peer.provider === one.provider,
    )
    const read = shownBy(one, peers, declared, args ?? {}, answered)
    if (read) observation.read = read
  }
  if (call.policy) observation.policy = call.policy

  const { sanitized, ...parts } = named
  return {
    server: { id: call.server, transport: 'mcp' },
    ...parts,
    decision: {
      effect,
      source: call.policy ? 'policy' : 'touchstone',
      rule_id: call.policy?.reason ?? null,
      enforced: true,
    },
    response: {
      status,
      side_effect_asserted: asserted,
      side_effect_verified: false,
      side_effect: {
        asserted,
        level: 'asserted',
        verification_source: null,
        verification_subject_digest: null,
        ...(written && { irreversibility_class: one.irreversibility }),
      },
    },
    redaction: {
      arguments_redacted: true,
      credential_alias: null,
      secret_material_stored: false,
      ...(sanitized.length > 0 && { sanitized_fields: sanitized }),
    },
    correlation: correlationOf(call.traceparent),
    observation,
  }
}

/** Decisions as one surface document. */
export function surface(decisions: readonly Decision[]): Surface {
  if (!Array.isArray(decisions))
    throw new TouchstoneError(
      'argument_invalid',
      `expected a list of decisions, got ${shapeOf(decisions)}`,
      {
        where: 'decisions',
      },
    )
  return {
    schema: SURFACE_SCHEMA,
    observed_tool_decisions: [...decisions],
    non_claims: [...NON_CLAIMS],
  }
}

function classify(tool: string, known: Known, args: JsonObject | undefined) {
  const { name: leaf, candidates } = known
  const meant = (one: Classifier) => missing(one, leaf, args ?? {}) === null
  const whole = candidates.filter(meant)
  // One name may belong to tools of several providers. Where nothing tells which is meant, none is.
  const providers = new Set((whole.length > 0 ? whole : candidates).map(({ provider }) => provider))
  const one = providers.size > 1 ? undefined : (whole[0] ?? candidates[0])
  if (!one) {
    return {
      one,
      tool: { name: tool, category: null },
      classification: 'observed_unknown_tool',
      reason_code: providers.size > 1 ? 'ambiguous_tool_name' : 'unknown_tool_name',
      action: {
        class: 'unclassified',
        verb: null,
        resource_type: null,
        target: null,
        required_scope: null,
      },
      sanitized: [],
    }
  }
  const read = readOf(one, leaf, args ?? {})
  const named = { name: tool, category: one.category }
  const action = {
    class: read ? 'unclassified' : one.class,
    verb: read?.verb ?? verbOf(one, leaf, args ?? {}),
    resource_type: one.resource_type,
    required_scope: read ? null : one.scope,
  }
  const lacking = args ? missing(one, leaf, args) : 'arguments_not_an_object'
  const fields = lacking === null ? (read ? one.scoped : undefined) : (one.kept ?? [])
  const { target, sanitized } = project(one, said(one, leaf, args ?? {}), fields ? { fields } : {})
  if (lacking === null) {
    return {
      one,
      tool: named,
      classification: 'classified',
      reason_code: one.reason_code,
      action: { ...action, target },
      sanitized,
    }
  }
  return {
    one,
    tool: named,
    classification: 'classified_incomplete',
    reason_code: args ? 'missing_required_target_field' : 'unsupported_argument_shape',
    ...(args && { detail: lacking }),
    action: { ...action, target },
    sanitized,
  }
}

/** The detail code of what is missing, or null. A read needs only what says where it looks. */
function missing(one: Classifier, leaf: string, args: JsonObject): string | null {
  const { target } = project(one, said(one, leaf, args))
  const has = (name: string) => target[name] !== undefined && target[name] !== null
  if (readOf(one, leaf, args)) {
    const rows = one.required.filter((row) => row.fields.some((name) => one.scoped.includes(name)))
    return (
      rows.find((row) => !row.fields.some((name) => one.scoped.includes(name) && has(name)))
        ?.detail ?? null
    )
  }
  if (verbOf(one, leaf, args) === null) return 'verb_unknown'
  if (!meets(one.only?.[leaf], args)) return 'condition_not_met'
  return one.required.find((row) => !row.fields.some(has))?.detail ?? null
}

/** The arguments of a call, and what its tool implies. */
function said(one: Classifier, leaf: string, args: JsonObject): JsonObject {
  const implied = one.implied && Object.hasOwn(one.implied, leaf) ? one.implied[leaf] : undefined
  return implied ? { ...args, ...implied } : args
}

/** The read that a call is, where its classifier declares one. */
function readOf(one: Classifier, leaf: string, args: JsonObject): Read | undefined {
  const read = Object.hasOwn(one.reads, leaf) ? one.reads[leaf] : undefined
  return read && meets(read.only, args) ? read : undefined
}

const REQUEST_IDS =
  'request_id requestId request-id x_github_request_id x-github-request-id audit_id auditID Audit-ID idempotency_key'.split(
    ' ',
  )

/** Ids in the answer by which a provider's log may name the same request, hashed. */
function requestIds(answer: Json | undefined, result: JsonObject | undefined): Digest[] {
  const ids = new Set<Digest>()
  for (const place of [answer, result?.['_meta']]) {
    if (!isObject(place)) continue
    for (const name of REQUEST_IDS) {
      const value = Object.hasOwn(place, name) ? place[name] : undefined
      if (typeof value === 'string' && value !== '' && value.isWellFormed() && !isSecretName(name))
        ids.add(requestHash(value))
    }
  }
  return [...ids].sort()
}

/** How a request id is kept on both sides, so that equality can be seen and the id cannot. */
export function requestHash(id: string): Digest {
  return exactHash('request_id', id)
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function correlationOf(carrier: unknown): Decision['correlation'] {
  if (carrier === undefined) return { basis: 'none', traceparent: null, source_class: null }
  const match = typeof carrier === 'string' ? TRACEPARENT.exec(carrier) : null
  if (
    !match ||
    match[1] === 'ff' ||
    /^0+$/.test(match[2] as string) ||
    /^0+$/.test(match[3] as string)
  )
    return { basis: 'malformed_trace_context', traceparent: null, source_class: null }
  return { basis: 'propagated_trace_context', traceparent: match[0], source_class: 'propagated' }
}
