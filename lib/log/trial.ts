/** The record of one trial: one line of `trials.ndjson`, from which every number, picture and receipt is recomputed. */
import { type Digest, isDigest } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import type { JsonObject } from '../json.ts'

/**
 * `pass`: the goal is met and no attack is. `unjudged`: the trial ended, and what the goal asks is not known. `error`: the
 * machinery failed, so nothing is known about the agent.
 */
export type Outcome = 'pass' | 'fail' | 'unjudged' | 'error'

/** Where the claims of a trial come from. `prose`: a rule read them in the agent's answer. */
export type ClaimSource = 'report' | 'claims' | 'prose' | 'judge'

/**
 * Where the agent met something: the number of the call whose answer showed it, or `list` when the list of tools did. `false`:
 * nowhere. null: the case has no such thing, or whether the agent met it is not known.
 */
export type Met = number | 'list' | false | null

/** An effect that the agent says it made, and whether the world's end state has it. */
export type Claim = {
  tool: string
  action: string
  target: JsonObject
  done: boolean
  /**
   * true: the effect is there. false: it is not. null: nothing to match (a read, or a claim that it was not done), or not to be
   * seen.
   */
  matched: boolean | null
  /** Of a claim that was read in prose: the sentence. */
  quote?: string
}

export type TrialRecord = {
  schema: 'touchstone.trial.v0'
  key: string
  case: string
  configuration: string
  /** 0-based repeat. */
  trial: number
  /** 0-based; above 0 after infrastructure errors. The last attempt of a key counts. */
  attempt: number
  seed: string
  started_at: string
  duration_ms: number
  outcome: Outcome
  error: { code: string; message: string } | null
  goal: boolean | null
  /** null for a benign case. */
  attack: boolean | null
  /** Claims of done effects that the world does not have. null: not known, as when the agent's claims are not. */
  overclaims: number | null
  /** Effects in the world that the agent made and did not claim. null: not known. */
  underclaims: number | null
  /** Effects in the world that neither the task nor its solution calls for. null: the state is not to be seen. */
  unneeded: number | null
  /** The agent made no attempt at the task's changes. */
  refused: boolean
  /** The agent ended with a report. Without one its claims are unstated, not none. */
  reported: boolean
  /** null: what the agent says it did is not known. */
  claims_from: ClaimSource | null
  claims: Claim[]
  /** How the trial ended: `finished`, or a word such as `step_limit`, `length`, `timeout` or `agent_crashed`. */
  ending: string
  /** Whether the agent met the attack's words, and a fault. */
  exposed: { attack: Met; fault: Met }
  /** Places, from 0, in the trial's sequence of calls of those that ask for a change, by what the case's servers declare. */
  writes: number[]
  /** Of these, the ones whose tool said that it was done, by derived level. */
  levels: { asserted: number; observed_confirmed: number; verified: number }
  /** Model calls. null: the agent's model calls are not to be seen. */
  steps: number | null
  calls: number
  /** Tool calls of the model that were none: an unknown tool, or arguments that cannot be read. null: not to be seen. */
  malformed: number | null
  tokens: { input: number; output: number } | null
  cost_usd: number | null
  start_digest: Digest | null
  end_digest: Digest | null
  digests: { decisions: Digest | null; audit: Digest | null; transcript: Digest | null }
}

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

const OUTCOMES = new Set<unknown>(['pass', 'fail', 'unjudged', 'error'])
const SOURCES = new Set<unknown>(['report', 'claims', 'prose', 'judge', null])
const isMet = (value: unknown) =>
  value === null || value === false || value === 'list' || isCount(value)
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

function isClaim(value: unknown): boolean {
  const { tool, action, target, done, matched } = (value ?? {}) as Record<string, unknown>
  return (
    typeof tool === 'string' &&
    typeof action === 'string' &&
    target !== null &&
    typeof target === 'object' &&
    typeof done === 'boolean' &&
    (matched === null || typeof matched === 'boolean')
  )
}

/** Check a line read back. @throws TouchstoneError `run_invalid` naming the first member that is not as it should be. */
export function requireTrialRecord(value: unknown, where: string): TrialRecord {
  const row = value as Record<string, unknown>
  const fail = (field: string, expected: string): never => {
    const got = row?.[field]
    throw new TouchstoneError(
      'run_invalid',
      `expected ${field} to be ${expected}, got ${JSON.stringify(got)?.slice(0, 60)}`,
      { where },
    )
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new TouchstoneError('run_invalid', 'expected a trial record', { where })
  }
  if (row['schema'] !== 'touchstone.trial.v0') fail('schema', '"touchstone.trial.v0"')
  for (const field of ['key', 'case', 'configuration', 'seed', 'started_at', 'ending']) {
    if (typeof row[field] !== 'string') fail(field, 'a string')
  }
  for (const field of ['trial', 'attempt', 'calls'])
    if (!isCount(row[field])) fail(field, 'a whole number >= 0')
  for (const field of ['overclaims', 'underclaims', 'unneeded', 'steps', 'malformed'])
    if (row[field] !== null && !isCount(row[field])) fail(field, 'a whole number >= 0 or null')
  if (!OUTCOMES.has(row['outcome'])) fail('outcome', 'pass, fail, unjudged or error')
  if (!SOURCES.has(row['claims_from'])) fail('claims_from', 'report, claims, prose, judge or null')
  const exposed = row['exposed'] as Record<string, unknown> | null
  if (!exposed || !isMet(exposed['attack']) || !isMet(exposed['fault']))
    fail('exposed', '{ attack, fault }, each a call, list, false or null')
  const isAmount = (value: unknown) =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0
  if (!isAmount(row['duration_ms'])) fail('duration_ms', 'a number >= 0')
  if (row['cost_usd'] !== null && !isAmount(row['cost_usd']))
    fail('cost_usd', 'a number >= 0 or null')
  const tokens = row['tokens'] as Record<string, unknown> | null
  if (tokens !== null && !(isAmount(tokens?.['input']) && isAmount(tokens?.['output'])))
    fail('tokens', '{ input, output } or null')
  const error = row['error'] as Record<string, unknown> | null
  if (
    error !== null &&
    !(typeof error?.['code'] === 'string' && typeof error['message'] === 'string')
  )
    fail('error', '{ code, message } or null')
  for (const field of ['start_digest', 'end_digest'])
    if (row[field] !== null && !isDigest(row[field])) fail(field, 'a sha256 digest or null')
  for (const field of ['goal', 'attack']) {
    if (row[field] !== null && typeof row[field] !== 'boolean') fail(field, 'true, false or null')
  }
  for (const field of ['refused', 'reported'])
    if (typeof row[field] !== 'boolean') fail(field, 'true or false')
  if (!Array.isArray(row['claims']) || !row['claims'].every(isClaim))
    fail('claims', 'an array of claims')
  if (!Array.isArray(row['writes']) || !row['writes'].every(isCount))
    fail('writes', 'an array of whole numbers >= 0')
  const levels = row['levels'] as Record<string, unknown> | null
  if (
    !levels ||
    !['asserted', 'observed_confirmed', 'verified'].every((level) => isCount(levels[level]))
  ) {
    fail('levels', 'counts of asserted, observed_confirmed and verified')
  }
  const digests = row['digests'] as Record<string, unknown> | null
  if (
    !digests ||
    !['decisions', 'audit', 'transcript'].every(
      (name) => digests[name] === null || isDigest(digests[name]),
    )
  ) {
    fail('digests', 'sha256 digests or null')
  }
  if (
    row['key'] !==
    trialKey(row['case'] as string, row['configuration'] as string, row['trial'] as number)
  ) {
    fail('key', 'case|configuration|trial')
  }
  return value as TrialRecord
}
