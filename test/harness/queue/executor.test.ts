/** The executor over a queue, task by task: every one that was handed over comes to an end, stopped, lost or done. A real server. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Box, Engine, type Taken } from '../../../lib/harness/queue/engine.ts'
import { QueueExecutor } from '../../../lib/harness/queue/executor.ts'
import { differences, identity } from '../../../lib/harness/queue/identity.ts'
import { attemptIn, idOf, pack, tasksOf, unpack } from '../../../lib/harness/queue/messages.ts'
import type { PlanDocument } from '../../../lib/harness/queue/travel.ts'
import { answerText } from '../../../lib/harness/queue/worker-answer.ts'
import type { Task } from '../../../lib/harness/trial/executor.ts'
import type { Held } from '../../../lib/harness/trial/held.ts'
import { blank } from '../../../lib/harness/trial/judge-trial.ts'
import { cases, harness } from '../../../lib/index.ts'
import fc from '../../property.ts'
import { ENGINES, missing, type QueueServer, startQueueServer } from '../../servers/queue-server.ts'

type Case = Awaited<ReturnType<typeof cases.load>>[number]

for (const kind of ENGINES) {
  describe(`the executor over ${kind}`, { skip: missing(kind) }, () => {
    let server: QueueServer
    let engine: Engine
    let executor: QueueExecutor
    let tasks: Box
    let test: Case
    const discarded: { why?: unknown }[] = []
    /** What the executor has read of the queue, look by look. */
    const looks: { at: string; ids: string[] }[] = []
    const go = new AbortController().signal
    const LEASE_MS = 1000

    before(async () => {
      server = await startQueueServer(kind)
      const [first] = await cases.load('cases/lying_success/deploy-key.yaml')
      test = first as Case
      engine = await Engine.open(server.url)
      tasks = engine.box(tasksOf('r'), { name: 'w', leaseMs: LEASE_MS })
      const document: PlanDocument = {
        ...{ schema: 'touchstone.queue.v0', run: 'r', seed: 1, leaseMs: LEASE_MS, prices: {} },
        ...{ coordinator: identity({}), cases: [], configurations: [], judge: null },
        limits: harness.run(test).plan.limits,
      }
      const note = (_: string, lines: object[]) => discarded.push(...lines)
      const held = { writer: { note, confirm() {} }, starts: new Map() } as unknown as Held
      const own = await Engine.open(server.url)
      const box = own.box.bind(own)
      own.box = (...of) => {
        const one = box(...of)
        const ids = one.ids.bind(one)
        one.ids = async (at) => {
          const found = await ids(at)
          looks.push({ at, ids: found })
          return found
        }
        return one
      }
      executor = await QueueExecutor.begin({
        ...{ engine: own, document, held, bar: null, manifest: { configurations: [] } },
        counted: () => null,
      })
    })
    after(async () => {
      await executor?.close()
      await engine?.close()
      await server?.close()
    })

    let trials = 0
    const task = (): Task => {
      const trial = trials++
      return { case: test, configuration: 'a', trial, seed: `${trial}`, attempt: 0 }
    }
    const take = async (): Promise<Taken> => {
      for (;;) {
        const taken = await tasks.take()
        // A worker gives what is marked as lost to the coordinator, and takes the next.
        if (taken?.lost) await tasks.giveUp(taken)
        else if (taken) return taken
        await sleep(20)
      }
    }
    const answer = (of: Task) => {
      const record = blank(of, new Date().toISOString(), 1)
      record.error = { code: 'model_failed', message: '' }
      const transcript = { key: record.key, attempt: of.attempt, calls: [] }
      const nothing = { logs: [], decisions: [], audits: [], halt: null }
      return answerText('w', { ...nothing, record, transcript, stopped: false, final: false })
    }

    it('a task that is stopped before the server is told, while it waits, and while it is at work comes to an end, and so does one that follows', async () => {
      const stop = new AbortController()
      const [working, waiting, untold] = [task(), task(), task()]
      const ends = [working, waiting].map((one) => executor.attempt(one, stop.signal))
      const taken = await take()
      assert.deepEqual(attemptIn(taken.id)?.attempt, 0)
      const last = executor.attempt(untold, stop.signal)
      stop.abort()
      assert.equal((await last).stopped, true)
      assert.equal((await (ends[1] as Promise<{ stopped: boolean }>)).stopped, true)
      // What is at work goes on to its end.
      assert.equal(await tasks.finish(taken, answer(working)), true)
      assert.equal((await (ends[0] as Promise<{ stopped: boolean }>)).stopped, false)
      // Another configuration goes on: the queue is open again.
      const next = task()
      const end = executor.attempt(next, go)
      assert.equal(await tasks.finish(await take(), answer(next)), true)
      assert.equal((await end).record.worker, 'w')
    })

    it('a task whose worker gives no sign of life is lost, also when nothing else is at work any more and the run is being stopped', async () => {
      const stop = new AbortController()
      const [one, two] = [executor.attempt(task(), go), executor.attempt(task(), stop.signal)]
      await take()
      await take()
      stop.abort()
      for (const end of [one, two]) {
        const { lost, record, recorded } = await end
        // The server keeps it until the folder has the line.
        recorded?.()
        assert.equal(lost, true)
        assert.equal(record.error?.code, 'worker_lost')
      }
    })

    it('a task that the server forgets is offered again, or lost where it was at work', async () => {
      const [working, waiting] = [task(), task()]
      const first = executor.attempt(working, go)
      const taken = await take()
      const second = executor.attempt(waiting, go)
      // Seen at work, and seen to wait.
      while ((await tasks.ids('waiting')).length === 0) await sleep(50)
      const seen = () => looks.findIndex(({ at, ids }) => at === 'active' && ids.includes(taken.id))
      // The look after the one that saw it begins when that one is through.
      while (seen() < 0 || !looks.slice(seen()).some(({ at }) => at === 'waiting')) await sleep(50)
      await tasks.renew([taken], 60_000)
      server.wipe()
      assert.equal((await first).record.error?.code, 'worker_lost')
      assert.equal(await tasks.finish(taken, answer(working)), false, 'it is no longer ours')
      const again = await take()
      assert.equal(again.id, idOf({ key: `${test.id}|a|${waiting.trial}`, attempt: 0 }))
      assert.equal(await tasks.finish(again, answer(waiting)), true)
      assert.equal((await second).record.worker, 'w')
    })

    it('a result from another start of the case is an error, and final', async () => {
      const [a, b] = [task(), task()]
      const from = (of: Task, start: string) => {
        const value = unpack(answer(of)) as { record: { start_digest: string } }
        value.record.start_digest = `sha256:${start.repeat(64)}`
        return pack(value)
      }
      const [first, second] = [executor.attempt(a, go), executor.attempt(b, go)]
      assert.equal(await tasks.finish(await take(), from(a, 'a')), true)
      assert.equal((await first).final, false)
      assert.equal(await tasks.finish(await take(), from(b, 'b')), true)
      const { record, final } = await second
      assert.deepEqual([final, record.error?.code], [true, 'world_state_differs'])
      assert.deepEqual([record.start_digest, record.outcome], [null, 'error'])
    })
  })
}

describe('who takes part', () => {
  const run = {
    versions: { touchstone: '1', node: '24.1.0', ai: '7' },
    code: 'sha256:a',
    lock: 'sha256:l',
  } as const

  it('is refused by the name of what is another; another patch of Node, or a lock that one side lacks, is not', () => {
    assert.deepEqual(differences(run, run), [])
    assert.deepEqual(
      differences(run, { ...run, versions: { ...run.versions, node: '24.9.9' } }),
      [],
    )
    assert.deepEqual(differences(run, { ...run, lock: null }), [])
    const other = {
      ...run,
      versions: { touchstone: '1', node: '22.1.0' },
      code: 'sha256:b',
      lock: 'sha256:m',
    } as const
    assert.deepEqual(differences(run, other), [
      'version of node is 22.1.0, the run has 24.1.0',
      'version of ai is none, the run has 7',
      'code of touchstone is sha256:b, the run has sha256:a',
      'package-lock.json is sha256:m, the run has sha256:l',
    ])
  })

  it('is told apart from every other process', () => {
    const [a, b] = [identity({}), identity({})]
    assert.notEqual(a.id, b.id)
    assert.equal(a.code, b.code)
  })
})

describe('an attempt’s name', () => {
  it('is one that BullMQ takes, and gives the attempt back', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => text.isWellFormed()),
        fc.nat(),
        (key, attempt) => {
          const id = idOf({ key, attempt })
          assert.doesNotMatch(id, /:/)
          assert.deepEqual(attemptIn(id), { key, attempt })
        },
      ),
    )
    for (const other of ['', 'a', 'a-', 'a b-1', 'late-a-0.w']) assert.equal(attemptIn(other), null)
  })
})
