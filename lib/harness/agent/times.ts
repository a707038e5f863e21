/** When the parts of an attempt began and ended: what its timeline shows. */
import { performance } from 'node:perf_hooks'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { LanguageModel } from 'ai'
import type { TranscriptTime } from '../../log/index.ts'
import type { Deadline } from '../model/trial-clock.ts'

export class Times {
  private readonly began: number
  private readonly deadline: Pick<Deadline, 'waitedMs'>
  private over = false
  private readonly parts: (Omit<TranscriptTime, 'to_ms'> & { to_ms: number | null })[] = []

  /** @param began the start of the trial, in ms of `performance.now()` */
  constructor(began: number, deadline: Pick<Deadline, 'waitedMs'>) {
    this.began = began
    this.deadline = deadline
  }

  private get now(): number {
    return Math.round((performance.now() - this.began) * 10) / 10
  }

  /**
   * A part begins. What comes back ends it, with the tokens that it used where they are known.
   *
   * @param call the number of the call, where it is one of a tool
   */
  begin(what: TranscriptTime['what'], call?: number): (tokens?: TranscriptTime['tokens']) => void {
    const part: (typeof this.parts)[number] = {
      what,
      ...(call !== undefined && { call }),
      from_ms: this.now,
      to_ms: null,
    }
    if (!this.over) this.parts.push(part)
    const { waitedMs: before } = this.deadline
    return (tokens) => {
      if (this.over) return
      part.to_ms = this.now
      if (tokens) part.tokens = tokens
      const waited = Math.round(this.deadline.waitedMs - before)
      if (what !== 'call' && waited > 0) part.waited_ms = waited
    }
  }

  /** The trial is over: what has not ended ends now, and what comes later is no part of it. */
  close(): void {
    this.over = true
    for (const part of this.parts) part.to_ms ??= this.now
  }

  /** All parts, in the order in which they began. */
  get all(): TranscriptTime[] {
    this.close()
    return this.parts as TranscriptTime[]
  }
}

/** A model each of whose calls goes through a function. */
export function askedThrough(
  model: LanguageModel,
  doGenerate: (
    asked: LanguageModelV4,
    options: Parameters<LanguageModelV4['doGenerate']>[0],
  ) => ReturnType<LanguageModelV4['doGenerate']>,
): LanguageModel {
  if (typeof model === 'string') return model
  const asked = model as LanguageModelV4
  const through: LanguageModelV4['doGenerate'] = (options) => doGenerate(asked, options)
  return new Proxy(asked, {
    get: (from, name) => (name === 'doGenerate' ? through : Reflect.get(from, name)),
  })
}

/** A model each of whose calls is timed. */
export function timedModel(model: LanguageModel, times: Times | null): LanguageModel {
  if (times === null) return model
  return askedThrough(model, async (asked, options) => {
    const ended = times.begin('model')
    try {
      const result = await asked.doGenerate(options)
      // A model of one's own may answer in another shape: that is the loop's to tell.
      const { inputTokens, outputTokens }: Partial<typeof result.usage> = result?.usage ?? {}
      const [input, output] = [inputTokens?.total, outputTokens?.total]
      ended(isCount(input) && isCount(output) ? { input, output } : undefined)
      return result
    } catch (cause) {
      ended()
      throw cause
    }
  })
}

/** False where a provider gives no whole number of tokens. */
export function isCount(value: number | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
