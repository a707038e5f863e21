/**
 * What a well-formed bundle supports: whether its denial is bound to its decision, and the four
 * claims.
 */
import { MARKER_ORIGIN, type Profile, RULES } from './profile.ts'
import { type BundleFinding, type Found, memberAt, type Records } from './records.ts'

export const CLAIMS = [
  'policy_decision_recorded',
  'caller_visible_denial',
  'upstream_delivery',
  'external_side_effect',
] as const
export type ClaimName = (typeof CLAIMS)[number]

/**
 * What is confirmed or refuted is so by the producer's own word. What is incomplete rests on
 * nothing.
 */
export type ClaimStatus =
  | { status: 'confirmed' | 'refuted'; source_class: 'producer_reported' }
  | { status: 'incomplete' }

export type Claims = { [name in ClaimName]: ClaimStatus }

/**
 * True for an observation that marks a denial of the call. Another one is valid and shows nothing.
 * That its schema is the profile's is known: `Records` takes no other.
 *
 * JSON has one kind of number: -32042.0 is the integer -32042. The text "-32042" is none.
 */
export function isMarker(observation: Found | null, profile: Profile): boolean {
  return (
    observation !== null &&
    memberAt(observation.data, 'caller_visible_error.code') === RULES[profile].markerCode &&
    memberAt(observation.data, 'caller_visible_error.origin') === MARKER_ORIGIN
  )
}

/**
 * A marker names the tool and the target of the decision, byte for byte. Adds what differs to the
 * violations.
 */
export function bind(records: Records): void {
  const observation = records.one('observation')
  const decision = records.one('decision')
  if (!observation || !decision) return
  for (const [code, path, decided] of [
    ['marker_tool_differs', 'call.tool_name', 'tool.name'],
    ['marker_target_differs', 'call.target_digest', 'action.target_digest'],
  ] as const) {
    if (memberAt(observation.data, path) === memberAt(decision.data, decided)) continue
    const detail = `expected the ${decided} of the decision at ${decision.where}, got another`
    records.violations.add(code, `${observation.where}: ${path}`, detail)
  }
}

/** The claims of a valid bundle, and where its records contradict each other. */
export function claimsOf(
  records: Records,
  marker: boolean,
): { claims: Claims; contradictions: BundleFinding[] } {
  const contradictions: BundleFinding[] = []
  const denies = records.one('decision')?.data['decision'] === 'deny'
  const observation = records.one('observation')
  if (marker && observation && !denies)
    contradictions.push({
      kind: 'contradiction',
      code: 'denial_beside_allow',
      where: observation.where,
      detail: 'expected no denial beside the decision allow, got one',
    })
  const establish = records.one('establish')
  const path = establish?.data['establish_path']
  const against = denies
    ? ['established_then_allowed']
    : ['immediate_deny', 'established_then_denied']
  if (establish && against.includes(path as string))
    contradictions.push({
      kind: 'contradiction',
      code: 'establish_differs_from_decision',
      where: establish.where,
      detail: `expected a path that ends in ${denies ? 'deny' : 'allow'}, got ${String(path)}`,
    })
  return {
    claims: {
      policy_decision_recorded: said('confirmed'),
      caller_visible_denial: marker ? said(denies ? 'confirmed' : 'refuted') : INCOMPLETE,
      upstream_delivery: INCOMPLETE,
      external_side_effect: INCOMPLETE,
    },
    contradictions,
  }
}

const INCOMPLETE: ClaimStatus = { status: 'incomplete' }

function said(status: 'confirmed' | 'refuted'): ClaimStatus {
  return { status, source_class: 'producer_reported' }
}
