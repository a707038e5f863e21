/**
 * Providers of models by the first word of a model's name. Their packages are loaded when one of
 * them is named.
 */
import type { LanguageModel } from 'ai'
import { nearest } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'

type Settings = {
  apiKey: string | undefined
  baseURL: string | undefined
  headers: { [name: string]: string }
}

export type Provider = {
  /** The npm package that speaks to it. */
  package: string
  /** Variables with the key and the address. */
  keyVariable: string
  urlVariable: string
  /** It asks for a key. */
  needsKey: boolean
  /** Its address where the package does not know it; `needed` where nobody does. */
  baseURL?: string
  /** What `--help` says of it. */
  says: string
  make(id: string, settings: Settings): Promise<Exclude<LanguageModel, string>>
}

/** Settings without those that are not set, as the packages want them. */
function set({ apiKey, baseURL, headers }: Settings) {
  return {
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
    headers,
  }
}

/** A server that speaks OpenAI's chat completions. */
function compatible(name: string): Provider['make'] {
  return async (id, settings) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const { baseURL = '', ...rest } = set(settings)
    return createOpenAICompatible({ name, baseURL, ...rest })(id)
  }
}

export const PROVIDERS: { readonly [name: string]: Provider } = {
  openai: {
    package: '@ai-sdk/openai',
    keyVariable: 'OPENAI_API_KEY',
    urlVariable: 'OPENAI_BASE_URL',
    needsKey: true,
    says: 'OpenAI',
    make: async (id, settings) => (await import('@ai-sdk/openai')).createOpenAI(set(settings))(id),
  },
  anthropic: {
    package: '@ai-sdk/anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: 'ANTHROPIC_BASE_URL',
    needsKey: true,
    says: 'Anthropic',
    make: async (id, settings) =>
      (await import('@ai-sdk/anthropic')).createAnthropic(set(settings))(id),
  },
  google: {
    package: '@ai-sdk/google',
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    urlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    needsKey: true,
    says: 'Google’s Gemini API',
    make: async (id, settings) =>
      (await import('@ai-sdk/google')).createGoogleGenerativeAI(set(settings))(id),
  },
  groq: {
    package: '@ai-sdk/groq',
    keyVariable: 'GROQ_API_KEY',
    urlVariable: 'GROQ_BASE_URL',
    needsKey: true,
    says: 'Groq',
    make: async (id, settings) => (await import('@ai-sdk/groq')).createGroq(set(settings))(id),
  },
  openrouter: {
    package: '@ai-sdk/openai-compatible',
    keyVariable: 'OPENROUTER_API_KEY',
    urlVariable: 'OPENROUTER_BASE_URL',
    needsKey: true,
    baseURL: 'https://openrouter.ai/api/v1',
    says: 'OpenRouter',
    make: compatible('openrouter'),
  },
  ollama: {
    package: '@ai-sdk/openai-compatible',
    keyVariable: 'OLLAMA_API_KEY',
    urlVariable: 'OLLAMA_BASE_URL',
    needsKey: false,
    baseURL: 'http://127.0.0.1:11434/v1',
    says: 'Ollama on this machine',
    make: compatible('ollama'),
  },
  local: {
    package: '@ai-sdk/openai-compatible',
    keyVariable: 'TOUCHSTONE_API_KEY',
    urlVariable: 'TOUCHSTONE_BASE_URL',
    needsKey: false,
    says: 'any server that speaks OpenAI’s API, at baseURL',
    make: compatible('local'),
  },
}

/** @throws TouchstoneError `model_unknown` with what there is, and what was perhaps meant */
export function unknownModel(got: string, simulated: readonly string[], where: string): never {
  const names = Object.keys(PROVIDERS)
  const [family = '', ...rest] = got.split('/')
  const meant = got.startsWith('sim/')
    ? nearest(got, simulated)
    : rest.length > 0
      ? nearest(family, names)
      : null
  const hint =
    meant === null
      ? ''
      : `; did you mean ${[meant, ...(got.startsWith('sim/') ? [] : rest)].join('/')}?`
  const known = [...simulated, ...names.map((name) => `${name}/<model>`)].join(', ')
  throw new TouchstoneError(
    'model_unknown',
    `expected one of ${known} or an AI SDK model, got "${got}"${hint}`,
    { where },
  )
}
