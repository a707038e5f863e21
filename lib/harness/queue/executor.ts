/**
 * The executor over a queue: tasks go to workers on other machines, and their results come back.
 *
 * The folder is the truth, and the queue is a cache of work. An attempt is one job with an id of
 * its own. A job waits, is held under a lock that its worker renews, is done, or is lost; one that
 * the server has forgotten is offered again. It leaves the server once the folder holds its result.
 * Nothing else is kept anywhere: a coordinator that was killed is followed by another that looks.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { foreign } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { Progress } from '../../progress.ts'
import type { Executor, Task } from '../trial/executor.ts'
import type { Held } from '../trial/held.ts'
import { keyOf, type TrialResult } from '../trial/judge-trial.ts'
import type { Box, Engine } from './engine.ts'
import { ENDED, idOf, notesOf, pack, RUNS, tasksOf } from './messages.ts'
import { Presence } from './presence.ts'
import { type ForResults, notBegun, Results, unknown } from './results.ts'
import { dataOf, type PlanDocument } from './travel.ts'

/** Tasks in the server at once, whatever the run's size. */
const MOST_OFFERED = 2000
const LEAST_OFFERED = 16
/** Milliseconds: between looks for results, for what is at work, and for signs of life. */
const [LOOK_MS, CENSUS_MS, BEAT_MS] = [100, 500, 1000]
/** Runs whose end is remembered, so that their workers leave. */
const MOST_ENDED = 1000

type Offer = {
  id: string
  task: Task
  drain: AbortSignal
  at: string
  /** The server was told of it. */
  told: boolean
  /** It was seen at work. */
  started: boolean
  settle(result: TrialResult): void
  fail(cause: unknown): void
}

/** What the executor needs of the run. */
export type OverQueue = {
  engine: Engine
  document: PlanDocument
  /** The folder. */
  held: Pick<Held, 'writer' | 'starts'>
  manifest: ForResults['manifest']
  counted: ForResults['counted']
  bar: Progress | null
}

export class QueueExecutor implements Executor {
  readonly width = MOST_OFFERED
  readonly tells = true
  private readonly parts: OverQueue
  private readonly run: string
  private readonly tasks: Box
  private readonly runs: Box
  private readonly presence: Presence
  private readonly offers = new Map<string, Offer>()
  private readonly room: { drain: AbortSignal; enter(free: boolean): void }[] = []
  private readonly results: Results
  private failed: { cause: unknown } | null = null
  private paused = false
  private closing = false
  private looked = { census: 0, beat: 0, sweep: 0 }
  private wake: () => void = () => {}
  private loop: Promise<void> = Promise.resolve()

  private constructor(parts: OverQueue) {
    const { engine, document } = parts
    this.parts = parts
    this.run = document.run
    this.runs = engine.box(RUNS)
    this.tasks = engine.box(tasksOf(this.run), {
      name: document.coordinator.id,
      leaseMs: document.leaseMs,
    })
    const { held, counted, manifest } = parts
    const awaited = (id: string) => this.offers.get(id)
    this.results = new Results(this.tasks, { held, manifest, counted, awaited })
    this.presence = new Presence(engine.box(notesOf(this.run)), {
      written: (lines) => parts.held.writer.note('workers', lines),
      late: (id, text) => this.results.discard(id, text, 'it came after its lock had run out'),
      bar: parts.bar,
    })
  }

  /**
   * Take a run to the queue. @throws TouchstoneError `run_locked` when another coordinator has it
   */
  static async begin(parts: OverQueue): Promise<QueueExecutor> {
    const executor = new QueueExecutor(parts)
    await executor.requireAlone()
    await executor.tasks.pause(false)
    await executor.announce()
    executor.loop = executor.turn()
    return executor
  }

  /**
   * A coordinator on another machine, over a copy of the folder, would take the results of this
   * one. Whether it lives is seen by its signs of life: clocks of two machines need not agree.
   */
  private async requireAlone(): Promise<void> {
    const sign = async () => JSON.stringify((await this.runs.read(this.run))?.note ?? null)
    const before = await sign()
    if (before === 'null') return
    for (let waited = 0; waited < 5 * BEAT_MS; waited += BEAT_MS) {
      await sleep(BEAT_MS)
      if ((await sign()) === before) continue
      throw new TouchstoneError(
        'run_locked',
        'expected a run that no other process coordinates, got one whose coordinator gives signs of life',
        { where: `run ${this.run}` },
      )
    }
  }

  /**
   * One that stood still may have been followed by another, over a copy of the folder: the run on
   * the server is then that one's. @throws TouchstoneError `run_locked`
   */
  private async requireOurs(): Promise<void> {
    const note = (await this.runs.read(this.run))?.note as { coordinator?: unknown } | undefined
    const by = note?.coordinator
    if (typeof by === 'string' && by !== this.parts.document.coordinator.id)
      throw new TouchstoneError(
        'run_locked',
        `expected a run that no other process coordinates, got one that ${foreign(by, 80)} has taken`,
        { where: `run ${this.run}` },
      )
  }

  private async announce(): Promise<void> {
    // What an earlier coordinator announced may have had fewer cases.
    await this.runs.remove(this.run)
    await this.runs.add([{ id: this.run, data: pack(this.parts.document) }])
  }

  async attempt(task: Task, drain: AbortSignal): Promise<TrialResult> {
    const id = idOf({ key: keyOf(task), attempt: task.attempt })
    const free = await new Promise<boolean>((enter) => {
      this.room.push({ drain, enter })
      this.enter()
    })
    if (this.failed) throw this.failed.cause
    if (!free) return notBegun(task)
    return new Promise((resolve, reject) => {
      const settle = (result: TrialResult) => {
        this.offers.delete(id)
        resolve(result)
        this.enter()
      }
      const at = new Date().toISOString()
      const offer = { id, task, drain, at, told: false, started: false, settle, fail: reject }
      this.offers.set(id, offer)
      this.wake()
    })
  }

  /** Let in who waits, first come first, as far as there is room. */
  private enter(): void {
    const most = Math.min(MOST_OFFERED, Math.max(LEAST_OFFERED, 4 * this.presence.atOnce))
    while (this.room.length > 0) {
      const [first] = this.room as [{ drain: AbortSignal; enter(free: boolean): void }]
      const free = !first.drain.aborted && this.failed === null
      if (free && this.offers.size >= most) return
      this.room.shift()
      first.enter(free)
      // Who was let in has an offer only after its own turn.
      if (free) {
        queueMicrotask(() => this.enter())
        return
      }
    }
  }

  private async turn(): Promise<void> {
    while (!this.closing) {
      let did = false
      try {
        did = await this.look()
      } catch (cause) {
        // Such as a folder that cannot be written. Nobody waits for what does not come.
        this.failed = { cause }
        for (const offer of this.offers.values()) offer.fail(cause)
        this.enter()
        return
      }
      if (did) continue
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve
      })
      await Promise.race([woken, sleep(LOOK_MS)])
    }
  }

  /** One look at the server. True when something came of it. */
  private async look(): Promise<boolean> {
    const now = performance.now()
    // A coordinator that stood still while another took its run leaves the queue to that one.
    this.parts.held.writer.confirm()
    this.enter()
    await this.offer()
    const taken = await this.results.take()
    await this.results.letGo()
    if (now - this.looked.census >= CENSUS_MS) {
      this.looked.census = now
      await this.census()
    }
    if (now - this.looked.sweep >= this.parts.document.leaseMs / 2) {
      this.looked.sweep = now
      await this.tasks.sweep()
    }
    if (now - this.looked.beat >= BEAT_MS) {
      this.looked.beat = now
      await this.beat()
    }
    return taken
  }

  private async offer(): Promise<void> {
    const fresh = [...this.offers.values()].filter(({ told }) => !told)
    // What the server was not told of need not be taken back.
    for (const { task, drain, settle } of fresh) if (drain.aborted) settle(notBegun(task))
    const going = fresh.filter(({ drain }) => !drain.aborted)
    if (going.length === 0) return
    // Only some configurations were stopped.
    if (this.paused) await this.tasks.pause(false)
    this.paused = false
    for (const one of going) one.told = true
    const { starts } = this.parts.held
    await this.tasks.add(
      going.map(({ id, task }) => ({ id, data: JSON.stringify(dataOf(task, starts)) })),
    )
  }

  /** What is at work, what is lost, and what the server has forgotten. */
  private async census(): Promise<void> {
    const told = [...this.offers.values()].filter((one) => one.told)
    if (told.length === 0) return this.presence.say(0)
    const [waiting, active, failed] = [
      new Set(await this.tasks.ids('waiting')),
      new Set(await this.tasks.ids('active')),
      new Set(await this.tasks.ids('failed')),
    ]
    for (const offer of told) if (active.has(offer.id)) offer.started = true
    for (const id of failed)
      if (!this.offers.has(id) && !this.results.keeps(id)) await this.tasks.remove(id)
    await Promise.all(
      told.map(async (offer) => {
        const { id } = offer
        if (failed.has(id)) return this.lost(offer)
        if (active.has(id)) return
        if (waiting.has(id)) {
          const again = offer.started && (await this.tasks.read(id))?.lost
          return again ? this.lost(offer) : undefined
        }
        if ((await this.tasks.standing(id)) !== 'gone' || !this.offers.has(id)) return
        if (offer.started) return this.lost(offer)
        // A job without a place, whatever left it so, would keep its name from being offered.
        if (await this.tasks.remove(id)) offer.told = false
      }),
    )
    await this.withdraw(told)
    this.presence.say(active.size)
  }

  /** Where nothing is to go on, what waits is given to nobody and taken back. */
  private async withdraw(told: readonly Offer[]): Promise<void> {
    // Where one configuration is stopped, its workers give it back.
    if (!told.every(({ drain }) => drain.aborted)) return
    this.paused = true
    await this.tasks.pause(true)
    const waiting = new Set(await this.tasks.ids('waiting'))
    await Promise.all(
      told.map(async (offer) => {
        const { id, task } = offer
        if (!waiting.has(id) || !this.offers.has(id)) return
        if ((await this.tasks.read(id))?.lost) return this.lost(offer)
        if (await this.tasks.remove(id)) offer.settle(notBegun(task))
      }),
    )
  }

  private async lost(offer: Offer): Promise<void> {
    const { id } = offer
    const held = await this.tasks.read(id)
    if (!this.offers.has(id) || held?.result != null) return
    const by = held?.takenBy ?? null
    const what = unknown(
      offer,
      'worker_lost',
      held
        ? `worker ${by ?? '?'} took it and gave no sign of life for a lease`
        : 'the server forgot it while a worker had it',
    )
    // The server keeps it until the folder has the line, as it keeps a result.
    offer.settle({ ...what, lost: true, recorded: this.results.untilRecorded(id) })
  }

  /** A sign of life, and what the workers have to say. */
  private async beat(): Promise<void> {
    const drained = [...new Set([...this.offers.values()].map(({ task }) => task.configuration))]
    const stop = drained.filter((name) =>
      [...this.offers.values()].some(
        ({ task, drain }) => task.configuration === name && drain.aborted,
      ),
    )
    const sign = { at: Date.now(), coordinator: this.parts.document.coordinator.id, stop }
    await this.requireOurs()
    if (!(await this.runs.note(this.run, sign))) await this.announce()
    await this.presence.look()
    this.enter()
  }

  /** Nothing is at work any more. The run leaves the server, and its workers leave the run. */
  async close(): Promise<void> {
    this.closing = true
    this.wake()
    await this.loop
    try {
      if (this.failed === null) await this.leave()
    } finally {
      await this.parts.engine.close()
    }
  }

  private async leave(): Promise<void> {
    const { engine, held } = this.parts
    held.writer.confirm()
    await this.results.rest()
    await this.presence.look()
    const ended = engine.box(ENDED)
    if ((await ended.ids('waiting')).length >= MOST_ENDED) await ended.clear()
    await ended.add([{ id: this.run, data: '' }])
    await this.runs.remove(this.run)
    await this.tasks.clear()
    await engine.box(notesOf(this.run)).clear()
  }
}
