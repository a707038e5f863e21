/**
 * Repeats that are none: a configuration of a real model whose trials of a case are byte for byte
 * the same, every case.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readLinesSync } from '../../lines.ts'
import type { Columns } from '../columns.ts'
import { FILES } from '../folder.ts'
import type { Manifest, TrialRecord } from '../records.ts'
import type { Rows } from '../rows.ts'
import { requireTranscript, type TranscriptLine } from '../transcript.ts'
import { type ConfigurationSummary, summarise } from './summary.ts'

type Asked = {
  dir: string
  manifest: Manifest
  columns: Pick<Columns, 'attempt' | 'outcome'>
  /** The record of one trial. */
  record(key: string): TrialRecord
}

/**
 * The configurations whose repeats say nothing that their first trial did not: a cache, or a model
 * that draws nothing at temperature 0. In every case with two trials or more, what the agent said,
 * called and claimed is the same in all of them, and somewhere it said something in words: that two
 * trials make the same calls is no wonder.
 *
 * Simulated configurations follow a script and are not asked, and neither are those of which it is
 * stated that no answer comes out of a cache.
 */
export function identicalRepeats({ dir, manifest, columns, record }: Asked): Set<string> {
  const asked = new Set(
    manifest.configurations
      .filter(({ simulated, cached }) => !simulated && cached !== false)
      .map(({ name }) => name),
  )
  const path = join(dir, FILES.transcripts)
  if (asked.size === 0 || manifest.repeats < 2 || !existsSync(path)) return new Set()
  const known = new Map<string, string>()
  const repeated = new Set<string>()
  const worded = new Set<string>()
  const different = new Set<string>()
  for (const { value, line: number } of readLinesSync(path)) {
    // Two answers that differ settle it for a configuration: most runs are read no further.
    if (different.size === asked.size) break
    const line = requireTranscript(value, () => `${path}:${number}`)
    const [, configuration = ''] = line.key.split('|')
    if (!asked.has(configuration) || different.has(configuration)) continue
    const counts = columns.attempt(line.key) === line.attempt
    if (!counts || columns.outcome(line.key) === 'error') continue
    const row = record(line.key)
    const place = `${row.case} ${row.configuration}`
    const own = digestOfWords(line, row)
    const first = known.get(place)
    if (first === undefined) known.set(place, own)
    else if (first === own) repeated.add(row.configuration)
    else different.add(row.configuration)
    if ((line.said ?? []).join('').trim() || line.summary?.trim()) worded.add(row.configuration)
  }
  return new Set(
    [...asked].filter((name) => repeated.has(name) && worded.has(name) && !different.has(name)),
  )
}

/**
 * A digest of what an agent said, called and claimed; when it did, and what it was answered, is not
 * its own.
 */
function digestOfWords(
  { said, calls, malformed, summary }: TranscriptLine,
  { reported, claims }: TrialRecord,
): string {
  const own = [
    reported,
    claims.map(({ tool, action, target, done }) => [tool, action, target, done]),
    said,
    calls.map(({ server, tool, input }) => [server, tool, input]),
    malformed,
    summary,
  ]
  return createHash('sha256').update(JSON.stringify(own)).digest('base64')
}

/**
 * The trials that numbers rest on: of a configuration with identical repeats the first of each case
 * that did not end in an error.
 */
export function independentRows(rows: Rows, identical: ReadonlySet<string>): Rows {
  if (identical.size === 0) return rows
  return {
    of: (caseId, configuration) => {
      const all = rows.of(caseId, configuration)
      if (!identical.has(configuration)) return all
      const ended = all.filter(({ outcome }) => outcome !== 'error')
      const [first] = ended
      // A repeat behind a lost attempt shakes what stands for all of them.
      const shaken = ended.some((row) => row.lost_before) && { lost_before: true as const }
      return all.flatMap((row) =>
        row === first ? [{ ...row, ...shaken }] : row.outcome === 'error' ? [row] : [],
      )
    },
    absent: (caseId, configuration) => rows.absent?.(caseId, configuration) ?? 0,
    errors: (configuration) => rows.errors(configuration),
    earlier: rows.earlier,
  }
}

/** Keys of the trials that `independentRows` leaves out. */
export function repeatsOf(
  trials: readonly TrialRecord[],
  identical: ReadonlySet<string>,
): ReadonlySet<string> {
  const first = new Set<string>()
  const left = trials.filter(({ case: id, configuration, outcome }) => {
    if (!identical.has(configuration) || outcome === 'error') return false
    const cell = JSON.stringify([id, configuration])
    if (first.has(cell)) return true
    first.add(cell)
    return false
  })
  return new Set(left.map(({ key }) => key))
}

/**
 * The numbers of each configuration, with identical repeats counted once. A repeat that does not
 * count did run.
 *
 * @param rows the attempt that counts of each trial, and those before it
 */
export function summariseIndependent(
  manifest: Manifest,
  rows: Rows,
  identical: ReadonlySet<string>,
  options: { level?: number } = {},
): ConfigurationSummary[] {
  const found = summarise(manifest, independentRows(rows, identical), options)
  if (identical.size === 0) return found
  const all = summarise(manifest, rows, options)
  return found.map((row, i) => ({ ...row, unrun: all[i]?.unrun ?? row.unrun }))
}
