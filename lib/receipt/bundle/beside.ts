/**
 * A bundle beside the ladder: what the profile leaves `incomplete`, and what the evidence at hand
 * shows of the same call.
 *
 * The two do not mix. A claim of the profile is the producer's word about its own decision. A level
 * of the ladder is derived from the recorded call and from audit records. Neither changes the
 * other.
 */
import { digestOf } from '../../canonical.ts'
import { type Look, pad, tone, wrap } from '../../display.ts'
import { Shown } from '../../shown.ts'
import { type Decisions, decisionsOf, type VerifyOptions, verify } from '../ladder/levels.ts'
import { type CallRow, CLAIMS_NOT_MADE, type RecordRow } from '../ladder/report.ts'
import { type Level, type ReadDecision, readDecision } from '../surface/decision.ts'
import type { BundleAction, BundleReport, BundleReportData } from './bundle-report.ts'

const BESIDE_SCHEMA = 'touchstone.bundle_beside_ladder.v0'

/** The claims that a bundle alone never decides. */
const OPEN = ['upstream_delivery', 'external_side_effect'] as const

/** Whether the bundle's call is among the decisions. */
export type CallMatch =
  | { outcome: 'one'; run_id: string | null; seq: number | null }
  /** Nothing here has the bundle's tool and target digest. */
  | { outcome: 'none' }
  /** Equal calls: which of them the bundle is about cannot be told. */
  | { outcome: 'several'; calls: number }
  | { outcome: 'bundle_not_valid' }

export type BesideRow = {
  claim: (typeof OPEN)[number]
  /** The profile's word. Null for a bundle that is not valid. */
  profile: 'incomplete' | null
  /** The ladder's. Null when no level was derived. */
  ladder: Level | null
  /** What the ladder's word rests on. */
  rests_on: string
}

export type BesideData = {
  schema: typeof BESIDE_SCHEMA
  bundle: BundleReportData
  match: CallMatch
  rows: BesideRow[]
  /** The call's row of the ladder's report. */
  call: CallRow | null
  /**
   * Audit records with the subject of a call that asserted nothing. They raise no level, and they
   * are there.
   */
  records_beside: RecordRow[]
  claims_not_made: string[]
}

/**
 * Put the report on a bundle beside the ladder's answer about the same call.
 *
 * The call is the one whose tool is the decision's, and whose `action.target` has the decision's
 * target digest: SHA-256 over its RFC 8785 text. Of several, the one of the bundle's run.
 *
 * @param decisions what was recorded: a list, a surface, a path, a run
 * @param options   audit evidence and the rest, as for `receipt.verify`
 * @throws TouchstoneError as `receipt.verify` does
 * @example
 * const decision = receipt.observe({
 *   server: 'github', tool: 'add_deploy_key', status: 'success', runId: 'run-1', seq: 0,
 *   arguments: { owner: 'org', repo: 'prod-repo', title: 'ci-key' },
 *   policy: { reason: 'allow', drift_state: 'not_evaluated' },
 * })
 * const profile = 'privileged-mcp-action/v0'
 * const bytes = await receipt.bundle(decision, { profile, at: '2026-01-01T00:00:00Z' })
 * const log = '[{"action":"public_key.create","_document_id":"e1","repo":"org/prod-repo","title":"ci-key"}]'
 * const report = await receipt.verifyBundle(bytes, { profile })
 * const both = beside(report, [decision], { audit: { provider: 'github', bytes: log } })
 * both.rows[1].profile // 'incomplete'
 * both.rows[1].ladder // 'verified'
 */
export function beside(
  report: BundleReport,
  decisions: Decisions,
  options: VerifyOptions = {},
): BundleBesideLadder {
  const values = [...decisionsOf(decisions)]
  const ladder = verify(
    values.map(({ value }) => value),
    options,
  )
  const { action } = report
  const recorded = values.map(({ value, where }) => ({ value, read: readDecision(value, where) }))
  const same = action ? sameCall(recorded, action) : []
  const rows = same.flatMap(({ read }) => ladder.calls.filter((row) => isOf(row, read)))
  const [call = null] = rows
  const match: CallMatch =
    action === null
      ? { outcome: 'bundle_not_valid' }
      : call === null
        ? { outcome: 'none' }
        : rows.length > 1
          ? { outcome: 'several', calls: rows.length }
          : { outcome: 'one', run_id: call.run_id, seq: call.seq }
  if (match.outcome !== 'one') return new BundleBesideLadder(report, match, null, [])
  // Asked of this call alone, so that a record with the subject of another call is not counted as
  // its own.
  const alone = verify(
    same.map(({ value }) => value),
    options,
  )
  const left = alone.records.unused.filter(({ reason }) => reason === 'call_not_asserted')
  return new BundleBesideLadder(report, match, call, left)
}

type Recorded = { value: unknown; read: ReadDecision }

function sameCall(recorded: Recorded[], action: BundleAction): Recorded[] {
  const equal = recorded.filter(
    ({ read }) =>
      read.tool === action.tool &&
      read.action.target !== null &&
      digestOf(read.action.target) === action.targetDigest,
  )
  const ofRun = equal.filter(({ read }) => read.observation?.run_id === action.runId)
  return ofRun.length > 0 ? ofRun : equal
}

function isOf(row: CallRow, { tool, observation }: ReadDecision): boolean {
  return (
    row.tool === tool &&
    row.run_id === (observation?.run_id ?? null) &&
    row.seq === (observation?.seq ?? null)
  )
}

/** The two answers side by side. Data is `toJSON()`. */
export class BundleBesideLadder extends Shown {
  readonly bundle: BundleReport
  readonly match: CallMatch
  readonly call: CallRow | null
  readonly records_beside: RecordRow[]

  constructor(
    bundle: BundleReport,
    match: CallMatch,
    call: CallRow | null,
    records_beside: RecordRow[],
  ) {
    super()
    this.bundle = bundle
    this.match = match
    this.call = call
    this.records_beside = records_beside
  }

  get rows(): BesideRow[] {
    return OPEN.map((claim) => ({
      claim,
      profile: this.bundle.claims ? 'incomplete' : null,
      ladder: this.call?.level ?? null,
      rests_on: this.restsOn(claim),
    }))
  }

  private restsOn(claim: BesideRow['claim']): string {
    const { call, match, records_beside: left } = this
    if (call === null) return NO_CALL[match.outcome as keyof typeof NO_CALL]
    if (call.level !== null) return RESTS_ON[claim][call.level]
    if (claim === 'upstream_delivery') return 'the call was answered with no success'
    return left.length === 0
      ? 'the call asserted nothing, and no audit record here has its subject'
      : `the call asserted nothing, and audit records have its subject: ${left.length}`
  }

  toJSON(): BesideData {
    const { match, rows, call, records_beside } = this
    return {
      schema: BESIDE_SCHEMA,
      bundle: this.bundle.toJSON(),
      match,
      rows,
      call,
      records_beside,
      claims_not_made: [...CLAIMS_NOT_MADE],
    }
  }

  /** As text. @param look colours and width, default plain and 100 characters */
  text(look: Look = {}): string {
    const width = look.width ?? 100
    const { rows } = this
    const first = Math.max(...rows.map(({ claim }) => claim.length))
    const lines = [
      this.bundle.text(look),
      '',
      'Beside it, from the recorded call and the audit evidence:',
      tone(`  ${pad('', first)}  ${pad('profile', 10)}  ladder`, 'quiet', look),
    ]
    for (const { claim, profile, ladder, rests_on } of rows) {
      const left = `  ${pad(claim, first)}  ${pad(profile ?? '-', 10)}  ${ladder ?? 'no level'}`
      lines.push(left, tone(wrap(rests_on, width, '      '), 'quiet', look))
    }
    const rule =
      'The profile’s word is the producer’s own. The ladder’s is derived from evidence. Neither changes the other.'
    lines.push('', tone(wrap(rule, width), 'quiet', look))
    return lines.join('\n')
  }
}

const NO_CALL = {
  none: 'no recorded call has the bundle’s tool and target',
  several: 'several recorded calls have the bundle’s tool and target: which it is cannot be told',
  bundle_not_valid: 'the bundle is not valid, so it names no call',
}

const RESTS_ON: { [claim in BesideRow['claim']]: { [level in Level]: string } } = {
  upstream_delivery: {
    asserted: 'the call was answered with success',
    observed_confirmed: 'the call was answered with success, and a later read shows the effect',
    verified: 'the call was answered with success, and the provider logged the effect',
  },
  external_side_effect: {
    asserted: 'the tool said so',
    observed_confirmed: 'a later read in the run shows the effect',
    verified: 'a provider’s audit record binds to the call',
  },
}
