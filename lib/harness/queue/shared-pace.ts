/**
 * A process's part in a pace that many share. Of each account one call at a time asks for leave,
 * the first that waits; the others stand behind it. So little is granted ahead, and a model call is
 * two round trips: leave, and what came of it.
 *
 * Where the server cannot be asked, calls go on at the pace of this process alone.
 */
import type { Account, Asked, Permit, SharedPace } from '../model/limiter.ts'
import type { Refusal } from '../model/provider-refusal.ts'
import { type Counts, type Told, toldLimits } from '../model/told-limits.ts'
import { accountName } from './account-name.ts'
import type { Change, PaceServer, Step } from './pace-rules.ts'

/** After the server did not answer it is not asked for so long. */
const AWAY_MS = 1000
/** Leave that begins so long ago is not used: a process that stood still would use all at once. */
const STALE_MS = 2000
/** Starts by which the own pace is known, and how much one call tells of how much calls use. */
const [STARTS, PART] = [32, 0.1]

/** Leave as the server gave it. */
type Leave = { counts: Counts; granted: number[]; generation: number }
type Given = Permit & Leave
type Waiting = { asked: Asked; resolve(permit: Given | number): void; reject(cause: unknown): void }

type Lane = {
  account: Account
  name: Promise<string>
  queue: Waiting[]
  running: boolean
  /** The newest generation that was told of. */
  newest: number
  /** Leave that begins later. */
  ahead: { leave: Leave; due: number; wake(): void } | null
  /** How much calls use of what is guessed, by kind. */
  scale: number[]
  /** When the last calls started, and whether they had to wait for it. */
  starts: number[]
  heldBack: boolean
}

const GIVEN_BACK: Counts = [0, 0, 0, 0]

export class PaceOverServer implements SharedPace {
  private readonly server: PaceServer
  private readonly tell: (text: string | null) => void
  private readonly lanes = new Map<string, Lane>()
  private awayUntil = 0

  /** @param tell told when the server cannot be asked, and null when it can again */
  constructor(
    open: (changed: (change: Change) => void) => PaceServer,
    tell: PaceOverServer['tell'],
  ) {
    this.tell = tell
    this.server = open((change) => this.change(change))
  }

  acquire(asked: Asked): Promise<Permit | number> {
    const lane = this.laneOf(asked.account)
    return new Promise((resolve, reject) => {
      const { signal } = asked
      const abort = () => {
        const at = lane.queue.indexOf(waiting)
        if (at >= 0) lane.queue.splice(at, 1)
        lane.ahead?.wake()
        reject(signal?.reason)
      }
      const ended = () => signal?.removeEventListener('abort', abort)
      const waiting: Waiting = {
        asked,
        resolve: (permit) => {
          ended()
          resolve(permit)
        },
        reject: (cause) => {
          ended()
          reject(cause)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      const behind = lane.queue.findIndex(({ asked: { ticket } }) => ticket > asked.ticket)
      lane.queue.splice(behind < 0 ? lane.queue.length : behind, 0, waiting)
      if (lane.running) return
      lane.running = true
      this.run(lane)
    })
  }

  settle(permit: Permit, used: Counts, headers: { [name: string]: string }): void {
    const { lane, given } = this.of(permit)
    for (const [i, n] of used.entries())
      if (i > 0 && used !== GIVEN_BACK && (given.counts[i] as number) > 0) {
        const guess = (given.counts[i] as number) / (lane.scale[i] as number)
        lane.scale[i] = (lane.scale[i] as number) * (1 - PART) + (PART * n) / guess
      }
    this.end(lane, 'settle', given, used, performance.now() - given.at, toldLimits(headers), 0)
  }

  refuse(permit: Permit, { headers }: Refusal, waitMs: number): void {
    const { lane, given } = this.of(permit)
    const ageMs = performance.now() - given.at
    this.end(lane, 'refuse', given, GIVEN_BACK, ageMs, toldLimits(headers), waitMs)
  }

  async close(): Promise<void> {
    await this.server.close()
  }

  private of(permit: Permit): { lane: Lane; given: Given } {
    return { lane: this.laneOf(permit.account), given: permit as Given }
  }

  private laneOf(account: Account): Lane {
    const id = JSON.stringify(account)
    let lane = this.lanes.get(id)
    if (!lane) {
      const name = accountName(account)
      lane = {
        ...{ account, name, queue: [], running: false, newest: 0, ahead: null },
        ...{ scale: [1, 1, 1, 1], starts: [], heldBack: false },
      }
      this.lanes.set(id, lane)
    }
    return lane
  }

  /** Get leave for one after the other, until nobody waits. */
  private async run(lane: Lane): Promise<void> {
    while (lane.queue[0] !== undefined) {
      const [first] = lane.queue as [Waiting]
      const counts = first.asked.counts.map((n, i) => n * (lane.scale[i] as number))
      const answer = await this.ask(lane, [0, ...counts])
      if (answer === null) {
        for (const { resolve } of lane.queue.splice(0)) resolve(paceOf(lane))
        break
      }
      const [waitMs = 0, generation = 0, ...granted] = answer
      const leave = {
        counts: counts as unknown as Counts,
        generation,
        granted: granted.slice(0, 4),
      }
      // It may have been overtaken on its way. A server that was emptied begins with another clock.
      const late = generation < lane.newest
      lane.newest = generation
      const used = !late && (await this.begins(lane, leave, waitMs))
      // Whoever waits longest has it, whichever of them asked.
      const next = used ? lane.queue.shift() : undefined
      if (next === undefined) {
        this.end(lane, 'settle', leave, GIVEN_BACK, 0, [], 0)
        continue
      }
      const at = performance.now()
      lane.starts = [...lane.starts.slice(1 - STARTS), at]
      lane.heldBack = lane.queue.length > 0 && waitMs > 0
      next.resolve({ ...leave, account: lane.account, at })
    }
    // Not a moment after it was seen that nobody waits: whoever comes then begins anew.
    lane.running = false
  }

  /** Wait until leave begins. False when it is void, is too old, or nobody waits any more. */
  private async begins(lane: Lane, leave: Leave, waitMs: number): Promise<boolean> {
    const ahead = { leave, due: performance.now() + waitMs, wake: () => {} }
    lane.ahead = ahead
    while (lane.ahead === ahead && lane.queue.length > 0) {
      const left = ahead.due - performance.now()
      if (left <= 0) break
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, 2 ** 31 - 1))
        ahead.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const holds = lane.ahead === ahead && lane.queue.length > 0
    if (lane.ahead === ahead) lane.ahead = null
    return holds && performance.now() - ahead.due < STALE_MS
  }

  /** Another generation: leave of an earlier one is void. Else all leave begins later. */
  private async change({ account, generation, laterMs }: Change): Promise<void> {
    for (const lane of this.lanes.values()) {
      if (account !== (await lane.name)) continue
      lane.newest = Math.max(lane.newest, generation)
      const { ahead } = lane
      if (ahead === null) continue
      if (ahead.leave.generation < generation) lane.ahead = null
      else ahead.due += laterMs
      ahead.wake()
    }
  }

  private end(
    lane: Lane,
    step: Exclude<Step, 'acquire'>,
    { counts, granted, generation }: Leave,
    used: Counts,
    ageMs: number,
    told: Told,
    waitMs: number,
  ): void {
    const limits = [0, 1, 2, 3].flatMap((i) => {
      const quota = told[i]
      return quota ? [quota.limit, quota.remaining, quota.windowMs] : [0, 0, 0]
    })
    const op = step === 'settle' ? 1 : 2
    // What is not told is missed by the next headers: nobody waits for this.
    void this.ask(lane, [op, ...counts, ...used, ...granted, generation, ageMs, ...limits, waitMs])
  }

  /** One step, or null where the server cannot be asked. */
  private async ask(lane: Lane, numbers: number[]): Promise<number[] | null> {
    const account = await lane.name
    if (performance.now() < this.awayUntil) return null
    try {
      const answer = await this.server.ask(account, numbers)
      this.tell(null)
      return answer
    } catch {
      this.awayUntil = performance.now() + AWAY_MS
      this.tell('the queue’s server does not pace: calls go at the pace of this process alone')
      return null
    }
  }
}

/** Calls a millisecond that this process last started, or 0 where nothing held it back. */
function paceOf({ starts, heldBack }: Lane): number {
  const [first, last] = [starts[0], starts.at(-1)]
  if (!heldBack || first === undefined || last === undefined || last <= first) return 0
  return (starts.length - 1) / (last - first)
}
