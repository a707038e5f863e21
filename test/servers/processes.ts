/** Processes looked at from outside: whether one lives, and waiting until something is so. */
import { existsSync, readFileSync } from 'node:fs'

/** Whether a process lives. One that has ended may wait to be reaped by whoever has inherited it. */
export function lives(pid: number): boolean {
  const stat = `/proc/${pid}/stat`
  if (process.platform === 'linux')
    return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, 'utf8'))
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Wait until something is so. @throws Error after half a minute */
export async function until(what: string, is: () => boolean): Promise<void> {
  for (const bound = Date.now() + 30_000; !is(); ) {
    if (Date.now() > bound) throw new Error(`expected ${what} within half a minute`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** The numbers of processes that a file lists, one a line; none while it is not there. */
export function pidsIn(file: string): number[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number)
    : []
}
