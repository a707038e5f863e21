/**
 * The steps by which an auditor checks a run's receipt: everything that it says, computed again
 * from the run's folder and the set.
 *
 * The receipt is read as plain data that may have any shape. Each step names what it found; none
 * stops the others.
 */
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { absentIn, FILES, type Manifest, METHODS, methodsIn } from '../../log/index.ts'
import { casesOf, type ScenarioSet } from '../../scenario/index.ts'
import { AUDIT_FOLDER } from './run-exports.ts'
import type { Log, RunBytes } from './run-folder.ts'
import { planProblems } from './run-log.ts'
import {
  caseRows,
  countsOf,
  identicalIn,
  MOST_ABSENT,
  RUN_SCHEMA,
  statedConfigurations,
  statedSummary,
  subjectsOf,
  summaryOf,
} from './run-predicate.ts'
import {
  type LoggedRow,
  logProblemsV0,
  RUN_PREDICATE_V0,
  RUN_SCHEMA_V0,
} from './run-predicate-v0.ts'
import { checkTrials, type ToldByAll, TRANSCRIPTS } from './run-trials.ts'
import {
  attempt,
  differences,
  judged,
  objectsIn,
  type Problem,
  type Step,
  unchecked,
} from './step.ts'
import { compareSummaries } from './summary-step.ts'
import type { TrialLog } from './trial-log.ts'

export const RUN_STEPS = [
  'cases',
  'manifest',
  'plan',
  'trial log',
  'trials',
  'decisions',
  'audit exports',
  'transcripts',
  'other files',
  'levels',
  'summary',
  'statement',
] as const

/**
 * @param set the published set, where it is at hand and has its digest
 * @param rows of a receipt of version 0: every line of the trial log
 */
export async function checkRun(
  statement: JsonObject,
  bytes: RunBytes,
  set: ScenarioSet | null,
  rows: readonly LoggedRow[] = [],
): Promise<{ steps: Step[]; told: ToldByAll }> {
  const predicate = isObject(statement['predicate']) ? statement['predicate'] : {}
  const old = statement['predicateType'] === RUN_PREDICATE_V0
  const { log } = bytes
  const files = fileProblems(bytes, predicate['files'])
  const { manifest } = bytes
  const withManifest = (
    step: string,
    detail: string,
    check: (manifest: Manifest) => Problem[],
  ): Step => {
    if (manifest === null)
      return unchecked(step, 'manifest_unreadable', bytes.manifestProblem ?? 'no manifest')
    const { value, problem } = attempt(() => check(manifest))
    return judged(
      step,
      value ?? [{ code: 'not_computable', where: step, detail: problem ?? 'unreadable' }],
      detail,
    )
  }
  const perTrial = await checkTrials(bytes, serversOf(set), worldsOf(set))
  const { told } = perTrial
  const { summary: method } = methodsIn(predicate['methods'])
  told.method = method
  const trees = isObject(predicate['logs']) ? predicate['logs'] : {}
  const treeProblems = (name: Log): Problem[] =>
    old || !bytes.trees.has(name)
      ? []
      : differences(
          bytes.trees.get(name),
          trees[name],
          `predicate.logs.${name}`,
          'log_root_differs',
        )
  const lines = (step: string, name: Log, word: string, found: Problem[]) =>
    judged(step, [...found, ...files.of(name), ...treeProblems(name)], word)
  const steps = [
    caseStep(predicate['cases'], manifest, log, set, withManifest),
    judged(
      'manifest',
      [
        ...files.of(FILES.manifest),
        ...(bytes.manifestProblem && !files.of(FILES.manifest).length
          ? [{ code: 'manifest_unreadable', where: FILES.manifest, detail: bytes.manifestProblem }]
          : []),
      ],
      'the bytes have the digest in the receipt',
    ),
    withManifest(
      'plan',
      'seed, repeats and the number of trials are those fixed before the run',
      (one) => planProblems(one, predicate['plan']),
    ),
    lines(
      'trial log',
      FILES.trials,
      old
        ? `${log.lines} lines, each with its digest, in the receipt’s order`
        : `${log.lines} lines, whose tree has the root in the receipt`,
      [...log.unread, ...(old ? logProblemsV0(bytes, rows, predicate) : [])],
    ),
    withManifest(
      'trials',
      'each is planned, has its own seed and start, and the outcome that its marks give',
      () => log.problems,
    ),
    lines('decisions', FILES.decisions, 'every call of every trial, by digest', perTrial.decisions),
    lines(
      'audit exports',
      FILES.audit,
      'every export by digest, and none besides',
      perTrial.audits,
    ),
    lines('transcripts', FILES.transcripts, TRANSCRIPTS, perTrial.transcripts),
    judged(
      'other files',
      files.of(null),
      'reports and pictures as they were; nothing is computed from them',
    ),
    judged(
      'levels',
      perTrial.levels,
      'derived again for every call from decisions and audit exports',
    ),
    withManifest('summary', summaryDetail(method), (one) => [
      ...differences(countsOf(one, log), predicate['counts'], 'predicate.counts', 'count_differs'),
      ...summaryProblems(
        old ? summaryOf(one, log, bytes.dir) : statedSummary(summaryOf(one, log, bytes.dir)),
        predicate['summary'],
        told,
      ),
      ...differences(
        [...identicalIn(one, log, bytes.dir)],
        predicate['identical'] ?? [],
        'predicate.identical',
        'summary_differs',
      ),
      ...differences(
        absentIn(one, log.index.columns, ...(old ? [] : [MOST_ABSENT])),
        predicate['absent'],
        'predicate.absent',
        'absent_differs',
      ),
    ]),
    withManifest(
      'statement',
      'what was tested, versions and limits are those of the manifest',
      (one) => statementProblems(statement, predicate, one),
    ),
  ]
  return { steps, told }
}

function summaryDetail(method: number): string {
  return method === METHODS.summary
    ? 'every count and rate, computed again from the trial log'
    : `every count and rate, computed again from the trial log; of intervals and bounds, by version ${method} of their method, what version ${METHODS.summary} gives too`
}

/** Where the summary contradicts the run. What is open about it is told. */
function summaryProblems(
  expected: readonly object[],
  got: Json | undefined,
  told: ToldByAll,
): Problem[] {
  const { problems, open } = compareSummaries(expected, got, told.method === METHODS.summary)
  told.open = open
  return problems
}

function caseStep(
  stated: Json | undefined,
  manifest: Manifest | null,
  log: TrialLog,
  set: ScenarioSet | null,
  withManifest: (step: string, detail: string, check: (manifest: Manifest) => Problem[]) => Step,
): Step {
  if (set === null)
    return unchecked('cases', 'set_absent', 'without the set nobody can say which cases it has')
  const left = objectsIn(stated).filter((row) => typeof row['left_out'] === 'string')
  const all = `each of the set’s ${casesOf(set).length} cases has its row`
  const detail =
    left.length === 0
      ? all
      : `${all}; left out: ${left.map((row) => `${row['id']} (${row['left_out']})`).join(', ')}`
  if (manifest === null) return withManifest('cases', detail, () => [])
  return withManifest('cases', detail, (one) => {
    const known = new Map(casesOf(set).map((published) => [published.id, published]))
    const problems = one.cases.flatMap((ran): Problem[] => {
      const where = `manifest.json: case ${ran.id}`
      const published = known.get(ran.id)
      if (!published) return [{ code: 'case_unknown', where, detail: 'the set has no such case' }]
      const problems = marksProblems(ran, published.document, where)
      if (published.digest === ran.digest) return problems
      const detail = `the set has ${published.digest}, the run ran ${ran.digest}`
      return [{ code: 'case_differs', where, detail }, ...problems]
    })
    const rows = new Map(objectsIn(stated).map((row) => [row['id'], row]))
    for (const row of caseRows(one, log, set)) {
      const got = rows.get(row.id)
      const where = `predicate.cases: ${row.id}`
      if (got === undefined)
        problems.push({ code: 'case_missing', where, detail: 'the receipt has no row for it' })
      else if (row.left_out !== null && got['left_out'] === null)
        problems.push({
          code: 'case_dropped',
          where,
          detail: 'the receipt says that it ran, the manifest does not have it',
        })
      else problems.push(...differences(row, got, where, 'case_row_differs'))
    }
    if (rows.size > known.size)
      problems.push({
        code: 'case_unknown',
        where: 'predicate.cases',
        detail: `the set has ${known.size} cases, the receipt ${rows.size}`,
      })
    return problems
  })
}

/** What the manifest says of a case beside its digest, against the case's document. */
function marksProblems(
  { title, kind, twin, family, adversarial }: Manifest['cases'][number],
  document: JsonObject,
  where: string,
): Problem[] {
  const published = {
    title: document['title'] ?? null,
    kind: document['kind'] ?? null,
    twin: document['twin'] ?? null,
    family: document['family'] ?? null,
    adversarial: (document['attack'] ?? null) !== null,
  }
  const got = { title, kind, twin, family: family ?? null, adversarial }
  return differences(published, got, where, 'case_marks_differ')
}

function statementProblems(
  statement: JsonObject,
  predicate: JsonObject,
  manifest: Manifest,
): Problem[] {
  const { id, created_at, limits, versions, environment } = manifest
  return [
    ...differences(subjectsOf(manifest), statement['subject'], 'subject', 'subject_differs'),
    ...differences(
      statedConfigurations(manifest),
      predicate['configurations'],
      'predicate.configurations',
      'configuration_differs',
    ),
    ...differences(
      { id, created_at, limits, versions, environment },
      predicate['run'],
      'predicate.run',
      'run_differs',
    ),
    ...(manifest.methods
      ? differences(manifest.methods, predicate['methods'], 'predicate.methods', 'methods_differ')
      : []),
    ...(manifest.set
      ? differences(manifest.set, predicate['set'], 'predicate.set', 'set_differs')
      : []),
    ...differences(
      statement['predicateType'] === RUN_PREDICATE_V0 ? RUN_SCHEMA_V0 : RUN_SCHEMA,
      predicate['schema'],
      'predicate.schema',
      'schema_differs',
    ),
    ...differences(
      'self_attested',
      predicate['assurance'],
      'predicate.assurance',
      'assurance_differs',
    ),
  ]
}

/** What has become of the files, each problem under the step that it belongs to. */
function fileProblems(
  bytes: RunBytes,
  committed: Json | undefined,
): { of(name: string | null): Problem[] } {
  const expected = new Map(objectsIn(committed).map((row) => [String(row['path']), row]))
  const problems = new Map<string | null, Problem[]>()
  const add = (path: string, what: 'edited' | 'removed' | 'added', detail: string) => {
    const home = homeOf(path)
    const list = problems.get(home) ?? []
    list.push({ code: `${WORDS[home ?? ''] ?? 'file'}_${what}`, where: path, detail })
    problems.set(home, list)
  }
  const present = new Set<string>()
  for (const { path, digest, size_bytes } of bytes.files) {
    present.add(path)
    const row = expected.get(path)
    if (!row) add(path, 'added', 'the receipt does not have it')
    else if (row['size_bytes'] !== size_bytes)
      add(path, 'edited', `expected ${row['size_bytes']} bytes, got ${size_bytes}`)
    else if (row['digest'] !== digest)
      add(path, 'edited', `expected ${row['digest']}, got ${digest}`)
  }
  for (const path of bytes.odd) add(path, 'added', 'expected plain files, got a link or a device')
  for (const path of expected.keys())
    if (!present.has(path) && !bytes.odd.includes(path))
      add(path, 'removed', 'the receipt has it, the folder does not')
  return { of: (name) => problems.get(name) ?? [] }
}

/** Files by what is in them. What stands elsewhere is `file`. */
const WORDS: { [home: string]: string } = {
  [FILES.manifest]: 'manifest',
  [FILES.trials]: 'trial_log',
  [FILES.decisions]: 'decision_log',
  [FILES.transcripts]: 'transcript_log',
  [FILES.audit]: 'audit_file',
}

function homeOf(path: string): string | null {
  const home = path.startsWith(`${AUDIT_FOLDER}/`) ? FILES.audit : path
  return Object.hasOwn(WORDS, home) ? home : null
}

/** The names of each case's servers, in their order. */
function serversOf(set: ScenarioSet | null): (caseId: string) => string[] | null {
  const byCase = new Map(
    (set ? casesOf(set) : []).map((one) => [one.id, serversIn(one.document).map(nameOf)]),
  )
  return (id) => byCase.get(id) ?? null
}

/** The names of each case's servers that are simulated worlds. */
function worldsOf(set: ScenarioSet | null): (caseId: string) => string[] {
  const isWorld = (server: JsonObject) => typeof server['world'] === 'string'
  const byCase = new Map(
    (set ? casesOf(set) : []).map((one) => [
      one.id,
      serversIn(one.document).filter(isWorld).map(nameOf),
    ]),
  )
  return (id) => byCase.get(id) ?? []
}

function serversIn({ server, servers }: JsonObject): JsonObject[] {
  return objectsIn(server === undefined ? servers : [server])
}

function nameOf(server: JsonObject): string {
  return String(server['name'] ?? server['world'] ?? 'server')
}
