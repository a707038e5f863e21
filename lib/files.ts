/**
 * Files, and what the system says when it refuses one: always a `TouchstoneError` that names the
 * path.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { TouchstoneError } from './errors.ts'
import { type Json, parse } from './json.ts'

/**
 * The error for what cannot be read. An error that is a `TouchstoneError` already stays as it is.
 */
export function unreadable(
  path: string,
  cause: unknown,
  expected = 'a readable file',
): TouchstoneError {
  return refused('file_unreadable', path, cause, expected)
}

/**
 * The error for what cannot be written. An error that is a `TouchstoneError` already stays as it
 * is.
 */
export function unwritable(
  path: string,
  cause: unknown,
  expected = 'a place to write to',
): TouchstoneError {
  return refused('file_unwritable', path, cause, expected)
}

function refused(
  code: 'file_unreadable' | 'file_unwritable',
  path: string,
  cause: unknown,
  expected: string,
): TouchstoneError {
  if (cause instanceof TouchstoneError) return cause
  const got = systemCode(cause) ?? (cause instanceof Error ? cause.message : typeof cause)
  return new TouchstoneError(code, `expected ${expected}, got ${got}`, { where: path, cause })
}

/** The system's own code of an error, such as `ENOENT`. */
function systemCode(cause: unknown): string | undefined {
  const code = (cause as NodeJS.ErrnoException | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

/**
 * Make a folder and those above it. Node's own `recursive` never ends where a file system answers
 * ENOENT for a folder whose parent is there, as /proc does.
 */
export function makeFolder(path: string): void {
  const isFolder = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (isFolder()) return
  const above = dirname(resolve(path))
  if (above !== resolve(path)) makeFolder(above)
  try {
    mkdirSync(path)
  } catch (cause) {
    // Somebody else may have made it meanwhile.
    if (!isFolder()) throw cause
  }
}

/** What writing gives. @throws TouchstoneError `file_unwritable` */
export function writing<T>(path: string, write: () => T, expected?: string): T {
  try {
    return write()
  } catch (cause) {
    throw unwritable(path, cause, expected)
  }
}

/**
 * Refuse what is no path. The system takes a number for a file that is open already, such as
 * standard input.
 */
function requirePath(path: unknown): void {
  if (typeof path === 'string') return
  const got = path === null ? 'null' : typeof path
  throw new TouchstoneError('argument_invalid', `expected a path, got ${got}`, { where: 'path' })
}

/**
 * Write a file that is not there yet, whole or not at all. @throws TouchstoneError `file_exists`,
 * `file_unwritable`
 */
export function writeNew(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number } = {},
): void {
  requirePath(path)
  try {
    drafted(path, content, options, (draft) => {
      try {
        linkSync(draft, path)
      } catch (cause) {
        // Some file systems have no second names for a file.
        if (isThere(path)) throw cause
        renameSync(draft, path)
      }
    })
  } catch (cause) {
    if (!isThere(path)) throw unwritable(path, cause)
    throw new TouchstoneError('file_exists', 'expected a path where nothing is yet, got a file', {
      where: path,
      cause,
    })
  }
}

/**
 * Put a whole file in place at once: who reads meanwhile, after a crash or on a full disk finds the
 * old one or the new one. What is no plain file, such as `/dev/stdout`, is written to as it is.
 *
 * @param options.follow write to what a link leads to. Where false, the file takes its place: for
 *   folders that may come from others. Default true
 * @throws TouchstoneError `file_unwritable`
 */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  { follow = true, ...options }: { mode?: number; follow?: boolean } = {},
): void {
  requirePath(path)
  writing(path, () => {
    const there = (follow ? statSync : lstatSync)(path, { throwIfNoEntry: false })
    if (follow && there && !there.isFile()) {
      writeFileSync(path, content)
      return
    }
    const target = follow && there ? realpathSync(path) : path
    const mode = there?.isFile() ? there.mode : undefined
    try {
      drafted(target, content, { mode, ...options }, (draft) => renameSync(draft, target))
    } catch (cause) {
      // A file may be writable in a folder that is not.
      if (!there?.isFile() || !['EACCES', 'EPERM'].includes(systemCode(cause) ?? '')) throw cause
      writeFileSync(target, content)
    }
  })
}

/** A link that leads nowhere is there too. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Write under another name beside the path, and hand that on. No draft stays. */
function drafted(
  path: string,
  content: string | Uint8Array,
  { mode }: { mode?: number | undefined },
  place: (draft: string) => void,
): void {
  const draft = `${path}.${process.pid}.draft`
  try {
    const fd = openSync(draft, 'w', mode)
    try {
      writeFileSync(fd, content)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    place(draft)
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Read a file of JSON strictly. @throws TouchstoneError `file_unreadable`, and what `parse` throws.
 */
export function readJson(path: string): Json {
  return parse(readBytes(path), path)
}

/** Most that is read of what is no plain file, such as a pipe: a device need not have an end. */
const MOST_STREAMED = 1 << 30

/** Read a file's bytes. @throws TouchstoneError `file_unreadable` naming the path. */
export function readBytes(path: string, expected?: string): Uint8Array {
  requirePath(path)
  try {
    const fd = openSync(path, 'r')
    try {
      return fstatSync(fd).isFile() ? readFileSync(fd) : streamed(fd, path)
    } finally {
      closeSync(fd)
    }
  } catch (cause) {
    throw unreadable(path, cause, expected)
  }
}

/**
 * Read a person's own text, such as a notebook: line ends become line feeds. @throws
 * TouchstoneError `file_unreadable`
 */
export function readText(path: string, expected?: string): string {
  return Buffer.from(readBytes(path, expected)).toString('utf8').replace(/\r\n?/g, '\n')
}

function streamed(fd: number, path: string): Uint8Array {
  const parts: Uint8Array[] = []
  for (let total = 0; ; ) {
    const part = Buffer.allocUnsafe(1 << 16)
    const length = readSync(fd, part)
    if (length === 0) return Buffer.concat(parts)
    total += length
    if (total > MOST_STREAMED)
      throw new TouchstoneError(
        'file_unreadable',
        `expected at most ${MOST_STREAMED} bytes, got more`,
        { where: path },
      )
    parts.push(part.subarray(0, length))
  }
}
