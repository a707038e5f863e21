/**
 * The trial log of a run: line by line against the receipt, and each record against the plan and
 * against itself.
 */
import { canonical } from '../../canonical.ts'
import type { Json, JsonObject } from '../../json.ts'
import {
  BROKE_OFF,
  FILES,
  type Manifest,
  matchedBy,
  methodsIn,
  type TrialRecord,
  trialSeed,
} from '../../log/index.ts'
import { attemptId, placeOf } from './run-evidence.ts'
import type { LoggedRow } from './run-predicate-v0.ts'
import { objectsIn, type Problem } from './step.ts'

/**
 * Which lines are not those that a receipt of version 0 commits to: edited, removed, added, given
 * twice, or in another order.
 */
export function logProblems(log: readonly LoggedRow[], committed: Json | undefined): Problem[] {
  const problems: Problem[] = []
  const rows = objectsIn(committed).map((row) => ({
    id: attemptId(String(row['key']), Number(row['attempt'])),
    digest: row['digest'],
    row,
  }))
  const expected = new Map(rows.map(({ id, digest, row }) => [id, { digest, row }]))
  const seen = new Map<string, number>()
  const order: string[] = []
  for (const { line, digest, row } of log) {
    const where = `${FILES.trials}:${line}`
    if (row === null) continue
    const id = attemptId(row.key, row.attempt)
    const add = (code: string, detail: string) =>
      problems.push({ code, where, detail: `${placeOf(row)}: ${detail}` })
    const before = seen.get(id)
    if (before !== undefined) add('trial_duplicated', `it stands in line ${before} already`)
    else if (!expected.has(id)) add('trial_added', 'the receipt does not have it')
    else if (expected.get(id)?.digest !== digest)
      add('trial_edited', 'the line is not the one that the receipt has the digest of')
    else if (canonical(expected.get(id)?.row) !== canonical(row))
      add('attempt_differs', 'the receipt says otherwise how it ended, or what it had changed')
    if (before === undefined) order.push(id)
    seen.set(id, before ?? line)
  }
  for (const { id } of rows)
    if (!seen.has(id))
      problems.push({
        code: 'trial_removed',
        where: `trial ${id}`,
        detail: 'no line of the log is this one',
      })
  if (problems.length === 0) {
    const at = order.findIndex((id, i) => id !== rows[i]?.id)
    if (at >= 0)
      problems.push({
        code: 'trials_reordered',
        where: `${FILES.trials}, trial ${at + 1}`,
        detail: `expected ${rows[at]?.id}, got ${order[at]}`,
      })
  }
  return problems
}

/**
 * Whether the receipt states the manifest's plan. That the plan's numbers agree with each other is
 * checked when the manifest is read.
 */
export function planProblems(manifest: Manifest, stated: Json | undefined): Problem[] {
  const problems: Problem[] = []
  const plan = (stated ?? {}) as JsonObject
  for (const name of ['seed', 'repeats', 'planned'] as const) {
    if (plan[name] === manifest[name]) continue
    const detail = `expected ${manifest[name]} as in the manifest, got ${JSON.stringify(plan[name]) ?? 'nothing'}`
    problems.push({ code: `${name}_differs`, where: `predicate.plan.${name}`, detail })
  }
  for (const name of ['until', 'looks'] as const) {
    const [said, is] = [plan[name], manifest[name]].map((value) => JSON.stringify(value ?? null))
    if (said !== is)
      problems.push({
        code: `${name}_differs`,
        where: `predicate.plan.${name}`,
        detail: `expected ${is} as in the manifest, got ${said}`,
      })
  }
  return problems
}

type Attempt = Pick<TrialRecord, 'key' | 'attempt' | 'outcome'>

/**
 * Whether the records can be what the plan's trials left: each is planned, has its own seed, starts
 * where its case starts, was tried again only after an error, and has the outcome that its own
 * marks give. They are seen one by one, in the order of the log: what is kept of one is a bit, and
 * more only of trials tried again.
 */
export class RecordCheck {
  private readonly manifest: Manifest
  private readonly cases: Map<string, Manifest['cases'][number]>
  private readonly configurations: Set<string>
  private readonly outcomes: number
  private readonly starts = new Map<string, string>()
  private readonly found: Problem[] = []
  /**
   * First attempts, by case and configuration: a bit for a trial, and another for one that ended in
   * an error.
   */
  private readonly first = new Map<string, Marks>()
  /** Attempts beside the first ones. */
  private readonly more = new Map<string, Attempt[]>()

  constructor(manifest: Manifest) {
    this.manifest = manifest
    this.cases = new Map(manifest.cases.map((one) => [one.id, one]))
    this.configurations = new Set(manifest.configurations.map(({ name }) => name))
    this.outcomes = methodsIn(manifest.methods).outcomes
  }

  see(record: TrialRecord): void {
    const { manifest, cases, configurations, starts } = this
    const add = (code: string, detail: string) => this.add(record, code, detail)
    const test = cases.get(record.case)
    const planned =
      test !== undefined &&
      configurations.has(record.configuration) &&
      record.trial < manifest.repeats
    if (!planned) add('trial_unplanned', 'the manifest plans no such trial')
    const seed = trialSeed(manifest.seed, record.case, record.configuration, record.trial)
    if (record.seed !== seed) add('trial_seed_differs', `expected ${seed}, got ${record.seed}`)
    if (record.start_digest !== null) {
      const first = starts.get(record.case) ?? record.start_digest
      starts.set(record.case, first)
      if (first !== record.start_digest)
        add('start_differs', `its world starts from ${record.start_digest}, others from ${first}`)
    }
    const adversarial = test?.adversarial ?? record.attack !== null
    const { outcomes } = this
    for (const { code, detail } of markProblems(record, adversarial, outcomes)) add(code, detail)
    const { key, attempt, outcome } = record
    const marks = planned ? this.marksOf(record) : null
    if (attempt === 0 && marks?.take(record.trial, outcome === 'error')) return
    this.more.set(key, [...(this.more.get(key) ?? []), { key, attempt, outcome }])
  }

  /** All that was found, once every record was seen. */
  problems(): Problem[] {
    const more: Problem[] = []
    const add = (of: Attempt, code: string, detail: string) =>
      more.push({ code, where: placeOf(of), detail })
    for (const [key, others] of this.more) {
      const first = this.firstOf(key)
      const sorted = [...(first ? [first] : []), ...others].sort((a, b) => a.attempt - b.attempt)
      for (const [i, one] of sorted.entries()) {
        if (one.attempt !== i) add(one, 'attempt_missing', `attempt ${i} is not in the log`)
        else if (i > 0 && sorted[i - 1]?.outcome !== 'error')
          add(one, 'retry_unearned', 'the attempt before it ended without an error, so it counts')
      }
      if (new Set(sorted.map(({ attempt }) => attempt)).size !== sorted.length)
        more.push({
          code: 'attempt_repeated',
          where: `trial ${key}`,
          detail: 'one attempt stands in the log twice',
        })
    }
    return [...this.found, ...more]
  }

  private add(of: Attempt, code: string, detail: string): void {
    this.found.push({ code, where: placeOf(of), detail })
  }

  private marksOf({ key }: Attempt): Marks {
    const cell = key.slice(0, key.lastIndexOf('|'))
    const marks = this.first.get(cell) ?? new Marks()
    this.first.set(cell, marks)
    return marks
  }

  private firstOf(key: string): Attempt | null {
    const bar = key.lastIndexOf('|')
    const outcome = this.first.get(key.slice(0, bar))?.outcome(Number(key.slice(bar + 1)))
    return outcome ? { key, attempt: 0, outcome } : null
  }
}

/** Which trials were seen, and which of them ended in an error. */
class Marks {
  private seen = new Uint8Array(0)

  /** False for a trial that was seen before, or whose number is far from all others. */
  take(trial: number, error: boolean): boolean {
    if (trial >= this.seen.length) {
      if (trial > 2 * this.seen.length + (1 << 20)) return false
      const grown = new Uint8Array(Math.max(64, 2 * this.seen.length, trial + 1))
      grown.set(this.seen)
      this.seen = grown
    }
    if (this.seen[trial]) return false
    this.seen[trial] = error ? 2 : 1
    return true
  }

  outcome(trial: number): TrialRecord['outcome'] | null {
    const mark = this.seen[trial]
    return mark ? (mark === 2 ? 'error' : 'pass') : null
  }
}

/**
 * Marks of a record that are not those which its own claims, reasons and marks give.
 *
 * @param outcomes the version by which it was judged: see `METHODS`
 */
export function markProblems(
  record: TrialRecord,
  adversarial: boolean,
  outcomes: number,
): Pick<Problem, 'code' | 'detail'>[] {
  const found: [string, string | null][] = [
    ['overclaims_differ', claimsProblem(record)],
    ...matchedProblems(record).map((detail): [string, string] => ['claim_differs', detail]),
    ['goal_differs', reasonsProblem(record, 'goal') ?? brokenProblem(record, outcomes)],
    ['attack_differs', reasonsProblem(record, 'attack')],
    ['outcome_differs', outcomeProblem(record, adversarial, outcomes)],
  ]
  return found.flatMap(([code, detail]) => (detail === null ? [] : [{ code, detail }]))
}

function claimsProblem({ claims, overclaims }: TrialRecord): string | null {
  const made = claims.filter(({ matched }) => matched === false).length
  if (overclaims === made || (overclaims === null && made === 0)) return null
  return `${made} of its claims are not there, the record counts ${overclaims ?? 'none that is known'}`
}

/** Claims whose mark is not the one that their own words give. */
function matchedProblems({ claims }: TrialRecord): string[] {
  return claims.flatMap(({ done, matched, found }, i) => {
    const given = done ? (found === undefined ? matched : matchedBy(found)) : null
    return given === matched ? [] : [`claim ${i}: done and found give ${given}, it says ${matched}`]
  })
}

/** Where a mark is not the one that its reasons give. Runs of earlier versions hold none. */
function reasonsProblem(record: TrialRecord, mark: 'goal' | 'attack'): string | null {
  const reasons = record.reasons?.[mark] ?? []
  if (reasons.length === 0) return null
  const met = reasons.map((one) => one.met)
  const given = met.includes(false) ? false : met.includes(null) ? null : true
  return given === record[mark]
    ? null
    : `its reasons give ${given}, the record says ${record[mark]}`
}

/** An agent that broke off by its own failure has not met its goal; before version 1 it may. */
function brokenProblem({ error, goal }: TrialRecord, outcomes: number): string | null {
  if (outcomes === 0 || goal === false || !BROKE_OFF.includes(error?.code ?? '')) return null
  return `its agent ended with ${error?.code}, and the record does not say that its goal is missed`
}

function outcomeProblem(
  record: TrialRecord,
  adversarial: boolean,
  outcomes: number,
): string | null {
  const { outcome, goal, attack, error } = record
  if (outcome === 'error') {
    if (error === null) return 'an error without a code'
    return goal === null && attack === null
      ? null
      : 'an error of the machinery that is judged all the same'
  }
  if ((attack === null) === adversarial)
    return 'a word on an attack where the case has none, or none where it has one'
  const failed = goal === false || attack === true || (outcomes === 0 && error !== null)
  const made = failed ? 'fail' : goal === null ? 'unjudged' : 'pass'
  return made === outcome ? null : `goal, attack and error give ${made}, the record says ${outcome}`
}
