/**
 * A folder that is given to a server: made fresh, filled with the case's files, and read back as
 * the table `files`.
 *
 * The agent knows the folder as `/workspace`, whatever its name of the day is, so that a trial
 * reads the same every time.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { TouchstoneError } from '../../errors.ts'
import type { Row, State } from '../../world/world.ts'

/** The folder's name in tasks, arguments, results and arguments of the command. */
export const WORKSPACE = '/workspace'

/** Largest file that is read into the table; beyond it only its size is seen. */
const MAX_FILE_BYTES = 1_000_000

/** Make a folder hold these files and nothing else. */
export function fill(folder: string, files: { [path: string]: string }): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder))
    rmSync(join(folder, name), { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    const full = resolve(folder, path)
    const inside = relative(folder, full)
    if (isAbsolute(path) || inside.startsWith('..') || inside === '') {
      throw new TouchstoneError(
        'case_invalid',
        `expected a path inside the folder, got "${path}"`,
        { where: 'files' },
      )
    }
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
  }
}

/**
 * The files of a folder as a table, sorted by path. A folder that a tool deleted has none: that is
 * what it did.
 */
export function readFolder(folder: string): State {
  if (!existsSync(folder)) return { files: [] }
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const rows = entries.map((entry): Row => {
    const full = join(entry.parentPath, entry.name)
    const bytes = readFileSync(full)
    const path = relative(folder, full)
    return {
      id: path,
      path,
      size_bytes: bytes.length,
      text: bytes.length > MAX_FILE_BYTES ? null : bytes.toString('utf8'),
    }
  })
  return { files: rows.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)) }
}

/** A value with one folder name in its texts exchanged for another. */
export function exchanged<T>(value: T, from: string | null, to: string | null): T {
  if (from === null || to === null) return value
  if (typeof value === 'string') return value.replaceAll(from, to) as T
  if (Array.isArray(value)) return value.map((item) => exchanged(item, from, to)) as T
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, exchanged(item, from, to)]),
  ) as T
}
