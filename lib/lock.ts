/**
 * One process writes at a time: a file that names the process and shows that it lives.
 *
 * Whoever holds a lock renews a sign of life in it. A lock whose sign has not changed for a lease,
 * as the one who waits has watched it, belongs to nobody: clocks of two hosts need not agree. On
 * the same system, in the same PID namespace, a process that is gone is known at once.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  endedHere,
  idIn,
  livesHere,
  type Owner,
  ownerHere,
  ownerOf,
  sign,
  told,
} from './lock-owner.ts'

/** A lock that is held. */
export type Lock = {
  /**
   * Call it before each write. @throws what `busy` makes, when another process has taken the lock:
   * this one was stopped or asleep for longer than a lease
   */
  confirm(): void
  /** Give it back. It is safe to call twice. */
  release(): void
}

export type HoldOptions = {
  /** How long a holder that lives is waited for. Default 0 */
  waitMs?: number
  /** After so long without a sign of life a lock is nobody's. Default 30 s; a test's own */
  leaseMs?: number
}

const LEASE_MS = 30_000
/** Signs of life in a lease. */
const BEATS = 6
/** Milliseconds between looks at a lock whose holder may live, and at one that is waited for. */
const [LOOK_MS, SOON_MS] = [100, 10]

/**
 * Hold a lock. The whole process stands still while it waits, at most for a lease after `waitMs`,
 * so keep it for what is short.
 *
 * @param path the lock's file
 * @param busy the error for a lock that somebody else holds, by who it is
 */
export function hold(path: string, busy: Busy, options: HoldOptions = {}): Lock {
  const waits = holding(path, busy, options)
  for (;;) {
    const { done, value } = waits.next()
    if (done) return value
    pause(value.ms)
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/**
 * Hold a lock; the process goes on while it waits.
 *
 * @param options.told what is waited for, once, where it is not known whether a holder lives
 */
export async function holdLater(
  path: string,
  busy: Busy,
  options: HoldOptions & { signal?: AbortSignal | undefined; told?: (who: string) => void } = {},
): Promise<Lock> {
  const waits = holding(path, busy, options)
  let told = false
  try {
    for (;;) {
      const { done, value } = waits.next()
      if (done) return value
      if (!told && value.who !== null) options.told?.(value.who)
      told ||= value.who !== null
      await sleep(value.ms, undefined, { signal: options.signal })
    }
  } catch (cause) {
    options.signal?.throwIfAborted()
    throw cause
  } finally {
    waits.return(undefined as never)
  }
}

type Seen = { text: string | null; since: number; lives: boolean }
const NOTHING_SEEN: Seen = { text: null, since: 0, lives: false }

type Busy = (who: string) => Error

/** The steps to a lock, and the waits between them. */
function* holding(
  path: string,
  busy: Busy,
  { waitMs = 0, leaseMs = LEASE_MS }: HoldOptions,
): Generator<{ ms: number; who: string | null }, Lock> {
  const mine = new Mine(path, busy, leaseMs)
  const deadline = performance.now() + waitMs
  let seen = NOTHING_SEEN
  try {
    for (;;) {
      if (mine.claim()) return mine
      const text = textOf(path)
      if (text === null) continue
      const now = performance.now()
      const owner = ownerOf(text)
      if (seen.text !== text) {
        const beaten = owner !== null && owner.id === idIn(seen.text)
        seen = { text, since: now, lives: beaten || livesHere(owner, mine.owner, leaseMs) }
      }
      if (endedHere(owner, mine.owner) || now - seen.since >= leaseMs) {
        takeAway(path, text)
        seen = NOTHING_SEEN
      } else if (seen.lives && now >= deadline) {
        throw busy(
          `${told(owner)}; it is free when that process ends, or ${leaseMs / 1000} s after its last sign of life`,
        )
      } else {
        yield seen.lives ? { ms: SOON_MS, who: null } : { ms: LOOK_MS, who: told(owner) }
      }
    }
  } finally {
    mine.tidy()
  }
}

/** A lock of this process: drafted, then claimed, then kept alive. */
class Mine implements Lock {
  private readonly path: string
  private readonly busy: Busy
  private readonly leaseMs: number
  readonly owner: Owner
  /** Where the sign of life is written, whatever has its name by now. */
  private fd: number | null = null
  private file: { dev: bigint; ino: bigint } | null = null
  private readonly draft: string
  private beaten = { steady: 0, wall: 0 }
  private timer: NodeJS.Timeout | undefined
  private lost: Error | null = null

  constructor(path: string, busy: Busy, leaseMs: number) {
    this.path = path
    this.busy = busy
    this.leaseMs = leaseMs
    this.owner = ownerHere(randomBytes(9).toString('base64url'))
    // Written whole under another name and then linked, so that nobody reads half a lock.
    this.draft = `${path}.${this.owner.id}`
    this.fd = openSync(this.draft, 'wx')
    try {
      writeFileSync(this.fd, JSON.stringify(this.owner))
    } catch (cause) {
      this.tidy()
      throw cause
    }
  }

  /** Take the name. False when somebody has it. */
  claim(): boolean {
    try {
      const fd = claimed(this.draft, this.path, JSON.stringify(this.owner))
      if (fd !== null) this.closeFile()
      this.fd ??= fd
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
      // On a network file system the link may stand although its answer was lost.
      if (idIn(textOf(this.path)) !== this.owner.id) return false
    }
    const { dev, ino } = fstatSync(this.fd as number, { bigint: true })
    this.file = { dev, ino }
    this.beaten = { steady: performance.now(), wall: Date.now() }
    this.timer = setInterval(() => {
      try {
        this.confirm()
        this.beat()
      } catch {
        // `confirm` before the next write throws the error.
      }
    }, this.leaseMs / BEATS).unref()
    return true
  }

  /** Remove the draft, and close the file where no lock was claimed. */
  tidy(): void {
    rmSync(this.draft, { force: true })
    if (this.file === null) this.closeFile()
  }

  confirm(): void {
    if (this.lost) throw this.lost
    if (this.fd === null) return
    const { steady, wall } = this.beaten
    // `performance.now` may stand still while the system sleeps; the wall clock may be set.
    const silentMs = Math.max(performance.now() - steady, Math.abs(Date.now() - wall))
    if (silentMs > this.leaseMs / 3) this.beat()
    for (let look = 0; !this.isThere(); look++) {
      // A process that took this lock for a stale one puts it back at once.
      if (look < 3) pause(20)
      else {
        const by = textOf(this.path)
        const who = by === null ? 'nobody (its lock was deleted)' : told(ownerOf(by))
        this.lost = this.busy(
          `${who}; process ${process.pid} had it and gave no sign of life for ${this.leaseMs / 1000} s`,
        )
        clearInterval(this.timer)
        throw this.lost
      }
    }
  }

  private isThere(): boolean {
    const found = statSync(this.path, { bigint: true, throwIfNoEntry: false })
    if (found && found.ino === this.file?.ino && found.dev === this.file.dev) return true
    // Some file systems number their files anew.
    return idIn(textOf(this.path)) === this.owner.id
  }

  /**
   * Write a sign of life into the file that was claimed, by its descriptor: the lock of another
   * process under the same name stays as it is.
   */
  private beat(): void {
    this.owner.beat = sign()
    writeSync(this.fd as number, JSON.stringify(this.owner), 0)
    fdatasyncSync(this.fd as number)
    this.beaten = { steady: performance.now(), wall: Date.now() }
  }

  release(): void {
    clearInterval(this.timer)
    if (this.fd === null) return
    if (idIn(textOf(this.path)) === this.owner.id) rmSync(this.path, { force: true })
    this.closeFile()
  }

  private closeFile(): void {
    if (this.fd !== null) closeSync(this.fd)
    this.fd = null
  }
}

/**
 * Give a draft the lock's name, where nobody has it. Some file systems have no second names for a
 * file: there it is written in place, and its descriptor is returned. @throws `EEXIST`
 */
function claimed(draft: string, path: string, text: string): number | null {
  try {
    linkSync(draft, path)
    return null
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (!NO_LINKS.has(code)) throw cause
  }
  const fd = openSync(path, 'wx')
  writeFileSync(fd, text)
  return fd
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** Remove a stale lock, and only that one: another process may have replaced it in the meantime. */
function takeAway(path: string, stale: string): void {
  const aside = `${path}.${randomBytes(9).toString('base64url')}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  const text = textOf(aside)
  if (text !== stale) {
    try {
      const fd = claimed(aside, path, text ?? '')
      if (fd !== null) closeSync(fd)
    } catch {
      // A third process took the lock by then; the second finds out before it writes.
    }
  }
  rmSync(aside, { force: true })
}

/** Null for a file that is not there. @throws what the system refuses */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw cause
  }
}
