/**
 * Each trial of a run against its own evidence: its decisions, audit exports and transcript by digest, and its levels derived again
 * from the decisions and the exports.
 */
import { join } from 'node:path'
import { type Digest, digest } from '../../canonical.ts'
import { readBytes } from '../../files.ts'
import type { Json } from '../../json.ts'
import { auditPath, digestOfLines, FILES, type TrialRecord } from '../../log/index.ts'
import { type Export, providerOfExport } from '../audit/evidence.ts'
import { verify } from '../ladder/levels.ts'
import type { ReportData } from '../ladder/report.ts'
import { isObject, LEVELS, type Level } from '../surface/decision.ts'
import {
  attempt,
  attemptId,
  type FileEntry,
  type KeyedLine,
  keyedLines,
  type RunBytes,
} from './run-folder.ts'
import type { Problem } from './step.ts'

export type TrialProblems = {
  decisions: Problem[]
  audits: Problem[]
  transcripts: Problem[]
  levels: Problem[]
}

/** @param servers the names of a case's servers in their order, where the case is known: exports are digested in it */
export async function checkTrials(
  bytes: RunBytes,
  servers: (caseId: string) => readonly string[] | null,
): Promise<TrialProblems> {
  const records = new Map<string, TrialRecord>()
  for (const { record } of bytes.log) {
    if (record !== null && !records.has(attemptId(record.key, record.attempt)))
      records.set(attemptId(record.key, record.attempt), record)
  }
  const exports = new Exports(bytes.files)
  const decisions: Problem[] = []
  const levels: Problem[] = []
  const audits: Problem[] = []
  await eachGroup(bytes, FILES.decisions, records, 'decision', decisions, (record, lines) => {
    decisions.push(...decisionProblems(record, lines))
    const found = exports.take(record, servers(record.case))
    audits.push(...auditProblems(record, found))
    const values = lines.map(({ value }) => value['decision'] as Json)
    levels.push(...levelProblems(bytes.dir, record, values, found))
  })
  audits.push(
    ...exports.left().map(({ path }) => ({
      code: 'audit_unattributed',
      where: path,
      detail: 'no trial has this export',
    })),
  )
  const transcripts: Problem[] = []
  await eachGroup(bytes, FILES.transcripts, records, 'transcript', transcripts, (record, lines) => {
    const [line, more] = lines
    const problem = (code: string, detail: string) =>
      transcripts.push({ code, where: placeOf(record), detail })
    if (!line) problem('transcript_removed', 'no line of transcripts.ndjson is this trial’s')
    else if (more) problem('transcript_added', `line ${more.line} is a second transcript`)
    else if (digest(line.text) !== record.digests.transcript)
      problem(
        'transcript_edited',
        `line ${line.line} is not the one that the trial log has the digest of`,
      )
  })
  return { decisions, audits, transcripts, levels }
}

/** A trial as it is named in problems. */
export function placeOf({ key, attempt }: Pick<TrialRecord, 'key' | 'attempt'>): string {
  return attempt === 0 ? `trial ${key}` : `trial ${key}, attempt ${attempt}`
}

/**
 * Every attempt with its lines, one attempt in memory at a time: they stand together, since an attempt is written in one go. Attempts
 * without lines come last.
 */
async function eachGroup(
  bytes: RunBytes,
  file: string,
  records: ReadonlyMap<string, TrialRecord>,
  word: string,
  problems: Problem[],
  visit: (record: TrialRecord, lines: KeyedLine[]) => void,
): Promise<void> {
  const done = new Set<string>()
  let lines: KeyedLine[] = []
  const flush = () => {
    const [first] = lines
    if (!first) return
    const record = records.get(first.id)
    const where = `${file}:${first.line}`
    if (!record)
      problems.push({
        code: `${word}_unattributed`,
        where,
        detail: 'no trial in the log has this key',
      })
    else if (done.has(first.id))
      problems.push({
        code: `${word}_out_of_place`,
        where,
        detail: `more lines of ${placeOf(record)} stand before`,
      })
    else visit(record, lines)
    done.add(first.id)
    lines = []
  }
  for await (const line of keyedLines(bytes.dir, file)) {
    if ('problem' in line) {
      problems.push({
        code: `${word}_unreadable`,
        where: `${file}:${line.line}`,
        detail: line.problem,
      })
      continue
    }
    if (lines[0] && lines[0].id !== line.id) flush()
    lines.push(line)
  }
  flush()
  for (const [id, record] of records) if (!done.has(id)) visit(record, [])
}

function decisionProblems(record: TrialRecord, lines: readonly KeyedLine[]): Problem[] {
  const where = placeOf(record)
  const problems: Problem[] = []
  const seqs = lines.map(({ value }) => {
    const decision = value['decision']
    const observation = isObject(decision) ? decision['observation'] : undefined
    if (isObject(observation) && observation['run_id'] !== record.key)
      problems.push({
        code: 'decision_of_another_trial',
        where,
        detail: `it names ${String(observation['run_id'])}`,
      })
    return isObject(observation) ? observation['seq'] : undefined
  })
  if (record.digests.decisions === digestOfLines(lines.map(({ text }) => text))) return problems
  if (lines.length < record.calls) {
    const gap = lines.findIndex((_, seq) => !seqs.includes(seq))
    const detail = `${lines.length} of ${record.calls} calls are here; the first that is missing is #${gap < 0 ? lines.length : gap}`
    return [...problems, { code: 'decision_removed', where, detail }]
  }
  if (lines.length > record.calls)
    return [
      ...problems,
      {
        code: 'decision_added',
        where,
        detail: `${lines.length} calls are here, ${record.calls} were made`,
      },
    ]
  const detail = 'the lines are not the ones that the trial log has the digest of'
  return [...problems, { code: 'decision_edited', where, detail }]
}

/** The audit exports of a folder, each of which belongs to one attempt. */
class Exports {
  private readonly byFolder: Map<string, FileEntry[]>
  private readonly taken = new Set<string>()

  constructor(files: readonly FileEntry[]) {
    const mine = files.filter(({ path }) => path.startsWith(`${FILES.audit}/`))
    this.byFolder = Map.groupBy(mine, ({ path }) => path.slice(0, path.lastIndexOf('/')))
  }

  /** The exports of an attempt: the first server's, then the others' in the order of the case's servers. */
  take(record: TrialRecord, servers: readonly string[] | null): FileEntry[] {
    const first = auditPath(record).replaceAll('\\', '/')
    const stem = first.slice(0, -'json'.length)
    const place = (path: string) => {
      const at = servers?.indexOf(path.slice(stem.length, -'.json'.length)) ?? -1
      return path === first ? -1 : at < 0 ? Number.MAX_SAFE_INTEGER : at
    }
    const found = (this.byFolder.get(first.slice(0, first.lastIndexOf('/'))) ?? [])
      .filter(
        ({ path }) =>
          path === first ||
          (path.startsWith(stem) && !/^attempt-\d+\./.test(path.slice(stem.length))),
      )
      .toSorted((a, b) => place(a.path) - place(b.path))
    for (const { path } of found) this.taken.add(path)
    return found
  }

  left(): FileEntry[] {
    return [...this.byFolder.values()].flat().filter(({ path }) => !this.taken.has(path))
  }
}

function auditProblems(record: TrialRecord, found: readonly FileEntry[]): Problem[] {
  const [first] = found
  const made: Digest | null =
    found.length > 1 ? digest(found.map((file) => file.digest).join('\n')) : (first?.digest ?? null)
  if (made === record.digests.audit) return []
  const where = placeOf(record)
  if (!first) return [{ code: 'audit_removed', where, detail: 'its export is not there' }]
  return [
    {
      code: 'audit_edited',
      where,
      detail: `${first.path} is not what the trial log has the digest of`,
    },
  ]
}

function levelProblems(
  dir: string,
  record: TrialRecord,
  decisions: Json[],
  found: readonly FileEntry[],
): Problem[] {
  const where = placeOf(record)
  const { value: report, problem } = attempt(() => deriveAgain(dir, decisions, found))
  if (report === null)
    return [{ code: 'evidence_unreadable', where, detail: problem ?? 'unreadable' }]
  const problems: Problem[] = []
  const levels: Record<Level, number> = { asserted: 0, observed_confirmed: 0, verified: 0 }
  for (const call of report.calls) {
    if (
      call.asserted &&
      call.level !== null &&
      call.seq !== null &&
      record.writes.includes(call.seq)
    )
      levels[call.level]++
    for (const { kind, detail } of call.findings)
      if (kind === 'overclaim')
        problems.push({ code: 'level_overclaimed', where: `${where}, call #${call.seq}`, detail })
  }
  for (const level of LEVELS) {
    if (levels[level] === record.levels[level]) continue
    const detail = `the log counts ${record.levels[level]} ${level}, the evidence gives ${levels[level]}`
    problems.push({ code: 'level_differs', where, detail })
  }
  return problems
}

function deriveAgain(dir: string, decisions: Json[], found: readonly FileEntry[]): ReportData {
  const audit = found.flatMap(({ path }): Export[] => {
    const bytes = readBytes(join(dir, path))
    const provider = providerOfExport(bytes, path)
    // An export without entries, such as [], is evidence of nothing.
    return provider === null ? [] : [{ provider, bytes, source: path }]
  })
  return verify(decisions, { audit }).toJSON()
}
