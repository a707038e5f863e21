/** A run over a queue whose workers, server and coordinator are killed again and again, and what must hold afterwards. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cases, harness } from '../../../lib/index.ts'
import type { TrialRecord } from '../../../lib/log/index.ts'
import { checkFolder } from '../../../lib/receipt/attest/check-folder.ts'
import { rng } from '../../../lib/stats/random.ts'
import { type EngineName, startQueueServer } from '../../servers/queue-server.ts'
import { type StartedWorker, startWorker } from '../../servers/workers.ts'
import { temporaryFolder } from '../../temporary.ts'

const root = resolve(import.meta.dirname, '../../..')
const file = join(root, 'test/servers/queue-run.ts')

export type Chaos = {
  engine: EngineName
  repeats: number
  workers: number
  /** How many workers, servers and coordinators are killed, each time a part of the run has been recorded. */
  kills: { workers: number; servers: number; coordinators: number }
  leaseMs: number
}

/** A run without a new line for so long hangs. Nothing in it waits for more than a few leases. */
const STILL_MS = 100_000

export function linesOf<T>(path: string): T[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)
}

/** What is left of a record without times, and who ran it. Evidence names its attempt, so digests of first attempts alone are held. */
export function comparable({
  started_at,
  duration_ms,
  worker,
  attempt,
  digests,
  ...rest
}: TrialRecord) {
  return JSON.stringify(attempt === 0 ? { ...rest, digests } : rest)
}

export const lastOf = (records: TrialRecord[]) => {
  const last = new Map<string, TrialRecord>()
  for (const record of records) {
    const known = last.get(record.key)
    if (!known || known.attempt < record.attempt) last.set(record.key, record)
  }
  return last
}

export async function chaos(options: Chaos) {
  const dir = temporaryFolder('chaos')
  const [out, starts] = [join(dir, 'run'), join(dir, 'starts')]
  const server = await startQueueServer(options.engine)
  const env = {
    QUEUE_URL: server.url,
    QUEUE_OUT: out,
    QUEUE_STARTS: starts,
    QUEUE_REPEAT: `${options.repeats}`,
    QUEUE_LEASE_MS: `${options.leaseMs}`,
    QUEUE_SLOW: '20',
  }
  const began = performance.now()
  const killed = { workers: 0, servers: 0, coordinators: 0 }
  const workers: StartedWorker[] = []
  let coordinator: ChildProcess | undefined
  let done = false
  let errors = ''
  const addWorker = () =>
    workers.push(startWorker(server.url, { concurrency: 4, args: [file], env, cwd: root }))
  /** The coordinator, begun again whenever it is killed, until it has brought the run to its end. */
  const coordinate = async () => {
    while (!done) {
      const child = spawn(process.execPath, [join(root, 'repl.ts'), file], {
        cwd: root,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } as NodeJS.ProcessEnv,
      })
      coordinator = child
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        errors += text
      })
      const code = await new Promise((ended) => child.once('exit', ended))
      if (code === 0) done = true
      else if (child.signalCode === null)
        throw new Error(`the coordinator ended with ${code}: ${errors}`)
    }
  }
  const lines = () => linesOf<TrialRecord>(join(out, 'trials.ndjson')).length
  const planned = 2 * 4 * options.repeats
  const kills = async () => {
    // Spread over the run by what is recorded, so that a slow machine is not only restarted.
    const due = Object.entries(options.kills)
      .flatMap(([what, n]) =>
        Array.from({ length: n }, (_, i) => ({ what, at: (planned * (i + 0.5)) / (n + 0.5) })),
      )
      .sort((a, b) => a.at - b.at)
    let [seen, since] = [0, performance.now()]
    while (!done) {
      await sleep(100)
      const now = lines()
      if (now > seen) [seen, since] = [now, performance.now()]
      else if (performance.now() - since > STILL_MS)
        throw new Error(
          `the run hangs at ${now} of ${planned} lines; ${errors}; ${workers.map((one) => one.said()).join('; ')}`,
        )
      if (due[0] === undefined || now < due[0].at) continue
      const { what } = due.shift() as (typeof due)[number]
      if (what === 'workers') {
        // The one that has been at it the longest.
        workers.shift()?.kill()
        killed.workers++
        addWorker()
      } else if (what === 'servers') {
        await server.kill()
        killed.servers++
        await sleep(300)
        await server.start()
      } else {
        coordinator?.kill('SIGKILL')
        killed.coordinators++
      }
    }
  }
  try {
    for (let i = 0; i < options.workers; i++) addWorker()
    await Promise.all([coordinate(), kills()])
    return { ...(await judged(out, starts, options)), killed, tookMs: performance.now() - began }
  } finally {
    done = true
    coordinator?.kill('SIGKILL')
    for (const one of workers) one.kill()
    await server.close()
  }
}

async function judged(out: string, starts: string, { repeats }: Chaos) {
  const records = linesOf<TrialRecord>(join(out, 'trials.ndjson'))
  const discarded = linesOf<{ key: string; attempt: number }>(join(out, 'discarded.ndjson'))
  const last = lastOf(records)
  const all = (await cases.load('cases/lying_success')).slice(0, 4)
  const here = await harness
    .run(all)
    .config('naive', { model: 'sim/naive' })
    .config('counted', { agent: await agentIn() })
    .repeat(repeats)
    .out(join(out, '../here'))
    .quiet()
  assert.equal(here.complete, true)
  const expected = lastOf(linesOf<TrialRecord>(join(out, '../here/trials.ndjson')))
  let differ = 0
  for (const [key, record] of expected) {
    const got = last.get(key)
    const both = [record, got ?? record].map((one) =>
      comparable(got?.attempt === 0 ? one : { ...one, attempt: 1 }),
    )
    if (!got || both[0] !== both[1]) differ++
  }
  const ids = records.map(({ key, attempt }) => `${key}#${attempt}`)
  const bySeed = new Map<string, number>()
  for (const seed of readFileSync(starts, 'utf8').split('\n').filter(Boolean))
    bySeed.set(seed, (bySeed.get(seed) ?? 0) + 1)
  let [started, unaccounted] = [0, 0]
  for (const { key, seed, configuration } of expected.values()) {
    if (configuration !== 'counted') continue
    const begun = bySeed.get(`${Math.floor(rng(`${seed}|model`)() * 2 ** 31)}`) ?? 0
    const told = [...records, ...discarded].filter((one) => one.key === key).length
    started += begun
    unaccounted += Math.max(0, begun - told)
  }
  const { verdict, steps } = await checkFolder(out)
  return {
    keys: last.size,
    planned: expected.size,
    differ,
    twice: ids.length - new Set(ids).size,
    lost: records.filter(({ error }) => error?.code === 'worker_lost').length,
    errors: [...last.values()].filter(({ outcome }) => outcome === 'error').length,
    discarded: discarded.length,
    /** Starts of the agent that neither a record nor a discarded result stands for. */
    unaccounted,
    started,
    verdict,
    steps: steps.filter(({ verdict: one }) => one === 'failed'),
  }
}

/** The agent of the run's file, without its count. */
async function agentIn() {
  return harness.agent('counted', async ({ task, servers }) => {
    const [server] = Object.values(servers)
    const { tools } = (await server?.client.listTools()) ?? { tools: [] }
    return `I have ${tools.length} tools and did nothing about: ${task.slice(0, 40)}`
  })
}
