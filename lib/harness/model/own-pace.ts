/**
 * The pace of one account within this process: as many calls at once, and as many requests and
 * tokens per minute, as the provider lets through. It learns from headers and from what is refused.
 */
import type { Refusal } from './provider-refusal.ts'
import { COUNTED, type Counts, toldLimits } from './told-limits.ts'

/** Time, so that tests need none. `sleep` resolves early when the signal aborts. */
export type LimiterClock = { now(): number; sleep(ms: number, signal: AbortSignal): Promise<void> }

/** A call that is to be made. A lower ticket goes first. */
export type Asking = {
  ticket: number
  counts: Counts
  signal: AbortSignal | undefined
  waiting?: ((waits: boolean) => void) | undefined
}

type Waiter = { ticket: number; counts: Counts; start: () => void }

/** Permission that refills: `level` at `at`, growing to `limit`. A level below zero is owed. */
class Bucket {
  private limit = Number.POSITIVE_INFINITY
  private level = Number.POSITIVE_INFINITY
  private perMs = 0
  private at = 0
  private reserved = 0

  available(now: number): number {
    return this.level === Number.POSITIVE_INFINITY
      ? this.level
      : Math.min(this.limit, this.level + (now - this.at) * this.perMs)
  }

  /**
   * Milliseconds until `n` may be taken. More than the bucket holds waits until it is full: the
   * provider will say the rest.
   */
  waitFor(n: number, now: number): number {
    const missing = Math.min(n, this.limit) - this.available(now)
    return missing <= 0 || this.perMs <= 0 ? 0 : Math.ceil(missing / this.perMs)
  }

  take(n: number, now: number): void {
    this.level = this.available(now) - n
    this.at = now
    this.reserved += n
  }

  /** Give a reservation back, less what was used. */
  settle(n: number, used: number, now: number): void {
    this.reserved -= n
    this.level = Math.min(this.limit, this.available(now) + n - used)
    this.at = now
  }

  /** What the provider says is left; calls still running have not been counted by it yet. */
  learn(limit: number, remaining: number, perMs: number, now: number): void {
    this.limit = limit
    this.perMs = perMs
    this.level = Math.min(limit, remaining) - this.reserved
    this.at = now
  }
}

export class OwnPace {
  private readonly clock: LimiterClock
  private most: number
  private readonly buckets = COUNTED.map(() => new Bucket())
  private readonly queue: Waiter[] = []
  private slots: number
  private running = 0
  private blockedUntil = 0
  private wake: AbortController | null = null

  constructor(clock: LimiterClock, most: number) {
    this.clock = clock
    this.most = most
    this.slots = most
  }

  /** Calls that may run at once, as things stand. */
  get concurrency(): number {
    return Math.max(1, Math.floor(this.slots))
  }

  /** Let at least `most` calls run at once, unless the provider refused some of fewer. */
  widen(most: number): void {
    if (most <= this.most) return
    if (this.slots === this.most) this.slots = most
    this.most = most
    this.pump()
  }

  /** Start no more than this many a millisecond, until the provider tells its limits. */
  slowTo(perMs: number): void {
    const [requests] = this.buckets as [Bucket]
    requests.learn(Math.max(1, perMs * 1000), 0, perMs, this.clock.now())
    this.pump()
  }

  acquire({ ticket, counts, signal, waiting }: Asking): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        const at = this.queue.indexOf(waiter)
        if (at >= 0) this.queue.splice(at, 1)
        if (this.queue.length === 0) this.wake?.abort()
        waiting?.(false)
        reject(signal?.reason)
        this.pump()
      }
      let waits = false
      const waiter: Waiter = {
        ticket,
        counts,
        start: () => {
          signal?.removeEventListener('abort', abort)
          if (waits) waiting?.(false)
          resolve()
        },
      }
      const behind = this.queue.findIndex((other) => other.ticket > ticket)
      this.queue.splice(behind < 0 ? this.queue.length : behind, 0, waiter)
      signal?.addEventListener('abort', abort, { once: true })
      this.pump()
      if (this.queue.includes(waiter)) {
        waits = true
        waiting?.(true)
      }
    })
  }

  /** A call was answered. */
  settle(counts: Counts, used: Counts, headers: { [name: string]: string }): void {
    this.leave(counts, used)
    this.learn(headers)
    this.slots = Math.min(this.most, this.slots + 1 / this.slots)
    this.pump()
  }

  /**
   * A call failed. Where a limit refused it, nobody asks before the time the provider gave, and
   * then only half as many as were asking.
   */
  refuse(counts: Counts, { kind, headers }: Pick<Refusal, 'kind' | 'headers'>, waitMs = 0): void {
    this.leave(counts, [1, 0, 0, 0])
    if (kind === 'limit') {
      const until = this.clock.now() + waitMs
      // Refusals of one burst count once.
      if (this.blockedUntil <= this.clock.now())
        this.slots = Math.max(1, Math.min(this.slots, this.running + 1) / 2)
      this.blockedUntil = Math.max(this.blockedUntil, until)
      this.learn(headers)
    }
    this.pump()
  }

  /** Start what may start, and see to it that somebody looks again when the next one may. */
  private pump(): void {
    for (let next = this.queue[0]; next && this.running < this.concurrency; next = this.queue[0]) {
      const now = this.clock.now()
      const { counts } = next
      const wait = Math.max(
        this.blockedUntil - now,
        ...this.buckets.map((bucket, i) => bucket.waitFor(counts[i] as number, now)),
      )
      if (wait > 0) {
        this.lookAgainIn(wait)
        return
      }
      this.queue.shift()
      this.running++
      for (const [i, bucket] of this.buckets.entries()) bucket.take(counts[i] as number, now)
      next.start()
    }
  }

  private lookAgainIn(ms: number): void {
    this.wake?.abort()
    const wake = new AbortController()
    this.wake = wake
    this.clock.sleep(ms, wake.signal).then(() => {
      if (!wake.signal.aborted) this.pump()
    })
  }

  private leave(reserved: Counts, used: Counts): void {
    const now = this.clock.now()
    this.running--
    for (const [i, bucket] of this.buckets.entries())
      bucket.settle(reserved[i] as number, used[i] as number, now)
  }

  private learn(headers: { [name: string]: string }): void {
    const now = this.clock.now()
    for (const [i, quota] of toldLimits(headers).entries())
      if (quota)
        this.buckets[i]?.learn(quota.limit, quota.remaining, quota.limit / quota.windowMs, now)
  }
}
