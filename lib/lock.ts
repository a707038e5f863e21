/**
 * One process writes at a time: a file that names the process, recognised as stale when that
 * process is gone.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'

type Owner = { pid: number; host: string; started: string | null }

/**
 * Hold a lock. Returns what gives it back.
 *
 * @param path the lock's file
 * @param busy the error for a lock that somebody else holds, by who it is
 * @param waitMs how long to wait for it. The whole process stands still meanwhile, so keep it for
 *   what is short. Default 0
 */
export function hold(path: string, busy: (who: string) => Error, waitMs = 0): () => void {
  const own = JSON.stringify({
    pid: process.pid,
    host: hostname(),
    started: startOf(process.pid),
  } satisfies Owner)
  const deadline = performance.now() + waitMs
  // Written whole under another name and then linked, so that nobody reads half a lock.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, own)
  try {
    for (;;) {
      try {
        claim(draft, path, own)
        return () => {
          if (textOf(path) === own) rmSync(path, { force: true })
        }
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
      }
      const held = textOf(path)
      if (held === null) continue
      const owner = ownerOf(held)
      if (owner !== null && !alive(owner)) takeAway(path, held)
      else if (performance.now() < deadline) pause(10)
      else throw busy(told(owner))
    }
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Make the lock's file, where there is none. Some file systems have no second names for a file:
 * there it is written in place. @throws `EEXIST`
 */
function claim(draft: string, path: string, own: string): void {
  try {
    linkSync(draft, path)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (!NO_LINKS.has(code)) throw cause
    writeFileSync(path, own, { flag: 'wx' })
  }
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/**
 * Who holds a lock. Whether a process of another machine still runs, only a person can find out.
 */
function told(owner: Owner | null): string {
  const way = 'if it has ended, delete the file'
  if (owner === null) return `somebody (${way})`
  const who = `process ${owner.pid} on ${owner.host}`
  return owner.host === hostname() ? who : `${who} (${way})`
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
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
      claim(aside, path, textOf(aside) ?? '')
    } catch {
      // A third process took the lock by then; the second will find out when it writes nothing more
      // than it owns.
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
    return Number.isSafeInteger(pid) && pid > 0 && typeof host === 'string'
      ? { pid, host, started }
      : null
  } catch {
    return null
  }
}

/**
 * A process of another machine cannot be asked, so it counts as alive. A number given to a new
 * process is not the old one.
 */
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

/**
 * When a process was started, in the kernel's ticks since boot; null where there is no /proc. A
 * zombie has ended.
 */
function startOf(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`)
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null)
}
