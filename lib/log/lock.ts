/** One process writes a run's folder at a time: a file that names it, recognised as stale when that process is gone. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { TouchstoneError } from '../errors.ts'

type Owner = { pid: number; host: string; started: string | null }

const NAME = 'run.lock'

/**
 * Take a folder's lock. Returns what gives it back.
 *
 * @throws TouchstoneError `run_locked` naming the process that holds it
 */
export function lock(dir: string): () => void {
  const path = join(dir, NAME)
  const own = JSON.stringify({ pid: process.pid, host: hostname(), started: startOf(process.pid) } satisfies Owner)
  // Written whole under another name and then linked, so that nobody reads half a lock.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, own)
  try {
    for (;;) {
      try {
        linkSync(draft, path)
        return () => {
          if (textOf(path) === own) rmSync(path, { force: true })
        }
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
      }
      const held = textOf(path)
      if (held === null) continue
      const owner = ownerOf(held)
      if (owner === null || alive(owner)) {
        const who = owner === null ? 'somebody' : `process ${owner.pid} on ${owner.host}`
        throw new TouchstoneError('run_locked', `expected a run that nobody writes, got one held by ${who}`, {
          where: path,
        })
      }
      takeAway(path, held)
    }
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Remove a stale lock, and only that one: another process may have replaced it in the meantime. */
function takeAway(path: string, stale: string): void {
  const aside = `${path}.${process.pid}.stale`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  if (textOf(aside) !== stale) {
    try {
      linkSync(aside, path)
    } catch {
      // A third process took the lock by then; the second will find out when it writes nothing more than it owns.
    }
  }
  rmSync(aside, { force: true })
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function ownerOf(text: string): Owner | null {
  try {
    const { pid, host, started } = JSON.parse(text) as Owner
    return Number.isSafeInteger(pid) && pid > 0 && typeof host === 'string' ? { pid, host, started } : null
  } catch {
    return null
  }
}

/** A process of another machine cannot be asked, so it counts as alive. A number given to a new process is not the old one. */
function alive({ pid, host, started }: Owner): boolean {
  if (host !== hostname()) return true
  try {
    process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
  const now = startOf(pid)
  return started === null || now === null || started === now
}

/** When a process was started, in the kernel's ticks since boot; null where there is no /proc. A zombie has ended. */
function startOf(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`)
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null)
}
