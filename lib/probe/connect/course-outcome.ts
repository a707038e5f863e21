/** What a course of tasks comes to: one of the five outcomes, and a finding per task. Pure. */

import type { Detail, Outcome, Shortfall } from '../judge/outcome.ts'
import { type Era, setOfEra, type TaskId } from '../judge/set.ts'
import type { Reason } from '../judge/url.ts'
import type { Course } from './course.ts'

export type TaskFinding = {
  id: TaskId
  label: string
  attempted: boolean
  passed: boolean
  /** Why it did not pass; null when it passed or was not attempted. */
  detail: Detail | null
  httpStatus: number | null
  rpcCode: number | null
}

export type Verdict = {
  outcome: Outcome
  detail: Detail
  /** Why the address check refused; null for every outcome but `refused`. */
  reason: Reason | null
}

/** The outcome of a test. */
export function verdict(course: Course, era: Era): Verdict {
  if (course.answered) {
    const detail = era === 'legacy' ? 'handshake_complete' : 'request_answered'
    return { outcome: 'answered', detail, reason: null }
  }
  const stopped = deciding(course)
  if (stopped === null) return { outcome: 'error', detail: 'other', reason: null }
  return { outcome: stopped.outcome, detail: stopped.detail, reason: stopped.reason }
}

/**
 * What stopped the tasks. When nothing was answered, a request for credentials speaks before other
 * errors.
 */
function deciding({ tasks }: Course): Shortfall | null {
  const faults = [...tasks.values()].filter((each) => each !== 'passed')
  return faults.find(({ outcome }) => outcome === 'needs_credentials') ?? faults[0] ?? null
}

/** A task that was not reached counts as attempted; a refusal attempts nothing. */
export function taskFindings(course: Course, era: Era): TaskFinding[] {
  const [first] = course.tasks.values()
  const refused = first !== undefined && first !== 'passed' && first.outcome === 'refused'
  return setOfEra(era).set.tasks.map(({ id, label }) => {
    const state = course.tasks.get(id) ?? null
    const fault = state === 'passed' ? null : state
    return {
      id,
      label,
      attempted: !refused,
      passed: state === 'passed',
      detail: state === 'passed' || refused ? null : (fault?.detail ?? 'not_reached'),
      httpStatus: refused ? null : (fault?.httpStatus ?? null),
      rpcCode: refused ? null : (fault?.rpc?.code ?? null),
    }
  })
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Revisions that the server named, in a result or in an error. */
export function versionsOf({ greeting, tasks }: Course): string[] {
  const listed = greeting?.supportedVersions ?? []
  const named = [...tasks.values()].flatMap((each) =>
    each === 'passed' ? [] : (each.rpc?.supported ?? []),
  )
  const dates = (listed.length > 0 ? listed : named).filter((version) => DATE.test(version))
  return [...new Set(dates)].slice(0, 8)
}

/**
 * Did a server asked in the way of 2026-07-28 show that it knows that revision? Else it is asked in
 * the earlier way.
 */
export function speaksModern(course: Course): boolean {
  if (course.answered) return true
  const fault = deciding(course)
  switch (fault?.detail) {
    case 'version_unsupported':
      return versionsOf(course).some((version) => version >= '2026-07-28')
    case 'header_mismatch':
    case 'capability_required':
      return true
    case 'method_not_found':
      return fault.httpStatus === 404
    case 'meta_rejected':
    case 'version_not_listed':
    case 'legacy_only':
    case 'http_status':
    case 'rpc_error':
    case 'not_an_answer':
    case 'not_json':
    case 'content_type':
      return false
    // A stdio server that is silent does not know the request. Over HTTP there is a connection, and
    // it tells.
    default:
      return !(fault?.outcome === 'no_answer' && fault.detail === 'timed_out')
  }
}
