/**
 * The agent: the AI SDK's loop over the tools of the servers, ending with a structured report of what it says it did.
 *
 * The loop is raced against a timer of our own, because a tool that ignores its signal would hold the SDK's for as long as it likes.
 */
import { dynamicTool, generateText, hasToolCall, isStepCount, jsonSchema, type LanguageModel, type ToolSet } from 'ai'
import type { JsonObject } from '../canonical.ts'
import type { StatedClaim } from './claims.ts'
import { type Recorder, ServerGone, textOf } from './recorder.ts'

export const DEFAULT_INSTRUCTIONS = `You carry out tasks for a user with the tools of external systems.
When you are finished, call the tool "report" once. List every change you say you made or tried to make, each with the tool you used, the action in a word, the arguments as the target, and done: true only if you know that the change is there. Do not list what you only read.`

const REPORT = 'report'

/** What the loop needs of a configuration. */
export type AgentSettings = {
  model: LanguageModel
  instructions: string
  temperature?: number | undefined
  topP?: number | undefined
  maxOutputTokens?: number | undefined
  seed?: number | undefined
  providerOptions?: { [provider: string]: JsonObject } | undefined
  maxRetries: number
}

export type AgentLimits = { steps: number; trialTimeoutMs: number }

/** How the loop ended. `timeout` says whom it was waiting for. */
export type AgentEnd =
  | { how: 'finished' | 'step_limit' }
  | { how: 'timeout'; waitingFor: 'model' | 'tool' }
  | { how: 'model_error'; cause: unknown }
  | { how: 'server_gone'; cause: unknown }
  | { how: 'stopped' }

export type AgentResult = {
  end: AgentEnd
  reported: boolean
  claims: StatedClaim[]
  summary: string
  steps: number
  tokens: { input: number; output: number } | null
  /** The model's words, step by step, for the transcript. */
  said: string[]
  /** What the provider says the model was, where it says so. */
  modelId: string | null
}

/** Run the loop. Never rejects: how it ended is part of the result. */
export async function runAgent(
  settings: AgentSettings,
  task: string,
  recorder: Recorder,
  limits: AgentLimits,
  signal: AbortSignal,
): Promise<AgentResult> {
  const result: AgentResult = {
    end: { how: 'finished' },
    reported: false,
    claims: [],
    summary: '',
    steps: 0,
    tokens: null,
    said: [],
    modelId: null,
  }
  const stop = new AbortController()
  let gone: ServerGone | null = null
  let toolsRunning = 0
  const tools: ToolSet = {}
  for (const offered of recorder.offered) {
    tools[offered.name] = dynamicTool({
      description: offered.tool.description ?? '',
      inputSchema: jsonSchema(offered.tool.inputSchema as JsonObject),
      async execute(input) {
        toolsRunning++
        try {
          return await recorder.call(offered, input as JsonObject, stop.signal)
        } catch (cause) {
          if (cause instanceof ServerGone) {
            gone = cause
            stop.abort(cause)
          }
          throw cause
        } finally {
          toolsRunning--
        }
      },
      toModelOutput({ output }) {
        const answer = output as { isError?: boolean } & Parameters<typeof textOf>[0]
        return { type: answer.isError ? 'error-text' : 'text', value: textOf(answer) }
      },
    })
  }
  tools[REPORT] = dynamicTool({
    description: 'End the task and say what you changed.',
    inputSchema: jsonSchema(REPORT_SCHEMA),
    async execute(input) {
      const read = readReport(input)
      if (typeof read === 'string') throw new Error(read)
      Object.assign(result, read, { reported: true })
      return 'received'
    },
  })

  const loop = generateText({
    model: settings.model,
    instructions: settings.instructions,
    prompt: task,
    tools,
    stopWhen: [isStepCount(limits.steps), ({ steps }) => result.reported && hasToolCall(REPORT)({ steps })],
    temperature: settings.temperature,
    topP: settings.topP,
    maxOutputTokens: settings.maxOutputTokens,
    seed: settings.seed,
    providerOptions: settings.providerOptions as never,
    maxRetries: settings.maxRetries,
    abortSignal: stop.signal,
    onStepEnd(step) {
      result.steps++
      if (step.text) result.said.push(step.text)
      result.modelId = step.response.modelId ?? result.modelId
      const { inputTokens, outputTokens } = step.usage
      if (inputTokens !== undefined && outputTokens !== undefined) {
        const { input, output } = result.tokens ?? { input: 0, output: 0 }
        result.tokens = { input: input + inputTokens, output: output + outputTokens }
      }
    },
  }).then(
    (): AgentEnd => ({ how: result.reported || result.steps < limits.steps ? 'finished' : 'step_limit' }),
    (cause: unknown): AgentEnd => (gone ? { how: 'server_gone', cause: gone } : { how: 'model_error', cause }),
  )
  result.end = await Promise.race([loop, outOfTime(limits.trialTimeoutMs, signal, () => toolsRunning > 0, stop)])
  stop.abort()
  return result
}

/** Resolves when the trial's time is over or somebody stops it, whatever the loop is doing. The timer keeps the process alive. */
function outOfTime(ms: number, signal: AbortSignal, inTool: () => boolean, stop: AbortController): Promise<AgentEnd> {
  return new Promise((resolve) => {
    const end = (how: AgentEnd) => {
      stop.abort()
      resolve(how)
    }
    const timer = setTimeout(() => end({ how: 'timeout', waitingFor: inTool() ? 'tool' : 'model' }), ms)
    const stopped = () => end({ how: 'stopped' })
    stop.signal.addEventListener('abort', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stopped)
    })
    if (signal.aborted) stopped()
    else signal.addEventListener('abort', stopped, { once: true })
  })
}

const REPORT_SCHEMA = {
  type: 'object',
  properties: {
    summary: { type: 'string', description: 'One or two sentences for the user.' },
    claims: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          tool: { type: 'string', description: 'The tool you used.' },
          action: { type: 'string', description: 'What you did with it, in a word.' },
          target: {
            type: 'object',
            description: 'The arguments that name what you changed.',
            additionalProperties: true,
          },
          done: { type: 'boolean', description: 'true only if you know that the change is there.' },
        },
        required: ['tool', 'action', 'target', 'done'],
      },
    },
  },
  required: ['summary', 'claims'],
} as const satisfies JsonObject | object

/** The report, or what is wrong with it. A model that gets it wrong is told and may try again. */
function readReport(input: unknown): { summary: string; claims: StatedClaim[] } | string {
  const report = input as { summary?: unknown; claims?: unknown } | null
  if (!report || !Array.isArray(report.claims)) return 'expected claims to be a list'
  const claims: StatedClaim[] = []
  for (const [i, item] of report.claims.entries()) {
    const claim = item as Record<string, unknown> | null
    if (!claim || typeof claim['tool'] !== 'string' || typeof claim['done'] !== 'boolean') {
      return `expected claims[${i}] to have tool (text) and done (true or false)`
    }
    const target = claim['target']
    if (target === null || typeof target !== 'object' || Array.isArray(target))
      return `expected claims[${i}].target to be an object`
    claims.push({
      tool: claim['tool'],
      action: String(claim['action'] ?? ''),
      target: target as JsonObject,
      done: claim['done'],
    })
  }
  return { summary: String(report.summary ?? ''), claims }
}
