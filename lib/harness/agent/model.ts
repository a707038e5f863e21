/**
 * Which model a configuration means: a simulated one, one of a provider's by name, or a model
 * object of the AI SDK.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { LanguageModel } from 'ai'
import { type Digest, digest } from '../../canonical.ts'
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { keepSecret, shownAddress } from '../../secrets.ts'
import type { Cassette } from '../model/cassette.ts'
import { type Account, LIMITERS, type Limiter, type Limiters } from '../model/limiter.ts'
import type { Refusal } from '../model/provider-refusal.ts'
import { PROVIDERS, unknownModel } from '../model/providers.ts'
import type { Deadline } from '../model/trial-clock.ts'
import { filledIn, headersFilledIn } from '../server/variables.ts'
import { type Agent, type AgentFunction, agentFrom } from './agent.ts'
import { invalid } from './program/command.ts'
import { type Deviations, SIMULATED, type SimulatedContext, simulatedModel } from './simulated.ts'

/**
 * What one configuration of a run is: a model and its settings, or an agent. Keys are used and
 * never stored.
 */
export type Configuration = {
  /**
   * `sim/<name>`, or `<provider>/<model>` of openai, anthropic, google, groq, openrouter, ollama or
   * local; or a model object of the AI SDK.
   */
  model?: string | LanguageModel
  /**
   * An agent of one's own from `harness.agent`, or the function of one. Only `cached` stands beside
   * it.
   */
  agent?: Agent | AgentFunction
  temperature?: number
  topP?: number
  maxOutputTokens?: number
  /** Replaces the default instructions. */
  instructions?: string
  /** As the provider takes them: `{ groq: { serviceTier: 'flex', reasoningEffort: 'low' } }`. */
  providerOptions?: { [provider: string]: JsonObject }
  /**
   * Where the API is, when it is not the provider's own address. `local/...` needs it, or
   * TOUCHSTONE_BASE_URL.
   */
  baseURL?: string
  /** Instead of the provider's usual variable, such as OPENAI_API_KEY. `$NAME` is that variable. */
  apiKey?: string
  /** Sent with each request; `$NAME` is that variable of this process. */
  headers?: { [name: string]: string }
  /** Tells a model object from an earlier one of the same name. */
  version?: string
  /** Rates of a simulated model that differ from its own. */
  deviations?: Partial<Deviations>
  /**
   * `false` states, also of an agent, that no answer comes out of a cache. Then repeats that are
   * byte for byte the same count as repeats; else nobody knows, and each case counts once.
   */
  cached?: false
}

const MEMBERS = [
  'model',
  'agent',
  'temperature',
  'topP',
  'maxOutputTokens',
  'instructions',
  'providerOptions',
  'baseURL',
  'apiKey',
  'headers',
  'version',
  'deviations',
  'cached',
] as const satisfies (keyof Configuration)[]

/**
 * What ties a trial's model calls to the trial: its time, the signal that ends waiting, and who
 * hears of refusals.
 */
export type TrialWire = {
  deadline: Deadline
  drain: AbortSignal
  refused(refusal: Refusal, waitMs: number): void
}

/** An agent ready for trials. */
export type AgentSource = { id: string; simulated: false; agent: Agent }

/** A model ready for trials. */
export type ModelSource = {
  id: string
  simulated: boolean
  /** The npm package that speaks to its provider, where it is one of ours. */
  package: string | null
  /** The digest of the cassette that answers in its place. */
  replays?: Digest
  /** What tells a model object from another of the same name. */
  object?: JsonObject
  forTrial(context: SimulatedContext, wire: TrialWire): LanguageModel
}

/**
 * What a configuration tests: its agent, or its model in our own loop. @throws TouchstoneError as
 * `modelSource` does
 */
export async function sourceOf(
  name: string,
  configuration: Configuration,
  limiters: Limiters = LIMITERS,
  cassette: Cassette | null = null,
): Promise<ModelSource | AgentSource> {
  const { cached = false } = configuration
  if (cached !== false)
    invalid('cached: false, or none where nobody knows', cached, `configuration ${name}`)
  if (configuration.agent === undefined) {
    const source = await modelSource(name, configuration, limiters, cassette?.replays != null)
    return cassette === null || source.simulated ? source : taped(source, cassette)
  }
  const others = Object.keys(configuration).filter(
    (member) => !['agent', 'cached'].includes(member),
  )
  if (others.length > 0)
    throw new TouchstoneError(
      'argument_invalid',
      `expected an agent alone, since its model and settings are its own, got ${others.join(', ')} beside it`,
      { where: `configuration ${name}` },
    )
  const agent = agentFrom(name, configuration.agent)
  return { id: `agent/${agent.name}`, simulated: false, agent }
}

/**
 * Find the model of a configuration.
 *
 * @throws TouchstoneError `model_unknown` for a name of no known form; `setting_missing` for a key
 *   or address that is not set; `argument_invalid` for a member that a configuration does not have
 */
async function modelSource(
  name: string,
  configuration: Configuration,
  limiters: Limiters,
  /** No provider is asked, so that no key or address is needed. */
  offline: boolean,
): Promise<ModelSource> {
  const { model } = configuration
  const where = `configuration ${name}`
  requireMembers(configuration, where)
  if (typeof model !== 'string') {
    if (
      model === null ||
      model === undefined ||
      typeof model !== 'object' ||
      typeof (model as { doGenerate?: unknown }).doGenerate !== 'function'
    )
      unknownModel(
        model !== null && typeof model === 'object'
          ? 'an object without doGenerate'
          : String(model),
        Object.keys(SIMULATED),
        where,
      )
    const id = `${model.provider}/${model.modelId}`
    if (id.startsWith('sim/')) unknownModel('an object whose provider is sim', [], where)
    const forTrial = await behind(limiters.of(id, { baseURL: '', key: '', model: id }), model)
    return { id, simulated: false, package: null, object: visibleOf(model), forTrial }
  }
  const [family = '', ...rest] = model.split('/')
  const id = rest.join('/')
  if (family === 'sim') {
    const rates = Object.hasOwn(SIMULATED, model) ? SIMULATED[model] : undefined
    if (!rates) return unknownModel(model, Object.keys(SIMULATED), where)
    const deviations = { ...rates, ...configuration.deviations }
    requireRates(deviations, where)
    return {
      id: model,
      simulated: true,
      package: null,
      forTrial: (context) => simulatedModel(model, deviations, context),
    }
  }
  if (configuration.deviations) {
    throw new TouchstoneError(
      'argument_invalid',
      'expected deviations only beside a simulated model',
      { where },
    )
  }
  const provider = Object.hasOwn(PROVIDERS, family) && id ? PROVIDERS[family] : undefined
  if (!provider) return unknownModel(model, Object.keys(SIMULATED), where)
  const { keyVariable, urlVariable, needsKey } = provider
  const given = filledIn({ ...(configuration.apiKey && { apiKey: configuration.apiKey }) }, where)
  const apiKey = given['apiKey'] ?? (process.env[keyVariable] || undefined)
  if (apiKey !== undefined) keepSecret(apiKey)
  if (offline) return { id: model, simulated: false, package: null, forTrial: () => nobody(model) }
  if (needsKey && !apiKey)
    throw new TouchstoneError('setting_missing', `expected ${keyVariable} to be set for ${model}`, {
      where,
    })
  const baseURL =
    address(configuration.baseURL ?? process.env[urlVariable], where) ?? provider.baseURL
  if (family === 'local' && baseURL === undefined)
    throw new TouchstoneError(
      'setting_missing',
      `expected baseURL, or ${urlVariable} to be set, for ${model}`,
      { where },
    )
  const headers = headersFilledIn(configuration.headers ?? {}, `${where}: headers`)
  const made = await provider.make(id, { apiKey, baseURL, headers })
  return {
    id: model,
    simulated: false,
    package: provider.package,
    forTrial: await behind(limiterOf(limiters, baseURL ?? family, apiKey, id), made),
  }
}

/** A model whose answers are kept in a cassette, or come from one. */
async function taped(source: ModelSource, cassette: Cassette): Promise<ModelSource> {
  const { wrapLanguageModel } = await import('ai')
  return {
    ...source,
    ...(cassette.replays !== null && { replays: cassette.replays }),
    forTrial: (context, wire) =>
      wrapLanguageModel({
        model: source.forTrial(context, wire) as LanguageModelV4,
        middleware: {
          specificationVersion: 'v4',
          wrapGenerate: ({ doGenerate, params }) =>
            cassette.answer(source.id, params, async () => doGenerate()),
        },
      }),
  }
}

/** A model that is never asked. */
function nobody(name: string): LanguageModelV4 {
  const [provider = '', ...id] = name.split('/')
  const asked = () => Promise.reject(new Error(`${name} is replayed, and was asked`))
  return {
    specificationVersion: 'v4',
    provider,
    modelId: id.join('/'),
    supportedUrls: {},
    doGenerate: asked,
    doStream: asked,
  }
}

/**
 * What is to be seen of a model object without calling it: objects of one name that differ in it
 * are told apart.
 */
function visibleOf(model: Exclude<LanguageModel, string>): JsonObject {
  const { config } = model as { config?: { baseURL?: unknown; provider?: unknown } }
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    specification: model.specificationVersion,
    made_by: model.constructor?.name ?? null,
    base_url: config?.baseURL === undefined ? null : shownAddress(String(config.baseURL)),
    config_provider: text(config?.provider),
  }
}

/**
 * What shares a quota: one key at one address. Providers count each model of it apart.
 */
function limiterOf(limiters: Limiters, baseURL: string, key = '', model: string): Limiter {
  const account: Account = { baseURL, key, model }
  return limiters.of(`${baseURL} ${digest(key)} ${model}`, account)
}

/** A model whose calls go through a limiter. */
async function behind(
  limiter: Limiter,
  model: Exclude<LanguageModel, string>,
): Promise<(context: SimulatedContext, wire: TrialWire) => LanguageModelV4> {
  const { wrapLanguageModel } = await import('ai')
  return (_, wire) =>
    wrapLanguageModel({
      model,
      middleware: {
        specificationVersion: 'v4',
        wrapGenerate: ({ doGenerate, params }) =>
          limiter.call(
            {
              ...guessTokens(params),
              signal: params.abortSignal
                ? AbortSignal.any([params.abortSignal, wire.drain])
                : wire.drain,
              waiting: wire.deadline.waiting,
              refused: (refusal, waitMs) => wire.refused(refusal, waitMs),
            },
            async () => await doGenerate(),
            ({ response, usage }) => ({
              headers: response?.headers ?? {},
              ...usedTokens(usage),
            }),
          ),
      },
    })
}

/** What a call used. Most providers do not count what they had in a cache. */
function usedTokens({ inputTokens, outputTokens }: LanguageModelV4Usage) {
  const { total: input, cacheRead = 0 } = inputTokens
  const { total: output } = outputTokens
  if (input === undefined || output === undefined) return { tokens: null }
  return { tokens: Math.max(0, input - cacheRead) + output, output }
}

/** About four characters make a token; an answer with a tool call in it has about 250. */
function guessTokens({ prompt, tools, maxOutputTokens }: LanguageModelV4CallOptions) {
  const output = Math.min(maxOutputTokens ?? 250, 1000)
  const input = Math.ceil(JSON.stringify([prompt, tools ?? []]).length / 4)
  return { tokens: input + output, output }
}

function address(text: string | undefined, where: string): string | undefined {
  if (text === undefined || text === '') return undefined
  const url = URL.canParse(text) ? new URL(text) : null
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new TouchstoneError(
      'argument_invalid',
      'expected baseURL to be an http or https URL without a password',
      {
        where,
      },
    )
  }
  // What its query holds of keys is remembered as secret.
  shownAddress(text)
  return text
}

function requireMembers(configuration: Configuration, where: string): void {
  for (const member of Object.keys(configuration)) {
    if (!(MEMBERS as readonly string[]).includes(member)) {
      throw new TouchstoneError(
        'argument_invalid',
        `expected one of ${MEMBERS.join(', ')}, ${gotWord(member, MEMBERS)}`,
        { where },
      )
    }
  }
  const { temperature, topP, maxOutputTokens } = configuration
  const wrong = (member: string, expected: string, got: unknown) =>
    invalid(`${member} to be ${expected}`, got, where)
  if (
    temperature !== undefined &&
    !(typeof temperature === 'number' && temperature >= 0 && temperature <= 2)
  )
    wrong('temperature', 'from 0 to 2', temperature)
  if (topP !== undefined && !(typeof topP === 'number' && topP > 0 && topP <= 1))
    wrong('topP', 'in (0, 1]', topP)
  if (
    maxOutputTokens !== undefined &&
    !(Number.isSafeInteger(maxOutputTokens) && maxOutputTokens >= 1)
  )
    wrong('maxOutputTokens', 'a whole number >= 1', maxOutputTokens)
}

function requireRates(deviations: Deviations, where: string): void {
  const rates = Object.keys(SIMULATED['sim/perfect'] as Deviations)
  for (const [rate, value] of Object.entries(deviations)) {
    if (!rates.includes(rate)) {
      throw new TouchstoneError(
        'argument_invalid',
        `expected one of ${rates.join(', ')}, ${gotWord(rate, rates)}`,
        { where },
      )
    }
    if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
      throw new TouchstoneError(
        'argument_invalid',
        `expected a rate in [0, 1], got ${String(value)}`,
        {
          where: `${where}: deviations.${rate}`,
        },
      )
    }
  }
}
