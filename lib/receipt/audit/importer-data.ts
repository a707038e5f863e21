/** An importer as data: where an entry keeps what, for a log that no function is needed to read. */
import { at, isEmpty } from '../surface/classifier.ts'
import { harmless } from '../surface/target.ts'
import { idAt, kindOf, textAt, texts } from './entry-members.ts'
import { failed, type Importer, type Reading } from './importer.ts'
import { isoOf } from './time.ts'

/**
 * A member of an entry, by a dotted path, and the values it may have. Without `is`: any that is not
 * empty.
 */
export type Told = { member: string; is?: (string | number | boolean)[] }

export type ImporterData = {
  name: string
  /** Provider of the records: that of the classifiers whose calls they verify. */
  provider: string
  /** Paths that an entry of this log has, by which it is told from others. */
  recognises: string[]
  /** Path of the list in an envelope. Default: an entry stands by itself. */
  entries?: string
  /** Path of the text that says what kind of entry it is. */
  kind: string
  /** Path of the entry's own id. */
  id: string
  /** Kind -> the effect that it records, and where it keeps what a call names: argument -> path. */
  kinds: {
    [kind: string]: { action_class: string; verb: string; values: { [argument: string]: string } }
  }
  /** All of these must hold, or the entry is left out: it failed, or is not done. */
  counts?: Told[]
  /** One of these holds: the provider says that what was asked for failed. */
  failed?: Told[]
  /** One of these holds: the entry is left out, such as a dry run. */
  refused?: Told[]
  /** Kinds that take back what an earlier entry about the same object says. They need `object`. */
  takes_back?: string[]
  /** Path of the time: ISO 8601, or seconds or milliseconds since 1970. */
  occurred_at?: string
  actor?: string
  request_ids?: string[]
  /** Path of the id of the object that was made or changed. */
  object?: string
}

/** Which member of data is wrong, and what is expected there; null when none is. */
export function wrongIn(data: ImporterData): [where: string, expected: string] | null {
  for (const name of ['kind', 'id'] as const)
    if (typeof data[name] !== 'string' || data[name] === '') return [name, 'a path']
  const { kinds } = data
  if (kinds === null || typeof kinds !== 'object') return ['kinds', 'an object']
  for (const [kind, one] of Object.entries(kinds))
    if (typeof one?.action_class !== 'string' || typeof one.verb !== 'string' || !one.values)
      return [`kinds.${kind}`, '{ action_class, verb, values }']
  return null
}

/** Seconds since 1970 stay below this; milliseconds have been above it since 1973. */
const SECONDS = 1e11

/** The importer that data describes. Whether the data is right, the schema of the file says. */
export function importerFrom(data: ImporterData): Importer {
  const { name, provider, entries } = data
  return {
    name,
    provider,
    kinds: Object.fromEntries(
      Object.entries(data.kinds).map(([kind, { action_class, verb }]) => [
        kind,
        { action_class, verb },
      ]),
    ),
    recognises: (document) =>
      data.recognises.every((path) => at(document, path) !== undefined) ||
      (entries !== undefined && recognisedIn(at(document, entries), data.recognises)),
    entries(document) {
      const list = entries === undefined ? undefined : at(document, entries)
      return Array.isArray(list) ? list : null
    },
    read: (entry) => readingOf(entry, data),
  }
}

function recognisedIn(list: unknown, paths: readonly string[]): boolean {
  return Array.isArray(list) && paths.every((path) => at(list[0], path) !== undefined)
}

function readingOf(entry: unknown, data: ImporterData): Reading {
  const kind = textAt(entry, data.kind)
  if (kind === null) return { skipped: `the entry has no ${data.kind}` }
  const object = data.object === undefined ? null : idAt(entry, data.object)
  if (data.takes_back?.includes(kind))
    return {
      skipped: `taken back: ${harmless(kind)}`,
      ...(object !== null && { refutes: { object, because: harmless(kind) } }),
    }
  const effect = kindOf(data.kinds, kind)
  if (!effect) return { unmapped: harmless(kind) }
  const bad = data.failed?.find((one) => holds(entry, one))
  if (bad !== undefined)
    return failed(`${bad.member} is ${shown(at(entry, bad.member))}`, effectOf(entry, data, effect))
  for (const one of data.counts ?? [])
    if (!holds(entry, one))
      return { skipped: `${one.member} is ${shown(at(entry, one.member))}: not done` }
  return effectOf(entry, data, effect)
}

function effectOf(
  entry: unknown,
  data: ImporterData,
  effect: ImporterData['kinds'][string],
): Reading {
  for (const one of data.refused ?? [])
    if (holds(entry, one))
      return { skipped: `${one.member} is ${shown(at(entry, one.member))}: it does not count` }
  const id = idAt(entry, data.id)
  if (id === null) return { skipped: `the entry has no ${data.id}` }
  return {
    action_class: effect.action_class,
    verb: effect.verb,
    record_id: id,
    values: Object.fromEntries(
      Object.entries(effect.values).map(([argument, path]) => {
        const value = at(entry, path)
        const plain = ['string', 'number', 'boolean'].includes(typeof value)
        return [argument, plain ? (value as string | number | boolean) : null]
      }),
    ),
    occurred_at: data.occurred_at === undefined ? null : timeAt(entry, data.occurred_at),
    request_ids: texts(...(data.request_ids ?? []).map((path) => idAt(entry, path))),
    actor: data.actor === undefined ? null : textAt(entry, data.actor),
    object: data.object === undefined ? null : idAt(entry, data.object),
  }
}

function holds(entry: unknown, { member, is }: Told): boolean {
  const value = at(entry, member)
  return is === undefined ? !isEmpty(value) : is.some((one) => one === value)
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : harmless(value).slice(0, 60)
}

function timeAt(entry: unknown, path: string): string | null {
  const value = at(entry, path)
  if (typeof value === 'number') return isoOf(Math.abs(value) < SECONDS ? value * 1000 : value)
  return typeof value === 'string' ? isoOf(value) : null
}
