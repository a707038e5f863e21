/**
 * A trial's time: it runs while the trial works and stands still while a provider's limit makes it
 * wait.
 */
import { performance } from 'node:perf_hooks'

export class Deadline {
  /** How long the trial stood still so far. */
  private stoodMs = 0
  private left: number
  private since = 0
  private pausedAt: number | null = null
  private waits = 0
  private timer: NodeJS.Timeout | undefined
  private end: (() => void) | null = null

  constructor(ms: number) {
    this.left = ms
  }

  /** Call `end` when the time is over. The timer keeps the process alive. */
  start(end: () => void): void {
    this.end = end
    this.run()
  }

  get waitedMs(): number {
    return this.stoodMs + (this.pausedAt === null ? 0 : performance.now() - this.pausedAt)
  }

  /** Stand still, or go on. Waits may overlap. */
  readonly waiting = (waits: boolean): void => {
    this.waits += waits ? 1 : -1
    if (waits && this.waits === 1) {
      this.pausedAt = performance.now()
      if (this.end) {
        clearTimeout(this.timer)
        this.left -= performance.now() - this.since
      }
    } else if (!waits && this.waits === 0 && this.pausedAt !== null) {
      this.stoodMs += performance.now() - this.pausedAt
      this.pausedAt = null
      if (this.end) this.run()
    }
  }

  stop(): void {
    clearTimeout(this.timer)
    this.end = null
  }

  private run(): void {
    this.since = performance.now()
    this.timer = setTimeout(() => this.end?.(), Math.max(0, this.left))
  }
}
