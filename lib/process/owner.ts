/**
 * Whose a process or a folder is: a token that names a process of this package, and is recognised
 * as left over when that process is gone.
 *
 * A process is told by its number, the time of its start, and the place in which the number counts:
 * the machine, and on Linux the namespace. Of another place nothing is known, so what belongs there
 * is never taken for left over.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { startOf } from '../process-start.ts'

/** `PID.START.PLACE`, each in letters and digits. */
export const OWNER = /[0-9a-z]+\.[0-9a-z]+\.[0-9a-z]{5}/

let own: string | null = null

/** The token of this process. */
export function ownToken(): string {
  own ??= `${process.pid.toString(36)}.${startOf(process.pid) ?? '0'}.${place()}`
  return own
}

/** Of this load of the package: two of one process do not end each other's children. */
export const LOADED = randomBytes(4).toString('hex')

/** Whether the process of a token is gone for certain. */
export function isGone(token: string): boolean {
  const [pid = '', start = '', where = ''] = token.split('.')
  if (where !== place()) return false
  const number = Number.parseInt(pid, 36)
  if (!(number > 0)) return false
  try {
    process.kill(number, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ESRCH'
  }
  const now = startOf(number)
  // A number given to a new process is not the old one.
  return now !== null && start !== '0' && start !== now
}

let known: string | null = null

function place(): string {
  known ??= BigInt(
    `0x${createHash('sha256').update(`${hostname()} ${namespace()}`).digest('hex').slice(0, 16)}`,
  )
    .toString(36)
    .padStart(5, '0')
    .slice(-5)
  return known
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return process.platform
  }
}
