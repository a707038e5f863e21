/**
 * in-toto Statements (v1): what a receipt says, about which subject.
 *
 * @see https://github.com/in-toto/attestation, spec v1: statement, resource descriptor, predicate test-result v0.1
 */
import { type Digest, isDigest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject, parse } from '../../json.ts'
import { shapeOf } from '../surface/decision.ts'

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
export const TEST_RESULT_TYPE = 'https://in-toto.io/attestation/test-result/v0.1'

/** A thing named by its digests. in-toto writes hex without the `sha256:`. */
export type Descriptor = {
  name?: string
  uri?: string
  digest?: { [algorithm: string]: string }
  annotations?: JsonObject
}

export type Statement<P = JsonObject> = {
  _type: typeof STATEMENT_TYPE
  subject: (Descriptor & { digest: { [algorithm: string]: string } })[]
  predicateType: string
  predicate: P
}

export type TestResult = {
  result: 'PASSED' | 'WARNED' | 'FAILED'
  configuration: Descriptor[]
  url?: string
  passedTests?: string[]
  warnedTests?: string[]
  failedTests?: string[]
}

/**
 * A thing with its digest in in-toto's form.
 *
 * @example
 * descriptor('a.json', 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855').digest.sha256.length // 64
 */
export function descriptor(
  name: string,
  digest: Digest,
  more: Omit<Descriptor, 'name' | 'digest'> = {},
) {
  if (!isDigest(digest))
    throw new TouchstoneError(
      'argument_invalid',
      'expected "sha256:" and 64 lower-case hex digits, got something else',
      {
        where: 'descriptor digest',
      },
    )
  return { name, digest: { sha256: digest.slice(7) }, ...more }
}

/**
 * A Statement about subjects, each with a digest: subjects are matched by digest, never by name.
 *
 * @throws TouchstoneError `receipt_invalid` for no subject, a name given twice, or a digest that is
 *   not lower-case hex
 */
export function statement<P extends object>(
  subject: Statement['subject'],
  predicateType: string,
  predicate: P,
): Statement<P> {
  checkSubjects(subject as unknown as Json)
  checkUri(predicateType)
  return { _type: STATEMENT_TYPE, subject, predicateType, predicate }
}

/**
 * The standard Test Result (v0.1) beside a receipt of our own, for tools that read that.
 *
 * It has no place for errors, repeats or intervals: a case whose trials could not be judged is
 * listed as warned.
 *
 * @throws TouchstoneError `receipt_invalid`
 */
export function testResult(
  subject: Statement['subject'],
  result: TestResult,
): Statement<TestResult> {
  if (!isObject(result) || !Array.isArray(result.configuration))
    throw new TouchstoneError(
      'argument_invalid',
      `expected a test result, got ${shapeOf(result)}`,
      { where: 'result' },
    )
  if (result.configuration.length === 0)
    throw new TouchstoneError('receipt_invalid', 'expected at least one configuration, got none', {
      where: 'predicate.configuration',
    })
  return statement(subject, TEST_RESULT_TYPE, result)
}

/**
 * Read a Statement strictly, from the bytes that were signed.
 *
 * Members that are not known are left alone, as in-toto asks.
 *
 * @throws TouchstoneError `receipt_invalid`, `json_*`
 */
export function readStatement(bytes: Uint8Array | string): Statement {
  const value = parse(bytes, 'statement')
  if (!isObject(value)) fail('an object', 'statement')
  if (value['_type'] !== STATEMENT_TYPE) fail(STATEMENT_TYPE, 'statement._type')
  checkSubjects(value['subject'] ?? null)
  checkUri(value['predicateType'])
  if (!isObject(value['predicate'])) fail('an object', 'statement.predicate')
  return value as unknown as Statement
}

/** The digest of a descriptor in our form, or null where it has no SHA-256. */
export function digestOfDescriptor(one: Descriptor): Digest | null {
  const digest = `sha256:${one?.digest?.['sha256'] ?? ''}`
  return isDigest(digest) ? digest : null
}

function checkSubjects(subjects: Json): void {
  if (!Array.isArray(subjects) || subjects.length === 0)
    fail('at least one subject', 'statement.subject')
  const names = new Set<string>()
  for (const [i, one] of subjects.entries()) {
    const where = `statement.subject[${i}]`
    if (!isObject(one)) fail('an object', where)
    const digests = one['digest']
    if (!isObject(digests) || Object.keys(digests).length === 0)
      fail('at least one digest', `${where}.digest`)
    for (const [algorithm, hex] of Object.entries(digests))
      if (typeof hex !== 'string' || !/^([0-9a-f]{2})+$/.test(hex))
        fail('lower-case hex', `${where}.digest.${algorithm}`)
    const sha256 = digests['sha256']
    if (sha256 !== undefined && !isDigest(`sha256:${String(sha256)}`))
      fail('64 hex digits', `${where}.digest.sha256`)
    const name = one['name']
    if (name === undefined) continue
    if (typeof name !== 'string') fail('a text', `${where}.name`)
    if (names.has(name)) fail('each name once', `${where}.name`)
    names.add(name)
  }
}

function checkUri(value: unknown): void {
  if (typeof value !== 'string' || !/^[a-z][a-z0-9+.-]*:\S+$/.test(value))
    fail('a URI', 'statement.predicateType')
}

function fail(expected: string, where: string): never {
  throw new TouchstoneError('receipt_invalid', `expected ${expected}, got something else`, {
    where,
  })
}
