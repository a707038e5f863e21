/** The workers of a run as they say who they are: written down once, and seen while they live. */

import { count, foreign } from '../../display.ts'
import type { JsonObject } from '../../json.ts'
import type { Progress } from '../../progress.ts'
import type { Box } from './engine.ts'
import type { Identity } from './identity.ts'
import { unpack } from './messages.ts'

/** What a worker says of itself, again and again. */
export type Hello = Identity & {
  /** Trials at once. */
  concurrency: number
  /** Why it takes no part; empty: it does. */
  refused: string[]
  /** Counts up with each sign of life. */
  beat: number
}

/** The names of what workers leave. */
export const helloId = (worker: string) => `worker-${worker}`
export const lateId = (task: string, worker: string) => `late-${task}.${worker}`

/** What a worker says of its model calls: how many wait for their turn, and what came of others. */
export type Calls = { waits: number; refused: number; answered: number }

/** A worker without a new sign of life for so long is not counted. */
const SILENT_MS = 30_000
/** What is worth a line of its own where progress is a log. */
const TOLD_MS = 10_000

const CALLS = ['waits', 'refused', 'answered'] as const

/** A count of whoever can write to the server; anything else is none. */
function countIn(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0
}

export class Presence {
  private readonly notes: Box
  private readonly told: {
    written(lines: JsonObject[]): void
    late(id: string, text: string): void
    bar: Progress | null
  }
  private readonly workers = new Map<string, { hello: Hello; seen: number; calls: Calls }>()
  private since = performance.now()

  constructor(notes: Box, told: Presence['told']) {
    this.notes = notes
    this.told = told
  }

  /** Trials that all workers who live and take part hold at once. */
  get atOnce(): number {
    return this.alive().reduce((sum, { concurrency }) => sum + concurrency, 0)
  }

  /** The model calls of all workers; waiting are only those of the living. */
  get calls(): Calls {
    const sum = { waits: 0, refused: 0, answered: 0 }
    const now = performance.now()
    for (const { calls, seen } of this.workers.values())
      for (const of of CALLS) if (of !== 'waits' || now - seen < SILENT_MS) sum[of] += calls[of]
    return sum
  }

  private alive(): Hello[] {
    const now = performance.now()
    return [...this.workers.values()]
      .filter(({ hello, seen }) => hello.refused.length === 0 && now - seen < SILENT_MS)
      .map(({ hello }) => hello)
  }

  /** Read what workers left. */
  async look(): Promise<void> {
    for (const id of await this.notes.ids('waiting')) {
      const held = await this.notes.read(id)
      if (held === null) continue
      const late = /^late-(.+?)\./.exec(id)
      if (late) {
        this.told.late(late[1] as string, held.data)
        await this.notes.remove(id)
      } else await this.greet(id, held.data, held.note)
    }
  }

  private async greet(id: string, data: string, note: unknown): Promise<void> {
    const now = performance.now()
    const { beat = 0, calls } = (note ?? {}) as { beat?: number; calls?: Partial<Calls> }
    const known = this.workers.get(id)
    if (known) {
      if (beat !== known.hello.beat) known.seen = now
      for (const of of CALLS) known.calls[of] = countIn(calls?.[of])
      known.hello.beat = beat
      // Its note stands in the way of nobody, but a run of weeks has many.
      if (now - known.seen > 20 * SILENT_MS) await this.notes.remove(id)
      return
    }
    let hello: Hello
    try {
      hello = unpack(data) as Hello
      if (typeof hello.id !== 'string' || !Array.isArray(hello.refused)) return
    } catch {
      return
    }
    hello.concurrency = Math.min(4096, Math.max(0, Number(hello.concurrency) || 0))
    const none = { waits: 0, refused: 0, answered: 0 }
    this.workers.set(id, { hello: { ...hello, beat }, seen: now, calls: none })
    const { beat: _, ...line } = hello
    this.told.written([{ ...line, at: new Date().toISOString() } as unknown as JsonObject])
    if (hello.refused.length > 0)
      this.told.bar?.waits(
        `worker ${hello.id} takes no part: ${foreign(hello.refused.join('; '), 500)}`,
        TOLD_MS,
      )
  }

  /** Show who is at work. */
  say(active: number): void {
    const { bar } = this.told
    const alive = this.alive().length
    if (alive > 0) this.since = performance.now()
    if (alive > 0) {
      const { waits, refused } = this.calls
      const parts = [
        count(alive, 'worker'),
        `${active} at work`,
        ...(waits > 0 ? [`${waits} wait for a provider`] : []),
        ...(refused > 0 ? [`refused: ${refused}`] : []),
      ]
      bar?.label(parts.join(', '))
    } else {
      const waitedMs = performance.now() - this.since
      bar?.waits('no worker: touchstone worker --queue ...', waitedMs > TOLD_MS ? TOLD_MS : 0)
      if (waitedMs > TOLD_MS) this.since = performance.now() + 50_000
    }
  }
}
