/** Making receipts: for a run in its folder, and for a connection test. */

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { onlyMembers } from '../../arguments.ts'
import { canonical, type Digest } from '../../canonical.ts'
import { count } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, replaceFile, writeNew } from '../../files.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { casesOf, get, isPublished, list, load, type ScenarioSet } from '../../scenario/index.ts'
import { Shown } from '../../shown.ts'
import { checkRun } from '../recompute/check-run.ts'
import type { GivenSet } from '../recompute/check-set.ts'
import { readRunBytes } from '../recompute/run-folder.ts'
import { predicateOf, runStatement, subjectsOf, testResultOf } from '../recompute/run-predicate.ts'
import { type Envelope, seal } from '../seal/dsse.ts'
import { privateKeyOf } from '../seal/keys.ts'
import type { Statement } from '../seal/statement.ts'
import { shapeOf } from '../surface/decision.ts'
import { type ProbePredicate, probeStatement, probeTestResult } from './probe-predicate.ts'
import { pemOf } from './verify-receipt.ts'

export type IssueOptions = {
  /**
   * Ed25519 private key: PEM, or the path of a PEM file. Without one the receipt is unsigned and
   * says so.
   */
  key?: string | undefined
  /** Folder of published sets, default the shipped ones. */
  root?: string | undefined
}

export type IssueRunOptions = IssueOptions & {
  /**
   * The published set that the run ran: `id@version`, a path, or the set. Default: the newest one
   * that has all its cases.
   */
  set?: GivenSet | undefined
}

const OF_A_RUN = ['key', 'root', 'set'] as const

/** A receipt: an in-toto Statement in a DSSE envelope, and the standard Test Result in another. */
export class Receipt extends Shown {
  readonly statement: Statement
  readonly envelope: Envelope
  readonly testResult: { statement: Statement; envelope: Envelope }

  constructor(statement: Statement, testResult: Statement, key?: string) {
    super()
    const sealed = (one: Statement) => seal(one, key === undefined ? {} : { key: pemOf(key) })
    this.statement = statement
    this.envelope = sealed(statement)
    this.testResult = { statement: testResult, envelope: sealed(testResult) }
  }

  get signed(): boolean {
    return this.envelope.signatures.length > 0
  }

  /**
   * Write it: `receipt.json` and `test-result.json` into a folder, or `<path>` and `<path without
   * .json>.test-result.json`.
   *
   * @returns the path of the receipt
   * @throws TouchstoneError `file_exists`: no receipt is ever overwritten; `file_unwritable`
   */
  save(path: string): string {
    const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    const own = folder ? join(path, 'receipt.json') : path
    const beside = folder
      ? join(path, 'test-result.json')
      : path.replace(/(\.json)?$/, '.test-result.json')
    const text = (envelope: Envelope) => `${JSON.stringify(envelope, null, 2)}\n`
    // The receipt is written last. What a process that was killed left of these very texts is
    // written anew.
    const files = [
      { file: beside, text: text(this.testResult.envelope), most: 0 },
      { file: own, text: text(this.envelope), most: 1 },
    ]
    for (const { file, text, most } of files)
      if (existsSync(file) && !isBeginning(file, text, text.length - most))
        throw new TouchstoneError(
          'file_exists',
          'expected a path without a receipt, got one that exists',
          {
            where: file,
          },
        )
    for (const { file, text } of files) {
      if (existsSync(file)) replaceFile(file, text, { follow: false })
      else writeNew(file, text)
    }
    return own
  }

  /** The envelope: what `receipt.json` holds. */
  toJSON(): Envelope {
    return this.envelope
  }

  text(): string {
    const { predicate, predicateType, subject } = this.statement
    const { id, version, digest } = predicate['set'] as { [name: string]: string }
    const [signature] = this.envelope.signatures
    return [
      `Receipt (${predicateType}) of ${id}@${version}`,
      `  set      ${digest}`,
      `  subject  ${subject.map((one) => one.name).join(', ')}`,
      `  signed   ${signature ? `Ed25519, key ${signature.keyid}` : 'no: nobody vouches for it'}`,
      `  payload  ${count(Buffer.byteLength(canonical(this.statement)), 'byte')}`,
    ].join('\n')
  }
}

/** True for a file that holds the first characters of a text, at most so many. */
function isBeginning(file: string, text: string, most: number): boolean {
  const bytes = readBytes(file)
  return bytes.length <= most && Buffer.from(text).subarray(0, bytes.length).equals(bytes)
}

/**
 * A receipt of a run, made from its folder.
 *
 * It is made from what stands there, and checked before it is handed out: a log that does not add
 * up gets none.
 *
 * @param dir the run's folder
 * @throws TouchstoneError `set_unpublished` when no published set has the run's cases, or the given
 *   one does not; `run_invalid` for a folder that cannot be read or does not add up; `key_invalid`
 */
export async function issueRun(dir: string, options: IssueRunOptions = {}): Promise<Receipt> {
  if (typeof dir !== 'string')
    throw new TouchstoneError('argument_invalid', `expected a run's folder, got ${shapeOf(dir)}`, {
      where: 'dir',
    })
  onlyMembers(options, OF_A_RUN, 'options')
  const bytes = await readRunBytes(dir)
  const { manifest } = bytes
  if (manifest === null)
    throw new TouchstoneError('run_invalid', bytes.manifestProblem ?? 'expected a manifest', {
      where: dir,
    })
  const recorded = manifest.set === null ? undefined : `${manifest.set.id}@${manifest.set.version}`
  const set = publishedSet(manifest.cases, { ...options, set: options.set ?? recorded })
  const predicate = predicateOf(bytes, set)
  const statement = runStatement(manifest, predicate)
  const { steps } = await checkRun(JSON.parse(canonical(statement)) as JsonObject, bytes, set)
  const wrong = steps.find((step) => step.verdict !== 'verified')
  if (wrong)
    throw new TouchstoneError(
      'run_invalid',
      `expected a run whose files agree with each other, got ${wrong.code}: ${wrong.detail}`,
      {
        where: dir,
      },
    )
  return new Receipt(
    statement,
    testResultOf(subjectsOf(manifest), predicate) as unknown as Statement,
    options.key,
  )
}

/**
 * Whatever would keep a run of these cases from getting its receipt, said before it is run.
 *
 * @throws TouchstoneError what `issueRun` would throw of the set and the key
 */
export function requireIssuable(
  cases: readonly { id: string; digest: Digest }[],
  options: IssueRunOptions = {},
): ScenarioSet {
  onlyMembers(options, OF_A_RUN, 'options')
  if (options.key !== undefined) privateKeyOf(pemOf(options.key))
  return publishedSet(cases, options)
}

/**
 * A receipt of a connection test.
 *
 * @param predicate the probe's statement
 * @example
 * const result = await probe.connect('https://localhost/mcp')
 * const made = issueProbe(result.statement())
 * made.signed // false
 * made.testResult.statement.predicate.result // 'WARNED'
 */
export function issueProbe(predicate: ProbePredicate, options: IssueOptions = {}): Receipt {
  onlyMembers(options, ['key', 'root'], 'options')
  return new Receipt(
    probeStatement(predicate),
    probeTestResult(predicate) as unknown as Statement,
    options.key,
  )
}

/**
 * The published set that cases are of.
 *
 * @param cases every one must be the set's, by id and digest
 * @throws TouchstoneError `set_unpublished`, `set_unknown` for a name that no set has
 * @example
 * publishedSet([{ id: 'a', digest: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' }])
 * // throws set_unpublished
 */
export function publishedSet(
  cases: readonly { id: string; digest: Digest }[],
  options: IssueRunOptions = {},
): ScenarioSet {
  onlyMembers(options, OF_A_RUN, 'options')
  const { set: wanted, root } = options
  const given: unknown = cases
  if (!Array.isArray(given) || !given.every(isObject))
    throw new TouchstoneError(
      'argument_invalid',
      `expected a list of cases, got ${shapeOf(cases)}`,
      { where: 'cases' },
    )
  const at = root === undefined ? {} : { root }
  const missing = (set: ScenarioSet) => {
    const known = new Map(casesOf(set).map(({ id, digest }) => [id, digest]))
    return cases.find(({ id, digest }) => known.get(id) !== digest)
  }
  const refuse = (expected: string, got: string): never => {
    throw new TouchstoneError('set_unpublished', `expected ${expected}, got ${got}`)
  }
  if (wanted === undefined) {
    const names = list(at).map(({ id, version }) => `${id}@${version}`)
    const found = names.map((name) => get(name, at)).findLast((set) => missing(set) === undefined)
    const got = `cases that ${names.length ? `none of ${names.join(', ')} has` : 'no published set has'}`
    return (
      found ??
      refuse('the cases of a published set ("touchstone scenarios publish" makes one)', got)
    )
  }
  const set =
    typeof wanted !== 'string'
      ? wanted
      : wanted.includes('@') && !existsSync(wanted)
        ? get(wanted, at)
        : load(wanted)
  const name = `${set.id}@${set.version}`
  if (!isPublished(name, set.digest, at))
    return refuse('a published set', `${name} with ${set.digest}, which is not`)
  const missed = missing(set)
  return missed ? refuse(`only cases that ${name} has`, `${missed.id} with ${missed.digest}`) : set
}
