/**
 * Published scenario sets: RFC 8785 text under `scenarios/<id>/<version>.json`, frozen by digest.
 *
 * `scenarios/archive.json` keeps the digest of every version ever published. A set whose text no
 * longer has its digest is an error that names both; nobody compares results over sets that only
 * look alike.
 */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { onlyMembers } from '../arguments.ts'
import { canonical, type Digest, digestOf, domainDigest, isDigest } from '../canonical.ts'
import { gotWord } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import { readBytes } from '../files.ts'
import { decode, isObject, type JsonObject, parse } from '../json.ts'
import { packaged } from '../packaged.ts'

/** The line under which a set's text is hashed. */
export const SET_DOMAIN = 'assay-scenarios/v1'

/** Folder of the sets that ship beside the library. */
export const SHIPPED = packaged('scenarios/')

export const ARCHIVE = 'archive.json'
const ID = /^[a-z0-9]+(-[a-z0-9]+)*$/
const VERSION = /^(0|[1-9]\d{0,5})(\.(0|[1-9]\d{0,5})){1,2}$/

export type ScenarioSet = {
  id: string
  version: string
  /** ISO 8601 date. */
  released: string
  title: string
  digest: Digest
  /** The RFC 8785 text that the digest covers. */
  text: string
  /** The whole set as data. */
  set: JsonObject
}

export type Listed = Pick<ScenarioSet, 'id' | 'version' | 'released' | 'title' | 'digest'>

/**
 * Every published set, by id, then by version. @param root folder of sets, default the shipped ones
 */
export function list(options: { root?: string } = {}): Listed[] {
  onlyMembers(options, ['root'], 'options')
  const root = options.root ?? SHIPPED
  const archive = readArchive(root)
  return Object.keys(archive)
    .sort()
    .flatMap((id) =>
      Object.keys(archive[id] ?? {})
        .sort(compareVersions)
        .map((version) => {
          const { released, title, digest } = get(`${id}@${version}`, { root })
          return { id, version, released, title, digest }
        }),
    )
}

/**
 * A published set by name, with its digest checked.
 *
 * @param name `id@version`
 * @param options `digest`: the digest that the caller expects, beside the archive's
 * @throws TouchstoneError `set_unknown` naming the sets there are, `set_unpublished` for a file
 *   that is not in the archive, `set_altered` naming both digests
 * @example
 * get('mcp-connection@1.0').digest // 'sha256:f2e2177539d98ab70a47eeb50cab1357302cda4b1687e91aa28110c9a799dbfb'
 * get('mcp-connection@9.9') // throws set_unknown
 */
export function get(name: string, options: { root?: string; digest?: Digest } = {}): ScenarioSet {
  onlyMembers(options, ['root', 'digest'], 'options')
  const root = options.root ?? SHIPPED
  const [id = '', version = '', ...more] = String(name).split('@')
  const archive = readArchive(root)
  const versions = Object.hasOwn(archive, id) ? (archive[id] as { [version: string]: Digest }) : {}
  const known =
    more.length === 0 && Object.hasOwn(versions, version) ? versions[version] : undefined
  if (known === undefined) {
    if (
      more.length === 0 &&
      ID.test(id) &&
      VERSION.test(version) &&
      existsSync(pathOf(root, id, version))
    )
      throw new TouchstoneError(
        'set_unpublished',
        `expected ${name} in the archive, got a file that was never published`,
        { where: join(root, ARCHIVE) },
      )
    const names = Object.keys(archive).flatMap((one) =>
      Object.keys(archive[one] ?? {}).map((v) => `${one}@${v}`),
    )
    throw new TouchstoneError(
      'set_unknown',
      `expected one of ${names.join(', ') || 'no sets'}, ${gotWord(name, names)}`,
      { where: root },
    )
  }
  const expected = options.digest ?? known
  if (expected !== known) throw altered(expected, known, `${name} in ${join(root, ARCHIVE)}`)
  const path = pathOf(root, id, version)
  const set = load(path, { digest: expected })
  if (set.id !== id || set.version !== version)
    throw new TouchstoneError('set_altered', `expected ${name}, got ${set.id}@${set.version}`, {
      where: path,
    })
  return set
}

/**
 * A set from a file, which need not be published.
 *
 * @param options `digest`: the digest it must have
 * @throws TouchstoneError `set_invalid` for text that is not RFC 8785 or lacks a member,
 *   `set_altered` for another digest
 */
export function load(path: string, options: { digest?: Digest } = {}): ScenarioSet {
  onlyMembers(options, ['digest'], 'options')
  const bytes = readBytes(path)
  // Decoding drops a byte order mark. It is a byte like any other, so it changes the digest.
  const text =
    (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? '\ufeff' : '') +
    decode(bytes, path)
  const digest = digestOfSet(text)
  // The digest first: an altered file shall be called altered, whatever else the change broke.
  if (options.digest !== undefined && digest !== options.digest)
    throw altered(options.digest, digest, path)
  const set = checked(parse(text, path), path)
  if (canonical(set.set) !== text)
    throw new TouchstoneError(
      'set_invalid',
      'expected RFC 8785 text, byte for byte, got other JSON',
      { where: path },
    )
  return { ...set, digest, text }
}

/** The digest of a set's text under the line `assay-scenarios/v1`. */
export function digestOfSet(text: string): Digest {
  return domainDigest(SET_DOMAIN, text)
}

/** A case as a set holds it: the digest is SHA-256 over the document's RFC 8785 text. */
export type PublishedCase = { id: string; digest: Digest; document: JsonObject }

/**
 * The cases that a set holds, each with its digest computed anew. Empty for a set of another kind.
 *
 * @throws TouchstoneError `set_altered` for a case whose document has another digest, `set_invalid`
 * @example
 * casesOf(get('mcp-connection@1.0')) // []
 */
export function casesOf(from: Pick<ScenarioSet, 'set'>): PublishedCase[] {
  const set: unknown = from?.set
  if (!isObject(set))
    throw new TouchstoneError('set_invalid', 'expected a set as get gives it, got something else')
  const list = Array.isArray(set['cases']) ? set['cases'] : []
  return list.map((value, i) => {
    const one = value as PublishedCase | null
    if (typeof one?.id !== 'string' || one.document === null || typeof one.document !== 'object')
      throw new TouchstoneError('set_invalid', 'expected { id, digest, document }', {
        where: `cases[${i}]`,
      })
    const made = digestOf(one.document)
    if (made !== one.digest) throw altered(one.digest, made, `case ${one.id}`)
    return one
  })
}

/** True when a set is published with exactly this digest. */
export function isPublished(
  name: string,
  digest: Digest,
  options: { root?: string } = {},
): boolean {
  const [id = '', version = ''] = String(name).split('@')
  const archive = readArchive(options.root ?? SHIPPED)
  const versions = Object.hasOwn(archive, id) ? (archive[id] as { [version: string]: Digest }) : {}
  return Object.hasOwn(versions, version) && versions[version] === digest
}

type Archive = { [id: string]: { [version: string]: Digest } }

export function readArchive(root: string): Archive {
  const path = join(root, ARCHIVE)
  if (!existsSync(path)) {
    const folder = statSync(root, { throwIfNoEntry: false })
    if (!folder) return {}
    if (!folder.isDirectory())
      throw new TouchstoneError(
        'file_unreadable',
        'expected a folder of published sets, got a file',
        { where: root },
      )
    // Empty folders and the lock of whoever publishes the first set are no sets.
    if (!holdsSets(root)) return {}
    throw new TouchstoneError(
      'file_unreadable',
      'expected the archive of published sets, got no file',
      { where: path },
    )
  }
  const archive = parse(readBytes(path), path)
  if (!isObject(archive) || Object.keys(archive).some((id) => !ID.test(id)))
    throw new TouchstoneError('set_invalid', 'expected { id: { version: digest } }', {
      where: path,
    })
  for (const [id, versions] of Object.entries(archive)) {
    const whole =
      isObject(versions) &&
      Object.entries(versions).every(([name, digest]) => VERSION.test(name) && isDigest(digest))
    if (!whole)
      throw new TouchstoneError('set_invalid', 'expected { version: digest }', {
        where: `${path}: ${id}`,
      })
  }
  return archive as Archive
}

/** True for a folder with anything in it but its lock, drafts and empty folders. */
function holdsSets(root: string): boolean {
  return readdirSync(root, { withFileTypes: true }).some((one) =>
    one.isDirectory()
      ? readdirSync(join(root, one.name)).some((name) => !name.endsWith('.draft'))
      : !one.name.startsWith(`${ARCHIVE}.`),
  )
}

export function checked(value: unknown, where: string): Omit<ScenarioSet, 'digest' | 'text'> {
  if (!isObject(value)) throw new TouchstoneError('set_invalid', 'expected an object', { where })
  const set = value
  const text = (name: string, form: RegExp, like: string): string => {
    const got = Object.hasOwn(set, name) ? set[name] : undefined
    if (typeof got === 'string' && form.test(got)) return got
    throw new TouchstoneError(
      'set_invalid',
      `expected ${like}, got ${JSON.stringify(got) ?? 'nothing'}`,
      {
        where: `${where}: ${name}`,
      },
    )
  }
  const made = {
    id: text('id', ID, 'lower-case words with dashes'),
    version: text('version', VERSION, 'a version such as "1.0"'),
    released: text('released', /^\d{4}-\d\d-\d\d$/, 'a date such as "2026-09-30"'),
    title: text('title', /\S/, 'a title'),
    set,
  }
  const day = new Date(`${made.released}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(made.released))
    throw new TouchstoneError(
      'set_invalid',
      `expected a day of the calendar, got "${made.released}"`,
      {
        where: `${where}: released`,
      },
    )
  return made
}

export function pathOf(root: string, id: string, version: string): string {
  return join(root, id, `${version}.json`)
}

function altered(expected: string, got: string, where: string): TouchstoneError {
  return new TouchstoneError('set_altered', `expected digest ${expected}, got ${got}`, { where })
}

function compareVersions(a: string, b: string): number {
  const [x, y] = [a.split('.').map(Number), b.split('.').map(Number)]
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
