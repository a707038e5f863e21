/**
 * A worker: takes attempts from a queue, runs each, and hands in what came of it. It writes no
 * folder and decides nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { redacted } from '../../secrets.ts'
import { telemetry } from '../../telemetry.ts'
import { LIMITERS } from '../model/limiter.ts'
import { type Box, Engine, type Taken } from '../queue/engine.ts'
import { differences, type Identity, identity } from '../queue/identity.ts'
import { ENDED, notesOf, pack, RUNS, tasksOf, unpack } from '../queue/messages.ts'
import { paceServer } from '../queue/pace-server.ts'
import { type Hello, helloId, lateId } from '../queue/presence.ts'
import { PaceOverServer } from '../queue/shared-pace.ts'
import { madeFrom, type PlanDocument, powersIn, type TaskData } from '../queue/travel.ts'
import { answerText } from '../queue/worker-answer.ts'
import { closeChildren } from '../server/child-pool.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import { attemptWith, madeReady, type Parts, planFrom } from './made-again.ts'
import { versions } from './packages.ts'

/** Milliseconds: an idle worker’s longest wait for its next task; between looks at its runs. */
const [IDLE_MS, LOOK_MS] = [500, 2000]

export type WorkerOptions = {
  url: string
  /** Trials at once. */
  concurrency: number
  /** The plan of the run's own file, which only runs of the same plan are served by. */
  plan?: RunPlan | undefined
  /** Runs whose cases and configurations start commands or contact addresses are taken too. */
  trust: boolean
  /** When it aborts nothing new is taken; what is at work goes on to its end. */
  signal: AbortSignal
  /** Told what a person should know. */
  say(line: string): void
}

/** Why a worker with a run's own file takes no part in it. Empty: it served it to its end. */
export type Served = { refused: string[] }

/** Where notes for the coordinator of a run are left. */
type Post = { run: string; notes: Box }

/** A run that is served. */
type Serving = Post & {
  document: PlanDocument
  tasks: Box
  parts: Parts
  hand: Map<string, Taken>
  hello: Hello
  /** Model calls of this process when it began to take part. */
  before: { refused: number; answered: number }
}

/**
 * Serve runs until the signal aborts; with a plan, until its run has ended or is another than the
 * plan.
 */
export async function serveQueue(options: WorkerOptions): Promise<Served> {
  const trouble = onChange((text) => options.say(text ?? 'the queue’s server answers again'))
  const { url, signal } = options
  const engine = await Engine.open(url, { patient: true, trouble, signal })
  LIMITERS.widen(options.concurrency)
  const paced = onChange((text) => options.say(text ?? 'the queue’s server paces again'))
  const pace = new PaceOverServer((changed) => paceServer(url, changed), paced)
  LIMITERS.share(pace)
  const worker = new QueueWorker(engine, options)
  try {
    return await worker.serve()
  } finally {
    LIMITERS.share(null)
    await pace.close()
    await engine.close()
    await closeChildren()
    await telemetry()?.flush()
  }
}

class QueueWorker {
  private readonly engine: Engine
  private readonly options: WorkerOptions
  private readonly me: Identity
  private readonly serving = new Map<string, Serving>()
  /** Runs in which it takes no part, by what was announced of them. */
  private readonly refused = new Map<string, { data: string; why: string[] }>()
  private readonly work = new Set<Promise<void>>()
  private served = false

  constructor(engine: Engine, options: WorkerOptions) {
    this.engine = engine
    this.options = options
    this.me = identity(versions())
  }

  async serve(): Promise<Served> {
    const over = new AbortController()
    const watching = this.watch(over.signal)
    let result: Served = { refused: [] }
    try {
      while (!this.options.signal.aborted) {
        if (this.options.plan && this.refused.size > 0) {
          result = { refused: [...this.refused.values()].flatMap(({ why }) => why) }
          break
        }
        if (this.options.plan && this.served && this.serving.size === 0) break
        await this.takeOne()
      }
    } finally {
      await Promise.all(this.work)
      over.abort()
      await watching
    }
    return result
  }

  private idleMs = 10

  /** Take an attempt of one of the runs, and begin it; or wait a little. */
  private async takeOne(): Promise<void> {
    const { concurrency, signal } = this.options
    const full = this.work.size >= concurrency
    if (full) {
      await Promise.race(this.work)
      return
    }
    for (const [run, one] of this.serving) {
      let taken: Taken | null = null
      try {
        taken = await one.tasks.take()
      } catch {
        // The server is away: whatever it gave us meanwhile runs out.
      }
      if (taken === null) continue
      // The next run is asked first the next time.
      this.serving.delete(run)
      this.serving.set(run, one)
      this.begin(one, taken)
      this.idleMs = 10
      return
    }
    const idle = sleep(this.idleMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(
      () => {},
    )
    this.idleMs = Math.min(IDLE_MS, 2 * this.idleMs)
    await Promise.race([idle, ...this.work])
  }

  private begin(one: Serving, taken: Taken): void {
    one.hand.set(taken.id, taken)
    const work = this.carryOut(one, taken)
      .catch((cause: unknown) => this.options.say(`a task was given up: ${told(cause)}`))
      .finally(() => {
        one.hand.delete(taken.id)
        this.work.delete(work)
      })
    this.work.add(work)
  }

  private async carryOut(one: Serving, taken: Taken): Promise<void> {
    if (taken.lost) return one.tasks.giveUp(taken)
    const result = await attemptWith(one.parts, JSON.parse(taken.data) as TaskData)
    const text = answerText(this.me.id, result)
    if (await one.tasks.finish(taken, text)) return
    await this.leave(one, lateId(taken.id, this.me.id), text)
  }

  /** Until the signal: see which runs there are, say that this one lives, and keep its locks. */
  private async watch(over: AbortSignal): Promise<void> {
    let looked = Number.NEGATIVE_INFINITY
    while (!over.aborted) {
      const leases = [...this.serving.values()].map(({ document }) => document.leaseMs)
      const everyMs = Math.min(LOOK_MS, ...leases.map((lease) => lease / 4))
      try {
        await this.renew()
        if (performance.now() - looked >= LOOK_MS) {
          looked = performance.now()
          await this.look()
        }
      } catch (cause) {
        if (over.aborted) return
        this.options.say(`the queue could not be looked at: ${told(cause)}`)
      }
      await sleep(everyMs, undefined, { signal: over }).catch(() => {})
    }
  }

  private async renew(): Promise<void> {
    for (const { tasks, hand, document } of this.serving.values())
      await tasks.renew([...hand.values()], document.leaseMs)
  }

  private async look(): Promise<void> {
    const runs = this.engine.box(RUNS)
    const ids = new Set(await runs.ids('waiting'))
    for (const id of ids) {
      const held = await runs.read(id)
      if (held === null) continue
      const known = this.serving.get(id)
      if (known) await this.live(known, held.note)
      else if (this.refused.get(id)?.data !== held.data) await this.meet(id, held.data)
    }
    const ended = this.engine.box(ENDED)
    for (const id of [...this.serving.keys()]) {
      // A server that was emptied has forgotten the run; its coordinator announces it again.
      if (ids.has(id) || (await ended.standing(id)) === 'gone') continue
      this.options.say(`run ${id} has ended`)
      this.serving.delete(id)
    }
  }

  /** A sign of life, and what the coordinator has stopped. */
  private async live(one: Serving, note: unknown): Promise<void> {
    const { stop = [] } = (note ?? {}) as { stop?: string[] }
    for (const name of Array.isArray(stop) ? stop : [])
      one.parts.stop.get(name)?.abort(new DOMException('the run is being stopped', 'AbortError'))
    one.hello.beat++
    const { waits, refusals, answers } = LIMITERS
    const calls = {
      waits,
      refused: refusals - one.before.refused,
      answered: answers - one.before.answered,
    }
    const sign = { beat: one.hello.beat, calls }
    if (!(await one.notes.note(helloId(this.me.id), sign))) await this.greet(one, one.hello)
  }

  private greet(to: Post, hello: Hello): Promise<void> {
    return this.leave(to, helloId(this.me.id), pack(hello))
  }

  /** Leave a note for a run’s coordinator; none for one that ended meanwhile: nobody reads it. */
  private async leave({ run, notes }: Post, id: string, data: string): Promise<void> {
    await notes.add([{ id, data }])
    if ((await this.engine.box(ENDED).standing(run)) !== 'gone') await notes.clear()
  }

  /** Take part in a run, or say why not. */
  private async meet(id: string, data: string): Promise<void> {
    const document = unpack(data) as PlanDocument
    const { plan } = this.options
    // Of a run's own file only the run of its cases and configurations is served.
    if (plan && !isOf(document, plan)) return
    const notes = this.engine.box(notesOf(id))
    const { ready, me, why } = await this.compared(document)
    const { concurrency } = this.options
    const hello: Hello = { ...me, concurrency, refused: why, beat: 0 }
    if (ready === null) {
      this.refused.set(id, { data, why })
      this.options.say(`takes no part in run ${id}: ${why.join('; ')}`)
      await this.greet({ run: id, notes }, hello)
      return
    }
    const tasks = this.engine.box(tasksOf(id), { name: me.id, leaseMs: document.leaseMs })
    await this.greet({ run: id, notes }, hello)
    this.options.say(`takes part in run ${id} as ${me.id}`)
    this.served = true
    const before = { refused: LIMITERS.refusals, answered: LIMITERS.answers }
    this.serving.set(id, {
      run: id,
      document,
      tasks,
      notes,
      parts: ready,
      hand: new Map(),
      hello,
      before,
    })
  }

  /** The run's plan as this process makes it, held against what was announced. */
  private async compared(document: PlanDocument): Promise<{
    ready: Parts | null
    me: Identity
    why: string[]
  }> {
    const { trust, plan: own } = this.options
    try {
      let given = own
      if (given === undefined) {
        const made = await madeFrom(document)
        const powers = trust ? [] : powersIn(made)
        if (powers.length > 0)
          return refusal(this.me, [`--trust is not given, and ${powers.slice(0, 20).join('; ')}`])
        given = planFrom(document, made)
      }
      const { parts, versions, unlike } = await madeReady(given, document)
      const me = { ...this.me, versions }
      const why = [...differences(document.coordinator, me), ...unlike]
      return why.length > 0 ? refusal(me, why) : { ready: parts, me, why }
    } catch (cause) {
      return refusal(this.me, [told(cause)])
    }
  }
}

function refusal(me: Identity, why: string[]) {
  return { ready: null, me, why }
}

/** Whether a run has the cases and configurations of a plan, by their names. */
function isOf({ cases, configurations }: PlanDocument, plan: RunPlan): boolean {
  const same = (a: string[], b: string[]) => a.sort().join('\n') === b.sort().join('\n')
  return (
    same(
      configurations.map(({ name }) => name),
      plan.configurations.map(({ name }) => name),
    ) &&
    same(
      cases.map(({ id }) => id),
      plan.cases.map(({ id }) => id),
    )
  )
}

/** Tell a text once, until it is another. */
function onChange(tell: (text: string | null) => void): (text: string | null) => void {
  let last: string | null = null
  return (text) => {
    if (text === last) return
    last = text
    tell(text)
  }
}

function told(cause: unknown): string {
  return redacted(cause instanceof Error ? cause.message : String(cause))
}
