/**
 * The conversation of an agent with the simulated user of its case: the user hears what the agent
 * says and answers, by a script or as a model that is told what the user knows and wants.
 */
import { setImmediate } from 'node:timers/promises'
import { generateText, type LanguageModel, type ModelMessage } from 'ai'
import type { UserSpec } from '../case/schema/user-schema.ts'
import { DO_NOT_KNOW, ScriptedUser, type UserAnswer } from '../case/user.ts'
import type { AgentEnd, Words } from './ending.ts'
import type { Recorder } from './recorder.ts'

/** The word by which a model that plays a user ends the conversation, as in tau2-bench. */
const STOP = '###STOP###'

/** What a model that plays a user is told. */
function scenarioOf({ persona, wants, knows }: UserSpec): string {
  const facts = Object.entries(knows).map(([name, value]) => `- ${name}: ${value}`)
  return `You play a user who talks to an assistant. You are not the assistant: never do its work and never speak for it.
Write one short message at a time. Tell only what is asked for. Where you are asked for something that does not stand below, say "${DO_NOT_KNOW}" and make nothing up.
When you have what you want, or it is clear that you will not get it, end your message with ${STOP}.
${persona === undefined ? '' : `\nWho you are:\n${persona}\n`}
What you want:
${wants}

What you know:
${facts.join('\n') || '- nothing else'}`
}

/** `drain` aborts when the run is being stopped: a call that waits for its turn gives up */
export type UserModel = { model: LanguageModel; seed: number; drain: AbortSignal }

/** Why the conversation ended the trial. */
type ConversationEnd = { how: 'turn_limit' | 'stopped' } | Extract<AgentEnd, { how: 'user_error' }>

export class Conversation {
  /** What was said, in order. */
  readonly words: Words[] = []
  /** Answers of the user. */
  turns = 0
  /** The user has ended it. */
  over = false
  /** The user is answering. */
  answering = false
  /** null: not known, or no model plays the user. */
  tokens: { input: number; output: number } | null
  /** Told once, when the conversation ends the trial. */
  onEnd: (end: ConversationEnd) => void = () => {}
  private readonly spec: UserSpec
  private readonly recorder: Recorder
  private readonly script: ScriptedUser
  private readonly player: UserModel | null
  private readonly heard: ModelMessage[] = []
  private queue: Promise<unknown> = Promise.resolve()
  private ended = false

  /** @param player the model that plays the user; null: the user's script does */
  constructor(spec: UserSpec, player: UserModel | null, recorder: Recorder) {
    this.spec = spec
    this.player = player
    this.recorder = recorder
    this.script = new ScriptedUser(spec)
    this.tokens = player === null ? null : { input: 0, output: 0 }
  }

  /** What the agent said to the user. */
  get told(): string[] {
    return this.words.flatMap(({ text, by }) => (by === 'user' ? [] : [text]))
  }

  /**
   * Say something to the user. Two that are said at once are heard one after the other.
   *
   * @throws Error when the user has ended the conversation, or the trial is over
   */
  say(given: string, signal: AbortSignal): Promise<UserAnswer> {
    const text = given.toWellFormed()
    const answer = this.queue.then(() => {
      this.words.push({ text, after: this.recorder.begun })
      return this.hear(text, signal)
    })
    this.queue = answer.catch(() => {})
    return answer
  }

  /** The answer to words that stand among `words` already. @throws what `say` throws */
  async hear(text: string, signal: AbortSignal): Promise<UserAnswer> {
    // An agent that goes on regardless does not keep the process from its timers.
    await setImmediate()
    signal.throwIfAborted()
    if (this.ended) throw new Error('the trial is over')
    if (this.over) throw new Error('the user has ended the conversation')
    if (this.turns >= this.spec.turns) return this.end({ how: 'turn_limit' })
    const answer = this.player === null ? this.script.answer(text) : await this.asked(text, signal)
    this.turns++
    this.over = answer.over
    if (answer.text !== '')
      this.words.push({ text: answer.text, after: this.recorder.begun, by: 'user' })
    this.recorder.heard(answer.text)
    return { text: answer.text, over: answer.over }
  }

  private async asked(text: string, signal: AbortSignal): Promise<UserAnswer> {
    const { model, seed, drain } = this.player as UserModel
    const { temperature, maxOutputTokens } = this.spec
    // To a model that plays the user, the agent is the other side.
    this.heard.push({ role: 'user', content: text })
    this.answering = true
    const ended = this.recorder.times?.begin('user')
    const result = await generateText({
      model,
      instructions: scenarioOf(this.spec),
      messages: this.heard,
      temperature,
      maxOutputTokens,
      seed,
      maxRetries: 0,
      abortSignal: signal,
    }).catch((cause: unknown) => {
      signal.throwIfAborted()
      const stopped = drain.aborted && cause === drain.reason
      return this.end(stopped ? { how: 'stopped' } : { how: 'user_error', cause })
    })
    ended?.()
    this.answering = false
    const { inputTokens: input, outputTokens: output } = result.usage
    if (this.tokens && Number.isSafeInteger(input) && Number.isSafeInteger(output)) {
      this.tokens.input += input as number
      this.tokens.output += output as number
    } else this.tokens = null
    const said = result.text.toWellFormed().trim()
    const over = said.includes(STOP)
    const answer = said.replaceAll(STOP, '').trim()
    if (answer === '' && !over)
      return this.end({ how: 'user_error', cause: new Error('expected an answer, got no text') })
    this.heard.push({ role: 'assistant', content: said })
    return { text: answer, over }
  }

  private end(end: ConversationEnd): never {
    this.ended = true
    this.onEnd(end)
    throw new Error('the trial is over')
  }
}
