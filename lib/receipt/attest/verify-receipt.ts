/**
 * Checking a receipt offline: its envelope, its signature, the set it names, and everything that it
 * says.
 */

import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gotShape } from '../../arguments.ts'
import { canonical } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes } from '../../files.ts'
import { decode, isObject, type Json, type JsonObject, parse } from '../../json.ts'
import { absentIn, FILES } from '../../log/index.ts'
import type { ScenarioSet } from '../../scenario/index.ts'
import { checkRun, RUN_STEPS } from '../recompute/check-run.ts'
import { checkSet, type GivenSet } from '../recompute/check-set.ts'
import { type RunBytes, readRunBytes } from '../recompute/run-folder.ts'
import {
  caseRows,
  countsOf,
  nonClaims,
  RUN_PREDICATE,
  type RunPredicate,
  summaryOf,
  testResultOf,
} from '../recompute/run-predicate.ts'
import { type LoggedRow, loggedRow, RUN_PREDICATE_V0 } from '../recompute/run-predicate-v0.ts'
import { answeredAs, notRecomputed, ToldByAll } from '../recompute/run-trials.ts'
import { attempt, differences, judged, objectsIn, type Step, unchecked } from '../recompute/step.ts'
import type { LoggedLine } from '../recompute/trial-log.ts'
import { open, readEnvelope } from '../seal/dsse.ts'
import { keyIdOf, publicKeyOf } from '../seal/keys.ts'
import { readStatement, type Statement } from '../seal/statement.ts'
import {
  checkProbe,
  PROBE_PREDICATE,
  type ProbePredicate,
  probeTestResult,
} from './probe-predicate.ts'
import { isProof, PROOF_NON_CLAIMS, proofSteps } from './prove.ts'
import { nameOf, Verification, type VerificationData } from './verification.ts'

export type CheckOptions = {
  /**
   * The auditor's Ed25519 public key: PEM, or the path of a PEM file. Null: none, so that no
   * signature can be verified.
   */
  key?: string | null
  /**
   * The published set: `id@version`, the path of its text, or the set. Default: the published one
   * that the receipt names.
   */
  set?: GivenSet
  /** Folder of published sets, default the shipped ones. */
  root?: string
}

/**
 * Check a receipt step by step: everything it says is computed again from the run's folder, the set
 * and nothing else.
 *
 * Nothing is asked of the network and no key is taken from the receipt. A bad receipt is a result;
 * only a path or key that cannot be used throws.
 *
 * @param path a run's folder, or a receipt's file; the run's files are those beside the receipt
 * @throws TouchstoneError `file_unreadable` when there is no receipt, `key_invalid`, `set_unknown`
 *   for a set by name
 */
export async function checkReceipt(
  path: string,
  options: CheckOptions = {},
): Promise<Verification> {
  const folder = attempt(() => statSync(path).isDirectory()).value === true
  const file = folder ? join(path, 'receipt.json') : path
  const key = options.key == null ? null : pemOf(options.key)
  if (key !== null) publicKeyOf(key)
  // A pipe may be a receipt that is named; one that lies in a run's folder only keeps the reader
  // waiting.
  if (folder && attempt(() => statSync(file).isFile()).value === false)
    throw new TouchstoneError(
      'file_unreadable',
      'expected a readable file, got a folder or a device',
      { where: file },
    )
  const bytesOfFile = readBytes(file)
  const proof = folder ? null : attempt(() => parse(bytesOfFile, file)).value
  if (isProof(proof)) return checkProof(proof, key, options)
  const opened = openEnvelope(bytesOfFile, key)
  const { value: statement } = opened
  if (statement === null) return new Verification({ ...NOTHING, steps: opened.steps })

  const predicate = statement.predicate
  const kind = {
    [RUN_PREDICATE]: 'run',
    [RUN_PREDICATE_V0]: 'run',
    [PROBE_PREDICATE]: 'connection test',
  }[statement.predicateType] as 'run' | 'connection test' | undefined
  if (kind === undefined) {
    const detail = `expected ${RUN_PREDICATE} or ${PROBE_PREDICATE}, got ${statement.predicateType}`
    const problem = { code: 'predicate_unknown', where: 'predicateType', detail }
    return new Verification({
      ...NOTHING,
      steps: [...opened.steps, judged('statement', [problem], '')],
    })
  }
  const { step: setStep, set } = checkSet(predicate['set'], options.set, options.root)
  const dir = dirname(file)
  // A folder is a run's, whatever was taken out of it; beside a lone receipt there may be no run at
  // all.
  const here = folder || Object.values(FILES).some((name) => existsSync(join(dir, name)))
  const rows: LoggedRow[] = []
  const each =
    statement.predicateType === RUN_PREDICATE_V0
      ? (line: LoggedLine) => rows.push(loggedRow(line))
      : undefined
  const bytes =
    kind === 'run' && here
      ? await readRunBytes(dir, { sizes: sizesIn(predicate['files']), each })
      : null
  const content = statement as unknown as JsonObject
  const run = kind === 'run' ? await runSteps(content, bytes, set, rows) : null
  const steps = run?.steps ?? checkProbe(content, set)
  const beside = file.endsWith('receipt.json')
    ? join(dir, 'test-result.json')
    : file.replace(/(\.json)?$/, '.test-result.json')
  const claimed = isObject(predicate['set']) ? predicate['set'] : {}
  const said = predicate['does_not_establish']
  return new Verification({
    of: nameOf(kind, predicate),
    set: {
      id: String(claimed['id']),
      version: String(claimed['version']),
      digest: String(claimed['digest']),
    },
    signed_by: opened.signedBy,
    steps: [...opened.steps, setStep, ...steps, ...testResultSteps(beside, key, kind, statement)],
    recomputed: bytes && set && run?.told ? recomputedOf(bytes, set, run.told) : null,
    not_recomputed: run?.told ? notRecomputed(run.told) : [],
    does_not_establish: Array.isArray(said) ? said.filter((one) => typeof one === 'string') : [],
  })
}

/** Check one trial of a run without the run: see `prove`. */
async function checkProof(
  proof: JsonObject,
  key: string | null,
  options: CheckOptions,
): Promise<Verification> {
  const opened = openEnvelope(Buffer.from(JSON.stringify(proof['receipt'] ?? null)), key)
  const { value: statement } = opened
  if (statement === null) return new Verification({ ...NOTHING, steps: opened.steps })
  const { predicate, predicateType } = statement
  const { step } = checkSet(predicate['set'], options.set, options.root)
  const said = predicate['does_not_establish']
  const detail = `expected ${RUN_PREDICATE}, got ${predicateType}`
  const told = new ToldByAll()
  const steps =
    predicateType === RUN_PREDICATE || predicateType === RUN_PREDICATE_V0
      ? [step, ...(await proofSteps(proof, statement, told))]
      : [judged('statement', [{ code: 'predicate_unknown', where: 'predicateType', detail }], '')]
  return new Verification({
    ...NOTHING,
    of: nameOf('run', predicate),
    set: setOf(predicate),
    signed_by: opened.signedBy,
    steps: [...opened.steps, ...steps],
    not_recomputed: notRecomputed(told),
    does_not_establish: [
      ...PROOF_NON_CLAIMS,
      ...(Array.isArray(said) ? said.filter((one) => typeof one === 'string') : []),
    ],
  })
}

function setOf(predicate: JsonObject): VerificationData['set'] {
  const { id, version, digest } = isObject(predicate['set']) ? predicate['set'] : {}
  return { id: String(id), version: String(version), digest: String(digest) }
}

/** The sizes that a receipt commits to, by path. */
function sizesIn(files: Json | undefined): Map<string, number> {
  return new Map(objectsIn(files).map((row) => [String(row['path']), Number(row['size_bytes'])]))
}

const NOTHING: Omit<VerificationData, 'schema' | 'verdict' | 'receipt' | 'steps'> = {
  of: null,
  set: null,
  signed_by: null,
  recomputed: null,
  not_recomputed: [],
  does_not_establish: [],
}

/** PEM, or what stands in the file of that path. */
export function pemOf(key: string): string {
  if (typeof key !== 'string')
    throw new TouchstoneError('key_invalid', `expected PEM or a path, ${gotShape(key)}`, {
      where: 'key',
    })
  return key.includes('-----BEGIN') ? key : decode(readBytes(key), key)
}

type OpenedEnvelope = { steps: Step[]; value: Statement | null; signedBy: string | null }

function openEnvelope(bytes: Uint8Array, key: string | null): OpenedEnvelope {
  const fail = (code: string, detail: string): OpenedEnvelope => ({
    steps: [
      judged('envelope', [{ code, where: 'the receipt', detail }], ''),
      unchecked('everything else', code, 'a receipt that cannot be read says nothing'),
    ],
    value: null,
    signedBy: null,
  })
  const { value: envelope, problem } = attempt(() => readEnvelope(bytes))
  if (envelope === null) return fail('envelope_invalid', problem ?? 'unreadable')
  const opened = attempt(() => open(envelope, key === null ? {} : { key }))
  if (opened.value === null) return fail('envelope_invalid', opened.problem ?? 'unreadable')
  const { signature, payload } = opened.value
  const read = attempt(() => readStatement(payload))
  const signed = signatureStep(signature, envelope.signatures, key)
  const signedBy = key !== null && signed.verdict === 'verified' ? keyIdOf(publicKeyOf(key)) : null
  if (read.value === null) {
    const made = fail('statement_invalid', read.problem ?? 'unreadable')
    return { ...made, steps: [made.steps[0] as Step, signed, made.steps[1] as Step] }
  }
  return {
    steps: [judged('envelope', [], 'DSSE with an in-toto Statement v1, read strictly'), signed],
    value: read.value,
    signedBy,
  }
}

function signatureStep(
  state: 'verified' | 'unsigned' | 'not_by_key',
  signatures: readonly { keyid: string }[],
  key: string | null,
): Step {
  const fail = (code: string, detail: string) =>
    judged('signature', [{ code, where: 'envelope.signatures', detail }], '')
  if (key === null) {
    if (state === 'unsigned')
      return unchecked('signature', 'unsigned', 'nobody signed this receipt')
    const names = signatures.map(({ keyid }) => keyid.slice(0, 12) || 'no name').join(', ')
    return unchecked(
      'signature',
      'key_absent',
      `it names the key ${names}…; give the one that you trust`,
    )
  }
  const id = keyIdOf(publicKeyOf(key))
  const named = signatures.some(({ keyid }) => keyid === id || keyid === '')
  if (state === 'unsigned')
    return fail('unsigned', 'expected a signature by the key you gave, got none')
  if (state === 'verified') {
    // The hint is not signed. One that points elsewhere misleads whoever sorts by it.
    if (!named)
      return fail(
        'key_hint_wrong',
        `your key made a signature that is filed under another key, not ${id}`,
      )
    const others = signatures.length > 1 ? `; ${signatures.length - 1} more not looked at` : ''
    return judged('signature', [], `Ed25519 over the exact bytes, by the key you gave${others}`)
  }
  if (!named)
    return fail(
      'key_differs',
      `signed by ${signatures.map(({ keyid }) => keyid.slice(0, 12)).join(', ')}…, your key is ${id.slice(0, 12)}…`,
    )
  return fail('signature_wrong', 'the key you gave did not sign these bytes')
}

async function runSteps(
  statement: JsonObject,
  bytes: RunBytes | null,
  set: ScenarioSet | null,
  rows: readonly LoggedRow[],
): Promise<{ steps: Step[]; told: ToldByAll | null }> {
  if (bytes === null) {
    const why = 'the run’s folder is not beside the receipt'
    return { steps: RUN_STEPS.map((step) => unchecked(step, 'run_absent', why)), told: null }
  }
  const { steps, told } = await checkRun(statement, bytes, set, rows)
  const predicate = isObject(statement['predicate']) ? statement['predicate'] : {}
  if (set === null) {
    const why = 'the set says what a pass does not establish'
    return { steps: [...steps, unchecked('non-claims', 'set_absent', why)], told }
  }
  const lost = differences(
    nonClaims(set),
    predicate['does_not_establish'],
    'predicate.does_not_establish',
    'non_claims_differ',
  )
  const same = judged('non-claims', lost, 'what a pass does not establish, as the set has it')
  return { steps: [...steps, same], told }
}

function recomputedOf(
  bytes: RunBytes,
  set: ScenarioSet,
  told: ToldByAll,
): VerificationData['recomputed'] {
  const { manifest, log } = bytes
  if (manifest === null) return null
  return attempt(() => ({
    counts: countsOf(manifest, log),
    cases: caseRows(manifest, log, set),
    summary: summaryOf(manifest, log, bytes.dir),
    absent: absentIn(manifest, log.index.columns),
    answered_as: answeredAs(told),
  })).value
}

/**
 * The standard Test Result, where one lies beside the receipt: signed the same way, and saying what
 * the receipt gives.
 */
function testResultSteps(
  path: string,
  key: string | null,
  kind: string,
  statement: Statement,
): Step[] {
  const step = 'test result'
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return []
  if (!stat.isFile())
    return [
      judged(
        step,
        [{ code: 'test_result_differs', where: 'test-result.json', detail: 'it is no file' }],
        '',
      ),
    ]
  const opened = openEnvelope(readBytes(path), key)
  const wrong = opened.steps.find(({ verdict }) => verdict === 'failed')
  if (wrong)
    return [
      {
        ...wrong,
        step,
        problems: wrong.problems.map((one) => ({
          ...one,
          where: `test-result.json, ${one.where}`,
        })),
      },
    ]
  const made = attempt(() =>
    kind === 'run'
      ? testResultOf(statement.subject, statement.predicate as unknown as RunPredicate)
      : probeTestResult(statement.predicate as unknown as ProbePredicate),
  )
  if (made.value === null || opened.value === null)
    return [unchecked(step, 'receipt_incomplete', 'the receipt does not say enough to compute it')]
  const problems =
    canonical(made.value) === canonical(opened.value)
      ? []
      : [
          {
            code: 'test_result_differs',
            where: 'test-result.json',
            detail: 'it does not say what the receipt gives',
          },
        ]
  return [judged(step, problems, 'the standard in-toto Test Result says what the receipt gives')]
}
