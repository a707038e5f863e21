/** Results of a sweep as a table for spreadsheets, RFC 4180. */
import type { ProbeData } from '../connect/result.ts'

const COLUMNS = [
  'name',
  'subject',
  'transport',
  'set',
  'outcome',
  'detail',
  'reason',
  'passed',
  'latency_ms',
  'protocol_version',
  'supported_versions',
  'tools',
  'marked',
  'started_at',
  'duration_ms',
] as const

/** The first line. */
export const CSV_HEAD = `${COLUMNS.join(',')}\r\n`

/** One result as a line. */
export function csvLine(data: ProbeData, name: string | null): string {
  const { set, tools, latencyMs, durationMs } = data
  const cells: Record<(typeof COLUMNS)[number], string | number | null> = {
    name,
    subject: data.subject,
    transport: data.transport,
    set: set && `${set.id}@${set.version}`,
    outcome: data.outcome,
    detail: data.detail,
    reason: data.reason,
    passed: data.tasks.filter(({ passed }) => passed).length,
    latency_ms: latencyMs === null ? null : Number(latencyMs.toFixed(3)),
    protocol_version: data.protocolVersion,
    supported_versions: data.supportedVersions.join(' '),
    tools: tools?.named ?? null,
    marked: tools?.marked ?? null,
    started_at: data.startedAt,
    duration_ms: Number(durationMs.toFixed(1)),
  }
  return `${COLUMNS.map((column) => cell(cells[column])).join(',')}\r\n`
}

function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  // A cell that begins like a formula is one for a spreadsheet, and this text was written by
  // anybody.
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
