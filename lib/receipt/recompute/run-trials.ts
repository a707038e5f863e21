/**
 * Each trial of a run against its own evidence: its decisions, audit exports and transcript by
 * digest, and its levels derived again from the decisions and the exports.
 */
import { join } from 'node:path'
import { type Digest, digest } from '../../canonical.ts'
import { decode, isObject, type Json } from '../../json.ts'
import {
  digestOfExports,
  digestOfLines,
  FILES,
  type Manifest,
  METHODS,
  methodsIn,
  runIdOf,
  type TrialRecord,
} from '../../log/index.ts'
import { type Export, providerOfExport } from '../audit/evidence.ts'
import { verify } from '../ladder/levels.ts'
import type { ReportData } from '../ladder/report.ts'
import { LEVELS, type Level } from '../surface/decision.ts'
import {
  attemptId,
  type EvidenceFile,
  type KeyedLine,
  type Lines,
  placeOf,
} from './run-evidence.ts'
import { AUDIT_FOLDER, ExportFiles, exportOf, type FoundExport } from './run-exports.ts'
import type { RunBytes } from './run-folder.ts'
import { toldBy } from './run-told.ts'
import { attempt, type Problem } from './step.ts'
import { eachLine } from './trial-log.ts'

const NEWLINE = 10

/** What the step of the transcripts compares. */
export const TRANSCRIPTS =
  'one for every attempt, by digest; calls, end, claims and model are those of the records'

export type TrialProblems = {
  decisions: Problem[]
  audits: Problem[]
  transcripts: Problem[]
  levels: Problem[]
  told: ToldByAll
  /** Levels as the evidence gives them, by attempt, where the record has others. */
  derived: Map<string, TrialRecord['levels']>
}

/**
 * @param servers the names of a case's servers in their order, where the case is known: exports of
 *   runs of earlier versions are digested in it
 * @param worlds the names of a case's servers that are simulated worlds, where the case is known
 */
export async function checkTrials(
  bytes: RunBytes,
  servers: (caseId: string) => readonly string[] | null,
  worlds: (caseId: string) => readonly string[] = () => [],
): Promise<TrialProblems> {
  const { evidence, log } = bytes
  const { recordIn } = await import('../../log/record-line.ts')
  const files = bytes.files.some(({ path }) => path.startsWith(`${AUDIT_FOLDER}/`))
    ? new ExportFiles(bytes, servers)
    : null
  const decisions: Problem[] = []
  const audits: Problem[] = []
  const transcripts: Problem[] = []
  const levels: Problem[] = []
  const derived: TrialProblems['derived'] = new Map()
  const told = new ToldByAll()
  const methods = methodsIn(bytes.manifest?.methods)
  told.claims = methods.claims
  told.levels = methods.levels
  const configurations = new Map(bytes.manifest?.configurations.map((one) => [one.name, one]))
  const path = bytes.tooLong.has(FILES.trials) || log.lines === 0 ? null : bytes.dir
  await eachLine(path && join(path, FILES.trials), FILES.trials, [], '', undefined, (window) => {
    const { value: record } = attempt(() =>
      recordIn(decode(window.bytes, FILES.trials), () => FILES.trials),
    )
    if (record === null || log.index.lineOf(record) !== window.line) return
    const stretch = evidence.decisions.of(window.line)
    const lines = evidence.decisions.read(stretch)
    const own = decisionProblems(record, lines, digest(stretch.bytes))
    decisions.push(...own)
    const transcript = evidence.transcript.of(window.line)
    const edited = transcriptProblems(record, transcript)
    transcripts.push(...edited)
    // An account that is another one already is held against nothing.
    if (own.length + edited.length === 0)
      transcripts.push(
        ...toldProblems(
          record,
          evidence.transcript.read(transcript),
          lines,
          configurations.get(record.configuration),
          told,
        ),
      )
    const there = files ? files.take(record) : exportsOf(evidence.audit, window.line)
    // Exports that the record does not name are evidence of nothing.
    const found = record.digests.audit === null ? [] : there
    for (const { where } of there.slice(found.length, found.length + 1))
      audits.push({ code: 'audit_added', where, detail: `${placeOf(record)} has no exports` })
    audits.push(...auditProblems(record, found))
    const values = lines.map(({ value }) => value['decision'] as Json)
    levels.push(...levelProblems(record, values, found, derived, worlds(record.case), told))
  })
  for (const file of Object.values(evidence)) file.close()
  return {
    decisions: [...evidence.decisions.problems, ...decisions],
    audits: [...evidence.audit.problems, ...audits, ...(files?.problems() ?? [])],
    transcripts: [...evidence.transcript.problems, ...transcripts],
    levels,
    told,
    derived,
  }
}

/** What a run's evidence tells besides problems. */
export class ToldByAll {
  /** Versions of the methods by which the summary was computed, claims read and levels derived. */
  method: number = METHODS.summary
  claims: number = METHODS.claims
  levels: number = METHODS.levels
  /** Attempts whose claims cannot be read again. */
  unread = 0
  /** Attempts whose claims, or levels, another version of the method gave otherwise. */
  readonly otherwise = { claims: 0, levels: 0 }
  /** Members of the summary that one version of the method gives, and the other otherwise. */
  open: string[] = []
  /** Names by which providers call a configuration's model. At most eight each. */
  readonly models = new Map<string, Set<string>>()
}

/** Names by which providers call their models, by configuration. */
export function answeredAs({ models }: ToldByAll): { [configuration: string]: string[] } {
  const named = [...models].filter(([, names]) => names.size > 0)
  return Object.fromEntries(
    named.map(([configuration, names]) => [configuration, [...names].sort()]),
  )
}

/** What no step computes again, so that it stands as the run's own word. */
export function notRecomputed(told: ToldByAll): string[] {
  const { unread, otherwise, open } = told
  const by = (method: 'method' | 'claims' | 'levels', ours: number) =>
    `version ${told[method]} of the method (ours is ${ours})`
  return [
    'goal and attack',
    'what claims match (overclaims, underclaims, unneeded)',
    'refused and exposed, and which faults were met',
    'times, tokens and cost',
    'the seed, the limits and the settings of the manifest',
    'which error of the machinery ended an attempt',
    ...(unread > 0
      ? [`the claims of ${unread} attempts, which their transcripts do not hold`]
      : []),
    ...(otherwise.claims > 0
      ? [`the claims of ${otherwise.claims} attempts, as ${by('claims', METHODS.claims)} read them`]
      : []),
    ...(otherwise.levels > 0
      ? [
          `that the levels of ${otherwise.levels} attempts are no higher, as ${by('levels', METHODS.levels)} derived them`,
        ]
      : []),
    ...(open.length > 0
      ? [`of the summary, by ${by('method', METHODS.summary)}: ${open.join(', ')}`]
      : []),
  ]
}

function toldProblems(
  record: TrialRecord,
  [line]: readonly KeyedLine[],
  decisions: readonly KeyedLine[],
  configuration: Manifest['configurations'][number] | undefined,
  told: ToldByAll,
): Problem[] {
  if (!line) return []
  const values = decisions.map(({ value }) => value['decision'] as Json)
  const { problems, claims, models } = toldBy(
    record,
    line.value,
    values,
    configuration ?? null,
    placeOf(record),
    told.claims === METHODS.claims,
  )
  if (claims === 'none') told.unread++
  if (claims === 'otherwise') told.otherwise.claims++
  const known = told.models.get(record.configuration) ?? new Set()
  for (const name of models) if (known.size < 8) known.add(name)
  told.models.set(record.configuration, known)
  return problems
}

/** One attempt against its own evidence. */
export function attemptProblems(
  record: TrialRecord,
  evidence: { [kind in 'decisions' | 'audits' | 'transcripts']: readonly KeyedLine[] },
  told: ToldByAll,
  configuration?: Manifest['configurations'][number],
): Omit<TrialProblems, 'derived' | 'told'> {
  const { decisions, audits, transcripts } = evidence
  const said = transcripts.map(({ text }) => text).join('\n')
  const own = decisionProblems(record, decisions, digestOfLines(decisions.map(({ text }) => text)))
  const edited = transcriptProblems(record, { bytes: Buffer.from(said), line: 1 })
  const found = audits.map(exportOf)
  const values = decisions.map(({ value }) => value['decision'] as Json)
  return {
    decisions: own,
    audits: auditProblems(record, found),
    transcripts:
      own.length + edited.length > 0
        ? edited
        : toldProblems(record, transcripts, decisions, configuration, told),
    levels: levelProblems(record, values, found, new Map(), [], told),
  }
}

function exportsOf(file: EvidenceFile, line: number): FoundExport[] {
  return file.read(file.of(line)).map(exportOf)
}

/** @param made the digest of the lines as they stand in the file */
function decisionProblems(
  record: TrialRecord,
  lines: readonly KeyedLine[],
  made: Digest,
): Problem[] {
  const where = placeOf(record)
  const problems: Problem[] = []
  const seqs = lines.map(({ value }) => {
    const decision = value['decision']
    const observation = isObject(decision) ? decision['observation'] : undefined
    if (isObject(observation) && observation['run_id'] !== runIdOf(record))
      problems.push({
        code: 'decision_of_another_trial',
        where,
        detail: `it names ${String(observation['run_id'])}`,
      })
    return isObject(observation) ? observation['seq'] : undefined
  })
  if (record.digests.decisions === made) return problems
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

function transcriptProblems(record: TrialRecord, { bytes, line }: Lines): Problem[] {
  const problem = (code: string, detail: string) => [{ code, where: placeOf(record), detail }]
  if (bytes.length === 0)
    return problem('transcript_removed', 'no line of transcripts.ndjson is this trial’s')
  const text = bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes
  if (digest(text) === record.digests.transcript) return []
  if (text.includes(NEWLINE))
    return problem('transcript_added', `line ${line + 1} is a second transcript`)
  const detail = `line ${line} is not the one that the trial log has the digest of`
  return problem('transcript_edited', detail)
}

function auditProblems(record: TrialRecord, found: readonly FoundExport[]): Problem[] {
  if (digestOfExports(found) === record.digests.audit) return []
  const where = placeOf(record)
  const [first] = found
  if (!first) return [{ code: 'audit_removed', where, detail: 'its export is not there' }]
  const detail = `${first.where} is not what the trial log has the digest of`
  return [{ code: 'audit_edited', where, detail }]
}

function levelProblems(
  record: TrialRecord,
  decisions: Json[],
  found: readonly FoundExport[],
  derived: TrialProblems['derived'],
  worlds: readonly string[],
  told: ToldByAll,
): Problem[] {
  const where = placeOf(record)
  const { value: report, problem } = attempt(() => deriveAgain(decisions, found))
  if (report === null)
    return [{ code: 'evidence_unreadable', where, detail: problem ?? 'unreadable' }]
  const problems: Problem[] = []
  const ours = callsOf(decisions, [...worlds, ...found.flatMap(({ server }) => server ?? [])])
  const levels: Record<Level, number> = { asserted: 0, observed_confirmed: 0, verified: 0 }
  for (const call of report.calls) {
    if (
      call.asserted &&
      call.level !== null &&
      call.seq !== null &&
      record.writes.includes(call.seq)
    )
      levels[call.level]++
    else if (call.asserted && call.kind === 'write' && call.seq !== null && ours.has(call.seq))
      problems.push({
        code: 'write_missing',
        where: `${where}, call #${call.seq}`,
        detail: `${call.tool} was answered with success, and the record’s writes do not name it`,
      })
    for (const { kind, detail } of call.findings)
      if (kind === 'overclaim')
        problems.push({ code: 'level_overclaimed', where: `${where}, call #${call.seq}`, detail })
  }
  // A version that knew less of the evidence claims less.
  const less = LEVELS.every(
    (_, i) => total(record.levels, LEVELS.slice(i)) <= total(levels, LEVELS.slice(i)),
  )
  if (told.levels !== METHODS.levels && less) {
    if (LEVELS.some((level) => levels[level] !== record.levels[level])) told.otherwise.levels++
    return problems
  }
  for (const level of LEVELS) {
    if (levels[level] === record.levels[level]) continue
    const detail = `the log counts ${record.levels[level]} ${level}, the evidence gives ${levels[level]}`
    problems.push({ code: 'level_differs', where, detail })
    derived.set(attemptId(record.key, record.attempt), levels)
  }
  return problems
}

function total(levels: TrialRecord['levels'], of: readonly Level[]): number {
  return of.reduce((sum, level) => sum + levels[level], 0)
}

/**
 * The calls of servers whose every effect is declared: simulated worlds, which are also the ones
 * with exports. What else a server changes is in the writes where the case says so.
 */
function callsOf(decisions: readonly Json[], servers: readonly string[]): Set<unknown> {
  const known = new Set<unknown>(servers)
  return new Set(
    decisions
      .filter(isObject)
      .flatMap(({ server, observation }) =>
        isObject(server) && known.has(server['id']) && isObject(observation)
          ? [observation['seq']]
          : [],
      ),
  )
}

function deriveAgain(decisions: Json[], found: readonly FoundExport[]): ReportData {
  const audit = found.flatMap(({ provider, server, text, where }): Export[] => {
    const named = provider ?? providerOfExport(Buffer.from(text), where)
    // An export without entries, such as [], is evidence of nothing.
    return named === null
      ? []
      : [{ provider: named, bytes: text, source: where, ...(server !== undefined && { server }) }]
  })
  return verify(decisions, { audit }).toJSON()
}
