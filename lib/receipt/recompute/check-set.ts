/** The published set that a receipt names: found, and compared with what the receipt says of it. */
import { existsSync } from 'node:fs'
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes } from '../../files.ts'
import { decode, isObject, type Json, parse } from '../../json.ts'
import { casesOf, digestOfSet, get, type ScenarioSet } from '../../scenario/index.ts'
import { attempt, judged, type Problem, type Step, unchecked } from './step.ts'

/** A set's name, `id@version`, the path of its text, or the set itself. */
export type GivenSet = string | ScenarioSet

/**
 * Compare the set that a receipt names with the one at hand.
 *
 * @param given the auditor's set. Default: the published one of that name under `root`
 * @returns the step, and the set when it is the one that the receipt names
 * @throws TouchstoneError for a given set that is not there
 */
export function checkSet(
  claimed: Json | undefined,
  given: GivenSet | undefined,
  root?: string,
): { step: Step; set: ScenarioSet | null } {
  const { id, version, digest } = isObject(claimed) ? claimed : {}
  const name = `${String(id)}@${String(version)}`
  const fail = (code: string, where: string, detail: string) => {
    const problem: Problem = { code, where, detail }
    return { step: judged('set', [problem], ''), set: null }
  }
  if (typeof id !== 'string' || typeof version !== 'string' || typeof digest !== 'string')
    return fail('set_unnamed', 'predicate.set', 'expected a set by id, version and digest')

  const at = { ...(root !== undefined && { root }) }
  const found = ((): { digest: Digest; read: () => ScenarioSet } | { problem: string } => {
    if (given === undefined) {
      const { value, problem } = attempt(() => get(name, at))
      return value
        ? { digest: value.digest, read: () => value }
        : { problem: problem ?? 'set_unknown' }
    }
    if (typeof given !== 'string') return { digest: digestOfSet(given.text), read: () => given }
    if (/^[^/\\]+@[^/\\]+$/.test(given) && !existsSync(given)) {
      const set = get(given, at)
      return { digest: set.digest, read: () => set }
    }
    return fileOf(given)
  })()
  if ('problem' in found) {
    if (!found.problem.startsWith('set_unknown'))
      return fail('set_altered', 'the published set', found.problem)
    return {
      step: unchecked('set', 'set_absent', `${name} is not among the sets that are published here`),
      set: null,
    }
  }
  const { value: set, problem } = attempt(found.read)
  if (set && (set.id !== id || set.version !== version))
    return fail(
      'set_version_differs',
      'predicate.set',
      `the set at hand is ${set.id}@${set.version}, the receipt names ${name}`,
    )
  if (found.digest !== digest)
    return fail(
      'set_differs',
      'predicate.set.digest',
      `the set at hand has ${found.digest}, the receipt names ${digest}`,
    )
  if (!set) return fail('set_invalid', 'the set', problem ?? 'unreadable')
  const cases = attempt(() => casesOf(set))
  if (cases.value === null) return fail('set_invalid', 'the set', cases.problem ?? 'unreadable')
  return { step: judged('set', [], `${name} has the digest that the receipt names`), set }
}

/** The digest first: an altered text shall be called that, whatever else the change broke. */
function fileOf(path: string): { digest: Digest; read: () => ScenarioSet } {
  const bytes = readBytes(path)
  // A byte that is no UTF-8 must change the digest, not end the check.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return {
    digest: digestOfSet(text),
    read: () => {
      const set = parse(decode(bytes, 'the set'), 'the set')
      if (!isObject(set)) throw new TouchstoneError('set_invalid', 'expected an object')
      const { id, version, released, title } = set
      return {
        id: String(id),
        version: String(version),
        released: String(released),
        title: String(title),
        digest: digestOfSet(text),
        text,
        set,
      }
    },
  }
}
