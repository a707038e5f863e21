/** Making receipts: for a run in its folder, and for a connection test. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { canonical, type JsonObject } from '../canonical.ts'
import { count, type Look } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { casesOf, get, isPublished, list, load, type ScenarioSet } from '../scenario.ts'
import { pemOf } from './check.ts'
import { checkRun } from './check-run.ts'
import type { GivenSet } from './check-set.ts'
import { type Envelope, seal } from './dsse.ts'
import { type ProbePredicate, probeStatement, probeTestResult } from './probe-predicate.ts'
import { type RunBytes, readRunBytes } from './run-folder.ts'
import { predicateOf, runStatement, subjectsOf, testResultOf } from './run-predicate.ts'
import type { Statement } from './statement.ts'

export type IssueOptions = {
  /** Ed25519 private key: PEM, or the path of a PEM file. Without one the receipt is unsigned and says so. */
  key?: string | undefined
  /** Folder of published sets, default the shipped ones. */
  root?: string | undefined
}

export type IssueRunOptions = IssueOptions & {
  /** The published set that the run ran: `id@version`, a path, or the set. Default: the newest one that has all its cases. */
  set?: GivenSet | undefined
}

/** A receipt: an in-toto Statement in a DSSE envelope, and the standard Test Result in another. */
export class Receipt {
  readonly statement: Statement
  readonly envelope: Envelope
  readonly testResult: { statement: Statement; envelope: Envelope }

  constructor(statement: Statement, testResult: Statement, key?: string) {
    const sealed = (one: Statement) => seal(one, key === undefined ? {} : { key: pemOf(key) })
    this.statement = statement
    this.envelope = sealed(statement)
    this.testResult = { statement: testResult, envelope: sealed(testResult) }
  }

  get signed(): boolean {
    return this.envelope.signatures.length > 0
  }

  /**
   * Write it: `receipt.json` and `test-result.json` into a folder, or `<path>` and `<path without .json>.test-result.json`.
   *
   * @returns the path of the receipt
   * @throws TouchstoneError `file_exists`; no receipt is ever overwritten
   */
  save(path: string): string {
    const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    const own = folder ? join(path, 'receipt.json') : path
    const beside = folder ? join(path, 'test-result.json') : path.replace(/(\.json)?$/, '.test-result.json')
    for (const file of [own, beside])
      if (existsSync(file))
        throw new TouchstoneError('file_exists', 'expected a path without a receipt, got one that exists', {
          where: file,
        })
    for (const [file, envelope] of [
      [own, this.envelope],
      [beside, this.testResult.envelope],
    ] as const) {
      writeFileSync(file, `${JSON.stringify(envelope, null, 2)}\n`, { flag: 'wx' })
    }
    return own
  }

  /** The envelope: what `receipt.json` holds. */
  toJSON(): Envelope {
    return this.envelope
  }

  text(_look: Look = {}): string {
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

  [inspect.custom](): string {
    return this.text()
  }

  [Symbol.for('Jupyter.display')](): { [mime: string]: string } {
    return { 'text/plain': this.text() }
  }
}

/**
 * A receipt of a run, made from its folder.
 *
 * It is made from what stands there, and checked before it is handed out: a log that does not add up gets none.
 *
 * @param dir the run's folder
 * @throws TouchstoneError `set_unpublished` when no published set has the run's cases, or the given one does not; `run_invalid` for
 *   a folder that cannot be read or does not add up; `key_invalid`
 */
export async function issueRun(dir: string, options: IssueRunOptions = {}): Promise<Receipt> {
  const bytes = await readRunBytes(dir)
  const set = setOf(bytes, options)
  const predicate = predicateOf(bytes, set)
  const { manifest } = bytes
  if (manifest === null) throw new TouchstoneError('run_invalid', 'expected a manifest', { where: dir })
  const statement = runStatement(manifest, predicate)
  const steps = await checkRun(JSON.parse(canonical(statement)) as JsonObject, bytes, set)
  const wrong = steps.find((step) => step.verdict !== 'verified')
  if (wrong)
    throw new TouchstoneError('run_invalid', `expected a run that adds up, got ${wrong.code}: ${wrong.detail}`, {
      where: dir,
    })
  return new Receipt(statement, testResultOf(subjectsOf(manifest), predicate) as unknown as Statement, options.key)
}

/** A receipt of a connection test. @param predicate the probe's statement */
export function issueProbe(predicate: ProbePredicate, options: IssueOptions = {}): Receipt {
  return new Receipt(probeStatement(predicate), probeTestResult(predicate) as unknown as Statement, options.key)
}

/** The published set of a run. */
function setOf({ manifest, manifestProblem }: RunBytes, { set: given, root }: IssueRunOptions): ScenarioSet {
  if (manifest === null) throw new TouchstoneError('run_invalid', manifestProblem ?? 'expected a manifest')
  const at = root === undefined ? {} : { root }
  const misses = (set: ScenarioSet) => {
    const known = new Map(casesOf(set).map(({ id, digest }) => [id, digest]))
    return manifest.cases.find(({ id, digest }) => known.get(id) !== digest)
  }
  const unpublished = (expected: string, got: string) => {
    throw new TouchstoneError('set_unpublished', `expected ${expected}, got ${got}`)
  }
  if (given === undefined && manifest.set === null) {
    const names = list(at).map(({ id, version }) => `${id}@${version}`)
    const found = names.map((name) => get(name, at)).findLast((set) => misses(set) === undefined)
    return (
      found ??
      unpublished(
        'a run of cases that are published as a set',
        `cases that none of ${names.join(', ') || 'no set'} has`,
      )
    )
  }
  const wanted = given ?? `${manifest.set?.id}@${manifest.set?.version}`
  const set =
    typeof wanted !== 'string' ? wanted : wanted.includes('@') && !existsSync(wanted) ? get(wanted, at) : load(wanted)
  const name = `${set.id}@${set.version}`
  if (!isPublished(name, set.digest, at))
    return unpublished('a published set', `${name} with ${set.digest}, which is not`)
  const missed = misses(set)
  if (missed) return unpublished(`only cases that ${name} has`, `${missed.id} with ${missed.digest}`)
  return set
}
