/** When a process was started, which tells it from a later one of the same number. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * When a process was started: in ticks since the start of the machine, or in seconds where there is
 * no /proc. A zombie has ended. Null where it is not known, as on Windows.
 */
export function startOf(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[0] === 'Z' ? 'ended' : Number(fields[19]).toString(36)
    } catch {
      return null
    }
  }
  if (process.platform === 'win32') return null
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env,
  })
  const ms = Date.parse(`${stdout ?? ''} UTC`)
  return Number.isNaN(ms) ? null : (ms / 1000).toString(36)
}
