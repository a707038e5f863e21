/** Rows of a long run in little memory: what is the same in many of them is held once. */
import type { TrialRecord } from './records.ts'

/** More different values than this are not looked up again: they would cost what they save. */
const MOST = 20_000

/**
 * Makes rows share what they have in common: digests of states, claims, errors, counts. Shared values are frozen.
 *
 * A run of 100,000 trials has a few hundred different ends, so that this is most of a row.
 */
export function compactor(): (row: TrialRecord) => TrialRecord {
  const texts = new Map<string, string>()
  const values = new Map<string, unknown>()
  const text = <T extends string | null>(value: T): T => {
    if (value === null) return value
    const known = texts.get(value)
    if (known !== undefined) return known as T
    if (texts.size < MOST) texts.set(value, value)
    return value
  }
  const shared = <T>(value: T): T => {
    if (value === null) return value
    const key = JSON.stringify(value)
    const known = values.get(key)
    if (known !== undefined) return known as T
    if (values.size < MOST) values.set(key, frozen(value))
    return value
  }
  return (row) => {
    row.case = text(row.case)
    row.configuration = text(row.configuration)
    row.start_digest = text(row.start_digest)
    row.end_digest = text(row.end_digest)
    row.digests.audit = text(row.digests.audit)
    row.claims = shared(row.claims)
    row.writes = shared(row.writes)
    if (row.reasons) row.reasons = shared(row.reasons)
    if (row.met) row.met = shared(row.met)
    row.levels = shared(row.levels)
    row.error = shared(row.error)
    row.tokens = shared(row.tokens)
    return row
  }
}

function frozen<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) frozen(member)
  }
  return value
}
