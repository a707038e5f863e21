/** The trial log of a run: line by line against the receipt, and each record against the plan and against itself. */
import { canonical } from '../../canonical.ts'
import type { Json, JsonObject } from '../../json.ts'
import { FILES, type Manifest, type TrialRecord, trialSeed } from '../../log/index.ts'
import { attemptId, type LoggedAttempt } from './run-folder.ts'
import { loggedLine } from './run-predicate.ts'
import { placeOf } from './run-trials.ts'
import { objectsIn, type Problem } from './step.ts'

/** Which lines are not those that the receipt commits to: edited, removed, added, given twice, or in another order. */
export function logProblems(log: readonly LoggedAttempt[], committed: Json | undefined): Problem[] {
  const problems: Problem[] = []
  const rows = objectsIn(committed).map((row) => ({
    id: attemptId(String(row['key']), Number(row['attempt'])),
    digest: row['digest'],
    row,
  }))
  const expected = new Map(rows.map(({ id, digest, row }) => [id, { digest, row }]))
  const seen = new Map<string, number>()
  const order: string[] = []
  for (const { line, digest, record, problem } of log) {
    const where = `${FILES.trials}:${line}`
    if (record === null) {
      problems.push({ code: 'trial_unreadable', where, detail: problem ?? 'unreadable' })
      continue
    }
    const id = attemptId(record.key, record.attempt)
    const add = (code: string, detail: string) =>
      problems.push({ code, where, detail: `${placeOf(record)}: ${detail}` })
    const before = seen.get(id)
    if (before !== undefined) add('trial_duplicated', `it stands in line ${before} already`)
    else if (!expected.has(id)) add('trial_added', 'the receipt does not have it')
    else if (expected.get(id)?.digest !== digest)
      add('trial_edited', 'the line is not the one that the receipt has the digest of')
    else if (canonical(expected.get(id)?.row) !== canonical(loggedLine(record, digest)))
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

/** Whether the plan adds up, and the receipt states the manifest's. */
export function planProblems(manifest: Manifest, stated: Json | undefined): Problem[] {
  const problems: Problem[] = []
  const product = manifest.cases.length * manifest.configurations.length * manifest.repeats
  if (manifest.planned !== product)
    problems.push({
      code: 'planned_differs',
      where: `${FILES.manifest}: planned`,
      detail: `cases x configurations x repeats give ${product}, got ${manifest.planned}`,
    })
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

/**
 * Whether the records can be what the plan's trials left: each is planned, has its own seed, starts where its case starts, was tried
 * again only after an error, and has the outcome that its own marks give.
 */
export function recordProblems(manifest: Manifest, records: readonly TrialRecord[]): Problem[] {
  const cases = new Map(manifest.cases.map((one) => [one.id, one]))
  const configurations = new Set(manifest.configurations.map(({ name }) => name))
  const starts = new Map<string, string>()
  const problems: Problem[] = []
  const byKey = Map.groupBy(records, (record) => record.key)
  for (const [key, attempts] of byKey) {
    const sorted = attempts.toSorted((a, b) => a.attempt - b.attempt)
    for (const [i, record] of sorted.entries()) {
      const add = (code: string, detail: string) =>
        problems.push({ code, where: placeOf(record), detail })
      const test = cases.get(record.case)
      if (!test || !configurations.has(record.configuration) || record.trial >= manifest.repeats)
        add('trial_unplanned', 'the manifest plans no such trial')
      const seed = trialSeed(manifest.seed, record.case, record.configuration, record.trial)
      if (record.seed !== seed) add('trial_seed_differs', `expected ${seed}, got ${record.seed}`)
      if (record.attempt !== i) add('attempt_missing', `attempt ${i} is not in the log`)
      else if (i > 0 && sorted[i - 1]?.outcome !== 'error')
        add('retry_unearned', 'the attempt before it ended without an error, so it counts')
      if (record.start_digest !== null) {
        const first = starts.get(record.case) ?? record.start_digest
        starts.set(record.case, first)
        if (first !== record.start_digest)
          add('start_differs', `its world starts from ${record.start_digest}, others from ${first}`)
      }
      const told = claimsProblem(record)
      if (told) add('overclaims_differ', told)
      const problem = outcomeProblem(record, test?.adversarial ?? record.attack !== null)
      if (problem) add('outcome_differs', problem)
    }
    if (new Set(attempts.map((one) => one.attempt)).size !== attempts.length)
      problems.push({
        code: 'attempt_repeated',
        where: `trial ${key}`,
        detail: 'one attempt stands in the log twice',
      })
  }
  return problems
}

function claimsProblem({ claims, overclaims }: TrialRecord): string | null {
  const made = claims.filter(({ matched }) => matched === false).length
  return overclaims === null || overclaims === made
    ? null
    : `${made} of its claims are not there, the record counts ${overclaims}`
}

function outcomeProblem(record: TrialRecord, adversarial: boolean): string | null {
  const { outcome, goal, attack, error } = record
  if (outcome === 'error') {
    if (error === null) return 'an error without a code'
    return goal === null && attack === null
      ? null
      : 'an error of the machinery that is judged all the same'
  }
  if ((attack === null) === adversarial)
    return 'a word on an attack where the case has none, or none where it has one'
  const failed = goal === false || attack === true || error !== null
  const made = failed ? 'fail' : goal === null ? 'unjudged' : 'pass'
  return made === outcome ? null : `goal, attack and error give ${made}, the record says ${outcome}`
}
