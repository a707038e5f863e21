/**
 * Records that earlier receipts have used, so that one audit entry cannot vouch for two runs.
 *
 * A ledger is NDJSON, one `{"provider", "record_id", "subject_digest"}` per line, only ever
 * appended to.
 */

import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { gotShape, requireAwaited } from '../../arguments.ts'
import { canonical } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, unwritable } from '../../files.ts'
import { isObject, parse } from '../../json.ts'
import { linesIn, textOf } from '../../lines.ts'
import type { Report } from './report.ts'

/**
 * A path of a ledger file, which need not exist yet, or `provider` and `record_id` of what is used
 * up.
 */
export type Ledger = string | readonly { provider: string; record_id: string }[]

/**
 * What is used up, by provider and record id. @throws TouchstoneError `file_unreadable`,
 * `record_invalid`, `json_*`
 */
export function usedIn(ledger: Ledger | undefined): Set<string> {
  if (ledger === undefined) return new Set()
  const used = new Set<string>()
  const use = (row: unknown, where: string) => {
    if (
      !isObject(row) ||
      typeof row['provider'] !== 'string' ||
      typeof row['record_id'] !== 'string'
    )
      throw new TouchstoneError('record_invalid', 'expected { provider, record_id }', { where })
    used.add(idOf(row['provider'], row['record_id']))
  }
  if (Array.isArray(ledger)) for (const [i, row] of ledger.entries()) use(row, `ledger[${i}]`)
  if (Array.isArray(ledger)) return used
  if (typeof ledger !== 'string')
    throw new TouchstoneError(
      'argument_invalid',
      `expected a path or a list of records, ${gotShape(ledger)}`,
      {
        where: 'ledger',
      },
    )
  if (!existsSync(ledger)) return used
  for (const line of linesIn(readBytes(ledger))) {
    const text = textOf(line, ledger)
    const where = `${ledger}:${line.line}`
    if (text.trim() !== '') use(parse(text, where), where)
  }
  return used
}

/**
 * Append the records that a report used. The next `verify` with this ledger refuses them. @returns
 * how many were added. @throws TouchstoneError `file_unwritable`
 */
export function appendLedger(path: string, report: Report): number {
  requireAwaited(report, 'a report', 'appendLedger')
  if (typeof path !== 'string' || !Array.isArray(report?.calls))
    throw new TouchstoneError(
      'argument_invalid',
      'expected a path and a report, got something else',
      {
        where: 'appendLedger',
      },
    )
  const rows = report.calls.flatMap(({ binding }) =>
    binding?.outcome === 'bound'
      ? [
          {
            provider: binding.provider,
            record_id: binding.record_id,
            subject_digest: binding.subject_digest,
          },
        ]
      : [],
  )
  if (rows.length > 0) append(path, rows.map((row) => `${canonical(row)}\n`).join(''))
  return rows.length
}

/**
 * Append lines in one write, on a line of their own: what a crash left of an earlier one must not
 * swallow the first of these.
 */
function append(path: string, lines: string): void {
  try {
    const fd = openSync(path, 'a+')
    try {
      const { size } = fstatSync(fd)
      const last = Buffer.alloc(1)
      const torn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 10
      writeSync(fd, `${torn ? '\n' : ''}${lines}`)
    } finally {
      closeSync(fd)
    }
  } catch (cause) {
    throw unwritable(path, cause, 'a ledger that can be written')
  }
}

/** One text for provider and id that no other pair shares. */
export function idOf(provider: string, id: string): string {
  return JSON.stringify([provider, id])
}
