/** The derivation itself: calls and records in, one row per call and per record out. Pure. */

import type { Evidence } from '../audit/evidence.ts'
import type { ReadRecord } from '../audit/record.ts'
import { instantOf } from '../audit/time.ts'
import { type Group, type Groups, groupKey, type Judged, placed } from '../surface/call.ts'
import { LEVELS, type Level, type ReadDecision } from '../surface/decision.ts'
import { confirm, gapsOf } from './confirm.ts'
import { groupFindings } from './findings.ts'
import {
  type Allocation,
  allocate,
  type Difference,
  differenceOf,
  type Match,
  type Offer,
} from './join.ts'
import {
  bound,
  nearestOf,
  refusals,
  refuse,
  rejectionsOf,
  unbound,
  type Window,
} from './refused-record.ts'
import {
  type CallRow,
  CLAIMS_NOT_MADE,
  type RecordRow,
  Report,
  type ReportData,
  type Unread,
} from './report.ts'
import { isContradicted, rowOf } from './row.ts'
import { type SaidFailed, saidFailed } from './said-failed.ts'

export type Settings = {
  window: Window | null
  used: ReadonlySet<string>
  minLevel: Level | null
  /** How far the time of a record may lie from that of a call, in milliseconds. */
  toleranceMs: number
}

export function derive(
  input: readonly ReadDecision[],
  evidence: Omit<Evidence, 'records'> & { records: readonly ReadRecord[]; unread: Unread },
  settings: Settings,
): Report {
  const { toleranceMs } = settings
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
  const ambiguous: Allocation['ambiguous'] = new Map()
  const usedRecords = new Set<number>()
  const offered = (index: number) => offerOfRecord(records[index] as ReadRecord, index)
  const asking = (index: number) => offerOfCall(calls[index] as Judged, index)
  const failed = saidFailed(calls, records, evidence.failures, settings, asking, offerOfRecord)
  const ofFailed = new Map<number, [string, string]>()
  for (const group of groups.values()) {
    const alone = group.calls.length === 1 && group.records.length === 1
    const found = allocate(group.calls.map(asking), group.records.map(offered), toleranceMs)
    for (const match of found.matches) {
      const why = failed.about.has(match.call)
        ? CALL_FAILED
        : failed.doubted.has(match.call) && !match.byRequest && CALL_DOUBTED
      if (why) {
        ofFailed.set(match.record, why)
        continue
      }
      boundTo.set(match.call, { ...match, alone })
      usedRecords.add(match.record)
    }
    for (const [call, count] of found.ambiguous) ambiguous.set(call, count)
  }
  const differences = differencesIn(groups, usedRecords, offered, asking, toleranceMs, ambiguous)
  const beside = besideRefusals(calls, records, usedRecords, offered, asking, toleranceMs)
  for (const [index, why] of ofFailed) differences.set(index, why)

  const confirmations = confirm(calls)
  const refused = refusals(records, usedRecords, differences)
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
      ambiguous: ambiguous.get(i) ?? null,
      recorded: beside.get(i) ?? null,
      failure: failed.about.get(i) ?? null,
    })
  })
  const left = recordRows(records, usedRecords, (one, i) => {
    const key = groupKey(one.provider, one.digest)
    const group = groups.get(key)
    if (!seen.has(one.digest)) return ['binds_different_call', 'no call has this digest']
    if (!seen.has(key))
      return ['provider_mismatch', 'the calls with this digest are to another provider']
    if (!group) return ['call_not_asserted', 'the calls with this digest did not assert success']
    const why = differences.get(i)
    if (why) return why
    return ['no_call_left', 'every call with this digest has a record']
  })
  return assemble(
    rows,
    [...ofGaps(gapsOf(calls)), ...ofUnclear(failed, calls)],
    { imported: records.length, used: usedRecords.size, ...left },
    evidence,
    settings,
  )
}

/** Reasons that say no call wanted the record; every other one refuses it. */
const UNWANTED = new Set(['binds_different_call', 'call_not_asserted', 'no_call_left'])

function recordRows(
  records: readonly ReadRecord[],
  used: ReadonlySet<number>,
  reasonOf: (record: ReadRecord, index: number) => [string, string],
): { unused: RecordRow[]; rejected: RecordRow[] } {
  const left: { unused: RecordRow[]; rejected: RecordRow[] } = { unused: [], rejected: [] }
  for (const [i, one] of records.entries()) {
    if (used.has(i)) continue
    const [reason, detail] = one.reason ? [one.reason, one.detail] : reasonOf(one, i)
    const row = { provider: one.provider, record_id: one.id, source: one.source, reason, detail }
    left[UNWANTED.has(reason) ? 'unused' : 'rejected'].push(row)
  }
  return left
}

function assemble(
  rows: CallRow[],
  aside: Parameters<typeof groupFindings>[0],
  records: ReportData['records'],
  { imports, ignored, unread }: Pick<Evidence, 'imports' | 'ignored'> & { unread: Unread },
  { window, minLevel, toleranceMs }: Settings,
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
      contradicted: claiming.filter(isContradicted).length,
    },
    findings: groupFindings([...ofImports(imports), ...rows, ...aside]),
    weakest: weakest ? { state: 'rung', level: weakest } : { state: 'nothing_claimed' },
    min_level: minLevel && {
      required: minLevel,
      met:
        unread.lines === 0 &&
        weakest !== undefined &&
        LEVELS.indexOf(weakest) >= LEVELS.indexOf(minLevel),
    },
    records,
    imports,
    ignored,
    unread,
    window: window && { from: iso(window.from), to: iso(window.to) },
    tolerance_ms: toleranceMs,
    claims_not_made: [...CLAIMS_NOT_MADE],
  })
}

/** Runs that have a later call and not this one. */
function ofGaps(gaps: ReadonlyMap<string, number>) {
  return [...gaps].map(([run_id, seq]) => ({
    run_id,
    seq,
    tool: `of ${run_id}`,
    findings: [
      {
        severity: 'warning' as const,
        kind: 'calls_missing',
        detail: 'the run has later calls, and this one was not handed in',
      },
    ],
  }))
}

/** What a provider's log says failed, where it cannot be told which call it was, or whether one. */
function ofUnclear({ unclear }: SaidFailed, calls: readonly Judged[]) {
  return unclear.map(({ calls: meant, failure: { code, record } }) => ({
    run_id: null,
    seq: null,
    tool: calls[meant[0] as number]?.decision.tool ?? '',
    findings: [
      {
        severity: 'warning' as const,
        kind: 'provider_says_one_failed',
        detail:
          meant.length > 1
            ? `the provider’s log says that one of ${meant.length} equal calls failed: ${code} (entry ${record.id}). Which one cannot be told`
            : `the provider’s log says that such a request failed: ${code} (entry ${record.id}). Whether it was this call cannot be told`,
      },
    ],
  }))
}

/** Exports whose signature was checked and does not hold. */
function ofImports(imports: Evidence['imports']) {
  return imports
    .filter(({ authenticity }) => authenticity.method !== 'none' && !authenticity.verified)
    .map(({ source, authenticity }) => ({
      run_id: null,
      seq: null,
      tool: source.name,
      findings: [
        { severity: 'error' as const, kind: 'authenticity_failed', detail: authenticity.detail },
      ],
    }))
}

function offerOfCall({ decision, projection }: Judged, index: number): Offer {
  const { observation } = decision
  return {
    index,
    server: decision.server,
    agree: projection.ok ? projection.agree : {},
    requestIds: observation?.request_ids ?? [],
    actor: observation?.actor_hash ?? null,
    at: observation?.at === undefined ? null : instantOf(observation.at),
  }
}

function offerOfRecord(one: ReadRecord, index: number): Offer {
  const { server, agree, requestIds, actor, occurredAt } = one
  return { index, server, agree, requestIds, actor, at: occurredAt }
}

/** Why a record that would verify a call does not, by what the log says of the call. */
const CALL_FAILED: [string, string] = [
  'call_failed',
  'the provider’s log says that the call it would verify failed',
]
const CALL_DOUBTED: [string, string] = [
  'ambiguous',
  'the log has a later failure too: which of the two is the call’s cannot be told',
]

const IN_WORDS: Record<Difference, string> = {
  server_differs: 'the record is of the log of another server than the one that was called',
  request_differs: 'the record names another request than the answer of the call',
  actor_differs: 'the record names another actor than the call',
  time_differs: 'the record’s time is too far from that of the call, or before the call',
  attribute_differs: 'a field beside the digest differs from every call that is left',
}

/**
 * Why records with the digest of a call were not used: how they differ, or that it cannot be told
 * whose they are.
 */
function differencesIn(
  groups: Groups,
  used: ReadonlySet<number>,
  offered: (index: number) => Offer,
  asking: (index: number) => Offer,
  toleranceMs: number,
  ambiguous: Allocation['ambiguous'],
): Map<number, [string, string]> {
  const made = new Map<number, [string, string]>()
  for (const { calls, records } of groups.values()) {
    const left = records.filter((one) => !used.has(one))
    // Against the first few calls: the reason is for a reader, and every pair would cost too much.
    const some = calls.slice(0, 8).map(asking)
    const unsure = calls.some((one) => ambiguous.has(one))
    for (const index of left) {
      const record = offered(index)
      const found = some.map((call) => differenceOf(call, record, toleranceMs))
      const difference = found.includes(null) ? null : found[0]
      if (difference) made.set(index, [difference, IN_WORDS[difference]])
      else if (unsure)
        made.set(index, ['ambiguous', 'which of several equal calls it belongs to cannot be told'])
    }
  }
  return made
}

/**
 * Calls that were denied or failed, with a record that what they asked for happened all the same.
 */
function besideRefusals(
  calls: readonly Judged[],
  records: readonly ReadRecord[],
  used: ReadonlySet<number>,
  offered: (index: number) => Offer,
  asking: (index: number) => Offer,
  toleranceMs: number,
): Map<number, string> {
  const byKey = new Map<string, number[]>()
  for (const [i, one] of records.entries()) {
    if (used.has(i) || one.reason !== null) continue
    const key = groupKey(one.provider, one.digest)
    const list = byKey.get(key)
    if (list) list.push(i)
    else byKey.set(key, [i])
  }
  const made = new Map<number, string>()
  for (const [i, { decision, projection, kind }] of calls.entries()) {
    if (decision.asserted || !projection.ok || kind !== 'write') continue
    const free = byKey.get(groupKey(projection.provider, projection.digest)) ?? []
    const at = free
      .slice(0, 64)
      .findIndex((one) => differenceOf(asking(i), offered(one), toleranceMs) === null)
    if (at < 0) continue
    made.set(i, (records[free[at] as number] as ReadRecord).id)
    free.splice(at, 1)
  }
  return made
}
