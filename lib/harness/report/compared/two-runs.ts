/** Two runs beside each other: what they share, and what sets them apart. */
import { basename, isAbsolute, resolve } from 'node:path'
import { count, foreign } from '../../../display.ts'
import { TouchstoneError } from '../../../errors.ts'
import { type Manifest, namesOfFolder } from '../../../log/index.ts'
import { isTemporary } from '../../../process/temporary.ts'

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

/** A case that only one of two runs has, or that each has with another digest. */
export type LeftOut = { case: string; why: 'added' | 'gone' | 'changed' }

/**
 * The cases that two runs can be compared on: those of the same id and digest. A changed case is
 * another case.
 *
 * @throws TouchstoneError `run_differs` when there is none
 */
export function sharedCases(
  now: Manifest,
  then: Manifest,
): { cases: Manifest['cases']; leftOut: LeftOut[] } {
  const digests = ({ cases }: Manifest) => new Map(cases.map(({ id, digest }) => [id, digest]))
  const [is, was] = [digests(now), digests(then)]
  const leftOut = [...new Set([...was.keys(), ...is.keys()])].flatMap((id): LeftOut[] => {
    if (is.get(id) === was.get(id)) return []
    return [{ case: id, why: !was.has(id) ? 'added' : is.has(id) ? 'changed' : 'gone' }]
  })
  const cases = now.cases.filter(({ id, digest }) => was.get(id) === digest)
  if (cases.length > 0) return { cases, leftOut }
  throw new TouchstoneError(
    'run_differs',
    `expected a case that both runs have with the same digest, got none: ${leftOutText(leftOut)}`,
    { where: 'baseline' },
  )
}

/** `1 added (a), 2 gone (b, c)`. */
function leftOutText(leftOut: readonly LeftOut[]): string {
  return (['added', 'gone', 'changed'] as const)
    .flatMap((why) => {
      const some = leftOut.filter((one) => one.why === why).map((one) => foreign(one.case, 80))
      const more = some.length > MOST ? ` and ${some.length - MOST} more` : ''
      return some.length === 0
        ? []
        : [`${some.length} ${why} (${some.slice(0, MOST).join(', ')}${more})`]
    })
    .join(', ')
}

/** On how many cases two runs were compared, and what is not among them; empty where all are. */
export function sharedText(shared: number, leftOut: readonly LeftOut[]): string {
  return leftOut.length === 0
    ? ''
    : `compared on the ${count(shared, 'case')} that both runs have alike; left out: ${leftOutText(leftOut)}`
}

/**
 * A configuration of a run, told from its namesake in another run: by the name that each verb
 * takes; of a run that stands elsewhere by its folder, or its id where the folders have one name.
 */
export function nameIn(run: Place, name: string, other: Place): string {
  const [own, others] = [run, other].map(({ dir }) => basename(resolve(dir)))
  const [near = ''] = namesOfFolder(run.dir)
  const apart = own === others ? run.manifest.id : (own as string)
  const told = isTemporary(run.dir) ? run.manifest.id : isAbsolute(near) ? apart : near
  return `${name} of ${foreign(told, 64)}`
}

type Place = { dir: string; manifest: Manifest }

/** A configuration that only one of two runs has. */
export type Unmatched = { configuration: string; why: 'added' | 'gone' }

/**
 * Which configuration of a run is held against which of an earlier one: its namesake, or the only
 * one where each run has one. `unmatched` are those that are held against none.
 *
 * @throws TouchstoneError `run_differs` when none belong together
 */
export function namesakes(
  now: Manifest,
  then: Manifest,
): { pairs: [string, string][]; unmatched: Unmatched[] } {
  const names = ({ configurations }: Manifest) => configurations.map(({ name }) => name)
  const [is, was] = [names(now), names(then)]
  const pairs = is
    .filter((name) => was.includes(name))
    .map((name): [string, string] => [name, name])
  const [own, other] = [is[0], was[0]]
  if (pairs.length === 0 && is.length === 1 && was.length === 1 && own && other)
    return { pairs: [[own, other]], unmatched: [] }
  if (pairs.length > 0)
    return {
      pairs,
      unmatched: [
        ...was.filter((name) => !is.includes(name)).map((name) => apart(name, 'gone')),
        ...is.filter((name) => !was.includes(name)).map((name) => apart(name, 'added')),
      ],
    }
  throw new TouchstoneError(
    'run_differs',
    `expected a configuration that both runs have, got ${is.join(', ')} and ${was.join(', ')}`,
    { where: 'baseline' },
  )
}

const apart = (configuration: string, why: Unmatched['why']): Unmatched => ({ configuration, why })

/** Which configurations were not compared; empty where all were. */
export function unmatchedText(unmatched: readonly Unmatched[]): string {
  const said = (['added', 'gone'] as const).flatMap((why) => {
    const names = unmatched
      .filter((one) => one.why === why)
      .map((one) => foreign(one.configuration, 64))
    if (names.length === 0) return []
    return `the ${why === 'added' ? 'baseline' : 'run'} has no ${names.join(', ')}`
  })
  return said.length === 0 ? '' : `not compared: ${said.join('; ')}`
}
