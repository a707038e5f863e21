/**
 * One trial of a signed run, shown without the others: its line, the path to the root that the
 * receipt has, and its evidence.
 */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { requireText } from '../../arguments.ts'
import { type Digest, isDigest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, writeNew } from '../../files.ts'
import { decode, isObject, type Json, type JsonObject, parseLine } from '../../json.ts'
import { FILES, groups, METHODS, methodsIn, type TrialRecord } from '../../log/index.ts'
import { Shown } from '../../shown.ts'
import { LineWindow } from '../../window.ts'
import { attemptId, keyedLine, linesOfAttempt } from '../recompute/run-evidence.ts'
import { RUN_PREDICATE } from '../recompute/run-predicate.ts'
import { RUN_PREDICATE_V0 } from '../recompute/run-predicate-v0.ts'
import { attemptProblems, ToldByAll } from '../recompute/run-trials.ts'
import { attempt, judged, type Problem, type Step, unchecked } from '../recompute/step.ts'
import { eachLine } from '../recompute/trial-log.ts'
import { type Envelope, open, readEnvelope } from '../seal/dsse.ts'
import { leafHash, MerkleRoot, merklePath, rootOfPath } from '../seal/merkle.ts'
import { readStatement, type Statement } from '../seal/statement.ts'

export const PROOF_SCHEMA = 'touchstone.trial_proof.v0'

/** What a proof of one trial cannot show, since it shows that trial alone. */
export const PROOF_NON_CLAIMS = [
  'That the attempt is the one that counts: the rest of the log is not here.',
  'That the trial was planned, and that its goal was judged as its case asks: neither the plan nor the case is here.',
] as const

export type TrialProofData = {
  schema: typeof PROOF_SCHEMA
  /** The trial's line of `trials.ndjson`, its place from 0, and how many lines the log has. */
  line: string
  index: number
  size: number
  /** From the line upwards: about log2(size) digests. */
  path: Digest[]
  /** The trial's lines of the other files. */
  decisions: string[]
  audit: string[]
  transcripts: string[]
  /** The run's receipt. */
  receipt: Envelope
}

/**
 * A trial of a run with a receipt, to be verified without the run: `receipt.verify(path, { key })`.
 */
export class TrialProof extends Shown {
  readonly data: TrialProofData

  constructor(data: TrialProofData) {
    super()
    this.data = data
  }

  /** Write it as one file. @throws TouchstoneError `file_exists`, `file_unwritable` */
  save(path: string): string {
    writeNew(path, `${JSON.stringify(this.data, null, 2)}\n`)
    return path
  }

  toJSON(): TrialProofData {
    return this.data
  }

  text(): string {
    const { line, index, size, path } = this.data
    const { key, attempt: number } = parseLine(line, 'line') as unknown as TrialRecord
    return `Proof of ${key}, attempt ${number}: line ${index + 1} of ${size}, by ${path.length} digests`
  }
}

/**
 * Show one trial of a run that has a receipt. The proof has the attempt that counts, its evidence,
 * and about log2(n) digests.
 *
 * @param dir the run's folder with its `receipt.json`
 * @param key `case|configuration|trial`
 * @throws TouchstoneError `argument_invalid` for a key that the log does not have; `run_invalid`
 *   when the log is not the one that the receipt commits to, or the receipt commits to no tree, as
 *   those of before do not
 * @example
 * // not run: it needs a signed run
 * const proof = await prove('runs/2026-01-01', 'lying_success/deploy-key|naive|0')
 * proof.save('proof.json')
 */
export async function prove(dir: string, key: string): Promise<TrialProof> {
  requireText(dir, "a run's folder", 'dir')
  requireText(key, 'the key of a trial (case|configuration|trial)', 'key')
  const envelope = readEnvelope(readBytes(join(dir, 'receipt.json')))
  const { predicateType, predicate } = readStatement(open(envelope).payload)
  const told = treeIn(predicateType, predicate)
  if (told === null)
    throw new TouchstoneError(
      'run_invalid',
      'expected the receipt of a run with the root of its log, got another (issue it again)',
      { where: join(dir, 'receipt.json') },
    )
  const { tree, leaves, found } = await searched(join(dir, FILES.trials), key)
  if (tree.digest() !== told['root'])
    throw new TouchstoneError(
      'run_invalid',
      `expected the log that the receipt commits to, got another one (touchstone verify ${dir} says where)`,
      { where: join(dir, FILES.trials) },
    )
  if (found === null)
    throw new TouchstoneError(
      'argument_invalid',
      `expected the key of a trial (case|configuration|trial), got "${key}"`,
      { where: 'key' },
    )
  const { record, line, index } = found
  const own = (file: string) => linesOf(join(dir, file), record)
  return new TrialProof({
    schema: PROOF_SCHEMA,
    line,
    index,
    size: tree.size,
    path: merklePath(leaves, index),
    decisions: await own(FILES.decisions),
    audit: await own(FILES.audit),
    transcripts: await own(FILES.transcripts),
    receipt: envelope,
  })
}

/** What a receipt says of the lines of the trial log; null for a receipt of something else. */
function treeIn(predicateType: string, predicate: JsonObject): JsonObject | null {
  const logs = isObject(predicate['logs']) ? predicate['logs'] : {}
  const told = predicateType === RUN_PREDICATE ? logs[FILES.trials] : predicate['log']
  const ofRun = predicateType === RUN_PREDICATE || predicateType === RUN_PREDICATE_V0
  return ofRun && isObject(told) ? told : null
}

type Found = { record: TrialRecord; line: string; index: number }

/** The tree over a trial log, its leaves (32 bytes for each), and the attempt that counts. */
async function searched(path: string, key: string) {
  const tree = new MerkleRoot()
  let leaves = Buffer.alloc(1 << 16)
  let found: Found | null = null
  await eachLine(path, FILES.trials, [], '', undefined, (window) => {
    const leaf = leafHash(window.bytes)
    if (32 * tree.size === leaves.length)
      leaves = Buffer.concat([leaves, Buffer.alloc(leaves.length)])
    leaves.write(leaf, 32 * tree.size, 'hex')
    tree.add(leaf)
    const keyed = keyedLine({ bytes: window.bytes, line: window.line }, FILES.trials)
    if ('problem' in keyed || keyed.value['key'] !== key) return
    const record = keyed.value as unknown as TrialRecord
    if (found === null || record.attempt >= found.record.attempt)
      found = { record, line: keyed.text, index: tree.size - 1 }
  })
  return { tree, leaves: leaves.subarray(0, 32 * tree.size), found: found as Found | null }
}

/** The lines of an attempt in a file of evidence. */
function linesOf(path: string, { key, attempt: number }: TrialRecord): string[] {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return []
  const window = new LineWindow(path)
  try {
    for (const group of groups(window))
      if (group.key === key && group.attempt === number)
        return decode(group.bytes, path).split('\n').filter(Boolean)
    return []
  } finally {
    window.close()
  }
}

/** True for JSON that says it is a proof of a trial. */
export function isProof(value: unknown): value is JsonObject {
  return isObject(value) && value['schema'] === PROOF_SCHEMA
}

const isPlace = (value: Json | undefined): value is number => Number.isSafeInteger(value)
const isText = (value: Json) => typeof value === 'string'
const isTexts = (value: Json) => Array.isArray(value) && value.every(isText)

/** The members of a proof. A value of another kind is not read as one of these. */
const MEMBERS: { [member: string]: [form: string, holds: (value: Json) => boolean] } = {
  line: ['a text', isText],
  index: ['a whole number', isPlace],
  size: ['a whole number', isPlace],
  path: ['a list of digests', (value) => Array.isArray(value) && value.every(isDigest)],
  decisions: ['a list of texts', isTexts],
  audit: ['a list of texts', isTexts],
  transcripts: ['a list of texts', isTexts],
  receipt: ['an envelope', isObject],
}

/**
 * The steps by which a trial's proof is checked, once its receipt was opened.
 *
 * @param seen is told what was not computed again
 */
export async function proofSteps(
  proof: JsonObject,
  { predicateType, predicate }: Statement,
  seen = new ToldByAll(),
): Promise<Step[]> {
  const { requireTrialRecord } = await import('../../log/records.ts')
  const { index, size, path } = proof
  const line = typeof proof['line'] === 'string' ? proof['line'] : ''
  const told = treeIn(predicateType, predicate) ?? {}
  const { value: record, problem } = attempt(() =>
    requireTrialRecord(parseLine(line, 'line'), 'line'),
  )
  const digests = Array.isArray(path) && path.every(isDigest) ? path : null
  const root =
    digests && isPlace(index) && isPlace(size)
      ? rootOfPath(leafHash(Buffer.from(line)), index, size, digests)
      : null
  const log: Problem[] = []
  const add = (code: string, where: string, detail: string) => log.push({ code, where, detail })
  for (const [member, [form, holds]] of Object.entries(MEMBERS))
    if (!holds(proof[member] ?? null)) add('proof_invalid', member, `expected ${form}, got another`)
  if (record === null) add('trial_unreadable', 'line', problem ?? 'unreadable')
  if (size !== told['lines'])
    add(
      'log_size_differs',
      'size',
      `the receipt has ${told['lines']} lines, the proof says ${size}`,
    )
  if (root === null || root !== told['root'])
    add(
      'trial_not_in_log',
      'path',
      `line and path give ${root ?? 'no root'}, the receipt has ${told['root']}`,
    )
  const steps = [
    judged('trial log', log, 'the line is in the log that the receipt commits to, by its path'),
  ]
  const names = ['decisions', 'audit exports', 'transcripts', 'levels'] as const
  if (record === null)
    return [...steps, ...names.map((name) => unchecked(name, 'trial_unreadable', 'it names them'))]
  const id = attemptId(record.key, record.attempt)
  const unread: Problem[] = []
  const lines = (name: string) => linesOfAttempt(id, name, textsIn(proof[name]), unread)
  const evidence = {
    decisions: lines('decisions'),
    audits: lines('audit'),
    transcripts: lines('transcripts'),
  }
  Object.assign(seen, methodsIn(predicate['methods']), { method: METHODS.summary })
  const { decisions, audits, transcripts, levels } = attemptProblems(record, evidence, seen)
  return [
    ...steps,
    judged('decisions', [...unread, ...decisions], 'every call of the trial, by digest'),
    judged('audit exports', audits, 'its exports, by digest'),
    judged(
      'transcripts',
      transcripts,
      'its transcript, by digest; calls, end and claims are the record’s',
    ),
    judged('levels', levels, 'derived again for every call from decisions and audit exports'),
  ]
}

function textsIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map((one) => (typeof one === 'string' ? one : '')) : []
}
