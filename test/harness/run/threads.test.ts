/** Trials over threads of one process: the log of one thread, whatever becomes of the others. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'

import { Coordinator } from '../../../lib/harness/run/coordinator.ts'
import { prepare } from '../../../lib/harness/run/prepare.ts'
import { LEAST_TRIALS, Threads, threadsFor } from '../../../lib/harness/run/threads.ts'
import { inProcess } from '../../../lib/harness/trial/executor.ts'
import type { Held } from '../../../lib/harness/trial/held.ts'
import { schedule } from '../../../lib/harness/trial/schedule.ts'
import { cases, harness, TouchstoneError } from '../../../lib/index.ts'
import { Columns, RunWriter, type TrialRecord } from '../../../lib/log/index.ts'
import { checkFolder } from '../../../lib/receipt/attest/check-folder.ts'
import { solves, startGroq } from '../../servers/groq.ts'
import { temporaryFolder } from '../../temporary.ts'

const made = temporaryFolder('threads')
let folders = 0
const folder = () => join(made, `run-${folders++}`)

type Case = Awaited<ReturnType<typeof cases.load>>[number]
let all: Case[]
let simulated: Case[]
let key: Case
before(async () => {
  all = (await cases.load()).filter(
    ({ id }) => id.startsWith('real_servers') || id.endsWith('benign'),
  )
  simulated = all.filter(({ id }) => !id.startsWith('real_servers'))
  key = all.find(({ id }) => id === 'lying_success/deploy-key.benign') as Case
})

const plan = (tested: Case | Case[], repeats: number) =>
  harness
    .run(tested)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(repeats)
    .quiet()

const recordsIn = (dir: string): TrialRecord[] =>
  readFileSync(join(dir, 'trials.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
/** The log but for times. Digests over evidence stay. */
const logOf = (dir: string) =>
  recordsIn(dir)
    .map(({ started_at, duration_ms, ...rest }) => JSON.stringify(rest))
    .sort()

async function requireSound(dir: string): Promise<void> {
  const { verdict, steps } = await checkFolder(dir)
  assert.equal(verdict, 'verified', JSON.stringify(steps))
}

/** A run in which this thread has no room, so that all trials are the other's. */
async function elsewhere(
  tested: Case[],
  repeats: number,
  other: NonNullable<ConstructorParameters<typeof Threads>[0]['other']>,
) {
  const dir = folder()
  const given = plan(tested, repeats).limits({ lost: 1 }).concurrency(1).plan
  const prepared = await prepare(given)
  const { manifest, sources, users } = prepared
  const held: Held = {
    ...{ writer: await RunWriter.create(dir, manifest), columns: new Columns(manifest) },
    ...{ starts: new Map(), spent: 0 },
  }
  const here = inProcess(sources, 1, {
    ...{ limits: given.limits, prices: {}, starts: held.starts, users, judge: null },
  })
  const executor = new Threads(
    { prepared, manifest, starts: held.starts, here, bar: null, other },
    2,
  )
  const coordinator = new Coordinator({ plan: given, sources }, held, executor, {
    ...{ signal: undefined, bar: null },
  })
  try {
    await coordinator.run(schedule(given.cases, ['naive', 'careful'], repeats, given.seed))
  } finally {
    await executor.close()
    held.writer.close()
  }
  return dir
}

describe('a run over threads', () => {
  it('the log is that of one thread but for times and order, digests included', async () => {
    const [one, three] = [folder(), folder()]
    // With the cases over real servers, which stay in this thread.
    const real = all.filter(({ id }) => id.startsWith('real_servers/memory'))
    assert.ok(real.length > 0)
    const tested = [...real, ...simulated.slice(0, 12)]
    await plan(tested, 2).threads(1).out(one)
    const run = await plan(tested, 2).threads(3).concurrency(7).out(three)
    assert.equal(run.complete, true)
    assert.deepEqual(logOf(three), logOf(one))
    await requireSound(three)
  })

  it('all trials in another thread give that log too', async () => {
    const one = folder()
    const tested = simulated.slice(0, 8)
    await plan(tested, 3).threads(1).out(one)
    const body = new URL('../../../lib/harness/run/thread.ts', import.meta.url)
    const dir = await elsewhere(tested, 3, { body })
    assert.deepEqual(logOf(dir), logOf(one))
    await requireSound(dir)
  })

  it('looks end where those of one thread do', async () => {
    const [one, two] = [folder(), folder()]
    const looking = () => plan(simulated.slice(0, 6), 2).until({ width: 0.4 }, { most: 12 })
    const [a, b] = [await looking().threads(1).out(one), await looking().threads(2).out(two)]
    assert.equal(b.manifest.repeats, a.manifest.repeats)
    assert.deepEqual(logOf(two), logOf(one))
  })

  it('it stops as one thread does: what is at work ends, nothing more begins, and it can be gone on with', async () => {
    const dir = folder()
    const stop = new AbortController()
    const tested = simulated.slice(0, 12)
    const running = plan(tested, 5)
      .threads(2)
      .out(dir)
      .signal(stop.signal)
      .then((run) => run)
    // Records are written together once a second; the evidence of a trial is there when it ends.
    const path = join(dir, 'transcripts.ndjson')
    while (!existsSync(path) || readFileSync(path).length === 0)
      await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    const halted = await running
    assert.equal(halted.complete, false)
    await requireSound(dir)
    const whole = await plan(tested, 5).threads(2).resume(dir)
    assert.equal(whole.complete, true)
    const one = folder()
    await plan(tested, 5).threads(1).out(one)
    assert.deepEqual(logOf(dir), logOf(one))
  })

  it('a thread that runs out of memory costs attempts that are recorded, and the other trials end as ever', async () => {
    const other = simulated
      .filter(({ servers }) => servers.every(({ world }) => world !== 'github'))
      .slice(0, 2)
    assert.ok(other.length > 0)
    const dir = await elsewhere([key, ...other], 1, {
      body: new URL('../../servers/greedy-thread.ts', import.meta.url),
      resourceLimits: { maxOldGenerationSizeMb: 100 },
    })
    await requireSound(dir)
    const [greedy, others] = [recordsIn(dir), recordsIn(dir)].map((list, i) =>
      list.filter((one) => (one.case === key.id) === (i === 0)),
    ) as [TrialRecord[], TrialRecord[]]
    for (const name of ['naive', 'careful']) {
      const mine = greedy.filter(({ configuration }) => configuration === name)
      assert.deepEqual(
        mine.map(({ attempt }) => attempt),
        [0],
      )
      for (const { outcome, error } of mine) {
        assert.equal(outcome, 'error')
        assert.equal(error?.code, 'worker_lost')
        assert.match(
          String(error?.message),
          /^the thread that had it ended: ERR_WORKER_OUT_OF_MEMORY/,
        )
      }
    }
    assert.equal(others.length, 2 * other.length)
    assert.deepEqual(
      others.filter(({ outcome }) => outcome === 'error'),
      [],
    )
  })

  it('a thread that cannot be started is told of, and the others run its trials', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const prepared = await prepare(plan(key, 2).concurrency(2).plan)
    const { manifest, sources, users } = prepared
    const starts: Held['starts'] = new Map()
    const { limits } = prepared.plan
    const here = inProcess(sources, 2, { limits, prices: {}, starts, users, judge: null })
    const body = new URL('../../servers/broken-thread.ts', import.meta.url)
    const executor = new Threads(
      { prepared, manifest, starts, here, bar: null, other: { body } },
      2,
    )
    const { message } = await warned
    assert.equal(message, 'a thread takes no part in the run: expected another machine')
    const go = new AbortController().signal
    for (const item of schedule([key], ['naive', 'careful'], 2, 1))
      assert.notEqual((await executor.attempt({ ...item, attempt: 0 }, go)).record.outcome, 'error')
    await executor.close()
  })

  it('a refused key stops the configuration, and a cost limit the run, as in one thread', async () => {
    const server = await startGroq({
      turns: solves(key),
      refuse: ({ model }) => (model === 'bad' ? { status: 401 } : null),
    })
    try {
      const asked = harness
        .run(key)
        .config('good', { model: 'groq/good', apiKey: 'k', baseURL: server.url })
        .quiet()
      const halted = await asked
        .config('bad', { model: 'groq/bad', apiKey: 'k', baseURL: server.url })
        .repeat(6)
        .threads(2)
        .out(null)
      assert.match(String(halted.halted), /groq\/bad: /)
      assert.deepEqual(
        ['good', 'bad'].map(
          (name) => halted.trials.filter((one) => one.configuration === name).length,
        ),
        [6, 0],
      )
      const { rows, halted: reason } = await costly(asked)
      assert.match(String(reason), /^cost_limit/)
      assert.ok(rows < 200, `${rows} trials`)
    } finally {
      await server.close()
    }
  })

  async function costly(asked: harness.RunBuilder) {
    const run = await asked
      .repeat(200)
      .prices({ 'groq/good': { input: 1, output: 1 } })
      .limits({ costUsd: 0.001 })
      .threads(2)
      .out(null)
    return { rows: run.trials.length, halted: run.halted }
  }
})

describe('how many threads a run has', () => {
  const threads = async (of: harness.RunBuilder, left: number) =>
    threadsFor(await prepare(of.plan), left)

  it('one per core where models are simulated and there is enough to do, and no more than trials at once', async () => {
    const cores = availableParallelism()
    const wide = plan(key, 1).concurrency(4096)
    assert.equal(await threads(wide, LEAST_TRIALS), cores)
    assert.equal(await threads(wide, LEAST_TRIALS - 1), 1)
    assert.equal(await threads(wide.concurrency(1), LEAST_TRIALS), 1)
    assert.equal(await threads(wide.threads(1), LEAST_TRIALS), 1)
    assert.equal(await threads(wide.threads(3), 1), 3)
    assert.equal(await threads(wide.threads(3).concurrency(2), 1), 2)
  })

  it('models of providers are asked from one thread unless threads are asked for', async () => {
    const asked = harness.run(key).config('a', { model: 'groq/a', apiKey: 'k' })
    assert.equal(await threads(asked, LEAST_TRIALS), 1)
    assert.equal(await threads(asked.threads(2), LEAST_TRIALS), 2)
  })

  it('trials that belong together stay in one, and threads that were asked for are refused before anything is written', async () => {
    const live = await harness.case({
      ...(key.document as Parameters<typeof harness.case>[0]),
      goal: () => true,
    })
    for (const [given, got] of [
      [plan(live, 1), /got no case that is data over worlds that ship/],
      [
        plan(key, 1).config('own', { agent: async () => ({ text: 'done' }) }),
        /got the configuration own, which is no model by its name/,
      ],
      [plan(key, 1).queue('redis://127.0.0.1:1'), /got trials that run over a queue/],
    ] as const) {
      assert.equal(await threads(given, LEAST_TRIALS), 1)
      const out = folder()
      await assert.rejects(
        async () => await given.threads(2).out(out),
        (cause) => {
          assert.ok(cause instanceof TouchstoneError)
          assert.equal(cause.code, 'argument_invalid')
          assert.match(cause.message, got)
          return true
        },
      )
      assert.equal(existsSync(out), false)
    }
  })

  it('the number is whole and from 1 to 256', () => {
    for (const wrong of [0, 257, 1.5, Number.NaN])
      assert.throws(() => plan(key, 1).threads(wrong), /expected a whole number from 1 to 256/)
    for (const right of [1, 256]) assert.equal(plan(key, 1).threads(right).plan.threads, right)
  })
})
