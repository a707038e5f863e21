/**
 * From an observed tool call to one decision of the surface.
 *
 * Neither arguments nor results are stored. What is kept is the projection that the call's classifier names, hashed where it
 * identifies; of a read's result, the same projection of the items it showed.
 */
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { type Json, type JsonObject, parse } from '../../json.ts'
import { at, type Classifier, classifiersFor, leafOf, project } from './classifier.ts'
import {
  type Decision,
  isObject,
  type Observation,
  type PolicyRecord,
  SURFACE_SCHEMA,
  type Surface,
  shapeOf,
} from './decision.ts'
import { isSecretName, targetHash } from './target.ts'

export const NON_CLAIMS = [
  'records what was observed at the tool boundary; a success is the tool’s own assertion',
  'does not query providers and holds no provider credentials',
  'arguments and results are not stored; targets are projected, identifying values hashed (pseudonymous, not anonymous)',
] as const

export type ObservedCall = {
  server: string
  tool: string
  arguments: unknown
  /** What the policy in front of the tool decided. Default `allow`. */
  effect?: 'allow' | 'deny' | 'error'
  /** `success`, `error`, or another word for how the call ended. */
  status: string
  /** The MCP CallToolResult, where there was one. `isError: true` outweighs a status of `success`. */
  result?: unknown
  runId: string
  /** Place in the run's sequence of calls, a whole number >= 0. */
  seq: number
  /** ISO 8601 time of the answer. */
  at?: string
  /** The W3C trace context that came with the call. */
  traceparent?: unknown
  /** What the policy that decided `effect` said of the call. Default: no policy stands in front of the server. */
  policy?: PolicyRecord
}

/**
 * One observed tool call as a decision. Its level is always `asserted`: only `verify` derives more.
 *
 * @param classifiers which classifiers to use, default all that are registered
 * @throws TouchstoneError `argument_invalid` for a call without server, tool, status, run id or sequence number
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
  for (const name of ['server', 'tool', 'status', 'runId'] as const) {
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
  const result = isObject(call.result) ? call.result : undefined
  const status = result?.['isError'] === true && call.status === 'success' ? 'error' : call.status
  const asserted = effect === 'allow' && status === 'success'
  const args = isObject(call.arguments) ? call.arguments : undefined
  const { one, ...named } = classify(call, args, classifiers)

  const observation: Observation = { run_id: call.runId, seq: call.seq }
  if (call.at !== undefined) observation.at = call.at
  const answer = answerOf(result)
  const ids = requestIds(answer, result)
  if (ids.length > 0) observation.request_ids = ids
  const peers = classifiersFor(call.tool, classifiers).filter(
    (peer) => peer.resource_type === one?.resource_type && peer.provider === one.provider,
  )
  const read =
    one && asserted ? readOf(one, peers, leafOf(call.tool), args ?? {}, answer) : undefined
  if (read) observation.read = read
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
        ...(one &&
          !Object.hasOwn(one.reads, leafOf(call.tool)) && {
            irreversibility_class: one.irreversibility,
          }),
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

function classify(call: ObservedCall, args: JsonObject | undefined, own?: readonly Classifier[]) {
  const leaf = leafOf(call.tool)
  const candidates = classifiersFor(call.tool, own)
  // One leaf may belong to several providers: the first whose required fields are all there is meant.
  const one =
    candidates.find((candidate) => missing(candidate, leaf, args ?? {}) === null) ?? candidates[0]
  if (!one) {
    return {
      one,
      tool: { name: call.tool, category: null },
      classification: 'observed_unknown_tool',
      reason_code: 'unknown_tool_name',
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
  const read = Object.hasOwn(one.reads, leaf) ? one.reads[leaf] : undefined
  const tool = { name: call.tool, category: one.category }
  const action = {
    class: read ? 'unclassified' : one.class,
    verb: read?.verb ?? one.tools[leaf] ?? null,
    resource_type: one.resource_type,
    required_scope: read ? null : one.scope,
  }
  const lacking = args ? missing(one, leaf, args) : 'arguments_not_an_object'
  const fields = lacking === null ? (read ? one.scoped : undefined) : (one.kept ?? [])
  const { target, sanitized } = project(one, args ?? {}, fields ? { fields } : {})
  if (lacking === null) {
    return {
      one,
      tool,
      classification: 'classified',
      reason_code: one.reason_code,
      action: { ...action, target },
      sanitized,
    }
  }
  return {
    one,
    tool,
    classification: 'classified_incomplete',
    reason_code: args ? 'missing_required_target_field' : 'unsupported_argument_shape',
    ...(args && { detail: lacking }),
    action: { ...action, target },
    sanitized,
  }
}

/** The detail code of what is missing, or null. A read needs only what says where it looks. */
function missing(one: Classifier, leaf: string, args: JsonObject): string | null {
  const { target } = project(one, args)
  const has = (name: string) => target[name] !== undefined && target[name] !== null
  if (Object.hasOwn(one.reads, leaf)) {
    const rows = one.required.filter((row) => row.fields.some((name) => one.scoped.includes(name)))
    return (
      rows.find((row) => !row.fields.some((name) => one.scoped.includes(name) && has(name)))
        ?.detail ?? null
    )
  }
  return one.required.find((row) => !row.fields.some(has))?.detail ?? null
}

/** What the tool answered, as data: structured content first, else text that is JSON. */
function answerOf(result: JsonObject | undefined): Json | undefined {
  if (!result) return undefined
  if (isObject(result['structuredContent'])) return result['structuredContent']
  const content = result['content']
  if (!Array.isArray(content)) return undefined
  for (const part of content) {
    if (!isObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') continue
    try {
      return parse(part['text'], 'tool result')
    } catch {
      // Prose is no data, and text that means two things is not evidence.
    }
  }
  return undefined
}

function readOf(
  one: Classifier,
  peers: readonly Classifier[],
  leaf: string,
  args: JsonObject,
  answer: Json | undefined,
): Observation['read'] {
  const read = Object.hasOwn(one.reads, leaf) ? one.reads[leaf] : undefined
  if (!read || !isObject(answer) || answer['ok'] === false) return undefined
  const found = at(answer, read.items)
  if (!Array.isArray(found)) return undefined
  const scope = project(one, args, { fields: one.scoped }).target
  const targets = found.map((item) => {
    // What the read asked for places its items, unless an item says otherwise itself.
    const shown: JsonObject = { ...scope }
    for (const peer of peers) {
      const places = peer.reads[leaf]?.from
      const seen = project(
        peer,
        isObject(item) ? item : itemOf(peer, item),
        places ? { places } : {},
      ).target
      for (const [name, value] of Object.entries(seen)) if (value !== null) shown[name] = value
    }
    return shown
  })
  return { complete: isComplete(one, args, answer, found.length), targets }
}

/** An item that is a bare text names the one identifying field that is no part of the scope. */
function itemOf(one: Classifier, item: Json): JsonObject {
  const field = one.fields.find(
    (field) => field.kind === 'hash' && !one.scoped.includes(field.name),
  )
  return field && typeof item === 'string' ? { [field.from[0] as string]: item } : {}
}

/** False when the list may be a page or a filtered view: then absence from it shows nothing. */
function isComplete(one: Classifier, args: JsonObject, answer: JsonObject, items: number): boolean {
  const scoped = one.fields
    .filter((field) => one.scoped.includes(field.name))
    .flatMap((field) => field.from)
  if (Object.keys(args).some((name) => !scoped.includes(name))) return false
  for (const name of [
    'next_cursor',
    'nextCursor',
    'next_page',
    'next_page_token',
    'nextToken',
    'next',
  ]) {
    if (
      answer[name] !== undefined &&
      answer[name] !== null &&
      answer[name] !== '' &&
      answer[name] !== false
    )
      return false
  }
  for (const name of ['has_more', 'hasMore', 'incomplete_results', 'truncated', 'IsTruncated'])
    if (answer[name] === true) return false
  for (const name of ['total_count', 'total']) {
    const total = answer[name]
    if (typeof total === 'number' && total > items) return false
  }
  return true
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
      if (typeof value === 'string' && value !== '' && !isSecretName(name))
        ids.add(requestHash(value))
    }
  }
  return [...ids].sort()
}

/** How a request id is kept on both sides, so that equality can be seen and the id cannot. */
export function requestHash(id: string): Digest {
  return targetHash('request_id', typeof id === 'string' ? id.toWellFormed() : id)
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
