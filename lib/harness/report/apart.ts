/** What sets two runs apart: other cases, other versions, other servers. */
import { count } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { Manifest } from '../../log/index.ts'
import type { Run } from './result.ts'

/** Names that are told before the rest is only counted. */
const MOST = 5

/** What differs, a sentence each. What one of the two does not know is not said to differ. */
export function versionsApart(then: Manifest, now: Manifest): string[] {
  const packages = [...new Set([...Object.keys(then.versions), ...Object.keys(now.versions)])]
    .filter((name) => then.versions[name] !== now.versions[name])
    .map(
      (name) => `${name} was ${then.versions[name] ?? 'none'}, is ${now.versions[name] ?? 'none'}`,
    )
  const before = new Map((then.servers ?? []).map((one) => [`${one.case} ${one.name}`, one]))
  const infos = new Set<string>()
  const lists: string[] = []
  for (const is of now.servers ?? []) {
    const was = before.get(`${is.case} ${is.name}`)
    if (!was) continue
    const [a, b] = [was, is].map(({ info }) => (info ? `${info.name} ${info.version}` : null))
    if (a && b && a !== b) infos.add(`server ${is.name} was ${a}, is ${b}`)
    if (was.tools !== null && is.tools !== null && was.tools !== is.tools)
      lists.push(`${is.name} in ${is.case}`)
  }
  const more = lists.length > MOST ? ` and ${lists.length - MOST} more` : ''
  return [
    ...packages,
    ...infos,
    ...(lists.length > 0
      ? [
          `other tools are listed by ${count(lists.length, 'server')}: ${lists.slice(0, MOST).join(', ')}${more}`,
        ]
      : []),
  ]
}

/** @throws TouchstoneError `run_differs` naming the cases that are not the same */
export function requireSameCases(run: Run, baseline: Run): void {
  const digests = (one: Run) => new Map(one.manifest.cases.map(({ id, digest }) => [id, digest]))
  const [now, then] = [digests(run), digests(baseline)]
  const different = [...new Set([...now.keys(), ...then.keys()])].filter(
    (id) => now.get(id) !== then.get(id),
  )
  if (different.length === 0) return
  const shown =
    different.slice(0, 5).join(', ') +
    (different.length > 5 ? ` and ${different.length - 5} more` : '')
  throw new TouchstoneError(
    'run_differs',
    `expected the same cases in both runs, got different ones: ${shown}`,
    {
      where: 'baseline',
    },
  )
}

/**
 * Which configuration of a run is held against which of an earlier one: its namesake, or the only
 * one where each run has one.
 */
export function namesakes(now: readonly string[], then: readonly string[]): [string, string][] {
  const shared = now.filter((name) => then.includes(name))
  if (shared.length > 0 || now.length !== 1 || then.length !== 1)
    return shared.map((name) => [name, name])
  return [[now[0] as string, then[0] as string]]
}
