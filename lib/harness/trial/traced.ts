/** A run as spans: its attempts, the agent in each, and their model calls and tool calls. */
import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import type { LanguageModel } from 'ai'
import type { Manifest } from '../../log/index.ts'
import { errorType, type Telemetry, type Traced, telemetry } from '../../telemetry.ts'
import { askedThrough } from '../agent/times.ts'
import type { Deadline } from '../model/trial-clock.ts'
import type { CallToolResult } from '../wire/mcp.ts'
import { keyOf, type TrialKey, type TrialResult } from './judge-trial.ts'

/** The conventions' words for providers, where they are not our own. */
const PROVIDERS: { [family: string]: string } = { google: 'gcp.gemini' }

function modelIn(id: string) {
  const [family = '', ...rest] = id.split('/')
  // A model object says `openai.chat`.
  const [provider = ''] = family.split('.')
  return {
    'gen_ai.provider.name': PROVIDERS[provider] ?? provider,
    'gen_ai.request.model': rest.join('/'),
  }
}

/** Run a run inside its span, where there is OpenTelemetry. */
export async function tracedRun<T>(
  { id, planned }: Manifest,
  run: (traceparent?: string) => Promise<T>,
): Promise<T> {
  const to = telemetry()
  if (to === null) return run()
  const attributes = { 'touchstone.run.id': id, 'touchstone.run.planned': planned }
  try {
    return await to.span({ name: 'touchstone.run', kind: 'internal', attributes }, run)
  } finally {
    await to.flush()
  }
}

/** The span of an attempt. */
export function attemptSpan(key: TrialKey): Traced {
  return {
    name: 'touchstone.trial',
    kind: 'internal',
    parent: key.traceparent,
    attributes: {
      'touchstone.key': keyOf(key),
      'touchstone.case': key.case.id,
      'touchstone.configuration': key.configuration,
      'touchstone.trial': key.trial,
      'touchstone.attempt': key.attempt,
    },
  }
}

export function attemptEnded({ record }: TrialResult) {
  const { outcome, cost_usd: cost, worker } = record
  return {
    'touchstone.outcome': outcome,
    ...(cost !== null && { 'touchstone.cost_usd': cost }),
    ...(worker !== undefined && { 'touchstone.worker': worker }),
    ...(outcome === 'error' && { 'error.type': record.error?.code ?? '_OTHER' }),
  }
}

/** Run an agent inside its span. */
export function tracedAgent<T>(
  to: Telemetry | null,
  { configuration, id }: { configuration: string; id: string },
  run: () => Promise<T>,
  tokensOf: (result: T) => { input: number; output: number } | null,
): Promise<T> {
  if (!to) return run()
  const { 'gen_ai.provider.name': provider, ...model } = modelIn(id)
  // Which models an agent asks is its own.
  const own = id.startsWith('agent/')
  const of = { 'gen_ai.agent.name': configuration, ...(own ? {} : model) }
  const operation = { 'gen_ai.operation.name': 'invoke_agent' }
  const attributes = { ...operation, ...of, ...(own ? {} : { 'gen_ai.provider.name': provider }) }
  const began = performance.now()
  return to.span(
    { name: `invoke_agent ${configuration}`, kind: 'internal', attributes },
    run,
    (result) => {
      to.took('gen_ai.invoke_agent.duration', performance.now() - began, of)
      const tokens = tokensOf(result)
      if (tokens === null) return {}
      const { input, output } = tokens
      return { 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output }
    },
  )
}

/** A model each of whose calls is a span. */
export function tracedModel(
  to: Telemetry | null,
  id: string,
  model: LanguageModel,
  deadline: Deadline,
): LanguageModel {
  if (!to) return model
  const of = { 'gen_ai.operation.name': 'chat', ...modelIn(id) }
  return askedThrough(model, async (asked, options) => {
    const { temperature, topP, maxOutputTokens, seed } = options
    const attributes = {
      ...of,
      ...(temperature !== undefined && { 'gen_ai.request.temperature': temperature }),
      ...(topP !== undefined && { 'gen_ai.request.top_p': topP }),
      ...(maxOutputTokens !== undefined && { 'gen_ai.request.max_tokens': maxOutputTokens }),
      ...(seed !== undefined && { 'gen_ai.request.seed': seed }),
    }
    const [began, waitedMs] = [performance.now(), deadline.waitedMs]
    // Waiting for a provider's limit is no part of the call.
    const took = (error: object) =>
      to.took(
        'gen_ai.client.operation.duration',
        performance.now() - began - (deadline.waitedMs - waitedMs),
        { ...of, ...error },
      )
    try {
      const name = `chat ${of['gen_ai.request.model']}`
      const result = await to.span(
        { name, kind: 'client', attributes },
        async () => asked.doGenerate(options),
        answered,
      )
      took({})
      const { inputTokens, outputTokens } = result.usage
      to.used({ input: inputTokens.total, output: outputTokens.total }, of)
      return result
    } catch (cause) {
      took({ 'error.type': errorType(cause) })
      throw cause
    }
  })
}

function answered({ response, finishReason, usage }: LanguageModelV4GenerateResult) {
  const { inputTokens, outputTokens } = usage
  return {
    ...(response?.modelId !== undefined && { 'gen_ai.response.model': response.modelId }),
    'gen_ai.response.finish_reasons': [finishReason.unified],
    ...(inputTokens.total !== undefined && { 'gen_ai.usage.input_tokens': inputTokens.total }),
    ...(outputTokens.total !== undefined && { 'gen_ai.usage.output_tokens': outputTokens.total }),
  }
}

/** Carry a tool call to its server inside a span. */
export function tracedTool(to: Telemetry) {
  return async (
    { server, tool, seq }: { server: string; tool: string; seq: number },
    call: () => Promise<CallToolResult>,
  ): Promise<CallToolResult> => {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'mcp.method.name': 'tools/call',
    }
    const own = { 'touchstone.server': server, 'touchstone.call': seq }
    const began = performance.now()
    const took = (error: object) => {
      const ms = performance.now() - began
      to.took('gen_ai.execute_tool.duration', ms, { 'gen_ai.tool.name': tool, ...error })
      to.took('mcp.client.operation.duration', ms, { ...attributes, ...error })
    }
    const failed = ({ isError }: CallToolResult) => (isError ? { 'error.type': 'tool_error' } : {})
    try {
      const result = await to.span(
        { name: `execute_tool ${tool}`, kind: 'client', attributes: { ...attributes, ...own } },
        call,
        failed,
      )
      took(failed(result))
      return result
    } catch (cause) {
      took({ 'error.type': errorType(cause) })
      throw cause
    }
  }
}
