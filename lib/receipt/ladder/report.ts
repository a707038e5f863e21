/** What `verify` found: data for a program, a ladder for a person. */
import type { Digest } from '../../canonical.ts'
import { count, foreign, type Look, pad, type Tone, tone, wrap } from '../../display.ts'
import { Shown } from '../../shown.ts'
import type { Evidence } from '../audit/evidence.ts'
import type { Authenticity } from '../audit/record.ts'
import { LEVELS, type Level, type VerificationSource } from '../surface/decision.ts'
import type { Contradiction } from './confirm.ts'
import { evidenceLines } from './evidence-text.ts'
import type { Finding, FindingGroup, Severity } from './findings.ts'

export const REPORT_SCHEMA = 'touchstone.side_effect_report.v0'

export const CLAIMS_NOT_MADE = [
  'provider_query',
  'audit_record_authenticity_beyond_its_own_signature',
  'effect_persistence_after_the_observed_call',
  'audit_export_completeness',
] as const

const IN_WORDS: { [claim: string]: string } = {
  provider_query: 'no provider was asked: everything comes from the bytes that were handed in',
  audit_record_authenticity_beyond_its_own_signature:
    'an audit entry is as authentic as its own signature, if it has one',
  effect_persistence_after_the_observed_call: 'an effect may have been taken back since',
  audit_export_completeness: 'an export may lack entries: a missing record proves nothing',
}

export type Binding =
  | {
      outcome: 'bound'
      provider: string
      record_id: string
      subject_digest: Digest
      authenticity: Authenticity | null
    }
  | { outcome: 'record_inconsistent'; record_id: string; recomputed: Digest; declared: string }
  | {
      outcome: 'binds_different_call'
      record_id: string
      record_digest: Digest
      call_digest: Digest
    }
  | { outcome: 'not_projectable'; reason: string }

export type BindingStrength = 'action' | 'unique_in_window' | 'request'

/**
 * Why evidence with this call's digest did not count, with how many records and the first of them.
 */
export type Rejection = { reason: string; detail: string; records: number; record_ids: string[] }
export type CallRow = {
  run_id: string | null
  seq: number | null
  tool: string
  kind: 'write' | 'read' | 'unclassified'
  asserted: boolean
  /** Null for a call that asserted nothing: it stands on no rung. */
  level: Level | null
  stored_level: Level
  verification_source: VerificationSource | null
  verification_subject_digest: Digest | null
  binding: Binding | null
  binding_strength: BindingStrength | null
  /**
   * `ambiguous`: there are fewer records than equal calls, and which call is whose cannot be told.
   */
  allocation: 'told' | 'ambiguous' | null
  rejections: Rejection[]
  contradictions: Contradiction[]
  findings: Finding[]
  /** Why the call is not one rung higher. Null at the top. */
  why_not_higher: string | null
}

export type RecordRow = {
  provider: string
  record_id: string
  source: { name: string; line: number } | null
  reason: string
  detail: string
}

/** Lines of a file of decisions that are none, and the place and reason of the first 20. */
export type Unread = { lines: number; first: { where: string; reason: string }[] }

export type Weakest = { state: 'nothing_claimed' } | { state: 'rung'; level: Level }

export type ReportData = {
  schema: typeof REPORT_SCHEMA
  calls: CallRow[]
  /**
   * Asserting writes and unclassified calls per level. Reads are counted nowhere: they claim no
   * effect.
   */
  counts: {
    calls: number
    claimed: number
    unclassified: number
    levels: Record<Level, number>
    overclaims: number
    /** Claims that a read or the provider's own log contradicts. */
    contradicted: number
  }
  /** What stands against the claims, gravest first. */
  findings: FindingGroup[]
  weakest: Weakest
  /**
   * Null unless a level was asked for. A report in which nothing was claimed does not meet it, nor
   * does one with lines that could not be read.
   */
  min_level: { required: Level; met: boolean } | null
  records: { imported: number; used: number; unused: RecordRow[]; rejected: RecordRow[] }
  imports: Evidence['imports']
  /** Files of a folder of evidence that hold none, with the reason. */
  ignored: { name: string; reason: string }[]
  /** What could not be read of the decisions: calls may be missing from the report. */
  unread: Unread
  window: { from: string | null; to: string | null } | null
  /** How long after its call a record may be logged, where both have a time. */
  tolerance_ms: number
  claims_not_made: string[]
}

/**
 * The result of `verify`. Its data is `toJSON()`; printed, it is the ladder with each call on its
 * rung.
 */
export class Report extends Shown implements ReportData {
  readonly schema = REPORT_SCHEMA
  readonly findings: FindingGroup[]
  readonly calls: CallRow[]
  readonly counts: ReportData['counts']
  readonly weakest: Weakest
  readonly min_level: ReportData['min_level']
  readonly records: ReportData['records']
  readonly imports: ReportData['imports']
  readonly ignored: ReportData['ignored']
  readonly unread: Unread
  readonly window: ReportData['window']
  readonly tolerance_ms: number
  readonly claims_not_made: string[]

  constructor(data: Omit<ReportData, 'schema'>) {
    super()
    this.calls = data.calls
    this.counts = data.counts
    this.findings = data.findings
    this.weakest = data.weakest
    this.min_level = data.min_level
    this.records = data.records
    this.imports = data.imports
    this.ignored = data.ignored
    this.unread = data.unread
    this.window = data.window
    this.tolerance_ms = data.tolerance_ms
    this.claims_not_made = data.claims_not_made
  }

  /**
   * True when nothing contradicts the claims, every line of the decisions could be read, and every
   * claiming call reached the level that was asked for.
   */
  get ok(): boolean {
    return (this.min_level?.met ?? true) && this.errors.length === 0 && this.unread.lines === 0
  }

  /** Findings of severity `error`. */
  get errors(): FindingGroup[] {
    return this.findings.filter((one) => one.severity === 'error')
  }

  toJSON(): ReportData {
    return { ...this }
  }

  /** The report as text. @param look colours and width, default plain and 100 characters */
  text(look: Look = {}): string {
    return render(this, look)
  }
}

const RUNGS: Record<Level, { tone: Tone; means: string }> = {
  verified: { tone: 'good', means: 'a provider’s audit record binds to the call' },
  observed_confirmed: { tone: 'unsure', means: 'a later read in the run shows the effect' },
  asserted: { tone: 'bad', means: 'the tool said so' },
}

/** Rows that one rung prints before it only counts. */
const SHOWN = 20

function render(report: Report, look: Look): string {
  const width = look.width ?? 100
  const { counts, records } = report
  const lines: string[] = []
  const claimed = counts.claimed
  const n = counts.contradicted
  const contradicted = n === 0 ? '' : `; ${n} ${n === 1 ? 'is' : 'are'} contradicted`
  lines.push(
    tone(
      claimed === 0
        ? `Nothing was claimed: ${count(counts.calls, 'call')}, none of which asserted an effect.`
        : `${counts.levels.verified} of ${claimed} claimed ${claimed === 1 ? 'effect is' : 'effects are'} verified${byAction(report)}${contradicted}.`,
      'strong',
      look,
    ),
  )
  for (const one of report.findings)
    if (one.severity !== 'note') lines.push(findingLine(one, width, look))
  lines.push(...unreadLines(report.unread, width, look), '')
  // Calls of several runs have the same numbers: which run it was is then said too.
  const several = new Set(report.calls.map((call) => call.run_id)).size > 1
  const heads = LEVELS.map((level) => level.length)
  const head = Math.max(...heads)
  for (const level of LEVELS.toReversed()) {
    const rows = report.calls.filter((call) => call.level === level && call.kind !== 'read')
    const bar = pad(String(rows.length), String(claimed).length, 'right')
    lines.push(
      `${tone(pad(level, head), RUNGS[level].tone, look)}  ${bar}  ${tone(RUNGS[level].means, 'quiet', look)}`,
    )
    for (const row of rows.slice(0, SHOWN)) lines.push(...callLines(row, several, width, look))
    if (rows.length > SHOWN) lines.push(tone(`    and ${rows.length - SHOWN} more`, 'quiet', look))
  }
  const silent = report.calls.filter((call) => !call.asserted)
  if (silent.length > 0)
    lines.push('', `${count(silent.length, 'call')} asserted nothing (denied or failed).`)
  lines.push('', ...evidenceLines(report, width, look))
  if (report.min_level) {
    const { required, met } = report.min_level
    lines.push(
      '',
      tone(`Asked for ${required}: ${met ? 'met' : 'not met'}.`, met ? 'good' : 'bad', look),
    )
  }
  lines.push('', tone('Not claimed:', 'quiet', look))
  for (const claim of report.claims_not_made) {
    lines.push(tone(wrap(`- ${IN_WORDS[claim] ?? claim}`, width, '  '), 'quiet', look))
  }
  if (records.imported === 0)
    lines.push('', tone('No audit record was given, so no call can be verified.', 'quiet', look))
  return lines.join('\n')
}

function byAction({ calls, counts }: Report): string {
  const n = calls.filter((call) => call.binding_strength === 'action').length
  if (n === 0) return ''
  return n === counts.levels.verified ? ', by action alone' : `, ${n} of them by action alone`
}

function unreadLines({ lines, first }: Unread, width: number, look: Look): string[] {
  if (lines === 0) return []
  const head = `${count(lines, 'line')} of the decisions could not be read, and what ${lines === 1 ? 'it' : 'they'} may hold is not judged:`
  const more = lines - first.length
  return [
    tone(wrap(head, width, '  '), 'bad', look),
    ...first.map(({ reason }) => wrap(`unread ${foreign(reason, 300)}`, width, '  ')),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ]
}

const SEVERITY_TONES: Record<Severity, Tone> = { error: 'bad', warning: 'unsure', note: 'quiet' }

function findingLine(one: FindingGroup, width: number, look: Look): string {
  const where = one.at
    .slice(0, 3)
    .map(({ seq, tool }) => (seq === null ? foreign(tool, 40) : `#${seq} ${foreign(tool, 40)}`))
    .join(', ')
  const more = one.calls > 3 ? ` and ${one.calls - 3} more` : ''
  const text = `${one.severity}: ${one.kind}, ${where}${more}: ${foreign(one.detail, 200)}`
  return tone(wrap(text, width, '  '), SEVERITY_TONES[one.severity], look)
}

function callLines(row: CallRow, several: boolean, width: number, look: Look): string[] {
  const run = several && row.run_id !== null ? ` ${foreign(row.run_id, 120)}` : ''
  const place = run + (row.seq === null ? '' : ` #${row.seq}`)
  const strength = row.binding_strength ? `, bound by ${row.binding_strength}` : ''
  const record = row.binding?.outcome === 'bound' ? ` <- ${foreign(row.binding.record_id, 60)}` : ''
  const lines = [`  ${foreign(row.tool, 60)}${place}${record}${strength}`]
  if (row.why_not_higher)
    lines.push(wrap(`why not higher: ${foreign(row.why_not_higher, 300)}`, width, '      '))
  for (const one of row.findings)
    lines.push(
      tone(
        wrap(`${one.severity} ${one.kind}: ${foreign(one.detail, 200)}`, width, '      '),
        SEVERITY_TONES[one.severity],
        look,
      ),
    )
  return lines
}
