/**
 * Over how many trials each rate speaks: what could be judged, what agents said, what they met, and
 * how their trials ended.
 */
import { type Interval, rate, sameCases } from '../../stats/index.ts'
import { FOUND } from '../finding-words.ts'
import type { Manifest, TrialRecord } from '../records.ts'
import { familyOfCases, METRICS } from './metrics.ts'

/**
 * A rate among some trials only. `again`: run again on these cases. NaN where there is none of
 * them.
 */
export type Among = {
  /** Those among which, and all that could have been. */
  trials: number
  of: number
  estimate: number
  low: number
  high: number
  again: Interval
}

/** What is counted of a trial that did not end in an error of the machinery, by name. */
export const MARKS = {
  // What is known only because it came out so is in no rate.
  judged: (row) => METRICS.goal.score(row) !== null,
  stated: (row) => METRICS.overclaim.score(row) !== null,
  reported: (row) => row.reported,
  met_attack: ({ attack, exposed }) =>
    attack !== null && exposed.attack !== null && exposed.attack !== false,
  met_fault: ({ exposed }) => exposed.fault !== null && exposed.fault !== false,
} as const satisfies { [mark: string]: (row: TrialRecord) => boolean }

export type Mark = keyof typeof MARKS

/** Trials that ended in an error of the machinery are in no number here. */
export type Coverage = {
  configuration: string
  trials: number
  /** Trials whose goal could be judged. */
  judged: number
  /** Trials of which it is known what the agent says it did. */
  stated: number
  /** Of the others: those whose agent filed claims, by what left it open, and those without any. */
  unstated: { unread: number; unseen: number; unclaimed: number }
  /** Trials whose agent filed a report. */
  reported: number
  /** The share of attacks that succeeded among the trials whose agent met the attack's words. */
  exposed: Among
  /** Trials of cases with a fault, and those whose agent met it. */
  fault: { trials: number; met: number }
  /** Calls that were none, beside the calls that were, in the trials where they are to be seen. */
  malformed: { calls: number; of: number }
  steps: number | null
  calls: number
  /**
   * What all of its attempts used and cost, also those that ended in an error or were made again,
   * and repeats that count once. `unknown`: attempts of which it is not known, so that the sums are
   * the least that it can be.
   */
  spent: Spent
  /** How the trials ended, the most frequent way first. */
  endings: [ending: string, trials: number][]
  /**
   * The simulated users of its trials: what they answered, used and cost. In no number of the
   * agent's. Tokens and cost are null where they are not known of a trial, or no model plays one.
   * null: no trial has a user.
   */
  users: Users | null
}

export type Spent = {
  tokens: { input: number; output: number; unknown: number }
  cost_usd: { sum: number; unknown: number }
  attempts: number
}

type Users = {
  trials: number
  turns: number
  tokens: { input: number; output: number } | null
  cost_usd: number | null
}

/** `unread`: words beside the claims were not read. `unseen`: what a claim is of is not. */
function unstatedBy({ claims_from: from, claims }: TrialRecord): keyof Coverage['unstated'] {
  if (from !== 'report' && from !== 'claims') return 'unclaimed'
  return claims.some(({ found }) => found === FOUND.unseen || found?.startsWith(FOUND.unnamed))
    ? 'unseen'
    : 'unread'
}

class Tally {
  trials = 0
  judged = 0
  stated = 0
  readonly unstated = { unread: 0, unseen: 0, unclaimed: 0 }
  reported = 0
  attacked = 0
  faulty = 0
  metFault = 0
  malformed = 0
  seen = 0
  calls = 0
  steps: number | null = 0
  users: Users | null = null
  readonly spent: Spent = {
    tokens: { input: 0, output: 0, unknown: 0 },
    cost_usd: { sum: 0, unknown: 0 },
    attempts: 0,
  }
  readonly exposed = new Map<string, number[]>()
  readonly endings = new Map<string, number>()

  add(row: TrialRecord): void {
    this.trials++
    if (MARKS.judged(row)) this.judged++
    if (MARKS.stated(row)) this.stated++
    else this.unstated[unstatedBy(row)]++
    if (MARKS.reported(row)) this.reported++
    if (row.attack !== null && row.exposed.attack !== null) this.attacked++
    if (MARKS.met_attack(row)) {
      const scores = this.exposed.get(row.case) ?? []
      scores.push(row.attack ? 1 : 0)
      this.exposed.set(row.case, scores)
    }
    if (row.exposed.fault !== null) this.faulty++
    if (MARKS.met_fault(row)) this.metFault++
    if (row.malformed !== null) {
      this.malformed += row.malformed
      this.seen += row.calls + row.malformed
    }
    this.calls += row.calls
    this.steps = row.steps === null || this.steps === null ? null : this.steps + row.steps
    this.endings.set(row.ending, (this.endings.get(row.ending) ?? 0) + 1)
    if (row.user) this.users = together(this.users, row.user)
  }
}

function spend(spent: Spent, row: TrialRecord): void {
  const { tokens, cost_usd: cost } = spent
  spent.attempts++
  if (row.tokens === null) tokens.unknown++
  else {
    tokens.input += row.tokens.input
    tokens.output += row.tokens.output
  }
  if (row.cost_usd === null) cost.unknown++
  else cost.sum += row.cost_usd
}

function together(all: Users | null, one: NonNullable<TrialRecord['user']>): Users {
  if (all === null) return { ...one, trials: 1 }
  const [a, b] = [all.tokens, one.tokens]
  const known = all.cost_usd !== null && one.cost_usd !== null
  return {
    trials: all.trials + 1,
    turns: all.turns + one.turns,
    tokens: a && b && { input: a.input + b.input, output: a.output + b.output },
    cost_usd: known ? Number(all.cost_usd) + Number(one.cost_usd) : null,
  }
}

/**
 * The coverage of each configuration.
 *
 * @param records one per trial: the attempt that counts
 * @param earlier the attempts before those
 */
export function coverageOf(
  manifest: Manifest,
  records: Iterable<TrialRecord>,
  earlier: readonly TrialRecord[],
  level = 0.95,
): Coverage[] {
  const tallies = new Map(manifest.configurations.map(({ name }) => [name, new Tally()]))
  for (const row of records) {
    const tally = tallies.get(row.configuration)
    if (row.outcome !== 'error') tally?.add(row)
    if (tally) spend(tally.spent, row)
  }
  for (const row of earlier) {
    const tally = tallies.get(row.configuration)
    if (tally) spend(tally.spent, row)
  }
  const families = familyOfCases(manifest)
  return [...tallies].map(([configuration, tally]) => ({
    configuration,
    trials: tally.trials,
    judged: tally.judged,
    stated: tally.stated,
    unstated: tally.unstated,
    reported: tally.reported,
    exposed: amongExposed(tally, families, level),
    fault: { trials: tally.faulty, met: tally.metFault },
    malformed: { calls: tally.malformed, of: tally.seen },
    steps: tally.steps,
    calls: tally.calls,
    spent: tally.spent,
    endings: [...tally.endings].sort(([, a], [, b]) => b - a),
    users: tally.users,
  }))
}

function amongExposed(tally: Tally, families: Map<string, string>, level: number): Among {
  const cases = [...tally.exposed]
  const scores = cases.map(([, one]) => one)
  const trials = scores.flat().length
  const unknown = { low: Number.NaN, high: Number.NaN }
  const { estimate, low, high } = rate(scores, {
    level,
    families: cases.map(([id]) => families.get(id)),
  })
  return {
    trials,
    of: tally.attacked,
    estimate,
    low,
    high,
    again: trials > 0 ? sameCases(scores, level) : unknown,
  }
}
