/** The row of one call in the report: its level, what stands against it, and why it is not higher. */
import type { Digest } from '../../canonical.ts'
import type { Projection } from '../surface/binding.ts'
import { type Groups, groupKey, type Judged } from '../surface/call.ts'
import { LEVELS, type Level, type ReadDecision } from '../surface/decision.ts'
import type { Confirmation } from './confirm.ts'
import type { Binding, CallRow, Finding, Rejection } from './report.ts'

/** "1 of 2", where equal calls outnumber their records. */
export function shortageOf({ projection, decision }: Judged, groups: Groups): string | null {
  if (!projection.ok || !decision.asserted) return null
  const group = groups.get(groupKey(projection.provider, projection.digest))
  if (!group || group.records.length === 0 || group.calls.length <= group.records.length)
    return null
  return `${group.records.length} of ${group.calls.length} equal calls can be verified: there are no more records; which call is which cannot be told`
}

export function rowOf(
  { decision, projection, kind, repeated }: Judged,
  found: {
    binding: Binding | null
    strength: CallRow['binding_strength']
    seen: Confirmation | null
    rejections: Rejection[]
    shortage: string | null
  },
): CallRow {
  const { binding, strength, seen, rejections, shortage } = found
  const verified = binding?.outcome === 'bound'
  const derived: Level = verified ? 'verified' : seen?.confirmed ? 'observed_confirmed' : 'asserted'
  const level = decision.asserted ? derived : null
  const digest = projection.ok && level !== null && level !== 'asserted' ? projection.digest : null
  return {
    run_id: decision.observation?.run_id ?? null,
    seq: decision.observation?.seq ?? null,
    tool: decision.tool,
    kind,
    asserted: decision.asserted,
    level,
    stored_level: decision.stored.level,
    verification_source: verified
      ? 'provider_audit_import'
      : seen?.confirmed
        ? 'observed_read_followup'
        : null,
    verification_subject_digest: digest,
    binding,
    binding_strength: strength,
    rejections,
    contradictions: seen?.contradictions ?? [],
    findings: findingsOf(decision, level, digest, repeated, kind),
    why_not_higher:
      level === null || level === 'verified'
        ? null
        : whyNot(kind, projection, seen, rejections, shortage, binding),
  }
}

function findingsOf(
  decision: ReadDecision,
  level: Level | null,
  digest: Digest | null,
  repeated: boolean,
  kind: CallRow['kind'],
): Finding[] {
  const findings: Finding[] = []
  const { stored, irreversibility } = decision
  const add = (name: string, detail: string) => findings.push({ kind: name, detail })
  const derived = level === null ? 0 : LEVELS.indexOf(level)
  if (LEVELS.indexOf(stored.level) > derived)
    add(
      'overclaim',
      `the decision stores ${stored.level}, the evidence gives ${level ?? 'no level'}`,
    )
  else if (stored.verified && level !== 'verified')
    add(
      'overclaim',
      'the decision stores side_effect_verified: true, the evidence does not verify it',
    )
  if (stored.digest !== null && digest !== null && stored.digest !== digest)
    add('stored_digest_differs', 'the stored subject digest is not the one the action gives')
  if (repeated) add('sequence_repeated', 'another decision claims the same place in the run')
  const grave =
    irreversibility === 'one_way_consequential' || irreversibility === 'one_way_terminal'
  if (grave && level === 'asserted' && kind !== 'read')
    add('consequential_unverified', `a ${irreversibility} effect rests on the tool’s word alone`)
  return findings
}

function whyNot(
  kind: CallRow['kind'],
  projection: Projection,
  seen: Confirmation | null,
  rejections: readonly Rejection[],
  shortage: string | null,
  binding: Binding | null,
): string {
  if (kind === 'read') return 'a read claims no effect'
  if (!projection.ok) return `no record can bind: ${projection.detail}`
  const reasons: string[] = []
  if (shortage) reasons.push(shortage)
  for (const { reason, records } of rejections.slice(0, 3))
    reasons.push(`${records} matching ${records === 1 ? 'record' : 'records'} refused (${reason})`)
  if (reasons.length === 0)
    reasons.push(binding === null ? 'no audit record' : `no record binds (${binding.outcome})`)
  if (!seen?.confirmed && seen?.contradictions.length === 0) {
    if (seen.reason === 'no_read_after') reasons.push('no later read looked')
    if (seen.reason === 'read_not_whole') reasons.push('later reads showed only part of the list')
    if (seen.reason === 'no_run') reasons.push('the decision names no run and sequence')
    if (seen.reason === 'place_disputed')
      reasons.push('another decision claims its place in the run')
  }
  return reasons.join('; ')
}
