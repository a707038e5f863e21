/**
 * The row of one call in the report: its level, what stands against it, and why it is not higher.
 */
import type { Digest } from '../../canonical.ts'
import type { Failure } from '../audit/evidence.ts'
import type { Projection } from '../surface/binding.ts'
import type { Judged } from '../surface/call.ts'
import { LEVELS, type Level } from '../surface/decision.ts'
import type { Confirmation, Contradiction } from './confirm.ts'
import type { Finding } from './findings.ts'
import type { Binding, CallRow, Rejection } from './report.ts'

export function rowOf(
  { decision, projection, kind, repeated }: Judged,
  found: {
    binding: Binding | null
    strength: CallRow['binding_strength']
    seen: Confirmation | null
    rejections: Rejection[]
    /** How many records there are for how many calls, where it cannot be told which is whose. */
    ambiguous: { records: number; calls: number } | null
    /** The record of what a denied or failed call asked for. */
    recorded: string | null
    /** The entry of the provider's log that says that the call failed. */
    failure: Failure | null
  },
): CallRow {
  const { binding, strength, seen, rejections, ambiguous, failure } = found
  const contradictions = [...(failure ? [saidBy(failure)] : []), ...(seen?.contradictions ?? [])]
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
    allocation: verified ? 'told' : ambiguous ? 'ambiguous' : null,
    rejections,
    contradictions,
    findings: findingsOf(
      { decision, projection, kind, repeated },
      found,
      contradictions,
      level,
      digest,
    ),
    why_not_higher: level === null || level === 'verified' ? null : whyNot(kind, projection, found),
  }
}

function saidBy({ code, record }: Failure): Contradiction {
  const detail = `the provider’s log says that the call failed: ${code} (entry ${record.id})`
  return { kind: 'provider_says_failed', seq: null, detail }
}

/** How bad it is that reads, or the provider's log, say this against a claim. */
const AGAINST: Record<Contradiction['kind'], Finding['severity']> = {
  provider_says_failed: 'error',
  read_does_not_show: 'error',
  read_still_shows: 'error',
  read_shows_other_value: 'error',
  later_read_does_not_show: 'error',
  too_few_shown: 'error',
  already_there: 'warning',
  already_absent: 'warning',
  undone_before_read: 'note',
  earlier_read_does_not_show: 'note',
}

/** True where a read, or the provider's log, says that the effect is not there. */
export function isContradicted({ contradictions }: CallRow): boolean {
  return contradictions.some(({ kind }) => AGAINST[kind] === 'error')
}

type Found = Parameters<typeof rowOf>[1]

function findingsOf(
  { decision, repeated, kind }: Judged,
  { seen, strength, ambiguous, recorded }: Found,
  contradictions: readonly Contradiction[],
  level: Level | null,
  digest: Digest | null,
): Finding[] {
  const findings: Finding[] = []
  const { stored, irreversibility } = decision
  const add = (severity: Finding['severity'], name: string, detail: string) =>
    findings.push({ severity, kind: name, detail })
  if (recorded !== null && decision.effect === 'deny')
    add(
      'error',
      'happened_although_denied',
      `the call was denied, and record ${recorded} says that it happened`,
    )
  else if (recorded !== null)
    add(
      decision.claimed ? 'error' : 'warning',
      'happened_although_failed',
      `the call did not succeed, and record ${recorded} says that it happened`,
    )
  if (decision.claimed && !decision.asserted)
    add(
      'error',
      'claim_without_success',
      `the decision claims an effect, and says ${decision.effect} with status ${decision.status}`,
    )
  const derived = level === null ? 0 : LEVELS.indexOf(level)
  if (LEVELS.indexOf(stored.level) > derived)
    add(
      'error',
      'overclaim',
      `the decision stores ${stored.level}, the evidence gives ${level ?? 'no level'}`,
    )
  else if (stored.verified && level !== 'verified')
    add(
      'error',
      'overclaim',
      'the decision stores side_effect_verified: true, the evidence does not verify it',
    )
  if (stored.digest !== null && digest !== null && stored.digest !== digest)
    add(
      'error',
      'stored_digest_differs',
      'the stored subject digest is not the one the action gives',
    )
  for (const { kind: name, seq, detail } of contradictions)
    add(AGAINST[name], name, seq === null ? detail : `at #${seq}: ${detail}`)
  if (ambiguous)
    add(
      'warning',
      'ambiguous',
      `${ambiguous.records} of ${ambiguous.calls} equal calls took place as far as records tell: which cannot be told`,
    )
  if (strength === 'action')
    add('warning', 'bound_by_action', 'the record names the action; nothing in it names this call')
  if (seen?.reason === 'sequence_gap')
    add('warning', 'sequence_gap', 'a call before the read is missing from the run')
  if (seen?.reason === 'order_disputed')
    add('warning', 'order_disputed', 'the read that shows the effect is dated before the call')
  if (repeated)
    add('warning', 'sequence_repeated', 'another decision claims the same place in the run')
  const grave =
    irreversibility === 'one_way_consequential' || irreversibility === 'one_way_terminal'
  if (grave && level === 'asserted' && kind !== 'read')
    add(
      'warning',
      'consequential_unverified',
      `a ${irreversibility} effect rests on the tool’s word alone`,
    )
  return findings
}

function whyNot(
  kind: CallRow['kind'],
  projection: Projection,
  { seen, rejections, ambiguous, binding, failure }: Found,
): string {
  if (kind === 'read') return 'a read claims no effect'
  if (!projection.ok) return `no record can bind: ${projection.detail}`
  const reasons: string[] = []
  if (ambiguous) reasons.push(`${ambiguous.records} of ${ambiguous.calls}, cannot be told which`)
  for (const { reason, records } of rejections.slice(0, 3))
    reasons.push(`${records} matching ${records === 1 ? 'record' : 'records'} refused (${reason})`)
  if (failure) reasons.push('the provider’s log says that the call failed')
  else if (reasons.length === 0)
    reasons.push(binding === null ? 'no audit record' : `no record binds (${binding.outcome})`)
  if (!seen?.confirmed && seen?.contradictions.length === 0) {
    if (seen.reason === 'no_read_after') reasons.push('no later read looked')
    if (seen.reason === 'not_shown_by_reads') reasons.push('no read can show this effect')
    if (seen.reason === 'sequence_gap') reasons.push('a call before the read is missing')
    if (seen.reason === 'read_not_whole') reasons.push('later reads showed only part of the list')
    if (seen.reason === 'earlier_read_unclear')
      reasons.push('a read before the call may have shown the same')
    if (seen.reason === 'order_disputed')
      reasons.push('the read that shows it is dated before the call')
    if (seen.reason === 'no_run') reasons.push('the decision names no run and sequence')
    if (seen.reason === 'place_disputed')
      reasons.push('another decision claims its place in the run')
  }
  return reasons.join('; ')
}
