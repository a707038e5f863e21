/** The derivation itself: calls and records in, one row per call and per record out. Pure. */
import type { Digest } from '../canonical.ts'
import type { Projection } from './binding.ts'
import { subjectOf } from './binding.ts'
import { type Confirmation, confirm, isReadVerb } from './confirm.ts'
import { LEVELS, type Level, type ReadDecision } from './decision.ts'
import type { Evidence } from './evidence.ts'
import { allocate, type Match } from './join.ts'
import { idOf } from './ledger.ts'
import type { ReadRecord } from './record.ts'
import {
  type Binding,
  type CallRow,
  CLAIMS_NOT_MADE,
  type Finding,
  type RecordRow,
  type Rejection,
  Report,
} from './report.ts'

export type Call = {
  decision: ReadDecision
  /** A text that orders decisions without a place in a run. */
  order: string | null
  /** The same text for a decision that has a place, made only when two claim the same one. */
  again(): string
}

export type Settings = {
  window: { from: number | null; to: number | null } | null
  used: ReadonlySet<string>
  minLevel: Level | null
}

type Judged = {
  decision: ReadDecision
  projection: Projection
  kind: CallRow['kind']
  repeated: boolean
}

/** Records and calls that share provider and digest. */
type Group = { calls: number[]; records: number[]; size: number }

export function derive(
  input: readonly Call[],
  evidence: { records: readonly ReadRecord[]; imports: Evidence['imports'] },
  settings: Settings,
): Report {
  const calls = placed(input)
  const records = evidence.records.map((one) => ({ ...one }))
  const groups = new Map<string, Group>()
  const digests = new Map<Digest, { provider: string; asserted: boolean }>()
  for (const [i, { decision, projection, kind }] of calls.entries()) {
    if (!projection.ok || kind !== 'write') continue
    const known = digests.get(projection.digest)
    digests.set(projection.digest, {
      provider: projection.provider,
      asserted: decision.asserted || known?.asserted === true,
    })
    if (decision.asserted) groupAt(groups, projection.provider, projection.digest).calls.push(i)
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
    const offered = group.records.map((index) => ({ index, ...(records[index] as ReadRecord) }))
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
    const binding = taken && call.projection.ok ? bound(taken, call.projection.digest) : unbound(call, nearest)
    const seen = confirmations[i] ?? null
    const rejections = taken ? [] : rejectionsOf(call, refused)
    return rowOf(call, { binding, strength, seen, rejections, shortage: shortageOf(call, groups) })
  })
  return assemble(rows, records, usedRecords, digests, evidence.imports, settings)
}

/** Calls in the order of run and sequence, each with its projection. */
function placed(input: readonly Call[]): Judged[] {
  const place = ({ decision }: Call) => decision.observation
  const sorted = input.toSorted((a, b) => {
    const [x, y] = [place(a), place(b)]
    if (!x || !y) return x ? -1 : y ? 1 : rank([a.order ?? '', b.order ?? ''])
    return rank([x.run_id, y.run_id]) || x.seq - y.seq || rank([a.again(), b.again()])
  })
  return sorted.map((call, i) => {
    const { decision } = call
    const [own, prior, next] = [place(call), sorted[i - 1], sorted[i + 1]].map((one) =>
      one && 'decision' in one ? place(one) : one,
    )
    const same = (other: typeof own) =>
      !!own && !!other && 'seq' in own && 'seq' in other && own.run_id === other.run_id && own.seq === other.seq
    const read = isReadVerb(decision.action.resource_type, decision.action.verb)
    const projection: Projection = read
      ? { ok: false, reason: 'read', detail: 'a read claims no effect' }
      : decision.classification !== 'classified'
        ? { ok: false, reason: 'not_classified', detail: `the call is ${decision.classification ?? 'not classified'}` }
        : subjectOf(decision.action)
    const kind = read ? 'read' : decision.classification === 'observed_unknown_tool' ? 'unclassified' : 'write'
    return { decision, projection, kind, repeated: same(prior) || same(next) }
  })
}

/** Mark the records that may not be offered, each with its reason. */
function refuse(records: ReadRecord[], { window, used }: Settings, binds: (record: ReadRecord) => boolean): void {
  const byId = new Map<string, ReadRecord[]>()
  const reject = (one: ReadRecord, reason: ReadRecord['reason'], detail: string) =>
    Object.assign(one, { reason, detail })
  for (const one of records) {
    if (one.reason !== null) continue
    const id = idOf(one.provider, one.id)
    if (used.has(id)) reject(one, 'already_used', 'an earlier receipt has used this record')
    else if (window && one.occurredAt === null)
      reject(one, 'time_unknown', 'a window is given and the record has no time')
    else if (window && isOutside(one.occurredAt as number, window))
      reject(one, 'outside_window', 'the record’s time lies outside the window')
    else {
      const same = byId.get(id)
      if (same) same.push(one)
      else byId.set(id, [one])
    }
  }
  for (const same of byId.values()) {
    if (same.length === 1) continue
    // Of entries under one id one may count. Preferring one that binds keeps further records from lowering a level.
    const kept = same.find(binds) ?? (same[0] as ReadRecord)
    const differ = same.some((one) => one.digest !== kept.digest)
    for (const one of same) {
      if (one !== kept)
        reject(one, 'duplicate_record_id', differ ? 'the id stands for different entries' : 'the id was given before')
    }
  }
}

function isOutside(at: number, { from, to }: { from: number | null; to: number | null }): boolean {
  return (from !== null && at < from) || (to !== null && at > to)
}

function bound(record: ReadRecord, digest: Digest): Binding {
  const { provider, id, authenticity } = record
  return { outcome: 'bound', provider, record_id: id, subject_digest: digest, authenticity }
}

type Nearest = { any: ReadRecord | undefined; byClass: Map<string, ReadRecord> }

/** The first record that nobody used, overall and per class: what a call without a record is compared with. */
function nearestOf(records: readonly ReadRecord[], used: ReadonlySet<number>): Nearest {
  const made: Nearest = { any: undefined, byClass: new Map() }
  for (const [i, one] of records.entries()) {
    if (used.has(i) || (one.reason !== null && one.reason !== 'record_inconsistent')) continue
    made.any ??= one
    if (!made.byClass.has(one.class)) made.byClass.set(one.class, one)
  }
  return made
}

/** The two checks of the spec, in their order: the record by itself, then against the call. */
function unbound({ decision, projection, kind }: Judged, nearest: Nearest): Binding | null {
  if (kind === 'read') return null
  const kindOf = decision.action.resource_type
  const record = (typeof kindOf === 'string' ? nearest.byClass.get(kindOf) : undefined) ?? nearest.any
  if (!record) return null
  if (record.reason === 'record_inconsistent')
    return {
      outcome: 'record_inconsistent',
      record_id: record.id,
      recomputed: record.recomputed as Digest,
      declared: record.declared,
    }
  if (!decision.asserted) return { outcome: 'not_projectable', reason: 'side effect was not asserted' }
  if (!projection.ok) return { outcome: 'not_projectable', reason: projection.detail }
  // The same digest was refused on another ground, which the rejections name.
  if (record.digest === projection.digest) return null
  return {
    outcome: 'binds_different_call',
    record_id: record.id,
    record_digest: record.digest,
    call_digest: projection.digest,
  }
}

/** Rejections by the digest they carry: one shared list per digest, so that many equal calls cost no more than one. */
function refusals(
  records: readonly ReadRecord[],
  used: ReadonlySet<number>,
  groups: ReadonlyMap<string, Group>,
): Map<string, Map<string, Rejection>> {
  const made = new Map<string, Map<string, Rejection>>()
  for (const [i, one] of records.entries()) {
    if (used.has(i)) continue
    const own = groups.get(groupKey(one.provider, one.digest))
    const reason = one.reason ?? (own ? 'attribute_differs' : 'provider_mismatch')
    const detail = one.reason
      ? one.detail
      : own
        ? 'the record agrees in its digest and differs in a further field that both sides have'
        : `the record is of provider ${one.provider}`
    const key = one.declared
    const list = made.get(key) ?? new Map<string, Rejection>()
    made.set(key, list)
    const row = list.get(`${reason} ${detail}`) ?? { reason, detail, records: 0, record_ids: [] }
    list.set(`${reason} ${detail}`, row)
    row.records++
    if (row.record_ids.length < 5) row.record_ids.push(one.id)
  }
  return made
}

function rejectionsOf(
  { decision, projection, kind }: Judged,
  refused: Map<string, Map<string, Rejection>>,
): Rejection[] {
  if (kind === 'read' || !decision.asserted) return []
  if (!projection.ok) return [{ reason: projection.reason, detail: projection.detail, records: 0, record_ids: [] }]
  return [...(refused.get(projection.digest)?.values() ?? [])]
}

function shortageOf({ projection, decision }: Judged, groups: ReadonlyMap<string, Group>): string | null {
  if (!projection.ok || !decision.asserted) return null
  const group = groups.get(groupKey(projection.provider, projection.digest))
  if (!group || group.records.length === 0 || group.calls.length <= group.records.length) return null
  return `${group.records.length} of ${group.calls.length} equal calls can be verified: there are no more records; which call is which cannot be told`
}

function rowOf(
  { decision, projection, kind, repeated }: Judged,
  found: {
    binding: Binding | null
    strength: CallRow['binding_strength']
    seen: Confirmation | null
    rejections: Rejection[]
    shortage: string | null
  },
): CallRow {
  const { binding, strength, seen, rejections, shortage } = found
  const verified = binding?.outcome === 'bound'
  const derived: Level = verified ? 'verified' : seen?.confirmed ? 'observed_confirmed' : 'asserted'
  const level = decision.asserted ? derived : null
  const digest = projection.ok && level !== null && level !== 'asserted' ? projection.digest : null
  return {
    run_id: decision.observation?.run_id ?? null,
    seq: decision.observation?.seq ?? null,
    tool: decision.tool,
    kind,
    asserted: decision.asserted,
    level,
    stored_level: decision.stored.level,
    verification_source: verified ? 'provider_audit_import' : seen?.confirmed ? 'observed_read_followup' : null,
    verification_subject_digest: digest,
    binding,
    binding_strength: strength,
    rejections,
    contradictions: seen?.contradictions ?? [],
    findings: findingsOf(decision, level, digest, repeated, kind),
    why_not_higher:
      level === null || level === 'verified' ? null : whyNot(kind, projection, seen, rejections, shortage, binding),
  }
}

function findingsOf(
  decision: ReadDecision,
  level: Level | null,
  digest: Digest | null,
  repeated: boolean,
  kind: CallRow['kind'],
): Finding[] {
  const findings: Finding[] = []
  const { stored, irreversibility } = decision
  const add = (name: string, detail: string) => findings.push({ kind: name, detail })
  const derived = level === null ? 0 : LEVELS.indexOf(level)
  if (LEVELS.indexOf(stored.level) > derived)
    add('overclaim', `the decision stores ${stored.level}, the evidence gives ${level ?? 'no level'}`)
  else if (stored.verified && level !== 'verified')
    add('overclaim', 'the decision stores side_effect_verified: true, the evidence does not verify it')
  if (stored.digest !== null && digest !== null && stored.digest !== digest)
    add('stored_digest_differs', 'the stored subject digest is not the one the action gives')
  if (repeated) add('sequence_repeated', 'another decision claims the same place in the run')
  const grave = irreversibility === 'one_way_consequential' || irreversibility === 'one_way_terminal'
  if (grave && level === 'asserted' && kind !== 'read')
    add('consequential_unverified', `a ${irreversibility} effect rests on the tool’s word alone`)
  return findings
}

function whyNot(
  kind: CallRow['kind'],
  projection: Projection,
  seen: Confirmation | null,
  rejections: readonly Rejection[],
  shortage: string | null,
  binding: Binding | null,
): string {
  if (kind === 'read') return 'a read claims no effect'
  if (!projection.ok) return `no record can bind: ${projection.detail}`
  const reasons: string[] = []
  if (shortage) reasons.push(shortage)
  for (const { reason, records } of rejections.slice(0, 3))
    reasons.push(`${records} matching ${records === 1 ? 'record' : 'records'} refused (${reason})`)
  if (reasons.length === 0) reasons.push(binding === null ? 'no audit record' : `no record binds (${binding.outcome})`)
  if (!seen?.confirmed && seen?.contradictions.length === 0) {
    if (seen.reason === 'no_read_after') reasons.push('no later read looked')
    if (seen.reason === 'read_not_whole') reasons.push('later reads showed only part of the list')
    if (seen.reason === 'no_run') reasons.push('the decision names no run and sequence')
  }
  return reasons.join('; ')
}

function assemble(
  rows: CallRow[],
  records: readonly ReadRecord[],
  used: ReadonlySet<number>,
  digests: ReadonlyMap<Digest, { provider: string; asserted: boolean }>,
  imports: Evidence['imports'],
  { window, minLevel }: Settings,
): Report {
  const claiming = rows.filter((row) => row.asserted && row.kind !== 'read')
  const levels = { asserted: 0, observed_confirmed: 0, verified: 0 }
  for (const row of claiming) levels[row.level as Level]++
  const weakest = LEVELS.find((level) => levels[level] > 0)
  const unused: RecordRow[] = []
  const rejected: RecordRow[] = []
  for (const [i, one] of records.entries()) {
    if (used.has(i)) continue
    const row = { provider: one.provider, record_id: one.id, source: one.source }
    const match = digests.get(one.digest)
    if (one.reason !== null) rejected.push({ ...row, reason: one.reason, detail: one.detail })
    else if (!match) unused.push({ ...row, reason: 'binds_different_call', detail: 'no call has this digest' })
    else if (match.provider !== one.provider)
      rejected.push({ ...row, reason: 'provider_mismatch', detail: `the call is to provider ${match.provider}` })
    else if (!match.asserted)
      unused.push({ ...row, reason: 'call_not_asserted', detail: 'the call with this digest did not assert success' })
    else
      unused.push({ ...row, reason: 'no_call_left', detail: 'every call that it could serve has a record or differs' })
  }
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
    records: { imported: records.length, used: used.size, unused, rejected },
    imports,
    window: window && { from: iso(window.from), to: iso(window.to) },
    claims_not_made: [...CLAIMS_NOT_MADE],
  })
}

function attributeOf({ projection }: Judged): string | null {
  return projection.ok ? projection.attribute : null
}

function groupKey(provider: string, digest: string): string {
  return `${digest} ${provider}`
}

function groupAt(groups: Map<string, Group>, provider: string, digest: Digest): Group {
  const key = groupKey(provider, digest)
  const known = groups.get(key)
  if (known) return known
  const made: Group = { calls: [], records: [], size: 0 }
  groups.set(key, made)
  return made
}

/** Compare pairs in turn, by UTF-16 units: an order that no locale changes. */
export function rank(...pairs: [string, string][]): number {
  for (const [a, b] of pairs) if (a !== b) return a < b ? -1 : 1
  return 0
}
