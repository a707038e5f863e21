/**
 * Cassettes: a run's model calls kept in a folder, and a run answered from them.
 *
 * A call is found by everything that the model was given: its name, prompt, tools, settings and the
 * trial's seed. So the trials that a cassette can answer are those that were recorded, each with
 * the answers that it had; nothing is guessed, and a replay adds no fact.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { type Digest, digest, isDigest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { makeFolder, readBytes, writing } from '../../files.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { readLinesSync } from '../../lines.ts'
import { redactedJson } from '../../secrets.ts'

type Result = Awaited<ReturnType<LanguageModelV4['doGenerate']>>
type Recorded = { schema: 'touchstone.cassette.v0'; key: Digest; model: string; result: Result }

/** The file of a cassette's folder. */
const FILE = 'cassette.ndjson'

/** Headers that say something about limits, or name the request. */
const KEPT_HEADERS = /^(x-ratelimit-.*|x-request-id|x-groq-region)$/i

/** Where a run's model calls are kept, or come from. */
export type Cassette = {
  /** The digest of the recorded file that answers; null while one is recorded. */
  replays: Digest | null
  /** Answer a call: by asking `ask` and keeping what it says, or from the cassette. */
  answer(
    model: string,
    params: LanguageModelV4CallOptions,
    ask: () => Promise<Result>,
  ): Promise<Result>
}

/**
 * Keep model calls in a folder. What was recorded there before stays. Keys that this process knows
 * are taken out.
 *
 * @throws TouchstoneError `file_unwritable`
 */
export function recording(dir: string): Cassette {
  const path = join(dir, FILE)
  writing(path, () => {
    makeFolder(dir)
    appendFileSync(path, '')
  })
  return {
    replays: null,
    async answer(model, params, ask) {
      const result = await ask()
      const line = {
        schema: 'touchstone.cassette.v0',
        key: keyOf(model, params),
        model,
        result: kept(result),
      }
      writing(path, () => appendFileSync(path, `${redactedJson(line)}\n`))
      return result
    },
  }
}

/**
 * Answer model calls from a folder, offline.
 *
 * @throws TouchstoneError `file_unreadable` where there is no cassette, `json_syntax` and the like
 *   naming the line, `argument_invalid` for a line that is no recorded call
 */
export function replaying(dir: string): Cassette {
  const path = join(dir, FILE)
  if (!existsSync(path))
    throw new TouchstoneError('file_unreadable', `expected a cassette (${FILE}), got none`, {
      where: dir,
    })
  const recorded = new Map<Digest, Result[]>()
  for (const { value, line } of readLinesSync(path)) {
    const { schema, key, result } = (value ?? {}) as Partial<Recorded>
    const where = `${path}:${line}`
    if (schema !== 'touchstone.cassette.v0' || !isDigest(key))
      throw new TouchstoneError('argument_invalid', 'expected a recorded model call', { where })
    // What stands there may be an answer, so it is named and not shown.
    const wrong = wrongMember(result)
    if (wrong !== null)
      throw new TouchstoneError(
        'argument_invalid',
        `expected a recorded model call, got ${wrong} of another shape`,
        { where },
      )
    // The SDK prints warnings as they stand; those of another day and file are no news.
    const silent = { ...(result as Result), warnings: [] }
    recorded.set(key, [...(recorded.get(key) ?? []), silent])
  }
  const used = new Map<Digest, number>()
  return {
    replays: digest(readBytes(path)),
    async answer(model, params) {
      const key = keyOf(model, params)
      const results = recorded.get(key) ?? []
      const turn = used.get(key) ?? 0
      used.set(key, turn + 1)
      // The same call again, as a second attempt makes it, gets the answer that it got then.
      const result = results[Math.min(turn, results.length - 1)]
      if (result) return result
      throw new Error(
        `no recorded answer to this call of ${model}: the case, the configuration, the run's seed or a server's answer differs`,
      )
    },
  }
}

/** What a call is found by. Headers and signals are no part of what a model is given. */
function keyOf(model: string, params: LanguageModelV4CallOptions): Digest {
  const { abortSignal: _, headers: __, ...given } = params
  // Keys of objects stand in the order in which the same code makes them.
  return digest(redactedJson([model, given]))
}

const isText = (value: unknown) => typeof value === 'string'
const isMaybe = (check: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || check(value)
const isAmounts = (value: unknown) =>
  isObject(value) && Object.values(value).every((one) => one === null || typeof one === 'number')

/** The texts of each part of an answer that a model's call reads. */
const PARTS: { [type: string]: readonly string[] } = {
  text: ['text'],
  reasoning: ['text'],
  'tool-call': ['toolCallId', 'toolName', 'input'],
}

/** What a recorded result has, as the SDK's readers take it. */
const RESULT: { [member: string]: (value: unknown) => boolean } = {
  content: (value) =>
    Array.isArray(value) &&
    value.every(
      (part) =>
        isObject(part) &&
        isText(part['type']) &&
        (PARTS[part['type'] as string] ?? []).every((name) => isText(part[name])),
    ),
  finishReason: (value) => isObject(value) && isText(value['unified']),
  usage: (value) =>
    isObject(value) && isAmounts(value['inputTokens']) && isAmounts(value['outputTokens']),
  response: isMaybe(
    (value) =>
      isObject(value) &&
      isMaybe(isText)(value['id']) &&
      isMaybe(isText)(value['modelId']) &&
      isMaybe(isText)(value['timestamp']) &&
      isMaybe((headers) => isObject(headers) && Object.values(headers).every(isText))(
        value['headers'],
      ) &&
      isMaybe(isObject)(value['body']),
  ),
  providerMetadata: isMaybe(isObject),
}

/** The member of a recorded result that is not as it should be, or null. */
function wrongMember(result: unknown): string | null {
  if (!isObject(result)) return 'its result'
  const wrong = Object.entries(RESULT).find(([name, check]) => !check(result[name]))
  return wrong ? `its ${wrong[0]}` : null
}

/** A result without what was sent; of the answer itself, what a transcript keeps. */
function kept({ request: _, response, ...result }: Result): Omit<Result, 'request'> {
  if (!response) return result
  const { headers = {}, body, ...rest } = response
  const said = (body !== null && typeof body === 'object' ? body : {}) as JsonObject
  const { system_fingerprint, service_tier, x_groq } = said
  return {
    ...result,
    response: {
      ...rest,
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => KEPT_HEADERS.test(name)),
      ),
      body: { system_fingerprint, service_tier, x_groq },
    },
  }
}
