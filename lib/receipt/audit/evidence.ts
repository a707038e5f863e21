/** What may be handed to `verify` as audit evidence, turned into records: paths, bytes, imports, or records themselves. */
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, unreadable } from '../../files.ts'
import type { Json } from '../../json.ts'
import { documentsIn } from '../../lines.ts'
import { isObject } from '../surface/decision.ts'
import { entriesOf, unpack } from './entries.ts'
import { type Imported, importAudit } from './import.ts'
import type { AuthenticityOptions } from './importer.ts'
import { importerOf } from './importers.ts'
import { authenticityHere, RECORD_SCHEMA, type ReadRecord, readRecord } from './record.ts'
import { compacting } from './strings.ts'

export type Export = {
  provider: string
  bytes: string | Uint8Array
  source?: string
} & AuthenticityOptions

/** A path of a file or folder, a provider's export, an import, one record, or a list of any of these. */
export type Audit = string | Export | Imported | { schema: string } | readonly Audit[]

export type Evidence = {
  /** Checked at once, so that what an export says beside its records need not be held. */
  records: ReadRecord[]
  imports: Omit<Imported, 'records'>[]
}

/**
 * Collect records from every form of evidence.
 *
 * @throws TouchstoneError `file_unreadable`, `export_invalid`, `record_invalid` and the `json_*` codes, naming the place
 */
export function evidenceOf(audit: Audit | undefined, where = 'audit'): Evidence {
  const made: Evidence = { records: [], imports: [] }
  if (audit !== undefined) collect(audit, where, made)
  return made
}

function collect(audit: Audit, where: string, into: Evidence): void {
  if (typeof audit === 'string') file(audit, into)
  else if (Array.isArray(audit))
    for (const [i, one] of audit.entries()) collect(one as Audit, `${where}[${i}]`, into)
  else if (!isObject(audit)) {
    const got = audit === null ? 'null' : typeof audit
    const expected = 'a path, an export { provider, bytes }, an import or records'
    throw new TouchstoneError('argument_invalid', `expected ${expected}, got ${got}`, { where })
  } else if ('bytes' in audit && 'provider' in audit) {
    const { provider, bytes, ...options } = audit as unknown as Export
    take(importAudit(provider, bytes, options), into)
  } else if ('counts' in audit && 'records' in audit) take(audit as unknown as Imported, into)
  else into.records.push(readRecord(audit, where))
}

function take(imported: Imported, into: Evidence): void {
  const { records, ...rest } = imported
  if (!Array.isArray(records) || !isObject(rest.source) || !isObject(rest.counts))
    throw new TouchstoneError(
      'argument_invalid',
      'expected an import as importAudit gives it, got something like one',
      {
        where: 'audit',
      },
    )
  into.imports.push({ ...rest, authenticity: authenticityHere(rest.authenticity) })
  for (const [i, value] of records.entries())
    into.records.push(readRecord(value, `${rest.source.name}[${i}]`))
}

function file(path: string, into: Evidence): void {
  for (const one of plainFiles(path)) readFile(one, into)
}

/** The path itself, or every file below a folder. A link in it could lead round in a circle, and a pipe need not end. */
function plainFiles(path: string): string[] {
  if (kindOf(path, statSync) !== 'folder') return [path]
  try {
    return readdirSync(path)
      .sort()
      .flatMap((name) => {
        const one = join(path, name)
        const kind = kindOf(one, lstatSync)
        if (kind === 'folder') return plainFiles(one)
        if (kind === 'file') return [one]
        throw new TouchstoneError(
          'file_unreadable',
          'expected plain files and folders, got a link or a device',
          {
            where: one,
          },
        )
      })
  } catch (cause) {
    throw unreadable(path, cause, 'a readable folder')
  }
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

function readFile(path: string, into: Evidence): void {
  const bytes = readBytes(path)
  const first = sample(unpack(bytes, path), path)
  if (first === undefined) return
  if (isObject(first) && typeof first['schema'] === 'string') {
    const compact = compacting()
    const list = entriesOf(unpack(bytes, path), path, { entries: listIn })
    for (const { entry, line } of list)
      into.records.push(compact(readRecord(entry, `${path}:${line}`)))
    return
  }
  const known = importerOf(first)
  if (known === null)
    throw new TouchstoneError(
      'export_invalid',
      `expected ${RECORD_SCHEMA} or the export of a known provider, got entries of another shape`,
      { where: path },
    )
  take(importAudit(known.name, bytes, { source: path }), into)
}

function listIn(document: { [name: string]: Json }): Json[] | null {
  return Array.isArray(document['records']) ? document['records'] : null
}

/** The first entry or envelope of a file; undefined for an empty one. */
function sample(bytes: Uint8Array, path: string): Json | undefined {
  const { value: first } = documentsIn(bytes, path).next()
  const document = first?.value
  if (isObject(document) && Array.isArray(document['records'])) return document['records'][0]
  return Array.isArray(document) ? document[0] : document
}

/** The importer that reads an export, or null where its entries are of no known shape, or it has none. */
export function providerOfExport(bytes: Uint8Array, name: string): string | null {
  const first = sample(unpack(bytes, name), name)
  return importerOf(first)?.name ?? null
}
