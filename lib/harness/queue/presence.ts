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

/** A worker without a new sign of life for so long is not counted. */
const SILENT_MS = 30_000
/** What is worth a line of its own where progress is a log. */
const TOLD_MS = 10_000

export class Presence {
  private readonly notes: Box
  private readonly told: {
    written(lines: JsonObject[]): void
    late(id: string, text: string): void
    bar: Progress | null
  }
  private readonly workers = new Map<string, { hello: Hello; seen: number }>()
  private since = performance.now()

  constructor(notes: Box, told: Presence['told']) {
    this.notes = notes
    this.told = told
  }

  /** Trials that all workers who live and take part hold at once. */
  get atOnce(): number {
    return this.alive().reduce((sum, { concurrency }) => sum + concurrency, 0)
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
    const beat = (note as { beat?: number } | null)?.beat ?? 0
    const known = this.workers.get(id)
    if (known) {
      if (beat !== known.hello.beat) known.seen = now
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
    this.workers.set(id, { hello: { ...hello, beat }, seen: now })
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
    if (alive > 0) bar?.label(`${count(alive, 'worker')}, ${active} at work`)
    else {
      const waitedMs = performance.now() - this.since
      bar?.waits('no worker: touchstone worker --queue ...', waitedMs > TOLD_MS ? TOLD_MS : 0)
      if (waitedMs > TOLD_MS) this.since = performance.now() + 50_000
    }
  }
}
