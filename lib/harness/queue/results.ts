/**
 * Results of a run over a queue: taken from the server, checked, handed on once, and kept there
 * until the folder holds them. Those that do not count are listed beside it.
 */
import { digest } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import type { Manifest } from '../../log/index.ts'
import type { Task } from '../trial/executor.ts'
import { type Held, heldToStart } from '../trial/held.ts'
import { blank, type TrialResult } from '../trial/judge-trial.ts'
import type { Box } from './engine.ts'
import { attemptIn } from './messages.ts'
import { readAnswer, whoseAnswer } from './worker-answer.ts'

/** Accepted results that are known beside those that the server still has. */
const MOST_KNOWN = 4000
/** A result that is not asked for yet is looked at again after this. */
const ASIDE_MS = 1000

/** An attempt whose result somebody waits for. */
export type Awaited = { task: Task; at: string; settle(result: TrialResult): void }

/** Who had an attempt, and when it was begun. */
export type Whose = { worker: string; startedAt: string }

/** What the results need of the run. */
export type ForResults = {
  held: Pick<Held, 'writer' | 'starts'>
  manifest: Pick<Manifest, 'configurations'>
  awaited(id: string): Awaited | undefined
  /** Who had the attempt that counts of a key, where the folder has it. */
  counted(key: string): { attempt: number; worker: string | null; startedAt: string } | null
}

export class Results {
  private readonly tasks: Box
  private readonly run: ForResults
  /** Results that were handed on. */
  private readonly accepted = new Map<string, Whose>()
  /** Lost attempts whose lines are on their way to the disk. */
  private readonly kept = new Set<string>()
  /** What the server need not hold any more. */
  private readonly removable = new Set<string>()
  /** Results of attempts that are yet to be asked for, since an earlier coordinator asked. */
  private readonly aside = new Set<string>()

  constructor(tasks: Box, run: ForResults) {
    this.tasks = tasks
    this.run = run
  }

  /** Keep a lost attempt in the server. Returns what lets go of it once the folder has its line. */
  untilRecorded(id: string): () => void {
    this.kept.add(id)
    return () => {
      this.kept.delete(id)
      this.removable.add(id)
    }
  }

  /** Whether a lost attempt is kept until its line is written. */
  keeps(id: string): boolean {
    return this.kept.has(id) || this.removable.has(id)
  }

  /** Take what is there. True when there was something. */
  async take(): Promise<boolean> {
    const ids = await this.tasks.ids('completed')
    const fresh = ids.filter((id) => !this.accepted.has(id) && !this.aside.has(id))
    await Promise.all(fresh.map((id) => this.takeOne(id)))
    return fresh.length > 0
  }

  private async takeOne(id: string): Promise<void> {
    const held = await this.tasks.read(id)
    if (held?.result == null) return
    const offer = this.run.awaited(id)
    if (!offer) return this.unasked(id, held.result)
    const { task } = offer
    let result: TrialResult
    try {
      const { configurations } = this.run.manifest
      const planned = configurations.find(({ name }) => name === task.configuration)
      const answer = readAnswer(task, held.result, planned)
      this.accepted.set(id, answer)
      result = heldToStart(this.run.held.starts, task, answer.result)
    } catch (cause) {
      this.discard(id, held.result, `no result of this task: ${(cause as Error).message}`)
      this.accepted.set(id, { worker: held.takenBy ?? '?', startedAt: offer.at })
      result = unknown(offer, 'result_invalid', 'what a worker handed in is no result of it')
    }
    if (result.stopped) this.removable.add(id)
    offer.settle({ ...result, recorded: () => this.removable.add(id) })
  }

  /** A result that nobody waits for: its attempt is recorded, or is yet to be asked for. */
  private unasked(id: string, text: string): void {
    const of = attemptIn(id)
    if (of === null) {
      this.removable.add(id)
      this.discard(id, text, 'no attempt has this name')
      return
    }
    const counted = this.run.counted(of.key)
    if (counted === null || counted.attempt < of.attempt) {
      this.aside.add(id)
      setTimeout(() => this.aside.delete(id), ASIDE_MS).unref()
      return
    }
    this.removable.add(id)
    const whose = whoseAnswer(text)
    const same =
      counted.attempt === of.attempt &&
      counted.worker === whose?.worker &&
      counted.startedAt === whose?.startedAt
    if (!same) this.discard(id, text, 'the folder has this attempt already')
  }

  /** List a result that does not count. One that was accepted and comes again is no second. */
  discard(id: string, text: string, why: string): void {
    const whose = whoseAnswer(text)
    const before = this.accepted.get(id)
    if (before && before.worker === whose?.worker && before.startedAt === whose.startedAt) return
    const { key, attempt } = attemptIn(id) ?? { key: id, attempt: -1 }
    const line: JsonObject = {
      key,
      attempt,
      worker: whose?.worker ?? null,
      started_at: whose?.startedAt ?? null,
      digest: digest(text),
      why,
    }
    this.run.held.writer.note('discarded', [line])
  }

  /** The server lets go of what the folder holds. */
  async letGo(): Promise<void> {
    const ids = [...this.removable]
    if (ids.length === 0) return
    await Promise.all(ids.map((id) => this.tasks.remove(id)))
    for (const id of ids) this.removable.delete(id)
    // What was accepted is known for a while: its worker may hand it in once more.
    for (const id of this.accepted.keys()) {
      if (this.accepted.size <= MOST_KNOWN) break
      this.accepted.delete(id)
    }
  }

  /** At the end: what nobody asked for. */
  async rest(): Promise<void> {
    await this.letGo()
    for (const id of await this.tasks.ids('completed')) {
      const text = (await this.tasks.read(id))?.result
      if (text != null && !this.accepted.has(id)) this.discard(id, text, 'nobody asked for it')
    }
  }
}

/** An attempt of which nothing is known but that it was begun. */
export function unknown(
  { task, at }: Pick<Awaited, 'task' | 'at'>,
  code: string,
  message: string,
): TrialResult {
  const result = nothing(task, at)
  result.record.error = { code, message }
  return result
}

/** An attempt that was not begun. */
export function notBegun(task: Task): TrialResult {
  return { ...nothing(task, new Date().toISOString()), stopped: true }
}

function nothing(task: Task, at: string): TrialResult {
  const record = blank(task, at, 0)
  const transcript = { key: record.key, attempt: task.attempt, calls: [] }
  const parts = { record, transcript, logs: [], decisions: [], audits: [] }
  return { ...parts, stopped: false, halt: null, final: false }
}
