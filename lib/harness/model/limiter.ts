/**
 * One gate per organisation and model for all calls of this process: as many at once, and as many
 * requests and tokens per minute, as the provider lets through. (Providers count the models of an
 * organisation apart.)
 *
 * It learns from the provider's `x-ratelimit-*` headers and from what is refused. Below it nothing
 * retries. Calls start in the order they came; a refused one keeps its place, so that each gets
 * through in the end however tight the quota is.
 */
import { durationMs, type Refusal, RunHalted, refusalOf } from './provider-refusal.ts'

/** Time, so that tests need none. `sleep` resolves early when the signal aborts. */
export type LimiterClock = { now(): number; sleep(ms: number, signal: AbortSignal): Promise<void> }

const CLOCK: LimiterClock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      // Longer than a timer can hold is slept in parts: whoever wakes looks again.
      const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1))
      signal.addEventListener('abort', end, { once: true })
    }),
}

export type LimiterOptions = {
  clock?: LimiterClock
  /** Calls at once, before any is refused. Default 256. */
  most?: number
  /** In [0, 1): spreads what was refused together. Default `Math.random`. */
  random?: () => number
  /** Times that one call may be refused by a limit before it is given up. Default 200. */
  refusals?: number
}

export type LimitedCall = {
  /** What the call may use, in tokens: a guess. */
  tokens: number
  signal?: AbortSignal | undefined
  /** Called when the call waits and when it no longer does. */
  waiting?: (waits: boolean) => void
  /** Called for each refusal, with how long the call then waits. */
  refused?: (refusal: Refusal, waitMs: number) => void
}

/** What a finished call tells. `tokens` is what it used, or null. */
export type Spent = { headers: { [name: string]: string }; tokens: number | null }

type Waiter = { ticket: number; tokens: number; start: () => void }

/** A provider's answer is refused so often by these that the trial is given up. */
const TRIES = { capacity: 8, transient: 2 } as const
const LONGEST_BACKOFF_MS = 60_000
/** Windows longer than this are not paced: what is left is used, and then the provider says so. */
const LONGEST_WINDOW_MS = 600_000

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

export class Limiter {
  /** Calls that this limiter saw refused by a limit. */
  refusals = 0
  private readonly clock: LimiterClock
  private most: number
  private readonly random: () => number
  private readonly patience: number
  private readonly requests = new Bucket()
  private readonly tokens = new Bucket()
  private readonly queue: Waiter[] = []
  private slots: number
  private running = 0
  private blockedUntil = 0
  private tickets = 0
  private wake: AbortController | null = null

  constructor(options: LimiterOptions = {}) {
    this.clock = options.clock ?? CLOCK
    this.most = options.most ?? 256
    this.slots = this.most
    this.random = options.random ?? Math.random
    this.patience = options.refusals ?? 200
  }

  /** Let at least `most` calls run at once, unless the provider refused some of fewer. */
  widen(most: number): void {
    if (most <= this.most) return
    if (this.slots === this.most) this.slots = most
    this.most = most
    this.pump()
  }

  /** Calls that may run at once, as things stand. */
  get concurrency(): number {
    return Math.max(1, Math.floor(this.slots))
  }

  /**
   * Make a call when it may be made, and again as often as it is refused for a reason that passes.
   *
   * @param work makes the call once; it rejects with the SDK's error
   * @param read what an answer tells about limits and use
   * @throws RunHalted when no call would get through (a limit per day, a refused key); else what
   *   the last call threw
   */
  async call<T>(call: LimitedCall, work: () => Promise<T>, read: (answer: T) => Spent): Promise<T> {
    const ticket = this.tickets++
    const tries = { limit: 0, capacity: 0, transient: 0 }
    for (;;) {
      await this.admit(ticket, call)
      try {
        const answer = await work()
        const { headers, tokens } = read(answer)
        this.leave(call.tokens, tokens ?? call.tokens)
        this.learn(headers)
        this.slots = Math.min(this.most, this.slots + 1 / this.slots)
        return answer
      } catch (cause) {
        this.leave(call.tokens, 0)
        const refusal = refusalOf(cause, Date.now())
        const { kind } = refusal
        if (kind === 'halt') throw new RunHalted(refusal.code, refusal.message)
        if (kind !== 'limit' && kind !== 'capacity' && kind !== 'transient') throw cause
        // Nobody waits any more.
        if (call.signal?.aborted) throw call.signal.reason
        const most = kind === 'limit' ? this.patience : TRIES[kind]
        if (++tries[kind] > most) throw cause
        const wait = this.waitAfter(refusal, tries[kind])
        call.refused?.(refusal, wait)
        if (kind === 'limit') this.holdBack(refusal, wait)
        else await this.rest(wait, call)
      } finally {
        this.pump()
      }
    }
  }

  /**
   * As long as the provider asks, whatever it is; where it does not say, twice as long each time.
   * Spread a little.
   */
  private waitAfter({ waitMs, kind }: Refusal, tries: number): number {
    const backoff = Math.min(
      LONGEST_BACKOFF_MS,
      (kind === 'capacity' ? 500 : 1000) * 2 ** (tries - 1),
    )
    return Math.ceil(
      waitMs === null ? backoff * (0.75 + this.random() / 2) : waitMs + this.random() * 50,
    )
  }

  /** Nobody asks before the time the provider gave, and then only half as many as were asking. */
  private holdBack({ headers }: Refusal, waitMs: number): void {
    this.refusals++
    const until = this.clock.now() + waitMs
    // Refusals of one burst count once.
    if (this.blockedUntil <= this.clock.now())
      this.slots = Math.max(1, Math.min(this.slots, this.running + 1) / 2)
    this.blockedUntil = Math.max(this.blockedUntil, until)
    this.learn(headers)
  }

  private async rest(ms: number, call: LimitedCall): Promise<void> {
    call.waiting?.(true)
    try {
      await this.clock.sleep(ms, call.signal ?? NEVER)
    } finally {
      call.waiting?.(false)
    }
  }

  private admit(ticket: number, call: LimitedCall): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = call
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        const at = this.queue.indexOf(waiter)
        if (at >= 0) this.queue.splice(at, 1)
        if (this.queue.length === 0) this.wake?.abort()
        call.waiting?.(false)
        reject(signal?.reason)
        this.pump()
      }
      let waits = false
      const waiter: Waiter = {
        ticket,
        tokens: call.tokens,
        start: () => {
          signal?.removeEventListener('abort', abort)
          if (waits) call.waiting?.(false)
          resolve()
        },
      }
      const behind = this.queue.findIndex((other) => other.ticket > ticket)
      this.queue.splice(behind < 0 ? this.queue.length : behind, 0, waiter)
      signal?.addEventListener('abort', abort, { once: true })
      this.pump()
      if (this.queue.includes(waiter)) {
        waits = true
        call.waiting?.(true)
      }
    })
  }

  /** Start what may start, and see to it that somebody looks again when the next one may. */
  private pump(): void {
    for (let next = this.queue[0]; next && this.running < this.concurrency; next = this.queue[0]) {
      const now = this.clock.now()
      const wait = Math.max(
        this.blockedUntil - now,
        this.requests.waitFor(1, now),
        this.tokens.waitFor(next.tokens, now),
      )
      if (wait > 0) {
        this.lookAgainIn(wait)
        return
      }
      this.queue.shift()
      this.running++
      this.requests.take(1, now)
      this.tokens.take(next.tokens, now)
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

  private leave(reserved: number, used: number): void {
    const now = this.clock.now()
    this.running--
    this.requests.settle(1, 1, now)
    this.tokens.settle(reserved, used, now)
  }

  private learn(headers: { [name: string]: string }): void {
    const now = this.clock.now()
    const number = (name: string) => {
      const value = headers[name]
      return value === undefined || value.trim() === '' ? Number.NaN : Number(value)
    }
    for (const [word, bucket] of [
      ['requests', this.requests],
      ['tokens', this.tokens],
    ] as const) {
      const limit = number(`x-ratelimit-limit-${word}`)
      const remaining = number(`x-ratelimit-remaining-${word}`)
      if (!(limit > 0) || !(remaining >= 0)) continue
      const resetMs = durationMs(headers[`x-ratelimit-reset-${word}`] ?? '')
      const windowMs = windowOf(word, limit, remaining, resetMs)
      // Groq's request limit is one of a day.
      if (windowMs === null || windowMs > LONGEST_WINDOW_MS) continue
      bucket.learn(limit, remaining, limit / windowMs, now)
    }
  }
}

/**
 * How long a limit takes to refill from nothing. Tokens are counted per minute; requests per minute
 * or per day, as the reset tells.
 */
function windowOf(
  word: 'requests' | 'tokens',
  limit: number,
  remaining: number,
  resetMs: number | null,
): number | null {
  if (word === 'tokens') return 60_000
  if (resetMs === null || remaining >= limit) return null
  return (resetMs * limit) / (limit - remaining)
}

const NEVER = new AbortController().signal

/** The limiters of this process, by organisation. */
export class Limiters {
  private readonly byOrganisation = new Map<string, Limiter>()
  private readonly options: LimiterOptions
  private most = 0

  constructor(options: LimiterOptions = {}) {
    this.options = options
  }

  /** Let at least `most` calls of each organisation run at once. */
  widen(most: number): void {
    this.most = Math.max(this.most, most)
    for (const limiter of this.byOrganisation.values()) limiter.widen(most)
  }

  of(organisation: string): Limiter {
    let limiter = this.byOrganisation.get(organisation)
    if (!limiter) {
      limiter = new Limiter(this.options)
      limiter.widen(this.most)
      this.byOrganisation.set(organisation, limiter)
    }
    return limiter
  }

  /** Refusals by limits, over all organisations. */
  get refusals(): number {
    return [...this.byOrganisation.values()].reduce((sum, one) => sum + one.refusals, 0)
  }
}

export const LIMITERS = new Limiters()
