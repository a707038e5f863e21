/**
 * The main module of the supervisor: `supervisor-main MARK`. Its standard input says which groups
 * there are, `+PID` and `-PID` on lines of their own. Its end says that the process is gone.
 *
 * It starts with what earlier processes left that were killed together with their supervisors.
 */
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { endAll } from './child.ts'
import { isLeftOver } from './descendants.ts'
import { isGone, OWNER } from './owner.ts'
import { removeLeftOver } from './temporary.ts'

const GRACE_MS = 1000
const [mark = ''] = process.argv.slice(2)
const [owner = ''] = OWNER.exec(mark) ?? []
const leaders = new Set<number>()

// Whoever ends the process that it watches often ends all of its kind.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const leader = Number(line.slice(1))
  if (line.startsWith('+')) leaders.add(leader)
  else leaders.delete(leader)
})
lines.once('close', async () => {
  const marked = (marks: string) => marks.split(',').some((one) => one.startsWith(mark))
  await endAll({ leaders, marked }, GRACE_MS)
  // Its pipe is closed a moment before a process is gone; that of a worker thread, long before.
  for (let waited = 0; waited < GRACE_MS && !isGone(owner); waited += 50) await pause(50)
  removeLeftOver()
})

await endAll({ leaders: new Set(), marked: isLeftOver }, GRACE_MS)
removeLeftOver()
