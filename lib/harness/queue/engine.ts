/**
 * The queue's server: BullMQ over Redis or over PostgreSQL. No other file imports it, and it is
 * loaded when a queue is asked for.
 *
 * It uses two things of BullMQ: the states of a job, and the lock of a job that a worker has taken.
 * When a lock has run out, the coordinator finds it and decides what is tried again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, Queue, Worker } from 'bullmq'
import { TouchstoneError } from '../../errors.ts'
import { redacted, shownAddress } from '../../secrets.ts'
import { type EngineKind, kindOf, packageOf } from './driver.ts'

type Bullmq = typeof import('bullmq')

/** Where a job stands. `failed`: its lock ran out. `gone`: the server does not have it. */
export type Standing = 'waiting' | 'active' | 'completed' | 'failed' | 'gone'

/** A job that was taken: it is ours while its lock lasts. */
export type Taken = { id: string; data: string; token: string; job: Job; lost: boolean }

/** What the server holds of a job. */
export type Held = {
  data: string
  result: string | null
  note: unknown
  takenBy: string | null
  /** Its lock ran out, and nobody is to take it again. */
  lost: boolean
}

/** Told why the server gives no answer for long; null when it answers again. */
export type Trouble = (message: string | null) => void

/** How long a server that cannot be reached is asked again before a run is begun. */
const REACH_MS = 10_000
const AGAIN_MS = 300
/** Events that the server keeps: nobody reads them, and each holds a whole result. */
const EVENTS = { events: { maxLen: 64 } }

/** One connection to a queue's server. */
export class Engine {
  private readonly bullmq: Bullmq
  private readonly url: string
  private readonly kind: EngineKind
  private readonly boxes = new Map<string, Box>()
  private readonly ended = new AbortController()
  private readonly trouble: Trouble

  private constructor(bullmq: Bullmq, url: string, kind: EngineKind, trouble: Trouble) {
    this.bullmq = bullmq
    this.url = url
    this.kind = kind
    this.trouble = trouble
  }

  /**
   * Reach a server.
   *
   * @param options.patient wait for it until the signal aborts; else it is given 10 s
   * @throws TouchstoneError `argument_invalid` for another kind of address, `dependency_missing`,
   *   `queue_unreachable`
   */
  static async open(
    url: string,
    options: { trouble?: Trouble; patient?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<Engine> {
    const kind = kindOf(url)
    const bullmq = packageOf(kind, 'bullmq') as Bullmq
    const deadline = performance.now() + REACH_MS
    for (;;) {
      const engine = new Engine(bullmq, url, kind, options.trouble ?? (() => {}))
      const cause = await engine.probe()
      if (cause === null) return engine
      await engine.close()
      options.signal?.throwIfAborted()
      const message = `${shownAddress(url)} does not answer: ${redacted(cause)}`
      if (!options.patient && performance.now() > deadline)
        throw new TouchstoneError(
          'queue_unreachable',
          `expected a queue's server that answers, got: ${redacted(cause)}`,
          { where: shownAddress(url) },
        )
      options.trouble?.(message)
      await sleep(AGAIN_MS)
    }
  }

  /** Why the server cannot be used, or null. */
  private async probe(): Promise<string | null> {
    const box = this.box('touchstone-runs')
    const late = sleep(REACH_MS, 'no answer', { ref: false })
    return Promise.race([
      box.ready().then(
        () => null,
        (cause: unknown) => told(cause),
      ),
      late,
    ]).then((cause) => (cause === 'no answer' ? (box.lastError ?? cause) : cause))
  }

  /**
   * The queue of a name. Asking twice gives the same.
   *
   * @param worker who takes from it, and for how long a job that it took is its own; needed for
   *   `take`
   */
  box(name: string, worker?: { name: string; leaseMs: number }): Box {
    const known = this.boxes.get(name)
    if (known) return known
    const box = new Box(name, this.made(name, worker), (ask) => this.asked(ask))
    this.boxes.set(name, box)
    return box
  }

  private made(
    name: string,
    worker: { name: string; leaseMs: number } | undefined,
  ): { queue: Queue; worker: Worker | null } {
    const { bullmq, url, kind } = this
    const { Queue, Worker } =
      kind === 'redis'
        ? bullmq
        : (bullmq.withBackend(bullmq.createPostgresBackend) as unknown as Bullmq)
    const connection =
      kind === 'redis'
        ? {
            url,
            maxRetriesPerRequest: null,
            retryStrategy: (times: number) => Math.min(1000, 50 * times),
          }
        : { connectionString: url, migrate: true, keepAlive: true, max: 8 }
    const common = { connection: connection as never, streams: EVENTS, skipMetasUpdate: false }
    return {
      queue: new Queue(name, common),
      worker: worker
        ? new Worker(name, null, {
            connection: connection as never,
            autorun: false,
            name: worker.name,
            lockDuration: worker.leaseMs,
            stalledInterval: Math.ceil(worker.leaseMs / 2),
            // A job is one attempt, and an attempt is started once.
            maxStalledCount: 0,
            skipStalledCheck: true,
            skipLockRenewal: true,
          })
        : null,
    }
  }

  /**
   * Ask until there is an answer: a server that was killed comes back. What the server refuses by
   * one of BullMQ's own numbers is an answer.
   */
  private async asked<T>(ask: () => Promise<T>): Promise<T> {
    let troubled = false
    for (;;) {
      try {
        const answer = await ask()
        if (troubled) this.trouble(null)
        return answer
      } catch (cause) {
        if (typeof (cause as { code?: unknown }).code === 'number') throw cause
        this.ended.signal.throwIfAborted()
        troubled = true
        this.trouble(`the queue's server does not answer: ${redacted(told(cause))}`)
        await sleep(AGAIN_MS)
      }
    }
  }

  /** End all connections. What was asked and has no answer yet gets none. */
  async close(): Promise<void> {
    this.ended.abort()
    const closing = Promise.allSettled([...this.boxes.values()].map((box) => box.close()))
    await Promise.race([closing, sleep(2000, undefined, { ref: false })])
  }
}

/** One queue of a server. Every call is asked again until the server answers. */
export class Box {
  readonly name: string
  lastError: string | null = null
  private readonly queue: Queue
  private readonly worker: Worker | null
  private readonly ask: <T>(ask: () => Promise<T>) => Promise<T>
  private tokens = 0

  constructor(
    name: string,
    { queue, worker }: { queue: Queue; worker: Worker | null },
    ask: <T>(ask: () => Promise<T>) => Promise<T>,
  ) {
    this.name = name
    this.queue = queue
    this.worker = worker
    this.ask = ask
    const failed = (cause: Error) => {
      this.lastError = told(cause)
    }
    queue.on('error', failed)
    worker?.on('error', failed)
  }

  async ready(): Promise<void> {
    await this.queue.waitUntilReady()
  }

  /** Put jobs at the end, in order. One whose id the server has is left as it is. */
  async add(jobs: readonly { id: string; data: string }[]): Promise<void> {
    await this.ask(() =>
      this.queue.addBulk(
        jobs.map(({ id, data }) => ({
          name: 't',
          data: { b: data },
          opts: { jobId: id, removeOnComplete: false, removeOnFail: false, attempts: 1 },
        })),
      ),
    )
  }

  /** The ids of all jobs that stand so. */
  ids(standing: Exclude<Standing, 'gone'>): Promise<string[]> {
    const type = standing === 'waiting' ? 'wait' : standing
    return this.ask(() => this.queue.getRanges([type], 0, -1, true))
  }

  async standing(id: string): Promise<Standing> {
    const state = await this.ask(() => this.queue.getJobState(id))
    return state in { waiting: 1, active: 1, completed: 1, failed: 1 }
      ? (state as Standing)
      : 'gone'
  }

  async read(id: string): Promise<Held | null> {
    const job = await this.ask(() => this.queue.getJob(id))
    if (!job) return null
    const { data, returnvalue, progress, processedBy, deferredFailure } = job
    return {
      data: textIn(data),
      result: returnvalue === null || returnvalue === undefined ? null : textIn(returnvalue),
      note: progress,
      takenBy: processedBy ?? null,
      lost: deferredFailure !== undefined,
    }
  }

  /**
   * Take a job away, whatever stands in it. False when it is locked: somebody is at work on it.
   */
  async remove(id: string): Promise<boolean> {
    const removed = await this.ask(() => this.queue.remove(id, { removeChildren: false }))
    return removed === 1 || (await this.standing(id)) === 'gone'
  }

  /** From now on nobody is given a job that waits; or again somebody is. */
  async pause(paused: boolean): Promise<void> {
    await this.ask(() => (paused ? this.queue.pause() : this.queue.resume()))
  }

  /**
   * Find jobs whose lock has run out: they wait again, marked as lost. It is in two passes, half a
   * lease apart, so that a job is found between one lease and two after its last sign of life.
   */
  async sweep(): Promise<void> {
    const backend = (this.worker as Worker).getBackend()
    await this.ask(() => backend.moveStalledJobsToWait())
  }

  /** Leave a note at a job. False when there is no such job. */
  async note(id: string, note: object): Promise<boolean> {
    try {
      await this.ask(() => this.queue.updateJobProgress(id, note))
      return true
    } catch (cause) {
      if (refusedBy(cause)) return false
      throw cause
    }
  }

  /** Take the first job that waits, or null. It is not asked twice: what is lost runs out. */
  async take(): Promise<Taken | null> {
    const worker = this.worker as Worker
    const token = `${worker.id}-${this.tokens++}`
    const job = await worker.getNextJob(token, { block: false })
    if (job?.id === undefined) return null
    return {
      id: job.id,
      data: textIn(job.data),
      token,
      job,
      lost: job.deferredFailure !== undefined,
    }
  }

  /** Renew the locks of jobs that were taken. */
  async renew(taken: readonly Taken[], leaseMs: number): Promise<void> {
    if (taken.length === 0) return
    const worker = this.worker as Worker
    await worker.extendJobLocks(
      taken.map(({ id }) => id),
      taken.map(({ token }) => token),
      leaseMs,
    )
  }

  /**
   * Hand in the result of a job that was taken. False when the job is no longer ours: the lock ran
   * out, or the server has forgotten it.
   */
  async finish({ job, token }: Taken, result: string): Promise<boolean> {
    try {
      await this.ask(() => job.moveToCompleted({ b: result } as never, token, false))
      return true
    } catch (cause) {
      if (refusedBy(cause)) return false
      throw cause
    }
  }

  /** Give a job that is marked as lost to the coordinator. */
  async giveUp({ job, token }: Taken): Promise<void> {
    try {
      await this.ask(() => job.moveToFailed(new Error('lost'), token, false))
    } catch (cause) {
      if (!refusedBy(cause)) throw cause
    }
  }

  /** Remove the queue with all that is in it. */
  async clear(): Promise<void> {
    await this.ask(() => this.queue.obliterate({ force: true }))
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.worker?.close(true), this.queue.close()])
  }
}

/** BullMQ refuses by a number below 0: no such job, no lock, another's lock, another state. */
function refusedBy(cause: unknown): boolean {
  return typeof (cause as { code?: unknown }).code === 'number'
}

/** Texts travel inside an object: PostgreSQL's JSONB keeps a text as it is, and nothing else. */
function textIn(value: unknown): string {
  const text = (value as { b?: unknown } | null)?.b
  return typeof text === 'string' ? text : ''
}

function told(cause: unknown): string {
  const { errors, message, code } = cause as {
    errors?: unknown[]
    message?: string
    code?: string
  }
  return message || (errors?.[0] ? told(errors[0]) : (code ?? String(cause)))
}
