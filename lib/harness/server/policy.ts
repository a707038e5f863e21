/**
 * A policy in front of a server, such as a gateway is: it decides on each call, and what it denies
 * never reaches the server.
 *
 * It decides by rules of its own and by what the server lists. It does not see the server's state,
 * and the server does not see a denied call.
 */
import { type Digest, digestOf } from '../../canonical.ts'
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { PolicyReason } from '../../receipt/bundle/profile.ts'
import type { PolicyRecord } from '../../receipt/surface/decision.ts'
import { type CallToolResult, type Client, listTools, type Tool } from '../wire/mcp.ts'

/** What the caller of a denied call is told beside the reason. */
export type Refusal = {
  /** The code of the JSON-RPC error. */
  code: number
  /** Who says no. */
  origin: string
}

export type Policy = {
  deny: { [tool: string]: Refusal & { reason: PolicyReason } }
  /**
   * A tool's listing (name, description, schemas) is held to what it was at the tool's first call.
   * Null: listings are not compared.
   */
  pin: Refusal | null
}

/** The policy's decision on one call. */
export type Decided = { effect: 'allow' | 'deny'; record: PolicyRecord }

/** What a policy needs of the server behind it. */
type Guarded = {
  name: string
  tools: Tool[]
  client: Client
  url: string | null
  call(
    tool: string,
    input: Record<string, unknown>,
    options: { signal: AbortSignal; timeoutMs: number; number: number },
  ): Promise<CallToolResult>
  takeDecided?(number: number): Decided | null
}

/** A call that the policy denied: a JSON-RPC error with the policy's code, origin and reason. */
export class Denied extends Error {
  readonly code: number
  readonly data: { origin: string; reason: string }

  constructor({ code, origin }: Refusal, reason: PolicyReason) {
    super(`MCP error ${code}: denied by policy, ${reason}`)
    this.name = 'Denied'
    this.code = code
    this.data = { origin, reason }
  }
}

/**
 * Put a policy in front of a server that runs.
 *
 * @throws TouchstoneError `tool_unknown` for a rule about a tool that the server does not list
 */
export function behindPolicy<S extends Guarded>(server: S, policy: Policy): S {
  const listed = server.tools.map(({ name }) => name)
  const stranger = Object.keys(policy.deny).find((tool) => !listed.includes(tool))
  if (stranger !== undefined)
    throw new TouchstoneError(
      'tool_unknown',
      `expected a tool of ${server.name} (${listed.join(', ') || 'none'}), ${gotWord(stranger, listed)}`,
      { where: 'policy.deny' },
    )
  const pinned = new Map<string, Digest>()
  const decisions = new Map<number, Decided>()
  return {
    ...server,
    // The address is that of the server itself. Whoever calls it there passes the policy by.
    url: null,
    async call(tool, input, options) {
      const { refusal, ...decided } = await decide(policy, pinned, server.client, tool, options)
      decisions.set(options.number, decided)
      if (refusal) throw new Denied(refusal, decided.record.reason as PolicyReason)
      return server.call(tool, input, options)
    },
    takeDecided(number) {
      const decided = decisions.get(number) ?? null
      decisions.delete(number)
      return decided
    },
  }
}

type Verdict = Decided & { refusal: Refusal | null }

async function decide(
  policy: Policy,
  pinned: Map<string, Digest>,
  client: Client,
  tool: string,
  options: { signal: AbortSignal },
): Promise<Verdict> {
  const rule = Object.hasOwn(policy.deny, tool) ? policy.deny[tool] : undefined
  if (rule) {
    const record: PolicyRecord = { reason: rule.reason, drift_state: 'not_evaluated' }
    if (policy.pin) record.establish = { path: 'immediate_deny', outcome: 'not_performed' }
    return { effect: 'deny', record, refusal: rule }
  }
  if (policy.pin === null)
    return {
      effect: 'allow',
      record: { reason: 'allow', drift_state: 'not_evaluated' },
      refusal: null,
    }

  const denied = (reason: PolicyReason, drift_state: string): Verdict => ({
    effect: 'deny',
    record: {
      reason,
      drift_state,
      establish: pinned.has(tool)
        ? { path: 'no_establish_needed', outcome: 'not_performed' }
        : { path: 'immediate_deny', outcome: 'failed' },
    },
    refusal: policy.pin,
  })
  const listing = await listTools(client, options.signal).catch(() => {
    options.signal.throwIfAborted()
    return null
  })
  const found = listing?.filter(({ name }) => name === tool) ?? []
  if (found.length > 1) return denied('manifest_observation_ambiguous', 'observation_ambiguous')
  const [now] = found.map(listingDigest)
  if (now === undefined)
    return denied('manifest_current_observation_incomplete', 'current_observation_incomplete')
  const before = pinned.get(tool)
  if (before !== undefined && before !== now)
    return denied('manifest_drifted_since_approval', 'drifted')
  pinned.set(tool, now)
  const establish =
    before === undefined
      ? { path: 'established_then_allowed', outcome: 'completed' }
      : { path: 'no_establish_needed', outcome: 'not_performed' }
  return {
    effect: 'allow',
    record: { reason: 'allow', drift_state: 'satisfied', establish },
    refusal: null,
  }
}

/** The digest of what a client is told of a tool. */
function listingDigest(tool: Tool): Digest {
  return digestOf(JSON.parse(JSON.stringify(tool)) as JsonObject)
}
