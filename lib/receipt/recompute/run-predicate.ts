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
  changedWorld,
  earlierAttempts,
  identicalRepeats,
  lastAttempts,
  type Manifest,
  rowsOf,
  summariseIndependent,
  type TrialRecord,
} from '../../log/index.ts'
import { casesOf, type ScenarioSet } from '../../scenario/index.ts'
import { bytesOf, MerkleRoot } from '../seal/merkle.ts'
import {
  type Descriptor,
  descriptor,
  type Statement,
  statement,
  type TestResult,
  testResult,
} from '../seal/statement.ts'
import { attempt, type FileEntry, type RunBytes } from './run-folder.ts'

/** A name in a space of its own: it promises no page that explains it. */
export const RUN_PREDICATE = 'urn:touchstone:agent-run:v0'

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

/**
 * A line of the trial log. One that ended in an error says with what, and whether its world may
 * have been changed before.
 */
export type LoggedLine = {
  key: string
  attempt: number
  digest: Digest
  ended?: string
  changed?: boolean
}

export type RunPredicate = {
  schema: 'touchstone.agent_run.v0'
  /** Who vouches: the one who made the run. */
  assurance: 'self_attested'
  set: { id: string; version: string; digest: Digest }
  run: Pick<Manifest, 'id' | 'created_at' | 'limits' | 'versions' | 'environment'>
  plan: Pick<Manifest, 'seed' | 'repeats' | 'planned' | 'until' | 'looks'>
  counts: RunCounts
  cases: CaseRow[]
  configurations: Pick<
    Manifest['configurations'][number],
    'name' | 'digest' | 'model' | 'simulated'
  >[]
  /** Numbers with 12 significant digits; null where one is undefined. */
  summary: ConfigurationSummary[]
  /** Every line of the trial log, in its order. */
  attempts: LoggedLine[]
  /**
   * The root of the Merkle tree (RFC 6962) over the lines of the trial log, in their order, and how
   * many there are. Receipts of before trials could be proved alone have none.
   */
  log?: { lines: number; root: Digest }
  /**
   * Configurations of a real model whose repeats are byte for byte the same: in the summary each of
   * their cases counts once. Receipts of before they were looked for have none.
   */
  identical?: string[]
  /** Planned trials that have no line, by case and configuration. */
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
  const attempts = bytes.log.map(({ record, digest, problem, line }) => {
    if (record === null)
      throw new TouchstoneError('run_invalid', problem ?? 'expected a trial', {
        where: `line ${line}`,
      })
    return { record, digest }
  })
  const records = attempts.map(({ record }) => record)
  const counted = lastAttempts(records)
  const { id, created_at, limits, versions, environment, seed, repeats, planned } = manifest
  const { until, looks } = manifest
  return {
    schema: 'touchstone.agent_run.v0',
    assurance: 'self_attested',
    set: { id: set.id, version: set.version, digest: set.digest },
    run: { id, created_at, limits, versions, environment },
    plan: { seed, repeats, planned, ...(until && { until }), ...(looks && { looks }) },
    counts: countsOf(manifest, records),
    cases: caseRows(manifest, records, set),
    configurations: manifest.configurations.map(({ name, digest, model, simulated }) => ({
      name,
      digest,
      model,
      simulated,
    })),
    identical: [...identicalIn(manifest, records, bytes.dir)],
    summary: summaryOf(manifest, records, bytes.dir),
    attempts: attempts.map(({ record, digest }) => loggedLine(record, digest)),
    log: treeOf(bytes.log.map(({ leaf }) => leaf)),
    absent: absentIn(manifest, counted),
    files,
    does_not_establish: nonClaims(set),
  }
}

/** What a receipt says of the lines of a trial log. @param leaves their hashes, in their order */
export function treeOf(leaves: readonly Digest[]): NonNullable<RunPredicate['log']> {
  const tree = new MerkleRoot()
  for (const leaf of leaves) tree.add(bytesOf(leaf))
  return { lines: tree.size, root: tree.digest() }
}

export function loggedLine(record: TrialRecord, digest: Digest): LoggedLine {
  const { key, attempt, outcome, error } = record
  return {
    key,
    attempt,
    digest,
    ...(outcome === 'error' && { ended: error?.code ?? 'unknown', changed: changedWorld(record) }),
  }
}

export function countsOf(manifest: Manifest, records: readonly TrialRecord[]): RunCounts {
  const counted = lastAttempts(records)
  return {
    planned: manifest.planned,
    ran: counted.length,
    errors: counted.filter((row) => row.outcome === 'error').length,
    retries: records.length - counted.length,
    unrun: manifest.planned - counted.length,
  }
}

/** A row for each case of the set, in its order. */
export function caseRows(
  manifest: Manifest,
  records: readonly TrialRecord[],
  set: ScenarioSet,
): CaseRow[] {
  const byCase = Map.groupBy(records, (row) => row.case)
  const reasons = new Map(manifest.left_out.map((one) => [one.case, one.reason]))
  const per = manifest.configurations.length * manifest.repeats
  return casesOf(set).map(({ id, digest }) => {
    const run = manifest.cases.some((one) => one.id === id)
    const mine = byCase.get(id) ?? []
    const counted = lastAttempts(mine)
    const of = (outcome: string) => counted.filter((row) => row.outcome === outcome).length
    const planned = run ? per : 0
    return {
      id,
      digest,
      left_out: run ? null : (reasons.get(id) ?? 'not in the run'),
      planned,
      passed: of('pass'),
      failed: of('fail'),
      errors: of('error'),
      retries: mine.length - counted.length,
      unrun: planned - counted.length,
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
 *
 * @param records every attempt
 */
export function summaryOf(
  manifest: Manifest,
  records: readonly TrialRecord[],
  dir: string,
): ConfigurationSummary[] {
  const counted = lastAttempts(records)
  const earlier = earlierAttempts(records, counted)
  const rounded = (_: string, one: unknown) =>
    typeof one === 'number' && !Number.isSafeInteger(one) && Number.isFinite(one)
      ? Number(one.toPrecision(12))
      : one
  const rows = rowsOf(counted, earlier)
  const found = summariseIndependent(manifest, rows, identicalIn(manifest, records, dir))
  return JSON.parse(JSON.stringify(found, rounded)) as ConfigurationSummary[]
}

/**
 * Configurations whose repeats are byte for byte the same. What cannot be read of the transcripts
 * is said by the step that compares their digests.
 */
export function identicalIn(
  manifest: Manifest,
  records: readonly TrialRecord[],
  dir: string,
): ReadonlySet<string> {
  const counted = lastAttempts(records)
  return attempt(() => identicalRepeats(dir, manifest, () => counted)).value ?? new Set()
}
