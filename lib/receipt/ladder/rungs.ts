/** The derivation itself: calls and records in, one row per call and per record out. Pure. */

import type { Evidence } from '../audit/evidence.ts'
import type { ReadRecord } from '../audit/record.ts'
import { agreedText } from '../surface/binding.ts'
import { type Group, groupKey, type Judged, placed } from '../surface/call.ts'
import { LEVELS, type Level, type ReadDecision } from '../surface/decision.ts'
import { confirm } from './confirm.ts'
import { allocate, type Match } from './join.ts'
import {
  bound,
  nearestOf,
  refusals,
  refuse,
  rejectionsOf,
  unbound,
  type Window,
} from './refused-record.ts'
import { type CallRow, CLAIMS_NOT_MADE, type RecordRow, Report, type ReportData } from './report.ts'
import { rowOf, shortageOf } from './row.ts'

export type Settings = {
  window: Window | null
  used: ReadonlySet<string>
  minLevel: Level | null
}

export function derive(
  input: readonly ReadDecision[],
  evidence: { records: readonly ReadRecord[]; imports: Evidence['imports'] },
  settings: Settings,
): Report {
  const calls = placed(input)
  const records = evidence.records.map((one) => ({ ...one }))
  const groups = new Map<string, Group>()
  const seen = new Set<string>()
  for (const [i, { decision, projection, kind }] of calls.entries()) {
    if (!projection.ok || kind !== 'write') continue
    const key = groupKey(projection.provider, projection.digest)
    seen.add(key).add(projection.digest)
    if (!decision.asserted) continue
    const group = groups.get(key)
    if (group) group.calls.push(i)
    else groups.set(key, { calls: [i], records: [] })
  }
  refuse(records, settings, (one) => groups.has(groupKey(one.provider, one.digest)))

  for (const [i, one] of records.entries()) {
    if (one.reason !== null) continue
    const group = groups.get(groupKey(one.provider, one.digest))
    if (group) group.records.push(i)
  }
  const boundTo = new Map<number, Match & { alone: boolean }>()
  const usedRecords = new Set<number>()
  for (const group of groups.values()) {
    const offers = group.calls.map((index) => ({
      index,
      attribute: attributeOf(calls[index] as Judged),
      requestIds: calls[index]?.decision.observation?.request_ids ?? [],
    }))
    const offered = group.records.map((index) => {
      const one = records[index] as ReadRecord
      return { index, ...one, attribute: agreedText(one.agree) }
    })
    const alone = group.calls.length === 1 && group.records.length === 1
    for (const match of allocate(offers, offered)) {
      boundTo.set(match.call, { ...match, alone })
      usedRecords.add(match.record)
    }
  }

  const confirmations = confirm(calls)
  const refused = refusals(records, usedRecords, groups)
  const nearest = nearestOf(records, usedRecords)
  const rows = calls.map((call, i) => {
    const match = boundTo.get(i)
    const taken = match ? (records[match.record] as ReadRecord) : null
    const strength = !match
      ? null
      : match.byRequest
        ? 'request'
        : settings.window && match.alone
          ? 'unique_in_window'
          : 'action'
    const binding =
      taken && call.projection.ok ? bound(taken, call.projection.digest) : unbound(call, nearest)
    const rejections = taken ? [] : rejectionsOf(call, refused)
    return rowOf(call, {
      binding,
      strength,
      seen: confirmations[i] ?? null,
      rejections,
      shortage: shortageOf(call, groups),
    })
  })
  const left = recordRows(records, usedRecords, (one) => {
    const key = groupKey(one.provider, one.digest)
    const group = groups.get(key)
    if (!seen.has(one.digest)) return ['binds_different_call', 'no call has this digest']
    if (!seen.has(key))
      return ['provider_mismatch', 'the calls with this digest are to another provider']
    if (!group) return ['call_not_asserted', 'the calls with this digest did not assert success']
    if (group.calls.some((i) => !boundTo.has(i)))
      return ['attribute_differs', 'a field beside the digest differs from every call that is left']
    return ['no_call_left', 'every call with this digest has a record']
  })
  return assemble(
    rows,
    { imported: records.length, used: usedRecords.size, ...left },
    evidence.imports,
    settings,
  )
}

/** Reasons that say no call wanted the record; every other one refuses it. */
const UNWANTED = new Set(['binds_different_call', 'call_not_asserted', 'no_call_left'])

function recordRows(
  records: readonly ReadRecord[],
  used: ReadonlySet<number>,
  reasonOf: (record: ReadRecord) => [string, string],
): { unused: RecordRow[]; rejected: RecordRow[] } {
  const left: { unused: RecordRow[]; rejected: RecordRow[] } = { unused: [], rejected: [] }
  for (const [i, one] of records.entries()) {
    if (used.has(i)) continue
    const [reason, detail] = one.reason ? [one.reason, one.detail] : reasonOf(one)
    const row = { provider: one.provider, record_id: one.id, source: one.source, reason, detail }
    left[UNWANTED.has(reason) ? 'unused' : 'rejected'].push(row)
  }
  return left
}

function assemble(
  rows: CallRow[],
  records: ReportData['records'],
  imports: Evidence['imports'],
  { window, minLevel }: Settings,
): Report {
  const claiming = rows.filter((row) => row.asserted && row.kind !== 'read')
  const levels = { asserted: 0, observed_confirmed: 0, verified: 0 }
  for (const row of claiming) levels[row.level as Level]++
  const weakest = LEVELS.find((level) => levels[level] > 0)
  const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  return new Report({
    calls: rows,
    counts: {
      calls: rows.length,
      claimed: claiming.length,
      unclassified: claiming.filter((row) => row.kind === 'unclassified').length,
      levels,
      overclaims: rows.filter((row) => row.findings.some((one) => one.kind === 'overclaim')).length,
    },
    weakest: weakest ? { state: 'rung', level: weakest } : { state: 'nothing_claimed' },
    min_level: minLevel && {
      required: minLevel,
      met: weakest !== undefined && LEVELS.indexOf(weakest) >= LEVELS.indexOf(minLevel),
    },
    records,
    imports,
    window: window && { from: iso(window.from), to: iso(window.to) },
    claims_not_made: [...CLAIMS_NOT_MADE],
  })
}

function attributeOf({ projection }: Judged): string | null {
  return projection.ok ? agreedText(projection.agree) : null
}
