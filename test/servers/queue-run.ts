/** The file of a run over a queue, for its coordinator and its workers alike: `touchstone FILE` and `touchstone worker FILE`. */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { cases, harness } from '../../lib/index.ts'

const { env } = process
const folder = env['QUEUE_OUT'] ?? ''
const all = (await cases.load('cases/lying_success')).slice(0, Number(env['QUEUE_CASES'] ?? 4))

/** An agent in this file, so that only a worker with this file can run it. Each start is a line, whatever comes of it. */
const counted = harness.agent('counted', async ({ task, servers, seed }) => {
  if (env['QUEUE_STARTS']) appendFileSync(env['QUEUE_STARTS'], `${seed}\n`)
  const [server] = Object.values(servers)
  const { tools } = (await server?.client.listTools()) ?? { tools: [] }
  if (env['QUEUE_SLOW']) await new Promise((done) => setTimeout(done, Number(env['QUEUE_SLOW'])))
  return `I have ${tools.length} tools and did nothing about: ${task.slice(0, 40)}`
})

const plan = harness
  .run(all)
  .config('naive', { model: 'sim/naive' })
  .config('counted', { agent: counted })
  .repeat(Number(env['QUEUE_REPEAT'] ?? 2))
  .limits({ lost: 1000 })
  .queue(env['QUEUE_URL'] ?? 'redis://127.0.0.1:1', {
    leaseMs: Number(env['QUEUE_LEASE_MS'] ?? 60_000),
  })
  .quiet()
const begun = existsSync(join(folder, 'manifest.json'))
const run = await (begun ? plan.resume(folder) : plan.out(folder))
process.exitCode = run.complete ? 0 : 3
