/**
 * Records that earlier receipts have used, so that one audit entry cannot vouch for two runs.
 *
 * A ledger is NDJSON, one `{"provider", "record_id", "subject_digest"}` per line, only ever appended to.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { canonical, decode, parse, readBytes } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import { isObject } from './decision.ts'
import type { Report } from './report.ts'

/** A path of a ledger file, which need not exist yet, or `provider` and `record_id` of what is used up. */
export type Ledger = string | readonly { provider: string; record_id: string }[]

/** What is used up, by provider and record id. @throws TouchstoneError `file_unreadable`, `record_invalid`, `json_*` */
export function usedIn(ledger: Ledger | undefined): Set<string> {
  if (ledger === undefined) return new Set()
  if (typeof ledger !== 'string') return new Set(ledger.map((row) => idOf(row.provider, row.record_id)))
  const used = new Set<string>()
  if (!existsSync(ledger)) return used
  for (const [i, line] of decode(readBytes(ledger), ledger).split('\n').entries()) {
    if (line.trim() === '') continue
    const where = `${ledger} line ${i + 1}`
    const row = parse(line, where)
    if (!isObject(row) || typeof row['provider'] !== 'string' || typeof row['record_id'] !== 'string')
      throw new TouchstoneError('record_invalid', 'expected { provider, record_id }', { where })
    used.add(idOf(row['provider'], row['record_id']))
  }
  return used
}

/** Append the records that a report used. The next `verify` with this ledger refuses them. @returns how many were added */
export function appendLedger(path: string, report: Report): number {
  const rows = report.calls.flatMap(({ binding }) =>
    binding?.outcome === 'bound'
      ? [{ provider: binding.provider, record_id: binding.record_id, subject_digest: binding.subject_digest }]
      : [],
  )
  if (rows.length > 0) appendFileSync(path, rows.map((row) => `${canonical(row)}\n`).join(''))
  return rows.length
}

/** One text for provider and id that no other pair shares. */
export function idOf(provider: string, id: string): string {
  return JSON.stringify([provider, id])
}
