/**
 * What a run may cost: a trial is begun only while what is spent, and what the trials at work may
 * come to, stay within it. Without that, a thousand trials at once would go over it by a thousand.
 */

/** What is kept aside for a trial at work, in US dollars. */
export type Reserve = { name: string; usd: number }

export class Budget {
  /** US dollars that ended trials cost. */
  spentUsd: number
  private readonly capUsd: number | null
  /** The most that a trial of a configuration has cost. What is not known yet is tried alone. */
  private readonly most = new Map<string, number>()
  private readonly reserved = new Set<Reserve>()
  private readonly waiting: {
    name: string
    drain: AbortSignal
    go(reserve: Reserve | null): void
  }[] = []

  constructor(capUsd: number | null, spentUsd: number) {
    this.capUsd = capUsd
    this.spentUsd = spentUsd
  }

  /** True once the run has cost what it may. */
  get spent(): boolean {
    return this.capUsd !== null && this.spentUsd >= this.capUsd
  }

  /**
   * Wait until a trial may begin, and keep aside what one of its configuration may cost. The only
   * one at work is always let in: it may go over what is left, by no more than itself.
   *
   * @returns null when nothing is to begin any more
   */
  async admit(name: string, drain: AbortSignal): Promise<Reserve | null> {
    if (this.capUsd === null) return drain.aborted ? null : { name, usd: 0 }
    return new Promise((go) => {
      this.waiting.push({ name, drain, go })
      this.letIn()
    })
  }

  /** A trial that was let in has ended. @param costUsd null: nothing, or not known */
  settle(reserve: Reserve, costUsd: number | null): void {
    this.spentUsd += costUsd ?? 0
    if (this.capUsd === null) return
    const { name } = reserve
    this.reserved.delete(reserve)
    this.most.set(name, Math.max(this.most.get(name) ?? 0, costUsd ?? 0))
    this.letIn()
  }

  private letIn(): void {
    while (this.waiting.length > 0) {
      const [{ name, drain, go }] = this.waiting as [(typeof this.waiting)[number]]
      const reserve = { name, usd: this.most.get(name) ?? Number.POSITIVE_INFINITY }
      const over = drain.aborted || this.spent
      if (!over && this.reserved.size > 0 && !this.fits(reserve)) return
      this.waiting.shift()
      if (!over) this.reserved.add(reserve)
      go(over ? null : reserve)
    }
  }

  private fits({ usd }: Reserve): boolean {
    let sum = this.spentUsd + usd
    for (const one of this.reserved) sum += one.usd
    return sum <= (this.capUsd as number)
  }
}
