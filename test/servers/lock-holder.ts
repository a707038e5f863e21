/**
 * Holds a lock in a process of its own: `lock-holder.ts LOCK LEASE_MS FILE`. It says `waits for WHO`, `held` or `refused WHY`. Then
 * `write` on its standard input appends a line to the file, as far as the lock is still its own, and `release` ends it.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { holdLater } from '../../lib/lock.ts'

const [path = '', leaseMs = '', file = ''] = process.argv.slice(2)
const say = (line: string) => void process.stdout.write(`${line}\n`)
try {
  const lock = await holdLater(path, (who) => new Error(who), {
    leaseMs: Number(leaseMs),
    told: (who) => say(`waits for ${who}`),
  })
  say('held')
  for await (const line of createInterface(process.stdin)) {
    try {
      if (line === 'release') break
      lock.confirm()
      appendFileSync(file, `${process.pid}\n`)
      say('wrote')
    } catch (cause) {
      say(`refused ${(cause as Error).message}`)
    }
  }
  lock.release()
  say('released')
} catch (cause) {
  say(`refused ${(cause as Error).message}`)
}
