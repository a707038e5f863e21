/**
 * Folders among the temporary files that say in their names whose they are, so that those of a
 * process that was killed are removed by the next one.
 */
import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TouchstoneError } from '../errors.ts'
import { isGone, OWNER, ownToken } from './owner.ts'

/** What the folders are for. */
type Purpose = 'agent' | 'server' | 'run' | 'parquet'

const OURS = new RegExp(`^touchstone-(?:agent|server|run|parquet)-(${OWNER.source})-\\w{6}$`)

let swept = false
const kept = new Set<string>()

/**
 * A new folder. `removeFolder` removes it; so does the end of this process, and where that was
 * killed, the next process that makes one.
 *
 * @throws TouchstoneError `file_unwritable` naming the folder of temporary files
 */
export function temporaryFolder(purpose: Purpose): string {
  if (!swept) {
    swept = true
    removeLeftOver()
    process.once('exit', () => {
      for (const folder of kept) removed(folder)
    })
  }
  return written(() => {
    const made = mkdtempSync(join(tmpdir(), `touchstone-${purpose}-${ownToken()}-`))
    const folder = realpathSync(made)
    kept.add(folder)
    return folder
  })
}

/** Bytes that are written to see whether there is room: a page of most file systems. */
const TRIED_BYTES = 4096

/**
 * Refuse work that needs temporary files where none can be written. @throws TouchstoneError
 * `file_unwritable`
 */
export function requireTemporary(): void {
  const folder = temporaryFolder('agent')
  try {
    written(() => writeFileSync(join(folder, 'tried'), Buffer.alloc(TRIED_BYTES)))
  } finally {
    kept.delete(folder)
    removed(folder)
  }
}

function written<T>(write: () => T): T {
  try {
    return write()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new TouchstoneError(
      'file_unwritable',
      `expected a folder that temporary files can be written to, got ${code ?? message}; TMPDIR names another`,
      { where: tmpdir(), cause },
    )
  }
}

/** A folder that `temporaryFolder` made in this process. Its name means nothing to a person. */
export const isTemporary = (folder: string): boolean => kept.has(folder)

/**
 * Remove a folder and what others put into it. What cannot be removed stays: it is no reason for
 * the work that used it to fail.
 */
export async function removeFolder(folder: string): Promise<void> {
  kept.delete(folder)
  await rm(folder, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})
}

/** How long a page stays that was made to be looked at. */
const PAGE_DAYS = 1

/**
 * A new folder for a page that is looked at when this process has ended. Pages of the same user
 * that are older than a day are removed. @throws TouchstoneError `file_unwritable`
 */
export function pageFolder(now = Date.now()): string {
  return written(() => {
    for (const name of readdirSync(tmpdir())) {
      const path = join(tmpdir(), name)
      if (!/^touchstone-page-\w{6}$/.test(name) || !isOwn(path) || !holdsPage(path)) continue
      if (now - lstatSync(path).mtimeMs > PAGE_DAYS * 86_400_000) removed(path)
    }
    return mkdtempSync(join(tmpdir(), 'touchstone-page-'))
  })
}

/** A page, its details beside it, and nothing else. */
const holdsPage = (folder: string) =>
  readdirSync(folder).every((name) => name === 'report.html' || name === 'report-trials')

/** Remove the folders of processes that are gone, or those that `ofOwner` says. */
export function removeLeftOver(ofOwner: (token: string) => boolean = isGone): void {
  let names: string[]
  try {
    names = readdirSync(tmpdir())
  } catch {
    return
  }
  for (const name of names) {
    const owner = OURS.exec(name)?.[1]
    if (owner !== undefined && isOwn(join(tmpdir(), name)) && ofOwner(owner))
      removed(join(tmpdir(), name))
  }
}

/** A folder, no link to one, that this user made. */
function isOwn(path: string): boolean {
  try {
    const found = lstatSync(path)
    return found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid)
  } catch {
    return false
  }
}

function removed(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // It stays.
  }
}
