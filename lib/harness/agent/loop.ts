/**
 * Our own agent: the AI SDK's loop over the tools of the servers, ending with a structured report
 * of what it says it did.
 *
 * The loop is raced against a timer of our own, because a tool that ignores its signal would hold
 * the SDK's for as long as it likes.
 */
import {
  generateText,
  hasToolCall,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  type StepResult,
  type ToolSet,
} from 'ai'
import type { JsonObject } from '../../json.ts'
import type { Deadline } from '../model/trial-clock.ts'
import { reasonOf } from '../wire/mcp.ts'
import type { Conversation } from './conversation.ts'
import type { AgentEnd, AgentLimits, AgentResult } from './ending.ts'
import { type OfferedTool, REPORT, type Recorder, ServerGone } from './recorder.ts'
import { REPORT_DESCRIPTION } from './report-tool.ts'
import { isCount } from './times.ts'
import { takesFiles } from './tool-result.ts'
import { toolOf, toolSet } from './tool-set.ts'

export const DEFAULT_INSTRUCTIONS = `You carry out tasks for a user with the tools of external systems.
When you are finished, call the tool "report" once. List every change you say you made or tried to make, each with the tool you used, the action in a word, the arguments as the target, and done: true only if you know that the change is there. Do not list what you only read.`

/** Appended to the instructions where a case has a user who answers. */
export const USER_INSTRUCTIONS =
  'The user reads what you say without calling a tool, and answers. Ask where you need to know something.'

/** What the loop needs of a configuration. */
export type AgentSettings = {
  model: LanguageModel
  instructions: string
  temperature?: number | undefined
  topP?: number | undefined
  maxOutputTokens?: number | undefined
  seed?: number | undefined
  providerOptions?: { [provider: string]: JsonObject } | undefined
  /**
   * A real model's answers are recorded: which model it was, and what its provider said of limits.
   */
  recordResponses: boolean
}

/**
 * Run the loop. Never rejects: how it ended is part of the result.
 *
 * @param drain aborts when the run is being stopped: a model call that waits for its turn then
 *   gives up, one that runs ends
 * @param conversation with the user of the case: what the agent says without calling a tool goes to
 *   them, and their answer begins its next turn
 */
export async function runAgent(
  settings: AgentSettings,
  task: string,
  recorder: Recorder,
  limits: AgentLimits,
  deadline: Deadline,
  drain: AbortSignal,
  conversation: Conversation | null = null,
): Promise<AgentResult> {
  const { reports } = recorder
  const responses: JsonObject[] = []
  const said: AgentResult['said'] = conversation?.words ?? []
  // Calls that had begun when the step began: what a step says stands before its own.
  let before = 0
  let steps = 0
  let tokens: AgentResult['tokens'] = { input: 0, output: 0 }
  let modelId: string | null = null
  const stop = new AbortController()
  let gone: ServerGone | null = null
  let toolsRunning = 0
  let calls = 0
  let over: 'call_limit' | 'token_limit' | null = null
  let lastSaid = ''
  let closed: AgentEnd | null = null
  if (conversation)
    conversation.onEnd = (end) => {
      closed = end
    }
  const call = async (offered: OfferedTool, input: JsonObject) => {
    if (++calls > limits.calls) {
      over = 'call_limit'
      stop.abort()
      stop.signal.throwIfAborted()
    }
    toolsRunning++
    try {
      return (await recorder.call(offered, input, stop.signal)).result
    } catch (cause) {
      if (cause instanceof ServerGone) {
        gone = cause
        stop.abort(cause)
      }
      throw cause
    } finally {
      toolsRunning--
    }
  }
  const refuse = (tool: string, input: unknown, problem: string) =>
    recorder.refuse(tool, input, problem)
  const hands = { call, refuse, files: takesFiles(settings.model) }
  const tools = toolSet(recorder.offer(), hands, reports)
  recorder.beside('touchstone', [{ name: REPORT, description: REPORT_DESCRIPTION }])
  const turn = (messages: ModelMessage[]) =>
    generateText({
      model: settings.model,
      instructions: settings.instructions,
      messages,
      tools,
      stopWhen: [
        isStepCount(limits.steps - steps),
        ({ steps }) => over !== null || (reports.filed && hasToolCall(REPORT)({ steps })),
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
      // The SDK copies every event for telemetry; of a simulated model nobody wants it.
      ...(!settings.recordResponses && { telemetry: { isEnabled: false } }),
      async prepareStep() {
        // A server may say that its tools are others now; the next step sees them as they are.
        for (const offered of await recorder.refresh(stop.signal)) {
          recorder.show(offered.server)
          tools[offered.name] = toolOf(offered, hands)
        }
        before = recorder.begun
        return undefined
      },
      onStepEnd(step) {
        steps++
        lastSaid = step.text.toWellFormed()
        if (lastSaid) said.push({ text: lastSaid, after: before })
        modelId = step.response.modelId ?? modelId
        for (const one of step.toolCalls)
          if (one.invalid) recorder.refuse(one.toolName, one.input, reasonOf(one.error))
        const { inputTokens, outputTokens } = step.usage
        if (!isCount(inputTokens) || !isCount(outputTokens)) tokens = null
        else if (tokens)
          tokens = { input: tokens.input + inputTokens, output: tokens.output + outputTokens }
        if (settings.recordResponses) responses.push(responseOf(step))
        if (limits.tokens !== null && tokens && !reports.filed) {
          if (tokens.input + tokens.output > limits.tokens) over = 'token_limit'
        }
      },
    })
  const turns = async (): Promise<AgentEnd> => {
    const messages: ModelMessage[] = [{ role: 'user', content: task }]
    while (true) {
      const { finishReason, responseMessages } = await turn(messages)
      if (over) return { how: over }
      if (reports.filed) return { how: 'finished' }
      if (finishReason === 'length') return { how: 'length' }
      if (finishReason === 'content-filter') return { how: 'content_filter' }
      if (steps >= limits.steps) return { how: 'step_limit' }
      if (conversation === null || conversation.over || lastSaid === '') return { how: 'finished' }
      const answer = await conversation.hear(lastSaid, stop.signal)
      lastSaid = ''
      if (answer.text === '') return { how: 'finished' }
      messages.push(...responseMessages, { role: 'user', content: answer.text })
    }
  }
  const loop = turns().catch((cause: unknown): AgentEnd => {
    if (closed) return closed
    if (gone || cause instanceof ServerGone) return { how: 'server_gone', cause: gone ?? cause }
    if (over) return { how: over }
    return drain.aborted && cause === drain.reason
      ? { how: 'stopped' }
      : { how: 'model_error', cause }
  })
  const late = new Promise<AgentEnd>((resolve) => {
    deadline.start(() => {
      const other = conversation?.answering ? 'user' : 'model'
      resolve({ how: 'timeout', waitingFor: toolsRunning > 0 ? 'tool' : other })
      stop.abort()
    })
  })
  const end = await Promise.race([loop, late])
  deadline.stop()
  recorder.close()
  stop.abort(OVER)
  // Tokens of a call that ended in an error are not known, so neither is the sum.
  const known = steps > 0 && end.how !== 'model_error' && end.how !== 'timeout'
  return {
    end,
    reports,
    claims: null,
    allTools: true,
    answer: (conversation ? conversation.told.join('\n') : said.at(-1)?.text) ?? '',
    user: conversation && { turns: conversation.turns, tokens: conversation.tokens },
    steps,
    tokens: known ? tokens : null,
    said,
    modelId,
    malformed: recorder.malformed.length,
    notes: settings.recordResponses ? { responses } : {},
  }
}

/** Made once for all trials: making an error takes longer than the rest of a trial's end. */
const OVER = new DOMException('the trial is over', 'AbortError')

/** Headers that say something about limits, or name the request. */
const KEPT_HEADERS = /^((x-|anthropic-)?ratelimit(-.*)?|x-request-id|x-groq-region)$/

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
