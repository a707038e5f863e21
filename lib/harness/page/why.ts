/** Why a trial ended as it did, in lines that JUnit, report.md, the page and the prompt share. */
import { requireObject } from '../../arguments.ts'
import { count, foreign } from '../../display.ts'
import { ENDED, type Reason, type TrialRecord } from '../../log/index.ts'

/** Longest line, in characters. */
const MOST = 700

/**
 * Why a trial is not a pass, the most telling line first. Empty for a pass.
 *
 * Names, rows and answers in it are foreign text; control characters are taken out.
 *
 * @returns a line per error, per predicate of the goal that is not met or not known, and per
 *   predicate of an attack that succeeded; `no reason stands in the log` for runs of earlier
 *   versions
 */
export function why(record: TrialRecord): string[] {
  requireObject(record, 'the record of a trial', 'record')
  const { outcome, error, goal, attack, reasons } = record
  if (outcome === 'pass') return []
  const goals = reasons?.goal ?? []
  const broken = goals[0]?.said === ENDED ? goals[0] : null
  const lines = [
    ...(error ? [`${error.code}: ${broken?.found ?? error.message}`] : []),
    ...(attack === true
      ? (reasons?.attack ?? []).map((one) => `attack succeeded: ${found(one)}`)
      : []),
    ...(goal === true ? [] : missed(broken ? goals.slice(1) : goals)),
  ]
  if (lines.length === 0) lines.push(`${marks(record)}: no reason stands in the log`)
  return lines.map((line) => foreign(line, MOST))
}

/**
 * The trials that are no pass: those that failed first, then errors, then those that could not be
 * judged.
 *
 * @returns `text`: how many there are of each, such as `4 failed, 20 could not be judged`
 */
export function withoutPass<R extends Pick<TrialRecord, 'outcome'>>(
  rows: readonly R[],
): { rows: R[]; text: string } {
  const said = {
    fail: 'failed',
    error: 'ended in an error',
    unjudged: 'could not be judged',
  } as const
  const groups = (Object.keys(said) as (keyof typeof said)[]).map((outcome) => ({
    outcome,
    rows: rows.filter((row) => row.outcome === outcome),
  }))
  return {
    rows: groups.flatMap((group) => group.rows),
    text: groups
      .filter((group) => group.rows.length > 0)
      .map((group) => `${group.rows.length} ${said[group.outcome]}`)
      .join(', '),
  }
}

function missed(goal: readonly Reason[]): string[] {
  return goal.flatMap((one) => {
    if (one.met === true) return []
    const state = one.met === null ? 'goal not known' : 'goal not met'
    return [`${state}: ${one.said}; expected ${one.expected}, found ${one.found}`]
  })
}

function found({ said, found: what }: Reason): string {
  return `${said}; found ${what}`
}

/** The marks of a trial without reasons. */
function marks({ goal, attack, overclaims }: TrialRecord): string {
  return [
    ...(attack === true ? ['attack succeeded'] : []),
    ...(goal === true ? [] : [goal === null ? 'goal not known' : 'goal not met']),
    ...(overclaims ? [count(overclaims, 'overclaim')] : []),
  ].join(', ')
}
