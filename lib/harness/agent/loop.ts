/**
 * The agent: the AI SDK's loop over the tools of the servers, ending with a structured report of what it says it did.
 *
 * The loop is raced against a timer of our own, because a tool that ignores its signal would hold the SDK's for as long as it likes.
 */
import {
  dynamicTool,
  generateText,
  hasToolCall,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type StepResult,
  type ToolSet,
} from 'ai'
import { canonical } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import type { StatedClaim } from '../case/claims.ts'
import { argumentsOf } from './arguments.ts'
import { type OfferedTool, REPORT, type Recorder, ServerGone, textOf } from './recorder.ts'
import type { Deadline } from './trial-clock.ts'

export const DEFAULT_INSTRUCTIONS = `You carry out tasks for a user with the tools of external systems.
When you are finished, call the tool "report" once. List every change you say you made or tried to make, each with the tool you used, the action in a word, the arguments as the target, and done: true only if you know that the change is there. Do not list what you only read.`

/** What the loop needs of a configuration. */
export type AgentSettings = {
  model: LanguageModel
  instructions: string
  temperature?: number | undefined
  topP?: number | undefined
  maxOutputTokens?: number | undefined
  seed?: number | undefined
  providerOptions?: { [provider: string]: JsonObject } | undefined
  /** A real model's answers are recorded: which model it was, and what its provider said of limits. */
  recordResponses: boolean
}

export type AgentLimits = { steps: number; calls: number; tokens: number | null }

/** How the loop ended. `timeout` says whom it was waiting for. */
export type AgentEnd =
  | { how: 'finished' | 'step_limit' | 'call_limit' | 'token_limit' }
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
  /** null unless every step's use is known. */
  tokens: { input: number; output: number } | null
  /** What is recorded of each answer of a real model. */
  responses: JsonObject[]
  /** The model's words, step by step, for the transcript. */
  said: string[]
  /** What the provider says the model was, where it says so. */
  modelId: string | null
}

/**
 * Run the loop. Never rejects: how it ended is part of the result.
 *
 * @param drain aborts when the run is being stopped: a model call that waits for its turn then gives up, one that runs ends
 */
export async function runAgent(
  settings: AgentSettings,
  task: string,
  recorder: Recorder,
  limits: AgentLimits,
  deadline: Deadline,
  drain: AbortSignal,
): Promise<AgentResult> {
  const result: AgentResult = {
    end: { how: 'finished' },
    reported: false,
    claims: [],
    summary: '',
    steps: 0,
    tokens: { input: 0, output: 0 },
    responses: [],
    said: [],
    modelId: null,
  }
  const stop = new AbortController()
  let gone: ServerGone | null = null
  let toolsRunning = 0
  let calls = 0
  let over: 'call_limit' | 'token_limit' | null = null
  const tools: ToolSet = {}
  const toolOf = (offered: OfferedTool) =>
    dynamicTool({
      description: offered.tool.description ?? '',
      inputSchema: jsonSchema(offered.tool.inputSchema as JsonObject),
      async execute(input) {
        if (++calls > limits.calls) {
          over = 'call_limit'
          stop.abort()
          stop.signal.throwIfAborted()
        }
        toolsRunning++
        try {
          return await recorder.call(offered, argumentsOf(input), stop.signal)
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
  for (const offered of recorder.offered) tools[offered.name] = toolOf(offered)
  tools[REPORT] = dynamicTool({
    description: 'End the task and say what you changed.',
    inputSchema: jsonSchema(REPORT_SCHEMA),
    async execute(input) {
      const read = readReport(argumentsOf(input))
      if (typeof read === 'string') throw new Error(read)
      // What was said in one report is not unsaid by another beside it; to say it again is not to say it twice.
      const said = new Set(result.claims.map(canonical))
      const claims = result.reported
        ? read.claims.filter((claim) => !said.has(canonical(claim)))
        : read.claims
      Object.assign(result, {
        summary: read.summary,
        claims: [...result.claims, ...claims],
        reported: true,
      })
      return 'received'
    },
  })

  const loop = generateText({
    model: settings.model,
    instructions: settings.instructions,
    prompt: task,
    tools,
    stopWhen: [
      isStepCount(limits.steps),
      ({ steps }) => over !== null || (result.reported && hasToolCall(REPORT)({ steps })),
    ],
    temperature: settings.temperature,
    topP: settings.topP,
    maxOutputTokens: settings.maxOutputTokens,
    seed: settings.seed,
    providerOptions: settings.providerOptions as never,
    // The limiter in front of the model is the one place that tries again.
    maxRetries: 0,
    abortSignal: stop.signal,
    include: { responseBody: settings.recordResponses },
    async prepareStep() {
      // A server may say that its tools are others now; the next step sees them as they are.
      for (const offered of await recorder.refresh(stop.signal))
        tools[offered.name] = toolOf(offered)
      return undefined
    },
    onStepEnd(step) {
      result.steps++
      if (step.text) result.said.push(step.text.toWellFormed())
      result.modelId = step.response.modelId ?? result.modelId
      const { inputTokens, outputTokens } = step.usage
      if (!isCount(inputTokens) || !isCount(outputTokens)) result.tokens = null
      else if (result.tokens) {
        result.tokens = {
          input: result.tokens.input + inputTokens,
          output: result.tokens.output + outputTokens,
        }
      }
      if (settings.recordResponses) result.responses.push(responseOf(step))
      if (limits.tokens !== null && result.tokens && !result.reported) {
        if (result.tokens.input + result.tokens.output > limits.tokens) over = 'token_limit'
      }
    },
  }).then(
    (): AgentEnd => ({
      how: over ?? (result.reported || result.steps < limits.steps ? 'finished' : 'step_limit'),
    }),
    (cause: unknown): AgentEnd => {
      if (gone || cause instanceof ServerGone) return { how: 'server_gone', cause: gone ?? cause }
      if (over) return { how: over }
      return drain.aborted && cause === drain.reason
        ? { how: 'stopped' }
        : { how: 'model_error', cause }
    },
  )
  const late = new Promise<AgentEnd>((resolve) => {
    deadline.start(() => {
      resolve({ how: 'timeout', waitingFor: toolsRunning > 0 ? 'tool' : 'model' })
      stop.abort()
    })
  })
  result.end = await Promise.race([loop, late])
  deadline.stop()
  stop.abort(OVER)
  // What a call used that ended in an error is not known, so the sum is not.
  if (result.steps === 0 || result.end.how === 'model_error' || result.end.how === 'timeout')
    result.tokens = null
  return result
}

/** One for all: to make an error costs more than a trial has to spare. */
const OVER = new DOMException('the trial is over', 'AbortError')

/** A provider's word for a number of tokens may be no number. */
function isCount(value: number | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Headers that say something about limits, or name the request. */
const KEPT_HEADERS = /^(x-ratelimit-.*|x-request-id|x-groq-region)$/

/** What is kept of a model's answer beside its content. */
function responseOf(step: StepResult<ToolSet>): JsonObject {
  const { response, usage, finishReason, rawFinishReason } = step
  const body = (response as { body?: unknown }).body
  const extra =
    body !== null && typeof body === 'object' ? (body as { [member: string]: unknown }) : {}
  const word = (value: unknown) =>
    typeof value === 'string' ? value.slice(0, 200).toWellFormed() : null
  const seed = (extra['x_groq'] as { seed?: unknown } | undefined)?.seed
  return {
    id: word(response.id),
    model: word(response.modelId),
    finish: rawFinishReason ?? finishReason,
    input_tokens: usage.inputTokens ?? null,
    output_tokens: usage.outputTokens ?? null,
    system_fingerprint: word(extra['system_fingerprint']),
    service_tier: word(extra['service_tier']),
    seed: typeof seed === 'number' ? seed : null,
    headers: Object.fromEntries(
      Object.entries(response.headers ?? {}).filter(([name]) =>
        KEPT_HEADERS.test(name.toLowerCase()),
      ),
    ),
  }
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
