/**
 * The exports of a trial, for its page. Runs of earlier versions have a file for each:
 * `audit/CASE/CONFIGURATION/TRIAL[.attempt-N][.SERVER].json`.
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { readBytes } from '../../files.ts'
import { FILES, type TrialRecord } from '../../log/index.ts'
import { providerOfExport } from '../../receipt/audit/evidence.ts'
import type { Details } from './shape.ts'

/** Does a run's folder hold its exports as files of their own? */
export function hasExportFiles(dir: string): boolean {
  return !existsSync(join(dir, FILES.audit)) && existsSync(join(dir, 'audit'))
}

/** The exports of an attempt, the first server's first; only plain files of the folder. */
export function exportsInFiles(dir: string, record: TrialRecord): Details['exports'] {
  const { case: id, configuration, trial, attempt } = record
  const top = resolve(dir, 'audit')
  const folder = resolve(top, id, configuration)
  // Names of a log that others wrote may lead elsewhere.
  if (!folder.startsWith(`${top}${sep}`) || !isPlain(top, folder)) return []
  const stem = `${trial}${attempt === 0 ? '' : `.attempt-${attempt}`}`
  return readdirSync(folder)
    .filter((name) => lstatSync(join(folder, name)).isFile())
    .flatMap((name) => {
      const server = serverOf(name, stem)
      return server === null ? [] : [{ name, server }]
    })
    .sort((a, b) => (a.server < b.server ? -1 : 1))
    .map(({ name, server }) => {
      const bytes = readBytes(join(folder, name))
      return { server, provider: providerOf(bytes, name), text: Buffer.from(bytes).toString() }
    })
}

/** The server that a file's name says, '' for the first one; null for a file of another attempt. */
function serverOf(name: string, stem: string): string | null {
  if (name === `${stem}.json`) return ''
  const [, rest] = name.startsWith(`${stem}.`) ? [null, name.slice(stem.length + 1)] : []
  if (rest === undefined || !rest.endsWith('.json') || /^attempt-\d+\./.test(rest)) return null
  return rest.slice(0, -'.json'.length)
}

/** The provider that the entries of an export speak of; '' where they are of no known shape. */
function providerOf(bytes: Uint8Array, name: string): string {
  try {
    return providerOfExport(bytes, name) ?? ''
  } catch {
    return ''
  }
}

/** A folder below another, with no link on the way. */
function isPlain(top: string, folder: string): boolean {
  let at = top
  for (const part of ['', ...folder.slice(top.length + 1).split(sep)]) {
    at = join(at, part)
    if (!lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) return false
  }
  return true
}
