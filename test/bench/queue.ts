/**
 * A run over a queue beside the same run in one process, what the queue's server holds of many tasks, and how often a provider
 * refuses eight processes with one key, whose limits it tells or not. `npm run bench -- queue`;
 * QUEUE_TASKS sets how many tasks the memory is measured over (default 10,000; it does not grow with them); PostgreSQL has a
 * tenth of them, since each is on the disk before the next.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Engine } from '../../lib/harness/queue/engine.ts'
import { QueueExecutor } from '../../lib/harness/queue/executor.ts'
import { identity } from '../../lib/harness/queue/identity.ts'
import { tasksOf } from '../../lib/harness/queue/messages.ts'
import { answerText } from '../../lib/harness/queue/worker-answer.ts'
import type { Held } from '../../lib/harness/trial/held.ts'
import { blank } from '../../lib/harness/trial/judge-trial.ts'
import { cases, harness } from '../../lib/index.ts'
import { ENGINES, type EngineName, missing, startQueueServer } from '../servers/queue-server.ts'
import { quota, underQuota } from '../servers/quota-callers.ts'
import { startWorker } from '../servers/workers.ts'
import { temporaryFolder } from '../temporary.ts'

const REPEATS = 6
const TASKS = Number(process.env['QUEUE_TASKS'] ?? 10_000)

export async function bench() {
  const all = (await cases.load()).slice(0, 40)
  const dir = temporaryFolder('bench-queue')
  const plan = () =>
    harness
      .run(all)
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .repeat(REPEATS)
      .concurrency(8)
      .quiet()
  const trials = all.length * 2 * REPEATS
  const seconds = async (work: () => PromiseLike<unknown>) => {
    const began = performance.now()
    await work()
    return (performance.now() - began) / 1000
  }
  const rows: { label: string; value: number; unit: string; budget?: string; ok?: boolean }[] = []
  await plan().repeat(1).out(join(dir, 'warm'))
  const here = await seconds(() => plan().out(join(dir, 'here')))
  rows.push({ label: `in one process, ${trials} trials`, value: trials / here, unit: 'trials/s' })
  for (const engine of ENGINES) {
    const why = missing(engine)
    if (why) {
      rows.push({ label: `over ${engine}: ${why}`, value: Number.NaN, unit: '' })
      continue
    }
    rows.push(...(await overServer(engine, plan, trials, dir, seconds)))
  }
  for (const engine of [...ENGINES.filter((one) => !missing(one)), null])
    for (const form of ['openai', 'silent'] as const) {
      const { ratio } = await underQuota(engine, quota(form))
      const how = form === 'openai' ? 'limits told' : 'nothing told'
      rows.push({
        label: `8 processes, ${engine ? `one pace over ${engine}` : 'each for itself'}, ${how}`,
        ...{ value: ratio, unit: 'refused per answered' },
        ...(engine && { budget: '<= 0.05', ok: ratio <= 0.05 }),
      })
    }
  return { name: 'a run over a queue, all on this machine', rows }
}

async function overServer(
  engine: EngineName,
  plan: () => harness.RunBuilder,
  trials: number,
  dir: string,
  seconds: (work: () => PromiseLike<unknown>) => Promise<number>,
) {
  const server = await startQueueServer(engine)
  const workers = [1, 2].map(() => startWorker(server.url, { concurrency: 4 }))
  try {
    await Promise.all(workers.map((one) => one.says(/waits for runs/)))
    await plan()
      .repeat(1)
      .out(join(dir, `${engine}-warm`))
      .queue(server.url)
    const there = await seconds(() => plan().out(join(dir, engine)).queue(server.url))
    for (const one of workers) one.kill()
    const tasks = engine === 'redis' ? TASKS : TASKS / 10
    const { most, perSecond } = await memoryOver(server, tasks)
    return [
      { label: `over ${engine}, 2 workers`, value: trials / there, unit: 'trials/s' },
      { label: `over ${engine}, results of 4 KB from nowhere`, value: perSecond, unit: 'tasks/s' },
      {
        label: `${engine}: memory of the server over ${tasks.toLocaleString('en-US')} tasks`,
        value: most / 2 ** 20,
        unit: 'MB',
        ...(engine === 'redis' && { budget: '< 50', ok: most < 50 * 2 ** 20 }),
      },
    ]
  } finally {
    for (const one of workers) one.kill()
    await server.close()
  }
}

/** Tasks whose results are made up at once: what is measured is the queue. */
async function memoryOver(server: { url: string; memoryBytes(): number | null }, tasks: number) {
  const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
  if (!test) throw new Error('no case')
  const [engine, other] = [await Engine.open(server.url), await Engine.open(server.url)]
  const run = 'bench'
  const document = {
    ...{ schema: 'touchstone.queue.v0' as const, run, seed: 1, leaseMs: 60_000, prices: {} },
    ...{ coordinator: identity({}), cases: [], configurations: [], judge: null },
    limits: harness.run(test).plan.limits,
  }
  const held = {
    writer: { note() {}, confirm() {} },
    columns: {},
    starts: new Map(),
  } as unknown as Held
  const executor = await QueueExecutor.begin({
    ...{ engine, document, held, bar: null, manifest: { configurations: [] } },
    counted: () => null,
  })
  const filler = Buffer.from(crypto.getRandomValues(new Uint8Array(3000))).toString('base64')
  let over = false
  const box = other.box(tasksOf(run), { name: 'made-up', leaseMs: 60_000 })
  const work = async () => {
    while (!over) {
      const taken = await box.take()
      if (taken === null) {
        await sleep(10)
        continue
      }
      const key = { ...JSON.parse(taken.data), case: test }
      const record = blank(key, new Date().toISOString(), 1)
      record.error = { code: 'made_up', message: '' }
      const transcript = { key: record.key, attempt: record.attempt, calls: [], filler }
      const parts = { record, transcript, logs: [], decisions: [], audits: [] }
      const rest = { stopped: false, halt: null, final: false }
      await box.finish(taken, answerText('made-up', { ...parts, ...rest }))
    }
  }
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, server.memoryBytes() ?? 0)
  }, 1000)
  const working = Array.from({ length: 16 }, work)
  const began = performance.now()
  let next = 0
  const feed = async () => {
    while (next < tasks) {
      const trial = next++
      const task = { case: test, configuration: 'a', trial, seed: `${trial}`, attempt: 0 }
      const result = await executor.attempt(task, new AbortController().signal)
      result.recorded?.()
    }
  }
  await Promise.all(Array.from({ length: executor.width }, feed))
  const perSecond = tasks / ((performance.now() - began) / 1000)
  over = true
  clearInterval(watch)
  await Promise.all(working)
  await executor.close()
  await other.close()
  return { most, perSecond }
}
