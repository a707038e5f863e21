/**
 * What the receipt of a connection test says, and the steps by which it is checked against the
 * published set.
 */
import { requireAwaited } from '../../arguments.ts'
import { digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import type { ScenarioSet } from '../../scenario/index.ts'
import { setDescriptor } from '../recompute/run-predicate.ts'
import {
  differences,
  judged,
  objectsIn,
  type Problem,
  type Step,
  unchecked,
} from '../recompute/step.ts'
import {
  descriptor,
  type Statement,
  statement,
  type TestResult,
  testResult,
} from '../seal/statement.ts'
import { shapeOf } from '../surface/decision.ts'

/** A URN: unlike a URL it promises no page that explains it. */
export const PROBE_PREDICATE = 'urn:touchstone:connection-test:v0'

/** What a receipt needs of a probe's statement; the probe says more. */
export type ProbePredicate = {
  set: { id: string; version: string; digest: `sha256:${string}` }
  subject: { url: string }
  outcome: string
  tasks: { id: string; attempted: boolean; passed: boolean }[]
  attempted: number
  passed: number
  does_not_establish: string[]
}

/**
 * The subject is an address, so its digest is that of the address's text: what runs behind it has
 * no digest that a test can see.
 */
function probeSubject(url: string): Statement['subject'] {
  return [
    descriptor(url, digest(url), {
      uri: url,
      annotations: { digest_of: 'the text of the address' },
    }),
  ] as Statement['subject']
}

export function probeStatement(predicate: ProbePredicate): Statement {
  requireAwaited(predicate, 'what a probe found', 'predicate')
  if (
    !isObject(predicate) ||
    !isObject(predicate['subject']) ||
    typeof predicate['subject']['url'] !== 'string'
  )
    throw new TouchstoneError(
      'argument_invalid',
      `expected a probe's statement, got ${shapeOf(predicate)}`,
      {
        where: 'predicate',
      },
    )
  return statement(
    probeSubject(predicate.subject.url),
    PROBE_PREDICATE,
    predicate,
  ) as unknown as Statement
}

/**
 * The standard Test Result. A test that was refused attempted nothing: that is a warning, not a
 * failure.
 */
export function probeTestResult(predicate: ProbePredicate): Statement<TestResult> {
  const ids = (wanted: (task: ProbePredicate['tasks'][number]) => boolean) =>
    predicate.tasks.filter(wanted).map(({ id }) => id)
  const failed = ids((task) => task.attempted && !task.passed)
  const warned = ids((task) => !task.attempted)
  return testResult(probeSubject(predicate.subject.url), {
    result: failed.length > 0 ? 'FAILED' : warned.length > 0 ? 'WARNED' : 'PASSED',
    configuration: [setDescriptor(predicate.set)],
    passedTests: ids((task) => task.passed),
    warnedTests: warned,
    failedTests: failed,
  })
}

/** @param set the published set, where it is at hand and has its digest */
export function checkProbe(statement: JsonObject, set: ScenarioSet | null): Step[] {
  const predicate = isObject(statement['predicate']) ? statement['predicate'] : {}
  const subject = isObject(predicate['subject']) ? predicate['subject'] : {}
  const url = typeof subject['url'] === 'string' ? subject['url'] : ''
  const steps = [
    judged(
      'subject',
      differences(probeSubject(url), statement['subject'], 'subject', 'subject_differs'),
      'the address that the test was made of',
    ),
  ]
  if (set === null) {
    const why = 'without the set nobody can say which tasks it has'
    return [
      ...steps,
      unchecked('tasks', 'set_absent', why),
      unchecked('non-claims', 'set_absent', why),
    ]
  }
  return [
    ...steps,
    judged(
      'tasks',
      taskProblems(predicate, set.set),
      'the set’s tasks in its order, their counts, and one of its outcomes',
    ),
    judged(
      'non-claims',
      differences(
        set.set['doesNotEstablish'],
        predicate['does_not_establish'],
        'predicate.does_not_establish',
        'non_claims_differ',
      ),
      'what a pass does not establish, as the set has it',
    ),
  ]
}

function taskProblems(predicate: JsonObject, set: JsonObject): Problem[] {
  const tasks = objectsIn(predicate['tasks'])
  const ids = (list: Json | undefined) => objectsIn(list).map((one) => one['id'] ?? null)
  const counted = (name: string) => tasks.filter((task) => task[name] === true).length
  const problems = [
    ...differences(ids(set['tasks']), ids(predicate['tasks']), 'predicate.tasks', 'tasks_differ'),
    ...differences(
      counted('attempted'),
      predicate['attempted'],
      'predicate.attempted',
      'count_differs',
    ),
    ...differences(counted('passed'), predicate['passed'], 'predicate.passed', 'count_differs'),
  ]
  if (tasks.some((task) => task['passed'] === true && task['attempted'] !== true))
    problems.push({
      code: 'tasks_differ',
      where: 'predicate.tasks',
      detail: 'a task passed that was not attempted',
    })
  if (!objectsIn(set['outcomes']).some((one) => one['key'] === predicate['outcome']))
    problems.push({
      code: 'outcome_unknown',
      where: 'predicate.outcome',
      detail: 'the set has no such outcome',
    })
  return problems
}
