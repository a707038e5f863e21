/**
 * One gate per organisation and model for all model calls of this process. (Providers count the
 * models of an organisation apart.) Below it nothing retries. Calls start in the order they came; a
 * refused one keeps its place, so that each gets through in the end however tight the quota is.
 *
 * The pace is this process's own, or one that many processes share.
 */
import { type LimiterClock, OwnPace } from './own-pace.ts'
import { type Refusal, RunHalted, refusalOf } from './provider-refusal.ts'
import type { Counts } from './told-limits.ts'

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
  /** Those of them that come out. Default 0. */
  output?: number
  signal?: AbortSignal | undefined
  /** Called when the call waits and when it no longer does. */
  waiting?: (waits: boolean) => void
  /** Called for each refusal, with how long the call then waits. */
  refused?: (refusal: Refusal, waitMs: number) => void
}

/** What a finished call tells. `tokens` is what it used, or null; `output` what of it came out. */
export type Spent = {
  headers: { [name: string]: string }
  tokens: number | null
  output?: number | null
}

/** What shares a quota: one key at one address, and a model there. */
export type Account = { baseURL: string; key: string; model: string }

/** What is asked of a pace that many processes share. */
export type Asked = {
  account: Account
  counts: Counts
  /** A lower one goes first. */
  ticket: number
  signal: AbortSignal | undefined
}

/** Leave to make one call now. `at` is when it was given, in ms of `performance.now()`. */
export type Permit = { account: Account; counts: Counts; at: number }

/** A pace that many processes share. */
export interface SharedPace {
  /**
   * Resolves when the call may be made. A number: nobody can be asked, and this process last made
   * so many calls a millisecond (0: it was not held back). Rejects when the signal aborts.
   */
  acquire(asked: Asked): Promise<Permit | number>
  /** A call has ended: what it used, and what its answer told. */
  settle(permit: Permit, used: Counts, headers: { [name: string]: string }): void
  /** A limit has refused a call: nobody is to ask for so long. */
  refuse(permit: Permit, refusal: Refusal, waitMs: number): void
}

/** A provider's answer is refused so often by these that the trial is given up. */
const TRIES = { capacity: 8, transient: 2 } as const
const LONGEST_BACKOFF_MS = 60_000

export class Limiter {
  /** Calls that this limiter saw refused by a limit, that it saw answered, and that wait. */
  refusals = 0
  answers = 0
  waits = 0
  private readonly clock: LimiterClock
  private readonly random: () => number
  private readonly patience: number
  private readonly own: OwnPace
  private readonly shared: () => SharedPace | null
  private readonly account: Account | null
  private tickets = 0
  private slowed = false

  constructor(
    options: LimiterOptions = {},
    account: Account | null = null,
    shared: () => SharedPace | null = () => null,
  ) {
    this.clock = options.clock ?? CLOCK
    this.random = options.random ?? Math.random
    this.patience = options.refusals ?? 200
    this.own = new OwnPace(this.clock, options.most ?? 256)
    this.account = account
    this.shared = shared
  }

  /** Let at least `most` calls run at once, unless the provider refused some of fewer. */
  widen(most: number): void {
    this.own.widen(most)
  }

  /** Calls that may run at once, as things stand. */
  get concurrency(): number {
    return this.own.concurrency
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
    const { tokens, output = 0 } = call
    const counts: Counts = [1, tokens, tokens - output, output]
    const tries = { limit: 0, capacity: 0, transient: 0 }
    for (;;) {
      const pace = await this.admitted(ticket, counts, call)
      try {
        const answer = await work()
        const { headers, ...used } = read(answer)
        const all = used.tokens ?? tokens
        const out = used.output ?? output
        this.answers++
        pace.settle([1, all, Math.max(0, all - out), out], headers)
        return answer
      } catch (cause) {
        const refusal = refusalOf(cause, Date.now())
        const { kind } = refusal
        const passes = kind === 'limit' || kind === 'capacity' || kind === 'transient'
        const again = passes && !call.signal?.aborted
        if (!again || ++tries[kind] > (kind === 'limit' ? this.patience : TRIES[kind])) {
          pace.fail(refusal, null)
          if (kind === 'halt') throw new RunHalted(refusal.code, refusal.message)
          // Nobody waits any more.
          throw passes && call.signal?.aborted ? call.signal.reason : cause
        }
        const wait = this.waitAfter(refusal, tries[kind])
        call.refused?.(refusal, wait)
        if (kind === 'limit') this.refusals++
        pace.fail(refusal, wait)
        if (kind !== 'limit')
          await this.waiting(call, (waits) => {
            waits(true)
            return this.clock.sleep(wait, call.signal ?? NEVER)
          })
      }
    }
  }

  /** Wait for a call's turn. Returns where to say what came of it. */
  private async admitted(ticket: number, counts: Counts, call: LimitedCall) {
    const { signal } = call
    const shared = this.account && this.shared()
    return this.waiting(call, async (waits) => {
      if (shared && this.account) {
        signal?.throwIfAborted()
        waits(true)
        const { account } = this
        const permit = await shared.acquire({ account, counts, ticket, signal })
        waits(false)
        if (typeof permit !== 'number') {
          this.slowed = false
          return {
            settle: (used: Counts, headers: Spent['headers']) =>
              shared.settle(permit, used, headers),
            fail: (refusal: Refusal, wait: number | null) =>
              refusal.kind === 'limit' && wait !== null
                ? shared.refuse(permit, refusal, wait)
                : shared.settle(permit, FAILED, {}),
          }
        }
        if (permit > 0 && !this.slowed) this.own.slowTo(permit)
        this.slowed = true
      }
      const { own } = this
      await own.acquire({ ticket, counts, signal, waiting: waits })
      return {
        settle: (used: Counts, headers: Spent['headers']) => own.settle(counts, used, headers),
        fail: (refusal: Refusal, wait: number | null) =>
          own.refuse(counts, wait === null ? { ...refusal, kind: 'final' } : refusal, wait ?? 0),
      }
    })
  }

  /** Do something that may wait, and tell whoever asked when it does and when no longer. */
  private async waiting<T>(
    call: LimitedCall,
    work: (waits: (on: boolean) => void) => Promise<T>,
  ): Promise<T> {
    let on = false
    const waits = (now: boolean) => {
      if (now === on) return
      on = now
      this.waits += now ? 1 : -1
      call.waiting?.(now)
    }
    try {
      return await work(waits)
    } finally {
      waits(false)
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
}

/** Of a call that failed the provider has counted the request. */
const FAILED: Counts = [1, 0, 0, 0]
const NEVER = new AbortController().signal

/** The limiters of this process, by organisation. */
export class Limiters {
  private readonly byOrganisation = new Map<string, Limiter>()
  private readonly options: LimiterOptions
  private most = 0
  private shared: SharedPace | null = null

  constructor(options: LimiterOptions = {}) {
    this.options = options
  }

  /** Let at least `most` calls of each organisation run at once. */
  widen(most: number): void {
    this.most = Math.max(this.most, most)
    for (const limiter of this.byOrganisation.values()) limiter.widen(most)
  }

  /** From now on calls go at a pace that other processes share; or at this one's own again. */
  share(pace: SharedPace | null): void {
    this.shared = pace
  }

  /** @param account what shares a quota; an organisation without one has a pace of its own */
  of(organisation: string, account: Account | null = null): Limiter {
    let limiter = this.byOrganisation.get(organisation)
    if (!limiter) {
      limiter = new Limiter(this.options, account, () => this.shared)
      limiter.widen(this.most)
      this.byOrganisation.set(organisation, limiter)
    }
    return limiter
  }

  /** Refusals by limits, over all organisations. */
  get refusals(): number {
    return this.sum('refusals')
  }

  /** Calls that were answered. */
  get answers(): number {
    return this.sum('answers')
  }

  /** Calls that wait for their turn. */
  get waits(): number {
    return this.sum('waits')
  }

  private sum(of: 'refusals' | 'answers' | 'waits'): number {
    return [...this.byOrganisation.values()].reduce((sum, one) => sum + one[of], 0)
  }
}

export const LIMITERS = new Limiters()
