/** A run over a queue: the same log as in one process, whatever is killed, stopped, forgotten or made up on the way. Real servers, real workers. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Engine } from '../../../lib/harness/queue/engine.ts'
import { notesOf, pack, RUNS, tasksOf, unpack } from '../../../lib/harness/queue/messages.ts'
import { answerText } from '../../../lib/harness/queue/worker-answer.ts'
import { blank } from '../../../lib/harness/trial/judge-trial.ts'
import { cases, harness } from '../../../lib/index.ts'
import type { TrialRecord } from '../../../lib/log/index.ts'
import { checkFolder } from '../../../lib/receipt/attest/check-folder.ts'
import { solves, startGroq } from '../../servers/groq.ts'
import { ENGINES, missing, type QueueServer, startQueueServer } from '../../servers/queue-server.ts'
import { type StartedWorker, startWorker } from '../../servers/workers.ts'
import { temporaryFolder } from '../../temporary.ts'
import { lastOf, linesOf } from './queue-chaos.ts'

const root = resolve(import.meta.dirname, '../../..')
const made = temporaryFolder('queue')
let folders = 0
const folder = () => join(made, `run-${folders++}`)

type Case = Awaited<ReturnType<typeof cases.load>>[number]
let all: Case[]
before(async () => {
  all = (await cases.load('cases/lying_success')).slice(0, 6)
})

const plan = (repeats: number) =>
  harness
    .run(all)
    .config('naive', { model: 'sim/naive' })
    .config('careful', { model: 'sim/careful' })
    .repeat(repeats)
    .quiet()

/** The log but for times and who ran it. */
const logOf = (dir: string) =>
  linesOf<TrialRecord>(join(dir, 'trials.ndjson'))
    .map(({ started_at, duration_ms, worker, ...rest }) => JSON.stringify(rest))
    .sort()
const discardedIn = (dir: string) =>
  linesOf<{ key: string; attempt: number; worker: string | null; why: string }>(
    join(dir, 'discarded.ndjson'),
  )
const recordsIn = (dir: string) => linesOf<TrialRecord>(join(dir, 'trials.ndjson'))

/** Wait until something holds: what is waited for comes, however slow the machine is. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(50)
}

async function requireSound(dir: string): Promise<void> {
  const { verdict, steps } = await checkFolder(dir)
  assert.equal(verdict, 'verified', JSON.stringify(steps))
}

for (const kind of ENGINES) {
  describe(`over ${kind}`, { skip: missing(kind) }, () => {
    let server: QueueServer
    const workers: StartedWorker[] = []
    const worker = (
      ...given: Parameters<typeof startWorker> extends [string, (infer O)?] ? [O?] : never
    ) => {
      const one = startWorker(server.url, given[0])
      workers.push(one)
      return one
    }
    before(async () => {
      server = await startQueueServer(kind)
    })
    after(async () => {
      for (const one of workers) one.kill()
      await server?.close()
    })

    it('the log is that of a run in one process, but for times and workers; each worker says who it is', async () => {
      const [here, there] = [folder(), folder()]
      const [a, b] = [worker(), worker()]
      await plan(3).out(here)
      const run = await plan(3).out(there).queue(server.url)
      assert.equal(run.complete, true)
      assert.deepEqual(logOf(there), logOf(here))
      await requireSound(there)
      const told = linesOf<{ id: string; pid: number; code: string; versions: object }>(
        join(there, 'workers.ndjson'),
      )
      const pids = [a, b].map((one) => one.process.pid)
      assert.ok(told.every((one) => pids.includes(one.pid) && one.code.startsWith('sha256:')))
      const ids = new Set(told.map(({ id }) => id))
      for (const record of recordsIn(there)) assert.ok(ids.has(record.worker ?? ''), record.key)
      assert.deepEqual(discardedIn(there), [])
    })

    it('nothing of an ended run is left on the server, and its workers go on with the next', {
      timeout: 60_000,
    }, async () => {
      const dir = folder()
      const run = await plan(1).out(dir).queue(server.url)
      assert.equal(run.complete, true)
      const engine = await Engine.open(server.url)
      try {
        const { id } = run.manifest
        assert.deepEqual(await engine.box(RUNS).ids('waiting'), [])
        // A worker that was about to say that it lives takes its word away again.
        for (const name of [tasksOf(id), notesOf(id)])
          for (const standing of ['waiting', 'active', 'completed', 'failed'] as const)
            await until(async () => (await engine.box(name).ids(standing)).length === 0)
      } finally {
        await engine.close()
      }
    })

    it('a server that is emptied in the middle costs no trial', async () => {
      const dir = folder()
      const running = plan(20)
        .out(dir)
        .queue(server.url, { leaseMs: 3000 })
        .then((run) => run)
      await until(() => recordsIn(dir).length > 20)
      server.wipe()
      const run = await running
      assert.equal(run.complete, true)
      assert.equal(run.trials.length, all.length * 2 * 20)
      assert.equal(run.trials.filter(({ outcome }) => outcome === 'error').length, 0)
      await requireSound(dir)
    })
  })
}

describe('a run over a queue', { skip: missing('redis') }, () => {
  let server: QueueServer
  const started: StartedWorker[] = []
  const worker = (options?: Parameters<typeof startWorker>[1]) => {
    const one = startWorker(server.url, options)
    started.push(one)
    return one
  }
  before(async () => {
    server = await startQueueServer('redis')
  })
  after(async () => {
    for (const one of started) one.kill()
    await server?.close()
  })
  const away = async (...which: StartedWorker[]) => {
    for (const one of which) one.kill()
    await Promise.all(which.map((one) => one.ended))
  }

  it('a worker that is stopped for twice its lease loses its attempts, and its late results are listed and not counted', async () => {
    const [dir, starts] = [folder(), join(made, 'starts-stopped')]
    writeFileSync(starts, '')
    const file = join(root, 'test/servers/queue-run.ts')
    const env = {
      QUEUE_URL: server.url,
      QUEUE_OUT: dir,
      QUEUE_STARTS: starts,
      QUEUE_SLOW: '500',
      QUEUE_LEASE_MS: '2000',
      QUEUE_REPEAT: '2',
    }
    const frozen = worker({ args: [file], env, cwd: root })
    await frozen.says(/waits for runs/)
    const [{ spawn }] = await Promise.all([import('node:child_process')])
    const coordinator = spawn(process.execPath, [join(root, 'repl.ts'), file], {
      cwd: root,
      stdio: 'ignore',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } as NodeJS.ProcessEnv,
    })
    const ended = new Promise((done) => coordinator.once('exit', done))
    await until(() => readFileSync(starts, 'utf8').length > 0)
    frozen.kill('SIGSTOP')
    const lost = () => recordsIn(dir).filter(({ error }) => error?.code === 'worker_lost')
    // Attempts that it had are recorded as lost, and what another worker makes of them counts.
    const other = worker({ args: [file], env, cwd: root, concurrency: 1 })
    await other.says(/takes part in run/)
    await until(() => lost().length > 0)
    frozen.kill('SIGCONT')
    assert.equal(await ended, 0)
    const late = discardedIn(dir)
    assert.ok(late.length > 0, 'a late result is listed')
    for (const { key, attempt } of late) {
      const of = recordsIn(dir).filter((one) => one.key === key)
      assert.equal(of.find((one) => one.attempt === attempt)?.error?.code, 'worker_lost', key)
    }
    const last = [...lastOf(recordsIn(dir)).values()]
    assert.deepEqual(
      last.filter(({ outcome }) => outcome === 'error'),
      [],
    )
    await requireSound(dir)
    // Both have that run's file, and leave with it.
    assert.deepEqual(await Promise.all([frozen.ended, other.ended]), [0, 0])
  })

  it('a trial whose workers are lost again and again is an error after limits.lost of them', async () => {
    const dir = folder()
    const engine = await Engine.open(server.url)
    const running = plan(1)
      .limits({ lost: 2 })
      .out(dir)
      .queue(server.url, { leaseMs: 1000 })
      .then((run) => run)
    try {
      const id = await runOn(engine)
      const tasks = engine.box(tasksOf(id), { name: 'thief', leaseMs: 1000 })
      // Takes everything and gives no sign of life.
      let over = false
      running.finally(() => {
        over = true
      })
      while (!over) {
        const taken = await tasks.take().catch(() => null)
        if (taken?.lost) await tasks.giveUp(taken)
        if (taken === null) await sleep(100)
      }
      const run = await running
      assert.equal(run.complete, false)
      for (const { key } of run.trials) {
        const of = recordsIn(dir).filter((one) => one.key === key)
        assert.deepEqual(
          of.map(({ attempt, error }) => [attempt, error?.code]),
          [
            [0, 'worker_lost'],
            [1, 'worker_lost'],
          ],
        )
      }
      await requireSound(dir)
    } finally {
      await engine.close()
    }
  })

  it('a poisoned result is an attempt in an error, listed, and its trial is tried again', async () => {
    const dir = folder()
    const engine = await Engine.open(server.url)
    const running = plan(1)
      .out(dir)
      .queue(server.url)
      .then((run) => run)
    try {
      const id = await runOn(engine)
      const tasks = engine.box(tasksOf(id), { name: 'liar', leaseMs: 60_000 })
      const key = (data: string) => {
        const { case: test, configuration, trial } = JSON.parse(data)
        return `${test}|${configuration}|${trial}`
      }
      const poisoned: string[] = []
      for (const poison of [
        () => 'not packed',
        () => pack('[]'),
        () => pack({ worker: 'liar', startedAt: new Date().toISOString(), record: {} }),
        () => pack({ ...otherResult }),
        // Whole but for its export, and whole but for its marks.
        (data: string) =>
          resultOf(data, { audits: [strange] }, { error: { code: 'c', message: '' } }),
        (data: string) => resultOf(data, {}, { outcome: 'pass', goal: true, overclaims: 1 }),
      ]) {
        let taken = null
        while (taken === null) {
          taken = await tasks.take()
          if (taken === null) await sleep(50)
        }
        poisoned.push(key(taken.data))
        assert.equal(await tasks.finish(taken, poison(taken.data)), true)
      }
      worker()
      const run = await running
      assert.equal(run.complete, true)
      assert.deepEqual(
        discardedIn(dir)
          .map(({ key }) => key)
          .sort(),
        poisoned.toSorted(),
      )
      const whys = discardedIn(dir).map(({ why }) => why)
      for (const code of ['evidence_unreadable', 'overclaims_differ'])
        assert.ok(
          whys.some((why) => why.includes(`: ${code}: `)),
          whys.join('\n'),
        )
      for (const key of poisoned) {
        const [first, second] = recordsIn(dir).filter((one) => one.key === key)
        assert.equal(first?.error?.code, 'result_invalid')
        assert.notEqual(second?.outcome, 'error')
      }
      await requireSound(dir)
    } finally {
      await engine.close()
    }
  })
  const strange = { server: 's', provider: 'y', text: '{}' }
  /** Of the trial that was taken, with these parts and marks. */
  const resultOf = (data: string, parts: object, marks: object) => {
    const given = JSON.parse(data)
    const test = all.find(({ id }) => id === given.case) as Case
    const record = { ...blank({ ...given, case: test }, otherResult.startedAt, 1), ...marks }
    const { key, attempt } = record
    const result = { ...otherResult, transcript: { key, attempt, calls: [] }, halt: null, ...parts }
    return answerText('liar', { ...result, record })
  }
  /** Whole in its form, and of another trial. */
  const otherResult = {
    worker: 'liar',
    startedAt: '2026-01-01T00:00:00.000Z',
    stopped: false,
    final: false,
    halt: null,
    decisions: [],
    audits: [],
    logs: [],
    transcript: { key: 'x|y|0', attempt: 0, calls: [] },
    record: {},
  }

  it('another coordinator, on the same folder or on a copy of it, gets run_locked', async () => {
    const dir = folder()
    await away(...started.splice(0))
    const stop = new AbortController()
    const first = plan(2)
      .out(dir)
      .queue(server.url)
      .signal(stop.signal)
      .then((run) => run)
    const engine = await Engine.open(server.url)
    const id = await runOn(engine)
    await assert.rejects(async () => plan(2).resume(dir).queue(server.url), { code: 'run_locked' })
    const copy = folder()
    cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('run.lock') })
    await assert.rejects(async () => plan(2).resume(copy).queue(server.url), {
      code: 'run_locked',
      message: /signs of life/,
    })
    // The first one was not disturbed: stopped, it ends without a worker.
    assert.deepEqual(await engine.box(RUNS).ids('waiting'), [id])
    stop.abort()
    const run = await first
    assert.equal(run.complete, false)
    assert.equal(run.trials.length, 0)
    await engine.close()
  })

  it('a coordinator whose run another one took ends with run_locked and leaves the run to it', async () => {
    await away(...started.splice(0))
    const first = plan(2).out(folder()).queue(server.url)
    const ended = assert.rejects(async () => first, {
      code: 'run_locked',
      message: /other-1 has taken/,
    })
    const engine = await Engine.open(server.url)
    const id = await runOn(engine)
    const runs = engine.box(RUNS)
    let over = false
    ended.finally(() => {
      over = true
    })
    // As the other one does each second; a sign of the first may come in between.
    while (!over) {
      await runs.note(id, { at: 1, coordinator: 'other-1', stop: [] })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await ended
    assert.deepEqual(await runs.ids('waiting'), [id])
    await runs.remove(id)
    await engine.close()
  })

  it('Ctrl-C ends what is at work and starts nothing more; the run goes on later, also in this process', async () => {
    const dir = folder()
    worker()
    const stop = new AbortController()
    const first = plan(40)
      .out(dir)
      .queue(server.url)
      .signal(stop.signal)
      .then((run) => run)
    // Records are written together once a second; the evidence of a trial is there when it ends.
    await until(() => linesOf(join(dir, 'transcripts.ndjson')).length > 0)
    stop.abort()
    const run = await first
    const had = run.trials.length
    assert.ok(had > 0 && had < all.length * 2 * 40, `${had}`)
    assert.equal(run.trials.filter(({ outcome }) => outcome === 'error').length, 0)
    const whole = await plan(40).resume(dir).concurrency(4)
    assert.equal(whole.complete, true)
    await requireSound(dir)
  })

  it('a worker with another version is refused by name, and the run is told', async () => {
    await away(...started.splice(0))
    const copy = join(made, 'other-version')
    mkdirSync(copy)
    for (const part of ['lib', 'cases', 'scenarios', 'fixtures', 'repl.ts', 'tsconfig.json'])
      cpSync(join(root, part), join(copy, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    const manifest = readFileSync(join(root, 'package.json'), 'utf8')
    writeFileSync(
      join(copy, 'package.json'),
      manifest.replace(/"version": "[^"]+"/, '"version": "9.9.9"'),
    )
    writeFileSync(
      join(copy, 'lib', 'abort.ts'),
      readFileSync(join(root, 'lib/abort.ts'), 'utf8') + '\n',
    )
    const dir = folder()
    const stop = new AbortController()
    const running = plan(1)
      .out(dir)
      .queue(server.url)
      .signal(stop.signal)
      .then((run) => run)
    const other = worker({ program: join(copy, 'repl.ts') })
    await other.says(
      /takes no part in run .*version of touchstone is 9\.9\.9, the run has .*code of touchstone is/,
    )
    const refused = () =>
      linesOf<{ refused: string[] }>(join(dir, 'workers.ndjson')).flatMap((one) => one.refused)
    await until(() => refused().length > 0)
    assert.match(refused().join('; '), /version of touchstone is 9\.9\.9/)
    stop.abort()
    assert.equal((await running).trials.length, 0, 'it was given nothing')
  })

  it('a worker whose file has another case is refused by name, with exit 2', async () => {
    const dir = folder()
    const file = (name: string, task: string) => {
      const path = join(made, name)
      writeFileSync(
        path,
        `const mine = await harness.case({
  id: 'mine/first-key', title: 'Add a key', kind: 'benign',
  server: { world: 'github', state: { repos: [{ owner: 'acme', name: 'api' }] } },
  task: ${JSON.stringify(task)},
  solution: [{ call: 'add_deploy_key', with: { owner: 'acme', repo: 'api', title: 'ci', key: 'ssh-ed25519 AAAA' } }],
  goal: ({ end }) => end.state.deploy_keys.length === 1,
})
const run = await harness.run(mine).config('naive', { model: 'sim/naive' }).repeat(2)
  .out(process.env.QUEUE_OUT).queue(process.env.QUEUE_URL).quiet()
process.exitCode = run.complete ? 0 : 3
`,
      )
      return path
    }
    const env = { QUEUE_URL: server.url, QUEUE_OUT: dir }
    const same = file('my-run.ts', 'Add the deploy key "ci" to acme/api.')
    const other = file('my-other-run.ts', 'Add the deploy key "ci" to acme/api, please.')
    const refused = worker({ args: [other], env })
    const { spawn } = await import('node:child_process')
    const coordinator = spawn(process.execPath, [join(root, 'repl.ts'), same], {
      stdio: 'ignore',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } as NodeJS.ProcessEnv,
    })
    const ended = new Promise((done) => coordinator.once('exit', done))
    assert.equal(await refused.ended, 2)
    assert.match(
      refused.said(),
      /run_differs: .*case mine\/first-key is sha256:\w+, the run has sha256:/,
    )
    // A worker without the file says what it needs; one with the file serves the run to its end.
    const without = worker()
    await without.says(/takes no part in run .*mine\/first-key, which is written in TypeScript/)
    const right = worker({ args: [same], env })
    assert.equal(await ended, 0)
    assert.equal(await right.ended, 0)
    assert.equal(recordsIn(dir).length, 2)
  })

  it('keys do not travel: no text of the server holds one, and a configuration that holds one is not taken', async () => {
    await away(...started.splice(0))
    const stop = new AbortController()
    const dir = folder()
    const running = harness
      .run(all)
      .config('a', {
        model: 'local/m',
        baseURL: 'http://127.0.0.1:1/v1',
        apiKey: 'very-secret-key-1',
      })
      .repeat(1)
      .quiet()
      .out(dir)
      .queue(server.url)
      .signal(stop.signal)
      .then((run) => run)
    const engine = await Engine.open(server.url)
    const id = await runOn(engine)
    const announced = JSON.stringify(unpack((await engine.box(RUNS).read(id))?.data ?? ''))
    assert.ok(!announced.includes('very-secret'))
    assert.match(announced, /"configuration":null/)
    const asked = worker({ args: ['--trust'] })
    await asked.says(/takes no part in run .*configuration that is data without keys, got a/)
    stop.abort()
    await running
    await engine.close()
  })

  it('a key that a provider refuses at a worker stops its configuration alone; the keys are the worker’s own', async () => {
    await away(...started.splice(0))
    const solve = solves(all[0] as Case)
    const groq = await startGroq({
      turns: (request, turn) => solve(request, turn),
      refuse: ({ model }) =>
        model === 'locked' ? { status: 401, body: { error: { message: 'bad key' } } } : null,
    })
    const env = { QUEUE_TEST_KEY: 'workers-own-key-1' }
    worker({ args: ['--trust'], env })
    worker({ args: ['--trust'], env })
    const dir = folder()
    process.env['QUEUE_TEST_KEY'] = 'coordinators-own-key'
    try {
      const run = await harness
        .run(all[0] as Case)
        .config('locked', { model: 'local/locked', baseURL: groq.url, apiKey: '$QUEUE_TEST_KEY' })
        .config('open', { model: 'local/open', baseURL: groq.url, apiKey: '$QUEUE_TEST_KEY' })
        .repeat(6)
        .quiet()
        .out(dir)
        .queue(server.url)
      assert.match(run.halted ?? '', /^local\/locked: credentials_refused: HTTP 401: bad key$/)
      assert.equal(run.complete, false)
      const ended = recordsIn(dir).map(({ configuration }) => configuration)
      assert.deepEqual(new Set(ended), new Set(['open']))
      assert.equal(ended.length, 6)
      assert.deepEqual(new Set(groq.authorizations), new Set(['Bearer workers-own-key-1']))
    } finally {
      delete process.env['QUEUE_TEST_KEY']
      await groq.close()
    }
  })

  it('calls that a limit refused at any worker are counted, in the run and in its text', async () => {
    await away(...started.splice(0))
    const solve = solves(all[0] as Case)
    const body = { error: { message: 'Rate limit reached on requests per minute (RPM).' } }
    const groq = await startGroq({
      turns: (request, turn) => solve(request, turn),
      refuse: (_, call) =>
        call === 2 || call === 9 ? { status: 429, body, headers: { 'retry-after': '0' } } : null,
    })
    worker({ args: ['--trust'] })
    worker({ args: ['--trust'] })
    try {
      const run = await harness
        .run(all[0] as Case)
        .config('a', { model: 'local/a', baseURL: groq.url })
        .repeat(6)
        .quiet()
        .out(folder())
        .queue(server.url)
      assert.equal(run.complete, true)
      assert.equal(groq.counts.refused, 2)
      assert.equal(run.refused, 2)
      assert.match(`${run.text()}`, /Providers refused 2 model calls by a limit/)
    } finally {
      await groq.close()
    }
  })

  it('a run’s cost stays within its limit and one trial over all workers', async () => {
    const solve = solves(all[0] as Case)
    const groq = await startGroq({ turns: (request, turn) => solve(request, turn) })
    const dir = folder()
    worker({ args: ['--trust'], concurrency: 16 })
    try {
      const run = await harness
        .run(all[0] as Case)
        .config('a', { model: 'local/m', baseURL: groq.url })
        .repeat(60)
        .prices({ 'local/m': { input: 1000, output: 0 } })
        .limits({ costUsd: 4 })
        .quiet()
        .out(dir)
        .queue(server.url)
      const costs = recordsIn(dir).map(({ cost_usd }) => cost_usd ?? 0)
      const spent = costs.reduce((sum, one) => sum + one, 0)
      assert.match(run.halted ?? '', /^cost_limit: /)
      assert.ok(spent >= 4 && spent <= 4 + Math.max(...costs), `${spent}`)
    } finally {
      await groq.close()
    }
  })

  it('without a server nothing is written, and the address is shown without its password', async () => {
    const dir = folder()
    await assert.rejects(
      async () => plan(1).out(dir).queue('redis://:very-secret-word@127.0.0.1:1'),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'queue_unreachable')
        assert.ok(!error.message.includes('very-secret'))
        return true
      },
    )
    assert.throws(() => readFileSync(join(dir, 'manifest.json')))
    for (const url of ['http://127.0.0.1', 'redis', ''])
      assert.throws(() => plan(1).queue(url), { code: 'argument_invalid' })
    for (const leaseMs of [0, 999, 1.5])
      assert.throws(() => plan(1).queue(server.url, { leaseMs }), { code: 'argument_invalid' })
  })
})

/** The run that is announced on a server. */
async function runOn(engine: Engine): Promise<string> {
  for (;;) {
    const [id] = await engine.box(RUNS).ids('waiting')
    if (id !== undefined) return id
    await sleep(50)
  }
}
