/** Reading files. What the system refuses is a `TouchstoneError` that names the path. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { TouchstoneError } from './errors.ts'
import { type Json, parse } from './json.ts'

/** Read a file of JSON strictly. @throws TouchstoneError `file_unreadable`, and what `parse` throws. */
export function readJson(path: string): Json {
  return parse(readBytes(path), path)
}

/** Most that is read of what is no plain file, such as a pipe: a device need not have an end. */
const MOST_STREAMED = 1 << 30

/** Read a file's bytes. @throws TouchstoneError `file_unreadable` naming the path. */
export function readBytes(path: string): Uint8Array {
  // The system takes a number for a file that is open already, such as the standard input.
  if (typeof path !== 'string')
    throw new TouchstoneError(
      'argument_invalid',
      `expected a path, got ${path === null ? 'null' : typeof path}`,
      {
        where: 'path',
      },
    )
  try {
    const fd = openSync(path, 'r')
    try {
      return fstatSync(fd).isFile() ? readFileSync(fd) : streamed(fd, path)
    } finally {
      closeSync(fd)
    }
  } catch (cause) {
    if (cause instanceof TouchstoneError) throw cause
    const code = (cause as NodeJS.ErrnoException).code
    throw new TouchstoneError(
      'file_unreadable',
      `expected a readable file, got ${code ?? String(cause)}`,
      {
        where: path,
        cause,
      },
    )
  }
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
