/**
 * The evidence of a report as a person reads it: what was used, what was not and why, in few lines
 * however much there is.
 */
import { count, foreign, type Look, tone, wrap } from '../../display.ts'
import type { Authenticity } from '../audit/record.ts'
import type { ReportData } from './report.ts'

/** Reasons that are named before the rest is only counted. */
const SHOWN = 20

/** Records or exports of one reason that are named before the rest is only counted. */
const FEW = 3

const FAILED = 'the check of the signature failed'

function signed({ method, verified }: Authenticity): string {
  if (verified) return 'signed'
  return method === 'none' ? 'not signed' : FAILED
}

/** What became of the evidence: records, exports, and files that are none. */
export function evidenceLines(
  { records, imports, ignored }: Pick<ReportData, 'records' | 'imports' | 'ignored'>,
  width: number,
  look: Look,
): string[] {
  const lines = [
    `${count(records.imported, 'audit record')}: ${records.used} used, ${records.unused.length} unused, ${records.rejected.length} rejected.`,
  ]
  for (const [word, rows] of [
    ['unused', records.unused],
    ['rejected', records.rejected],
  ] as const) {
    const groups = Map.groupBy(rows, ({ reason, detail }) => `${reason}, ${foreign(detail)}`)
    for (const [reason, same] of [...groups].slice(0, SHOWN)) {
      // A log holds thousands of entries about other things: equal reasons share a line.
      for (const row of same.slice(0, FEW)) {
        const from = row.source ? ` (${tailOf(row.source.name)}:${row.source.line})` : ''
        const text = `${word} ${foreign(row.record_id || '?', 60)}${from}: ${reason}`
        lines.push(wrap(text, width, '  '))
      }
      if (same.length > FEW)
        lines.push(wrap(`${word} ${same.length - FEW} more: ${reason}`, width, '  '))
    }
    if (groups.size > SHOWN)
      lines.push(tone(`  ${word} for ${groups.size - SHOWN} other reasons`, 'quiet', look))
  }
  // A folder of logs holds thousands of files: those that count for nothing share their lines.
  const named = imports.length <= SHOWN ? imports : imports.filter(hasRecords).slice(0, FEW)
  const others = imports.filter((one) => !named.includes(one))
  for (const one of named) {
    const { source, authenticity } = one
    const text = `${tailOf(source.name)}: ${totalsOf([one])}; ${signed(authenticity)}: ${foreign(authenticity.detail)}`
    lines.push(wrap(text, width, '  '), ...leftOutLines([one], width, look))
  }
  if (others.length > 0)
    lines.push(
      wrap(
        `${count(others.length, 'other export')}: ${totalsOf(others)}; ${signaturesOf(others)}`,
        width,
        '  ',
      ),
      ...leftOutLines(others, width, look),
    )
  const byReason = Map.groupBy(ignored, ({ reason }) => kindOf(reason))
  for (const files of [...byReason.values()].sort((a, b) => b.length - a.length)) {
    // The first of them with its place: the line that cannot be read, say.
    const { name, reason } = files[0] as (typeof files)[number]
    const what =
      files.length === 1 ? tailOf(name) : `${files.length} files, such as ${tailOf(name)}`
    lines.push(wrap(`not used ${what}: ${foreign(reason, 300)}`, width, '  '))
  }
  return lines
}

type Import = ReportData['imports'][number]

function hasRecords({ counts }: Import): boolean {
  return counts.records > 0
}

function totalsOf(imports: readonly Import[]): string {
  const sum = (of: (one: Import) => number) => imports.reduce((total, one) => total + of(one), 0)
  const unmapped = sum(({ counts }) =>
    Object.values(counts.unmapped).reduce((total, n) => total + n, 0),
  )
  return `${count(
    sum(({ counts }) => counts.entries),
    'entry',
    'entries',
  )}, ${sum(({ counts }) => counts.records)} imported, ${sum(({ counts }) => counts.skipped)} skipped, ${unmapped} of other kinds`
}

/** `3 signed, 1 not signed`, the gravest first. */
function signaturesOf(imports: readonly Import[]): string {
  const groups = Map.groupBy(imports, ({ authenticity }) => signed(authenticity))
  return [FAILED, 'not signed', 'signed']
    .flatMap((word) => (groups.has(word) ? [`${groups.get(word)?.length} ${word}`] : []))
    .join(', ')
}

function leftOutLines(imports: readonly Import[], width: number, look: Look): string[] {
  const reasons = reasonsOf(imports)
  const rest = reasons.slice(SHOWN).reduce((total, [, n]) => total + n, 0)
  return [
    ...reasons.slice(0, SHOWN).map(([reason, n]) => `${n} left out: ${reason}`),
    ...(rest > 0 ? [`${rest} left out for ${count(reasons.length - SHOWN, 'other reason')}`] : []),
  ].map((text) => tone(wrap(text, width, '    '), 'quiet', look))
}

/** The end of a path, which tells one file of a folder from another. */
function tailOf(path: string): string {
  const text = foreign(path, 4096)
  return text.length > 80 ? `…${text.slice(-79)}` : text
}

/**
 * Why entries of an export are no records, most frequent first: those left out by reason, those of
 * other kinds by kind.
 */
function reasonsOf(imports: readonly Import[]): [string, number][] {
  const made = new Map<string, number>()
  const add = (kind: string, n: number) => made.set(kind, (made.get(kind) ?? 0) + n)
  for (const { skipped, counts } of imports) {
    for (const { reason } of skipped) add(kindOf(reason), 1)
    for (const [kind, n] of Object.entries(counts.unmapped))
      add(`no effect that is looked for: ${foreign(kind, 80)}`, n)
  }
  return [...made].sort((a, b) => b[1] - a[1])
}

/** A reason without the line or place that it names, by which it would differ for each entry. */
function kindOf(reason: string): string {
  const kind = reason
    .replace(/line \d+/g, 'another line')
    .replace(/ \([^()]*:\d+(:\d+)?\)$|:\d+.*$/, '')
  return foreign(kind, 120)
}
