/**
 * What may be handed to `verify` as audit evidence, turned into records: paths, bytes, imports, or
 * records themselves.
 */

import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { requireAwaited } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, unreadable } from '../../files.ts'
import { decode, isObject, type Json } from '../../json.ts'
import { documentsIn } from '../../lines.ts'
import { type Imported, type ImportOptions, importAudit } from './import.ts'
import type { AuthenticityOptions, Importer } from './importer.ts'
import { importerOf } from './importers.ts'
import { authenticityHere, RECORD_SCHEMA, type ReadRecord, readRecord } from './record.ts'
import { compacting } from './strings.ts'
import { isDigestFile } from './trail-digests.ts'
import { entriesOf, unpack } from './unpack.ts'

export type Export = {
  provider: string
  bytes: string | Uint8Array
  source?: string
  /**
   * Name of the server whose log it is: its records are for calls to that server alone. Default:
   * for calls to any.
   */
  server?: string
} & AuthenticityOptions

/**
 * A path of a file or folder, a provider's export, an import, one record, or a list of any of
 * these.
 */
export type Audit = string | Export | Imported | { schema: string } | readonly Audit[]

export type Evidence = {
  /** Checked at once, so that what an export says beside its records need not be held. */
  records: ReadRecord[]
  /** Effects that a provider's own log says failed. They vouch for nothing. */
  failures: Failure[]
  imports: Omit<Imported, 'records' | 'failed'>[]
  /** Files of a folder that hold no evidence, with the reason. */
  ignored: { name: string; reason: string }[]
}

/** An entry that says that an effect failed, held to what a record of one is held to. */
export type Failure = { code: string; record: ReadRecord }

/** How exports that are given as paths are read. */
export type AuditOptions = Pick<ImportOptions, 'scope' | 'server'> & {
  /** Name of the importer for every file. Default: the one that knows the file's entries. */
  provider?: string
  /**
   * Paths of CloudTrail digest files or folders of them. A `FILE.signature` beside one holds its
   * signature in hex.
   */
  digests?: readonly string[]
  /** Public keys of the digest files: PEM or base64 of PKCS#1. */
  publicKey?: string | readonly string[]
}

/**
 * Collect records from every form of evidence.
 *
 * @throws TouchstoneError `file_unreadable`, `export_invalid`, `record_invalid` and the `json_*`
 *   codes, naming the place
 */
export function evidenceOf(
  audit: Audit | undefined,
  options: AuditOptions = {},
  where = 'audit',
): Evidence {
  requireAwaited(audit, 'an export', where)
  const made: Evidence = { records: [], failures: [], imports: [], ignored: [] }
  if (audit !== undefined) collect(audit, where, made, options)
  refuteAcross(made)
  return made
}

/** An object that one export says failed or was taken back is none in any other. */
function refuteAcross({ records, imports }: Evidence): void {
  const refuted = new Map<string, { server: string | undefined; because: string }[]>()
  for (const { provider, server, source, refuted: objects = [] } of imports)
    for (const { object_hash, because, line } of objects) {
      const key = `${provider} ${object_hash}`
      const known = refuted.get(key) ?? []
      // One row per server is enough, so that equal entries cost no more than one.
      if (known.every((one) => one.server !== server))
        refuted.set(key, [...known, { server, because: `${because}, at ${source.name}:${line}` }])
    }
  for (const one of records) {
    if (one.object === null || one.reason !== null) continue
    const found = refuted
      .get(`${one.provider} ${one.object}`)
      ?.find(({ server }) => server === undefined || one.server === null || server === one.server)
    if (found) Object.assign(one, { reason: 'taken_back', detail: `taken back: ${found.because}` })
  }
}

function collect(audit: Audit, where: string, into: Evidence, options: AuditOptions): void {
  if (typeof audit === 'string') readPath(audit, into, options)
  else if (Array.isArray(audit))
    for (const [i, one] of audit.entries()) collect(one as Audit, `${where}[${i}]`, into, options)
  else if (!isObject(audit)) {
    const got = audit === null ? 'null' : typeof audit
    const expected = 'a path, an export { provider, bytes }, an import or records'
    throw new TouchstoneError('argument_invalid', `expected ${expected}, got ${got}`, { where })
  } else if ('bytes' in audit && 'provider' in audit) {
    const { provider, bytes, ...own } = audit as unknown as Export
    take(importAudit(provider, bytes, own), into)
  } else if ('counts' in audit && 'records' in audit) take(audit as unknown as Imported, into)
  else into.records.push(readRecord(audit, where))
}

function take(imported: Imported, into: Evidence): void {
  const { records, failed = [], ...rest } = imported
  if (
    !Array.isArray(records) ||
    !Array.isArray(failed) ||
    !isObject(rest.source) ||
    !isObject(rest.counts)
  )
    throw new TouchstoneError(
      'argument_invalid',
      'expected an import as importAudit gives it, got something like one',
      { where: 'audit' },
    )
  into.imports.push({ ...rest, authenticity: authenticityHere(rest.authenticity) })
  for (const [i, value] of records.entries())
    into.records.push(readRecord(value, `${rest.source.name}[${i}]`))
  for (const [i, value] of failed.entries()) {
    const where = `${rest.source.name}: failed[${i}]`
    const record = readRecord({ ...value, schema: RECORD_SCHEMA }, where)
    into.failures.push({ code: String(value.code), record })
  }
}

/**
 * A file, or a folder as it lies on a disk: digest files beside logs, and files that are no
 * evidence at all.
 */
function readPath(path: string, into: Evidence, options: AuditOptions): void {
  const files = plainFiles(path, into)
  const isFolder = kindOf(path, statSync) === 'folder'
  const digests = Object.freeze(
    digestsIn(isFolder ? [...files, ...(options.digests ?? [])] : (options.digests ?? [])),
  )
  const beside = new Set(digests.flatMap(({ path, signed }) => [path, signed]))
  for (const file of files) {
    if (beside.has(file)) {
      if (isFolder) into.ignored.push({ name: file, reason: 'it signs logs, and is no log' })
      continue
    }
    if (!isFolder) readFile(file, into, options, digests)
    else
      try {
        readFile(file, into, options, digests)
      } catch (error) {
        if (!(error instanceof TouchstoneError)) throw error
        into.ignored.push({ name: file, reason: `${error.code}: ${error.message}` })
      }
  }
}

type DigestFile = { path: string; signed: string; bytes: Uint8Array; signature?: string }

/** The digest files among these paths, each with the signature that lies beside it. */
function digestsIn(paths: readonly string[]): DigestFile[] {
  return paths
    .flatMap((path) => plainFiles(path))
    .flatMap((path) => {
      const bytes = readBytes(path)
      if (!isDigest(bytes, path)) return []
      const signed = `${path}.signature`
      const found = existsSync(signed)
      const signature = found ? decode(readBytes(signed), signed).trim() : undefined
      return [{ path, signed, bytes, ...(signature !== undefined && { signature }) }]
    })
}

function isDigest(bytes: Uint8Array, path: string): boolean {
  try {
    const { value: first } = documentsIn(unpack(bytes, path), path).next()
    return isObject(first?.value) && isDigestFile(first.value)
  } catch {
    return false
  }
}

/**
 * The path itself, or every file below a folder. A link in it could lead round in a circle, and a
 * pipe need not end.
 */
function plainFiles(path: string, into?: Evidence): string[] {
  if (kindOf(path, statSync) !== 'folder') return [path]
  let names: string[]
  try {
    names = readdirSync(path).sort()
  } catch (cause) {
    throw unreadable(path, cause, 'a readable folder')
  }
  return names.flatMap((name) => {
    const one = join(path, name)
    const kind = kindOf(one, lstatSync)
    if (kind === 'folder') return plainFiles(one, into)
    if (kind === 'file') return [one]
    into?.ignored.push({ name: one, reason: 'it is a link or a device' })
    return []
  })
}

function kindOf(
  path: string,
  stat: typeof lstatSync | typeof statSync,
): 'folder' | 'file' | 'other' {
  try {
    const found = stat(path)
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other'
  } catch {
    // Reading it says why it cannot be read.
    return 'file'
  }
}

function readFile(
  path: string,
  into: Evidence,
  { provider, scope, server, publicKey }: AuditOptions,
  digests: readonly DigestFile[],
): void {
  const bytes = readBytes(path)
  const found = provider === undefined ? sample(unpack(bytes, path), path) : null
  if (found === undefined) return
  if (found === 'records') {
    const compact = compacting()
    const list = entriesOf(unpack(bytes, path), path, { entries: listIn })
    for (const { entry, line } of list)
      into.records.push(compact(readRecord(entry, `${path}:${line}`)))
    return
  }
  const name = provider ?? found?.name
  if (name === undefined)
    throw new TouchstoneError(
      'export_invalid',
      `expected ${RECORD_SCHEMA} or the export of a known provider, got entries of another shape`,
      { where: path },
    )
  const options = {
    source: path,
    ...(scope !== undefined && { scope }),
    ...(server !== undefined && { server }),
    ...(digests.length > 0 && { digests }),
    ...(publicKey !== undefined && { publicKey }),
  }
  take(importAudit(name, bytes, options), into)
}

function listIn(document: { [name: string]: Json }): Json[] | null {
  return Array.isArray(document['records']) ? document['records'] : null
}

/**
 * Entries that are looked at to find out whose they are: some exports begin with a line of another
 * kind.
 */
const SAMPLES = 100
const RECORD_NAME = RECORD_SCHEMA.replace(/\.v\d+$/, '')

/**
 * What the entries of a file are: records, those of an importer, or of no known shape (null).
 * Undefined for an empty file.
 */
function sample(bytes: Uint8Array, path: string): Importer | 'records' | null | undefined {
  let seen = 0
  for (const { entry } of entriesOf(bytes, path, { entries: listIn })) {
    if (isOurs(entry)) return 'records'
    const known = importerOf(entry)
    if (known) return known
    if (++seen >= SAMPLES) break
  }
  return seen === 0 ? undefined : null
}

/**
 * Whether an entry says that it is a record, of any version. A provider's entries may have a
 * `schema` of their own.
 */
function isOurs(entry: Json | undefined): boolean {
  const schema = isObject(entry) ? entry['schema'] : null
  return typeof schema === 'string' && schema.replace(/\.v\d+$/, '') === RECORD_NAME
}

/**
 * The importer that reads an export, or null where its entries are of no known shape, or it has
 * none.
 */
export function providerOfExport(bytes: Uint8Array, name: string): string | null {
  const found = sample(unpack(bytes, name), name)
  return found && found !== 'records' ? found.name : null
}
