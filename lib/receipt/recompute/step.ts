/**
 * One thing that an auditor checks: what came out, with a stable code and every place where
 * something did not hold.
 */
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json } from '../../json.ts'

/**
 * `could_not_check`: something that the check needs was not there. It is neither good nor bad news.
 */
export type Verdict = 'verified' | 'failed' | 'could_not_check'

/**
 * One place where something did not hold. `where` names a file, a line, a trial or a member of the
 * receipt.
 */
export type Problem = { code: string; where: string; detail: string }

export type Step = {
  step: string
  verdict: Verdict
  /** `ok`, the code of the first problem, or why nothing could be checked. */
  code: string
  detail: string
  problems: Problem[]
}

/** A step that holds, unless there are problems. `detail` says what was compared with what. */
export function judged(step: string, problems: Problem[], detail: string): Step {
  const [first] = problems
  if (!first) return { step, verdict: 'verified', code: 'ok', detail, problems }
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : ''
  return {
    step,
    verdict: 'failed',
    code: first.code,
    detail: `${first.where}: ${first.detail}${more}`,
    problems,
  }
}

export function unchecked(step: string, code: string, detail: string): Step {
  return { step, verdict: 'could_not_check', code, detail, problems: [] }
}

/** Failed beats could not check beats verified. */
export function verdictOf(steps: readonly Step[]): Verdict {
  if (steps.some((step) => step.verdict === 'failed')) return 'failed'
  return steps.some((step) => step.verdict === 'could_not_check') ? 'could_not_check' : 'verified'
}

/**
 * Where two JSON values differ, as problems under one code. Members that only `got` has are left
 * alone, as in-toto asks of those who read a statement.
 *
 * @param where name of the value, such as `predicate.plan`
 */
export function differences(
  expected: unknown,
  got: unknown,
  where: string,
  code: string,
): Problem[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(got)) return [{ code, where, detail: `expected a list, got ${shown(got)}` }]
    const length =
      got.length === expected.length
        ? []
        : [{ code, where, detail: `expected ${expected.length} entries, got ${got.length}` }]
    return [
      ...length,
      ...expected.flatMap((one, i) => differences(one, got[i], `${where}[${i}]`, code)),
    ]
  }
  if (isObject(expected)) {
    if (!isObject(got)) return [{ code, where, detail: `expected an object, got ${shown(got)}` }]
    return Object.entries(expected).flatMap(([name, one]) =>
      differences(one, Object.hasOwn(got, name) ? got[name] : undefined, `${where}.${name}`, code),
    )
  }
  return Object.is(expected, got)
    ? []
    : [{ code, where, detail: `expected ${shown(expected)}, got ${shown(got)}` }]
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}

/** The objects in a list that may be no list. */
export function objectsIn(value: Json | undefined): { [name: string]: Json }[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/**
 * What a reading gives, or why it gives nothing. Any error counts: what was handed in may have any
 * shape at all, and an auditor is told so. Messages name places inside the run's folder only.
 */
export function attempt<T>(read: () => T): { value: T | null; problem: string | null } {
  try {
    return { value: read(), problem: null }
  } catch (error) {
    const name = error instanceof TouchstoneError ? error.code : 'shape'
    return { value: null, problem: `${name}: ${(error as Error).message}` }
  }
}
