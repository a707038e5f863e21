/**
 * The executor over threads: this one and others of the same process run a run's trials, so that
 * work that waits for nothing uses every core. They are made of what travels over a queue.
 *
 * Plain threads of Node, and no package of thread pools: which attempts a thread that ended had
 * begun must be known, what is stopped reaches trials at work, and this thread is one of the pool.
 */
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { TouchstoneError } from '../../errors.ts'
import type { Manifest } from '../../log/index.ts'
import type { Progress } from '../../progress.ts'
import { importers, isShippedImporter } from '../../receipt/audit/importers.ts'
import { hasOwnClassifiers } from '../../receipt/surface/registry.ts'
import { redacted } from '../../secrets.ts'
import { telemetry } from '../../telemetry.ts'
import { SHIPPED } from '../../world/own.ts'
import type { Configuration } from '../agent/model.ts'
import type { Case } from '../case/case.ts'
import { notBegun, unknown } from '../queue/results.ts'
import { dataOf, type PlanParts, partsOf, type TaskData } from '../queue/travel.ts'
import { type PlainResult, resultIn } from '../queue/worker-answer.ts'
import type { Executor, Task } from '../trial/executor.ts'
import { type Held, heldToStart } from '../trial/held.ts'
import { keyOf, type TrialResult } from '../trial/judge-trial.ts'
import type { Prepared } from './prepare.ts'

/**
 * With fewer trials a thread takes about as long to load what it needs, and to compile what it
 * runs, as it saves.
 */
export const LEAST_TRIALS = 2000
/** Trials that wait in each other thread, so that it has work while this one is busy. */
const AHEAD = 2

/** What a thread is started with. */
export type ThreadStart = {
  told: PlanParts
  /** Its trials at once. */
  atOnce: number
  /** One number: the attempts that it began, which come in the order in which they were handed. */
  begun: Int32Array<SharedArrayBuffer>
}
export type ToThread = { id: number; task: TaskData } | { stop: string }
export type FromThread =
  | { ready: true }
  | { id: number; answer: string }
  | { waits: string; ms: number }

/**
 * Why a plan's trials run in one thread alone, or null. What cannot be made again from data does,
 * and what a process keeps for all of its trials.
 */
function keptTogether({ plan, users, judge }: Prepared): string | null {
  if (plan.queue) return 'trials that run over a queue'
  if (judge !== null) return 'a model that reads prose'
  if (plan.record !== undefined || plan.replay !== undefined) return 'a cassette'
  if (users.size > 0) return 'users who are models'
  const live = plan.configurations.find(({ configuration }) => !isData(configuration))
  if (live) return `the configuration ${live.name}, which is no model by its name`
  if (!plan.cases.some(isSimulated)) return 'no case that is data over worlds that ship'
  if (!importers().every(({ name }) => isShippedImporter(name))) return 'importers of your own'
  if (hasOwnClassifiers()) return 'classifiers of your own'
  if (telemetry()) return 'OpenTelemetry, which is registered in one thread'
  return null
}

/** Trials of other cases have functions, or share children and addresses: they stay in a thread. */
function isSimulated({ document, servers }: Case): boolean {
  const shipped: readonly (string | undefined)[] = SHIPPED
  return !('functions' in document) && servers.every(({ world }) => shipped.includes(world))
}

function isData({ model, agent }: Configuration): boolean {
  return agent === undefined && typeof model === 'string'
}

/**
 * How many threads a run's trials get, this one included.
 *
 * @param left trials that are yet to be run
 * @throws TouchstoneError `argument_invalid` for threads that were asked for and cannot be
 */
export function threadsFor(prepared: Prepared, left: number): number {
  const { plan, sources } = prepared
  const together = keptTogether(prepared)
  if (plan.threads !== undefined && plan.threads > 1 && together !== null)
    throw new TouchstoneError(
      'argument_invalid',
      `expected a run that other threads can make again from data, got ${together}`,
      { where: 'threads' },
    )
  if (plan.threads !== undefined) return Math.min(plan.threads, plan.concurrency)
  const offline = [...sources.values()].every(({ source }) => source.simulated)
  if (!offline || together !== null || left < LEAST_TRIALS) return 1
  return Math.min(availableParallelism(), plan.concurrency)
}

/** What the executor needs of the run. */
export type OverThreads = {
  prepared: Pick<Prepared, 'plan'>
  manifest: Manifest
  /** The start of each case. */
  starts: Held['starts']
  /** This thread, as it runs trials by itself. */
  here: Executor
  bar: Pick<Progress, 'waits'> | null
  /** Another body of the other threads, and what they may use. */
  other?: { body: URL; resourceLimits?: ResourceLimits }
}

/** An attempt that somebody waits for. */
type Job = {
  task: Task
  /** When it was handed to a thread. */
  at: string
  drain: AbortSignal
  settle(result: TrialResult | Promise<TrialResult>): void
}

export class Threads implements Executor {
  readonly width: number
  private readonly parts: OverThreads
  private readonly others: Other[]
  /** Trials at once in this thread, and how many are at work. */
  private readonly share: number
  private active = 0
  private readonly waiting: Job[] = []
  /** Keys that a thread took with it: in this thread they would end the process. */
  private readonly lost = new Set<string>()
  private readonly drains = new WeakSet<AbortSignal>()

  constructor(parts: OverThreads, threads: number) {
    this.parts = parts
    const { plan } = parts.prepared
    this.share = Math.floor(plan.concurrency / threads)
    this.width = plan.concurrency + AHEAD * (threads - 1)
    const cases = plan.cases.filter(isSimulated)
    const told = partsOf({ ...plan, cases }, parts.manifest, isData)
    const other = parts.other ?? {
      body: new URL(`./thread${extname(import.meta.url)}`, import.meta.url),
    }
    this.others = Array.from({ length: threads - 1 }, (_, i) => {
      const rest = plan.concurrency - this.share
      const atOnce = Math.floor(rest / (threads - 1)) + (i < rest % (threads - 1) ? 1 : 0)
      return new Other(other, { told, atOnce }, this)
    })
  }

  attempt(task: Task, drain: AbortSignal): Promise<TrialResult> {
    this.heed(drain, task.configuration)
    return new Promise((settle) => {
      this.waiting.push({ task, at: '', drain, settle })
      this.give()
    })
  }

  /** Threads hear of it when no trial of a configuration is to start any more. */
  private heed(drain: AbortSignal, configuration: string): void {
    if (this.drains.has(drain)) return
    this.drains.add(drain)
    const stop = () => {
      for (const other of this.others) other.say({ stop: configuration })
      this.give()
    }
    if (drain.aborted) stop()
    else drain.addEventListener('abort', stop, { once: true })
  }

  /** Hand out what waits, in its order, as far as there is room. */
  give(): void {
    while (this.waiting[0] && this.placed(this.waiting[0])) this.waiting.shift()
  }

  private placed(job: Job): boolean {
    const { task, drain, settle } = job
    if (drain.aborted) {
      settle(notBegun(task))
      return true
    }
    const open = isSimulated(task.case) ? this.others.filter(({ over }) => !over) : []
    const [freest] = open.filter((one) => one.ready).sort((a, b) => b.room - a.room)
    const ends = this.lost.has(keyOf(task))
    if (freest && freest.room > 0) freest.hand(job, this.parts.starts)
    else if (!ends && this.active < this.share) settle(this.here(job))
    else if (freest && freest.room > -AHEAD) freest.hand(job, this.parts.starts)
    else if (ends && open.length === 0) settle(lostOf(job, 'no thread is left to try it'))
    else return false
    return true
  }

  private async here({ task, drain }: Job): Promise<TrialResult> {
    this.active++
    try {
      // Offline work never waits for anything: without a turn of the loop no thread would be heard.
      await setImmediate()
      return await this.parts.here.attempt(task, drain)
    } finally {
      this.active--
      this.give()
    }
  }

  answered({ task, settle }: Job, answer: string): void {
    settle(heldToStart(this.parts.starts, task, resultIn(JSON.parse(answer) as PlainResult)))
    this.give()
  }

  waits(text: string, ms: number): void {
    this.parts.bar?.waits(text, ms)
  }

  /** A thread ended by itself: what it had begun is lost, and what waited in it waits again. */
  ended(begun: readonly Job[], others: readonly Job[], why: string): void {
    for (const job of begun) {
      this.lost.add(keyOf(job.task))
      job.settle(lostOf(job, `the thread that had it ended: ${why}`))
    }
    this.waiting.unshift(...others)
    this.give()
  }

  async close(): Promise<void> {
    await Promise.all(this.others.map((one) => one.close()))
    await this.parts.here.close()
  }
}

function lostOf(job: Job, message: string): TrialResult {
  const at = job.at === '' ? new Date().toISOString() : job.at
  return { ...unknown({ task: job.task, at }, 'worker_lost', message), lost: true }
}

/** Another thread, and the attempts that it has. */
class Other {
  ready = false
  /** It could not be started, or is closed. */
  over = false
  private readonly other: NonNullable<OverThreads['other']>
  private readonly given: Omit<ThreadStart, 'begun'>
  private readonly pool: Threads
  private readonly jobs = new Map<number, Job>()
  private last = 0
  private begun = counter()
  private worker: Worker

  constructor(
    other: NonNullable<OverThreads['other']>,
    given: Omit<ThreadStart, 'begun'>,
    pool: Threads,
  ) {
    this.other = other
    this.given = given
    this.pool = pool
    this.worker = this.start()
  }

  /** Trials that it can begin at once. */
  get room(): number {
    return this.given.atOnce - this.jobs.size
  }

  private start(): Worker {
    this.ready = false
    this.begun = counter()
    const { body, resourceLimits } = this.other
    const worker = new Worker(body, {
      name: 'touchstone trials',
      ...(resourceLimits && { resourceLimits }),
      workerData: { ...this.given, begun: this.begun } satisfies ThreadStart,
    })
    let why = 'it gave no reason'
    const first = this.last
    worker.on('message', (message: FromThread) => this.hear(message))
    worker.on('error', (cause: Error & { code?: string }) => {
      why = redacted(cause.code ? `${cause.code}: ${cause.message}` : cause.message)
    })
    worker.on('exit', () => this.ended(first, why))
    return worker
  }

  private hear(message: FromThread): void {
    if ('waits' in message) this.pool.waits(message.waits, message.ms)
    else if ('ready' in message) {
      this.ready = true
      this.pool.give()
    } else {
      const job = this.jobs.get(message.id)
      this.jobs.delete(message.id)
      if (job) this.pool.answered(job, message.answer)
    }
  }

  hand(job: Job, starts: Held['starts']): void {
    job.at = new Date().toISOString()
    const id = ++this.last
    this.jobs.set(id, job)
    this.say({ id, task: dataOf(job.task, starts) })
  }

  say(message: ToThread): void {
    this.worker.postMessage(message)
  }

  /** @param first the last number that was handed before it was started */
  private ended(first: number, why: string): void {
    if (this.over) return
    const jobs = [...this.jobs]
    this.jobs.clear()
    const last = first + Atomics.load(this.begun, 0)
    const [begun, others] = [jobs.filter(([id]) => id <= last), jobs.filter(([id]) => id > last)]
    if (this.ready) this.worker = this.start()
    else {
      // It would end so again.
      this.over = true
      process.emitWarning(`a thread takes no part in the run: ${why}`, 'TouchstoneWarning')
    }
    const bare = (list: typeof jobs) => list.map(([, job]) => job)
    this.pool.ended(bare(begun), bare(others), why)
  }

  async close(): Promise<void> {
    this.over = true
    await this.worker.terminate()
  }
}

function counter(): ThreadStart['begun'] {
  return new Int32Array(new SharedArrayBuffer(4))
}
