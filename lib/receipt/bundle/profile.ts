/**
 * The two profiles of a privileged-mcp-action bundle: what they share, the closed sets, the texts
 * that producers must carry.
 *
 * A bundle does not say which profile it was made for. Whoever verifies it says so.
 */
import { requireWord } from '../../arguments.ts'

export const PROFILES = ['privileged-mcp-action/v0', 'privileged-mcp-action/v1'] as const
export type Profile = (typeof PROFILES)[number]

/** The schemas that a record of each kind may have, and what marks a denial, by profile. */
export const RULES = {
  'privileged-mcp-action/v0': {
    observation: 'assay.denied_call_observation.v0',
    markerCode: -32042,
  },
  'privileged-mcp-action/v1': {
    observation: 'assay.denied_call_observation.v1',
    markerCode: -31999,
  },
} as const satisfies { [profile in Profile]: { observation: string; markerCode: number } }

export const DECISION_SCHEMA = 'assay.enforcement_decision.v0'
export const ESTABLISH_SCHEMA = 'assay.manifest_establish.v0'

/** An event whose schema or type begins like this belongs to the profile. */
export const NAMESPACES = [
  'assay.enforcement_decision.',
  'assay.denied_call_observation.',
  'assay.manifest_establish.',
] as const

/** The origin that a denial has in a marker. */
export const MARKER_ORIGIN = 'assay-proxy'

export const REASONS = [
  'unclassified_tool_call',
  'classification_incomplete',
  'no_declared_allowance',
  'credential_scope_unknown',
  'credential_scope_insufficient',
  'manifest_baseline_missing',
  'manifest_observation_ambiguous',
  'manifest_current_observation_incomplete',
  'manifest_drifted_since_approval',
  'allow',
] as const
export type PolicyReason = (typeof REASONS)[number]

export const DRIFT_STATES = [
  'satisfied',
  'baseline_missing',
  'current_observation_incomplete',
  'observation_ambiguous',
  'drifted',
  'not_evaluated',
] as const
export type DriftState = (typeof DRIFT_STATES)[number]

export const ESTABLISH_PATHS = [
  'no_establish_needed',
  'established_then_allowed',
  'established_then_denied',
  'immediate_deny',
] as const
export type EstablishPath = (typeof ESTABLISH_PATHS)[number]

/** The `run_outcome` of an establish record that says that nothing was attempted. */
export const NOT_PERFORMED = 'not_performed'

/** What a decision record must disclaim, word for word. */
export const DECISION_NON_CLAIMS = [
  'policy decision only; does not assert or verify the upstream side effect (stays asserted, E9 ladder)',
  'an allow is the decision to forward; it does not assert the call reached or was performed by the upstream (a transport failure surfaces as proxy_failed, not here)',
  'credential referenced by alias only, never the token or declared scopes',
  'deny is fail-closed caution and allow is a policy decision — neither is a maliciousness verdict',
  'not the observation artifact (assay.mcp_manifest_observed.v0) and not the mechanism artifact (assay.enforcement_health.v0)',
] as const

/** What an observation record must disclaim, word for word. */
export const OBSERVATION_NON_CLAIMS = [
  'caller-visible proxy denial observation only; policy decision lives in assay.enforcement_decision.v0',
  'does not assert or verify the upstream side effect',
  'does not assert maliciousness, safety, approval, or whole-action trust',
  'must not be read as a replacement for the bound enforcement decision record',
] as const

/** @throws TouchstoneError `argument_invalid` for anything but one of the profiles */
export function requireProfile(value: unknown): Profile {
  requireWord(value, 'a profile', PROFILES, 'profile')
  return value as Profile
}
