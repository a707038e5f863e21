/**
 * What a run's receipt commits to, computed from the run's folder and the published set alone.
 *
 * Making a receipt and checking one both come here, so that whatever a receipt says is something
 * that can be computed again.
 */
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import {
  type Absent,
  absentIn,
  type ConfigurationSummary,
  identicalRepeats,
  LogReader,
  type Manifest,
  METHODS,
  type Metric,
  type MetricSummary,
  summariseIndependent,
  type TrialRecord,
} from '../../log/index.ts'
import { casesOf, type ScenarioSet } from '../../scenario/index.ts'
import {
  type Descriptor,
  descriptor,
  type Statement,
  statement,
  type TestResult,
  testResult,
} from '../seal/statement.ts'
import type { Tree } from './commitment.ts'
import type { FileEntry, Log, RunBytes } from './run-folder.ts'
import { attempt } from './step.ts'
import type { TrialLog } from './trial-log.ts'

/** A URN: unlike a URL it promises no page that explains it. */
export const RUN_PREDICATE = 'urn:touchstone:agent-run:v1'
export const RUN_SCHEMA = 'touchstone.agent_run.v1'

/** Absent trials that a receipt lists one by one. */
export const MOST_ABSENT = 1000

/** What no receipt of a run establishes, beside what its set says. */
const RUN_NON_CLAIMS = [
  'That the clock and the environment were as recorded: both are the word of whoever made the run.',
  'That the model behind a name is the one that its provider documents.',
  'That nothing was left out before: a configuration, repeats or trials that whoever made the run took out of it, with their evidence and out of the plan, leave no trace.',
  'That an audit export is complete, or authentic beyond a signature of its own.',
] as const

/** One case of the set. A case that the run left out has a row too, with the reason. */
export type CaseRow = {
  id: string
  digest: Digest
  left_out: string | null
  planned: number
  passed: number
  failed: number
  /** Trials that ended in an error of the machinery. They are in no rate. */
  errors: number
  /** Attempts after a first one. */
  retries: number
  unrun: number
}

export type RunCounts = {
  planned: number
  ran: number
  errors: number
  retries: number
  unrun: number
}

export type RunPredicate = {
  schema: typeof RUN_SCHEMA
  /** Who vouches: the one who made the run. */
  assurance: 'self_attested'
  set: { id: string; version: string; digest: Digest }
  run: Pick<Manifest, 'id' | 'created_at' | 'limits' | 'versions' | 'environment'>
  plan: Pick<Manifest, 'seed' | 'repeats' | 'planned' | 'until' | 'looks'>
  counts: RunCounts
  cases: CaseRow[]
  configurations: Pick<
    Manifest['configurations'][number],
    'name' | 'digest' | 'model' | 'simulated' | 'cached'
  >[]
  /**
   * Numbers with 12 significant digits; null where one is undefined. The rate of each single repeat
   * is left out: there are as many as repeats.
   */
  summary: StatedSummary[]
  /**
   * By which version of its method the summary was computed; and, as the manifest has it, claims
   * read and levels derived. Receipts of before they had versions have none.
   */
  methods?: { summary: number; claims?: number; levels?: number; outcomes?: number }
  /**
   * For each of the files of lines (`trials.ndjson` and the evidence): how many lines it has, and
   * the root of the Merkle tree (RFC 6962) over them in their order.
   */
  logs: { [file in Log]?: Tree }
  /**
   * Planned trials that have no line, by case and configuration. At most 1,000 are listed; of the
   * rest there is the number.
   */
  /**
   * Configurations of a real model whose repeats are byte for byte the same: in the summary each of
   * their cases counts once. Receipts of before they were looked for have none.
   */
  identical?: string[]
  absent: Absent[]
  /** Every file of the run, by path. */
  files: FileEntry[]
  does_not_establish: string[]
}

/** @throws TouchstoneError `run_invalid` when the folder's manifest or trial log cannot be read */
export function predicateOf(bytes: RunBytes, set: ScenarioSet): RunPredicate {
  const { manifest, files } = bytes
  if (manifest === null)
    throw new TouchstoneError('run_invalid', bytes.manifestProblem ?? 'expected a manifest')
  const [unread] = bytes.log.unread
  if (unread) throw new TouchstoneError('run_invalid', unread.detail, { where: unread.where })
  const { id, created_at, limits, versions, environment, seed, repeats, planned } = manifest
  const { until, looks } = manifest
  return {
    schema: RUN_SCHEMA,
    assurance: 'self_attested',
    set: { id: set.id, version: set.version, digest: set.digest },
    run: { id, created_at, limits, versions, environment },
    plan: { seed, repeats, planned, ...(until && { until }), ...(looks && { looks }) },
    counts: countsOf(manifest, bytes.log),
    cases: caseRows(manifest, bytes.log, set),
    configurations: statedConfigurations(manifest),
    identical: [...identicalIn(manifest, bytes.log, bytes.dir)],
    methods: { summary: METHODS.summary, ...manifest.methods },
    summary: statedSummary(summaryOf(manifest, bytes.log, bytes.dir)),
    logs: Object.fromEntries(bytes.trees),
    absent: absentIn(manifest, bytes.log.index.columns, MOST_ABSENT),
    files,
    does_not_establish: nonClaims(set),
  }
}

/** The configurations as a receipt has them: without their settings. */
export function statedConfigurations(manifest: Manifest): RunPredicate['configurations'] {
  return manifest.configurations.map(({ name, digest, model, simulated, cached }) => ({
    name,
    digest,
    model,
    simulated,
    ...(cached === false && { cached }),
  }))
}

export function countsOf(manifest: Manifest, { index }: TrialLog): RunCounts {
  const { columns, attempts } = index
  return {
    planned: manifest.planned,
    ran: columns.size,
    errors: columns.failures,
    retries: attempts - columns.size,
    unrun: manifest.planned - columns.size,
  }
}

/** A row for each case of the set, in its order. */
export function caseRows(
  manifest: Manifest,
  { index, attempts }: TrialLog,
  set: ScenarioSet,
): CaseRow[] {
  const reasons = new Map(manifest.left_out.map((one) => [one.case, one.reason]))
  const per = manifest.configurations.length * manifest.repeats
  return casesOf(set).map(({ id, digest }) => {
    const run = manifest.cases.some((one) => one.id === id)
    const ended = { pass: 0, fail: 0, unjudged: 0, error: 0 }
    for (const { name } of manifest.configurations)
      for (const [outcome, trials] of Object.entries(index.columns.outcomes(id, name)))
        ended[outcome as keyof typeof ended] += trials
    const ran = ended.pass + ended.fail + ended.unjudged + ended.error
    const planned = run ? per : 0
    return {
      id,
      digest,
      left_out: run ? null : (reasons.get(id) ?? 'not in the run'),
      planned,
      passed: ended.pass,
      failed: ended.fail,
      errors: ended.error,
      retries: (attempts.get(id) ?? 0) - ran,
      unrun: planned - ran,
    }
  })
}

export function nonClaims({ set }: Pick<ScenarioSet, 'set'>): string[] {
  const said = Array.isArray(set['doesNotEstablish']) ? set['doesNotEstablish'] : []
  return [...said.filter((one) => typeof one === 'string'), ...RUN_NON_CLAIMS]
}

/**
 * What was tested, by digest: the configurations. Two with one digest (a run against itself) are
 * told apart by name.
 */
export function subjectsOf(manifest: Pick<Manifest, 'configurations'>): Statement['subject'] {
  return manifest.configurations.map(({ name, digest, model }) =>
    descriptor(name, digest, { annotations: { model } }),
  ) as Statement['subject']
}

export function runStatement(
  manifest: Pick<Manifest, 'configurations'>,
  predicate: RunPredicate,
): Statement {
  return statement(subjectsOf(manifest), RUN_PREDICATE, predicate) as unknown as Statement
}

/** The published set as in-toto names a configuration: by id, by id and version, by digest. */
export function setDescriptor({ id, version, digest }: RunPredicate['set']): Descriptor {
  return descriptor(id, digest, { uri: `urn:touchstone:scenarios:${id}@${version}` })
}

/**
 * The standard Test Result of a run: a case has passed when each of its planned trials did. Errors,
 * trials that did not run and cases that were left out are warned of.
 */
export function testResultOf(
  subject: Statement['subject'],
  predicate: RunPredicate,
): Statement<TestResult> {
  const rows = predicate.cases
  const failed = rows.filter((row) => row.failed > 0)
  const warned = rows.filter(
    (row) => row.failed === 0 && (row.left_out !== null || row.errors > 0 || row.unrun > 0),
  )
  const passed = rows.filter((row) => !failed.includes(row) && !warned.includes(row))
  const ids = (list: CaseRow[]) => list.map((row) => row.id)
  return testResult(subject, {
    result: failed.length > 0 ? 'FAILED' : warned.length > 0 ? 'WARNED' : 'PASSED',
    configuration: [setDescriptor(predicate.set)],
    passedTests: ids(passed),
    warnedTests: ids(warned),
    failedTests: ids(failed),
  })
}

/**
 * The summary as JSON holds it: undefined numbers are null, and no digit is claimed that another
 * machine would not compute. Repeats that the transcripts show to be the same count once.
 */
export function summaryOf(manifest: Manifest, log: TrialLog, dir: string): ConfigurationSummary[] {
  const rounded = (_: string, one: unknown) =>
    typeof one === 'number' && !Number.isSafeInteger(one) && Number.isFinite(one)
      ? Number(one.toPrecision(12))
      : one
  const identical = identicalIn(manifest, log, dir)
  const found = summariseIndependent(manifest, log.index.columns, identical)
  return JSON.parse(JSON.stringify(found, rounded)) as ConfigurationSummary[]
}

/**
 * Configurations whose repeats are byte for byte the same. What cannot be read of the transcripts
 * is said by the step that compares their digests.
 */
export function identicalIn(
  manifest: Manifest,
  { index: { columns } }: TrialLog,
  dir: string,
): ReadonlySet<string> {
  const reader = new LogReader(dir, columns)
  const record = (key: string) => [...reader.records([key])][0] as TrialRecord
  return attempt(() => identicalRepeats({ dir, manifest, columns, record })).value ?? new Set()
}

type StatedSummary = Omit<ConfigurationSummary, 'rates'> & {
  rates: { [metric in Metric]: Omit<MetricSummary, 'repeats'> }
}

/** The summary as a receipt has it. */
export function statedSummary(summary: readonly ConfigurationSummary[]): StatedSummary[] {
  return summary.map((one) => {
    const rates = Object.entries(one.rates).map(([metric, { repeats: _, ...rate }]) => [
      metric,
      rate,
    ])
    return { ...one, rates: Object.fromEntries(rates) }
  })
}
