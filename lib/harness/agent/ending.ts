/**
 * How an agent's part of a trial ended, and for whom that counts: against the agent, or as a
 * failure of the machinery.
 */
import type { JsonObject } from '../../json.ts'
import { BROKE_OFF } from '../../log/finding-words.ts'
import type { StatedClaim } from '../../log/prose/clause.ts'
import { refusalOf } from '../model/provider-refusal.ts'
import { reasonOf } from '../wire/mcp.ts'
import type { Reports } from './report-tool.ts'

export type AgentLimits = { steps: number; calls: number; tokens: number | null }

/**
 * How it ended. `timeout` says whom it was waiting for; `length` and `content_filter` are answers
 * that were cut off.
 */
export type AgentEnd =
  | { how: 'finished' | 'no_answer' | 'length' | 'content_filter' }
  | { how: 'step_limit' | 'call_limit' | 'token_limit' | 'turn_limit' }
  | { how: 'timeout'; waitingFor: 'model' | 'tool' | 'agent' | 'user' }
  | { how: 'model_error'; cause: unknown }
  /** The agent ended in a way that is its own doing: `by`, such as an exit code, with its words. */
  | { how: 'agent_crashed'; message: string; by?: string; words?: string }
  /** Its answer is none. */
  | { how: 'answer_invalid'; message: string }
  /** The agent could not be asked. `final`: the next time would be the same. */
  | { how: 'agent_error'; code: string; message: string; final: boolean }
  | { how: 'server_gone'; cause: unknown }
  /** The model that plays the user gave no answer. */
  | { how: 'user_error'; cause: unknown }
  | { how: 'stopped' }

/** Words of the agent or, where they are by the user, of the user. */
export type Words = { text: string; after: number; by?: 'user' }

/** What came of an agent in one trial. What is not to be seen of it is null. */
export type AgentResult = {
  end: AgentEnd
  reports: Reports
  /** Claims that it handed over beside its answer, or null. */
  claims: StatedClaim[] | null
  /** Its last words, where claims can be looked for. */
  answer: string
  /** It had no other tools than those of the servers. */
  allTools: boolean
  /** Its model calls. */
  steps: number | null
  /** null unless every model call's use is known. */
  tokens: { input: number; output: number } | null
  /**
   * Its words, step by step, for the transcript. `after`: how many calls had begun when it said
   * them.
   */
  said: Words[]
  /** What the simulated user did. null: the case has none. */
  user: { turns: number; tokens: { input: number; output: number } | null } | null
  /** What the provider says the model was, where it says so. */
  modelId: string | null
  /** Tool calls that were none. null: they are not to be seen. */
  malformed: number | null
  /** What else the transcript keeps. */
  notes: JsonObject
}

export type Failure = {
  infrastructure: boolean
  final?: boolean
  error: { code: string; message: string }
}

const LIMIT_MESSAGES = {
  step_limit: 'the agent did not end within the limit of steps',
  call_limit: 'the agent did not end within the limit of tool calls',
  token_limit: 'the agent did not end within the limit of tokens',
  turn_limit: 'the agent did not end within the turns of the user',
}

const TIMEOUT_MESSAGES = {
  tool: 'the time was over while a tool was running',
  agent: 'the time was over while the agent was at work',
}

/** The failure that an end is, or null. `infrastructure`: it says nothing about the agent. */
export function failureOf(end: AgentEnd): Failure | null {
  switch (end.how) {
    case 'finished':
    case 'no_answer':
    case 'length':
    case 'content_filter':
      return null
    case 'step_limit':
    case 'call_limit':
    case 'token_limit':
    case 'turn_limit':
      return { infrastructure: false, error: { code: end.how, message: LIMIT_MESSAGES[end.how] } }
    case 'timeout':
      return end.waitingFor === 'model' || end.waitingFor === 'user'
        ? {
            infrastructure: true,
            error: {
              code: `${end.waitingFor}_timeout`,
              message: `the time was over while the ${end.waitingFor} was answering`,
            },
          }
        : {
            infrastructure: false,
            error: { code: 'trial_timeout', message: TIMEOUT_MESSAGES[end.waitingFor] },
          }
    case 'agent_crashed':
    case 'answer_invalid':
      return { infrastructure: false, error: { code: end.how, message: end.message } }
    case 'agent_error':
      return {
        infrastructure: true,
        final: end.final,
        error: { code: end.code, message: end.message },
      }
    case 'server_gone':
      return { infrastructure: true, error: { code: 'server_gone', message: reasonOf(end.cause) } }
    case 'user_error': {
      // Whatever it is, it says nothing about the agent.
      const { kind, message } = refusalOf(end.cause)
      return {
        infrastructure: true,
        final: kind === 'final',
        error: { code: end.how, message: `the model of the user: ${message}` },
      }
    }
    case 'stopped':
      return { infrastructure: true, error: { code: 'stopped', message: 'the run was stopped' } }
    case 'model_error': {
      // A tool call that the provider's own check refused is the model's doing; everything else is
      // the machinery's.
      const { kind, code, message } = refusalOf(end.cause)
      return {
        infrastructure: kind !== 'outcome',
        final: kind === 'final',
        error: { code, message },
      }
    }
  }
}

/**
 * How an agent broke off by its own failure, in words; null for every other end. Such an agent has
 * not met its goal, whatever it left: nobody was told that it is done. One that a limit ended is
 * judged by what it left.
 */
export function brokeOff(end: AgentEnd): string | null {
  switch (end.how) {
    case 'agent_crashed': {
      const { by = 'an exception', words = end.message } = end
      return `the agent ended with ${by} before it was done${words && `: ${words.slice(0, 200)}`}`
    }
    case 'answer_invalid':
      return `the agent ended with an answer that cannot be read: ${end.message.slice(0, 200)}`
    case 'model_error': {
      const { code, message } = refusalOf(end.cause)
      return BROKE_OFF.includes(code)
        ? `the agent ended with a tool call that its provider refused: ${message.slice(0, 200)}`
        : null
    }
    default:
      return null
  }
}

/** The word for an end in a trial's record. */
export function endingOf(end: AgentEnd): string {
  return end.how === 'model_error' || end.how === 'agent_error'
    ? (failureOf(end)?.error.code ?? end.how)
    : end.how
}
