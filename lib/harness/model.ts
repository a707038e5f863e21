/** Which model a configuration means: a simulated one, one of Groq's, any server that speaks OpenAI's API, or an AI SDK object. */
import type { LanguageModel } from 'ai'
import type { JsonObject } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import { type Deviations, SIMULATED, type SimulatedContext, simulatedModel } from './simulated.ts'

/** What one configuration of a run is: a model and its settings. Keys and headers are used and never stored. */
export type Configuration = {
  /** `sim/<name>`, `groq/<model>`, `local/<model>`, or a model object of the AI SDK. */
  model: string | LanguageModel
  temperature?: number
  topP?: number
  maxOutputTokens?: number
  /** Replaces the default instructions. */
  instructions?: string
  providerOptions?: { [provider: string]: JsonObject }
  /** Where the API is: for `local/...` needed (or TOUCHSTONE_BASE_URL), for `groq/...` another address than Groq's. */
  baseURL?: string
  apiKey?: string
  /** Rates of a simulated model that differ from its own. */
  deviations?: Partial<Deviations>
}

/** A model ready for trials. */
export type ModelSource = {
  id: string
  simulated: boolean
  /** Retries of a single model call, by the SDK. */
  maxRetries: number
  forTrial(context: SimulatedContext): LanguageModel
}

/**
 * Find the model of a configuration.
 *
 * @throws TouchstoneError `model_unknown` for a name of no known form; `setting_missing` for a key or address that is not set
 */
export async function modelSource(name: string, configuration: Configuration): Promise<ModelSource> {
  const { model } = configuration
  const where = `configuration ${name}`
  if (typeof model !== 'string') {
    if (model === null || typeof model !== 'object') unknown(String(model), where)
    return { id: `${model.provider}/${model.modelId}`, simulated: false, maxRetries: 2, forTrial: () => model }
  }
  const [family = '', ...rest] = model.split('/')
  const id = rest.join('/')
  if (family === 'sim') {
    const rates = Object.hasOwn(SIMULATED, model) ? SIMULATED[model] : undefined
    if (!rates) unknown(model, where)
    const deviations = { ...rates, ...configuration.deviations }
    requireRates(deviations, where)
    return {
      id: model,
      simulated: true,
      maxRetries: 0,
      forTrial: (context) => simulatedModel(model, deviations, context),
    }
  }
  if (configuration.deviations) {
    throw new TouchstoneError('argument_invalid', 'expected deviations only beside a simulated model', { where })
  }
  if (family === 'groq' && id) {
    const apiKey = configuration.apiKey ?? process.env['GROQ_API_KEY']
    if (!apiKey) throw new TouchstoneError('setting_missing', `expected GROQ_API_KEY to be set for ${model}`, { where })
    const { createGroq } = await import('@ai-sdk/groq')
    const baseURL = configuration.baseURL ?? process.env['GROQ_BASE_URL']
    const made = createGroq({ apiKey, ...(baseURL && { baseURL }) })(id)
    return { id: model, simulated: false, maxRetries: 2, forTrial: () => made }
  }
  if (family === 'local' && id) {
    const baseURL = configuration.baseURL ?? process.env['TOUCHSTONE_BASE_URL']
    if (!baseURL)
      throw new TouchstoneError('setting_missing', `expected baseURL, or TOUCHSTONE_BASE_URL to be set, for ${model}`, {
        where,
      })
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const apiKey = configuration.apiKey ?? process.env['TOUCHSTONE_API_KEY']
    const made = createOpenAICompatible({ name: 'local', baseURL, ...(apiKey && { apiKey }) })(id)
    return { id: model, simulated: false, maxRetries: 2, forTrial: () => made }
  }
  return unknown(model, where)
}

function unknown(got: string, where: string): never {
  const known = [...Object.keys(SIMULATED), 'groq/<model>', 'local/<model>'].join(', ')
  throw new TouchstoneError('model_unknown', `expected one of ${known} or an AI SDK model, got "${got}"`, { where })
}

function requireRates(deviations: Deviations, where: string): void {
  for (const [rate, value] of Object.entries(deviations)) {
    if (!Object.hasOwn(SIMULATED['sim/perfect'] as Deviations, rate)) {
      throw new TouchstoneError(
        'argument_invalid',
        `expected obeys, claimsUnchecked, skipsReadBack or retriesAfterError, got "${rate}"`,
        { where },
      )
    }
    if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
      throw new TouchstoneError('argument_invalid', `expected a rate in [0, 1], got ${String(value)}`, {
        where: `${where}: deviations.${rate}`,
      })
    }
  }
}
