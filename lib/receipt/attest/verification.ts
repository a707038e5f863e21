/**
 * What came out of checking a receipt: data for a program, a report for a person. The same input
 * gives the same bytes.
 */
import type { Look } from '../../display.ts'
import type { JsonObject } from '../../json.ts'
import type { Absent, ConfigurationSummary } from '../../log/index.ts'
import { Shown } from '../../shown.ts'
import type { CaseRow, RunCounts } from '../recompute/run-predicate.ts'
import { type Step, type Verdict, verdictOf } from '../recompute/step.ts'
import { verificationText } from './verification-text.ts'

export type VerificationData = {
  schema: 'touchstone.verification.v0'
  verdict: Verdict
  /**
   * `run` or `connection test`, and the run's id or the address; null where the statement cannot be
   * read.
   */
  of: { kind: 'run' | 'connection test'; name: string } | null
  set: { id: string; version: string; digest: string } | null
  /** The key that was given and signed it, as the SHA-256 of its DER. Null where none did. */
  signed_by: string | null
  /** False for a run's folder without a receipt, which was held against itself. */
  receipt: boolean
  steps: Step[]
  /** Computed from the run's folder, not taken from the receipt. Null where there is no folder. */
  recomputed: {
    counts: RunCounts
    cases: CaseRow[]
    summary: ConfigurationSummary[]
    /** Planned trials that the log does not have. */
    absent: Absent[]
    /** Names by which providers call their models in what they answered, by configuration. */
    answered_as: { [configuration: string]: string[] }
  } | null
  /** Of a run: what no step computes again, so that it is the run's own word. */
  not_recomputed: string[]
  /** As the receipt says it. */
  does_not_establish: string[]
}

/** The result of checking a receipt. */
export class Verification extends Shown implements VerificationData {
  readonly schema = 'touchstone.verification.v0'
  readonly of: VerificationData['of']
  readonly set: VerificationData['set']
  readonly signed_by: string | null
  readonly receipt: boolean
  readonly steps: Step[]
  readonly recomputed: VerificationData['recomputed']
  readonly not_recomputed: string[]
  readonly does_not_establish: string[]

  constructor(
    parts: Omit<VerificationData, 'schema' | 'verdict' | 'receipt'> & { receipt?: boolean },
  ) {
    super()
    this.receipt = parts.receipt ?? true
    this.of = parts.of
    this.set = parts.set
    this.signed_by = parts.signed_by
    this.steps = parts.steps
    this.recomputed = parts.recomputed
    this.not_recomputed = parts.not_recomputed
    this.does_not_establish = parts.does_not_establish
  }

  /**
   * `failed` when any step failed, else `could_not_check` when any could not be checked, else
   * `verified`.
   */
  get verdict(): Verdict {
    return verdictOf(this.steps)
  }

  /** Every step was checked, and holds. */
  get ok(): boolean {
    return this.verdict === 'verified'
  }

  toJSON(): VerificationData {
    const { schema, verdict, of, set, signed_by, receipt, steps, recomputed } = this
    const { not_recomputed, does_not_establish } = this
    const unestablished = { not_recomputed, does_not_establish }
    return { schema, verdict, of, set, signed_by, receipt, steps, recomputed, ...unestablished }
  }

  text(look: Look = {}): string {
    return verificationText(this, look)
  }
}

/** The name of what a statement is about. */
export function nameOf(
  kind: 'run' | 'connection test',
  predicate: JsonObject,
): VerificationData['of'] {
  const member = predicate[kind === 'run' ? 'run' : 'subject'] as JsonObject | undefined
  const name = member?.[kind === 'run' ? 'id' : 'url']
  return { kind, name: typeof name === 'string' ? name : '?' }
}
