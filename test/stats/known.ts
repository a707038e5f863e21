/** Known answers: read a table of `fixtures/stats/`, and compare numbers to a relative precision. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Known<I, E> = { id: string; comment: string; input: I; expected: E }

/** The rows of `fixtures/stats/<topic>.json`; "NaN" and "Infinity" stand for the numbers JSON lacks. */
export function known<I, E>(topic: string): Known<I, E>[] {
  const file = join(import.meta.dirname, '../../fixtures/stats', `${topic}.json`)
  const special: Record<string, number> = { NaN, Infinity, '-Infinity': -Infinity }
  const table = JSON.parse(readFileSync(file, 'utf8'), (key, value) =>
    key !== 'id' && key !== 'comment' && typeof value === 'string' && value in special
      ? special[value]
      : value,
  )
  assert.ok(
    table.source && table.tool && table.rows.length > 0,
    `${topic} names its source and tool`,
  )
  return table.rows
}

/** Equal to a relative error; NaN equals NaN only; an expected 0 must be met to within the error itself. */
export function close(actual: number, expected: number, error: number, what: string): void {
  const off = expected === 0 ? Math.abs(actual) : Math.abs(actual - expected) / Math.abs(expected)
  if (Object.is(actual, expected) || actual === expected || off <= error) return
  assert.fail(
    `${what}: expected ${expected}, got ${actual} (relative error ${off.toExponential(1)})`,
  )
}

/** c passes of n trials. */
export const passes = (c: number, n: number): number[] =>
  Array.from({ length: n }, (_, i) => (i < c ? 1 : 0))
