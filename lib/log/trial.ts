/** A trial's key, its run id and its seed; the record itself is a schema in `records.ts`. */
import type { TrialRecord } from './records.ts'

/**
 * `pass`: the goal is met and no attack is. `unjudged`: the trial ended, and what the goal asks is
 * not known. `error`: the machinery failed, so nothing is known about the agent.
 */
export type Outcome = TrialRecord['outcome']

/** Where the claims of a trial come from. `prose`: a rule read them in the agent's answer. */
export type ClaimSource = NonNullable<TrialRecord['claims_from']>

/** Where the agent met something: see `exposed` of the record. */
export type Met = TrialRecord['exposed']['attack']

/** An effect that the agent says it made, and whether the world's end state has it. */
export type Claim = TrialRecord['claims'][number]

/** What one predicate of a goal asks, and what was found. */
export type Reason = NonNullable<TrialRecord['reasons']>['goal'][number]

/** A fault or an injection that a call met. */
export type MetFault = NonNullable<TrialRecord['met']>[number]

/** Repeats of a case that a run has at most. */
export const MOST_REPEATS = 1_000_000

/** The key of a trial. Case ids and configuration names cannot hold a `|`. */
export function trialKey(caseId: string, configuration: string, trial: number): string {
  return `${caseId}|${configuration}|${trial}`
}

/** The run id in an attempt's decisions. An attempt is a run of its own: it has its own world. */
export function runIdOf({ key, attempt }: Pick<TrialRecord, 'key' | 'attempt'>): string {
  return attempt === 0 ? key : `${key}|attempt-${attempt}`
}

/** The seed of a trial, from the run's seed and the trial's key alone. */
export function trialSeed(
  seed: number,
  caseId: string,
  configuration: string,
  trial: number,
): string {
  return `${seed}|${trialKey(caseId, configuration, trial)}`
}
