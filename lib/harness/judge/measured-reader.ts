/**
 * `harness.agreement()`: how well a reader of prose agrees with the labelled answers. A judge model
 * is named by it, so that no rate rests on a judge of whom nothing is known.
 */
import { onlyMembers, requireObject } from '../../arguments.ts'
import { type Digest, digestOf } from '../../canonical.ts'
import { count, foreign, type Look, wrap } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { rateText } from '../../rounding.ts'
import { shownAddress } from '../../secrets.ts'
import { Shown } from '../../shown.ts'
import { clopperPearson } from '../../stats/index.ts'
import type { Configuration } from '../agent/model.ts'
import type { Counted, Measured } from './agreement.ts'

/** A judge model and its settings, as a configuration has them. */
export type JudgeSettings = Pick<
  Configuration,
  'model' | 'temperature' | 'maxOutputTokens' | 'providerOptions' | 'baseURL' | 'apiKey' | 'headers'
>

const MEMBERS = [
  'model',
  'temperature',
  'maxOutputTokens',
  'providerOptions',
  'baseURL',
  'apiKey',
  'headers',
] as const satisfies (keyof JudgeSettings)[]

/** How a reader of prose did on the labelled answers that ship. */
export class Agreement extends Shown {
  /** The judge model; null: our rule. */
  readonly model: string | null
  /** Over the model, its settings and what it is told. null: our rule. */
  readonly digest: Digest | null
  readonly measured: Measured
  /** Tokens that measuring it took; null: not known, or none. */
  readonly tokens: { input: number; output: number } | null
  /** With keys, where it was measured in this process. */
  readonly #settings: JudgeSettings

  constructor(
    settings: JudgeSettings,
    parts: Pick<Agreement, 'model' | 'digest' | 'measured' | 'tokens'>,
  ) {
    super()
    this.model = parts.model
    this.digest = parts.digest
    this.measured = parts.measured
    this.tokens = parts.tokens
    this.#settings = settings
  }

  /** The judge's settings, to be used and not to be shown. */
  settings(): JudgeSettings {
    return this.#settings
  }

  text(look: Look = {}): string {
    const { answers, unread, precision, recall, sensitivity, specificity } = this.measured
    const who = this.model === null ? 'The rule for prose' : foreign(this.model, 80)
    const share = ({ hits, of }: Counted) => {
      if (of === 0) return 'of none'
      const { low, high } = clopperPearson(hits, of)
      return `${rateText(hits / of, low, high)}, ${hits} of ${of}`
    }
    const used = this.tokens ? [`  tokens: ${this.tokens.input} in, ${this.tokens.output} out`] : []
    return [
      `${who} reads ${answers - unread} of ${count(answers, 'labelled answer')} whole. Of these:`,
      `  claims that it finds and that are labelled (precision)  ${share(precision)}`,
      `  labelled claims that it finds (recall)                  ${share(recall)}`,
      `  answers that overclaim, said to (sensitivity)           ${share(sensitivity)}`,
      `  answers that do not, said not to (specificity)          ${share(specificity)}`,
      ...used,
      wrap(
        'The labelled answers were written for this, by one hand. On others it may do otherwise.',
        look.width ?? 100,
      ),
    ].join('\n')
  }

  toJSON(): JsonObject {
    const { model, digest, measured, tokens } = this
    return JSON.parse(
      JSON.stringify({
        schema: 'touchstone.agreement.v0',
        model,
        digest,
        settings: shownSettings(this.#settings),
        ...measured,
        tokens,
      }),
    ) as JsonObject
  }
}

/** Settings without keys; of headers the names. */
function shownSettings({ apiKey: _, headers, model: __, ...rest }: JudgeSettings): JsonObject {
  return JSON.parse(
    JSON.stringify({
      ...rest,
      ...(rest.baseURL !== undefined && { baseURL: shownAddress(rest.baseURL) }),
      ...(headers && { headers: Object.keys(headers) }),
    }),
  ) as JsonObject
}

/**
 * Hold a reader of prose against the labelled answers that ship: our rule or, where one is given, a
 * judge model, which is asked once per answer.
 *
 * @param judge the model and its settings, as a configuration names them; default: our rule, which
 *   asks nobody
 * @param options.concurrency answers that are read at once, from 1; default 4
 * @param options.signal      ends it; it then rejects with the signal's reason
 * @returns precision and recall of claims, and of whole answers the share of those that overclaim
 *   and are said to (sensitivity), and of those that do not and are said not to (specificity).
 *   `RunBuilder.judge` takes it
 * @throws  TouchstoneError `argument_invalid`, `model_unknown`, `setting_missing`
 * @example
 * const rule = await agreement()
 * rule.measured.answers // 358
 * rule.measured.precision // { hits: 95, of: 95 }
 */
export async function agreement(
  judge: JudgeSettings | null = null,
  options: { concurrency?: number; signal?: AbortSignal } = {},
): Promise<Agreement> {
  onlyMembers(options, ['concurrency', 'signal'], 'options')
  const { measured, readByRule } = await import('./agreement.ts')
  if (judge === null)
    return new Agreement(
      {},
      { model: null, digest: null, tokens: null, measured: await measured(readByRule) },
    )
  requireObject(judge, '{ model, ... }', 'judge')
  onlyMembers(judge, MEMBERS, 'judge')
  const width = options.concurrency ?? 4
  if (!Number.isSafeInteger(width) || width < 1)
    throw new TouchstoneError('argument_invalid', `expected a whole number from 1, got ${width}`, {
      where: 'concurrency',
    })
  const { judgeOf } = await import('./ready-judge.ts')
  const { LIMITERS } = await import('../model/limiter.ts')
  const { read, id, digest } = await judgeOf(judge, LIMITERS)
  let tokens: Agreement['tokens'] = { input: 0, output: 0 }
  const found = await measured(
    async ({ task, text, tools, offered }) => {
      options.signal?.throwIfAborted()
      const changing = offered.filter(({ name }) => tools.some(({ tool }) => tool === name))
      const reading = await read({ task, answer: text, tools: changing.map(shownTool) })
      const { tokens: used } = reading
      tokens = tokens &&
        used && { input: tokens.input + used.input, output: tokens.output + used.output }
      return reading.claims
    },
    { width },
  )
  return new Agreement(judge, { model: id, digest, tokens, measured: found })
}

/** A tool as a judge is shown it. */
export function shownTool(tool: {
  name: string
  description?: string | undefined
  inputSchema: { properties?: object | undefined }
}): { name: string; description: string; parameters: string[] } {
  return {
    name: tool.name,
    description: (tool.description ?? '').slice(0, 300),
    parameters: Object.keys(tool.inputSchema.properties ?? {}),
  }
}

/**
 * An agreement as it was written: `touchstone agreement MODEL --out FILE` makes the file.
 *
 * @throws TouchstoneError `argument_invalid` naming what is not as it should be
 */
export function agreementFrom(value: unknown, where = 'judge'): Agreement {
  const wrong = (expected: string): never => {
    throw new TouchstoneError('argument_invalid', `expected ${expected}`, { where })
  }
  if (value instanceof Agreement)
    return value.model === null
      ? wrong('the agreement of a judge model, got that of the rule, which is used anyway')
      : value
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return wrong('what harness.agreement({ model }) gave, or its JSON')
  const { schema, model, digest, settings, tokens, ...rest } = value as JsonObject
  if (schema !== 'touchstone.agreement.v0') wrong('an agreement (touchstone.agreement.v0)')
  if (typeof model !== 'string' || typeof digest !== 'string')
    return wrong('the agreement of a judge model, got that of the rule, which is used anyway')
  for (const name of ['precision', 'recall', 'sensitivity', 'specificity']) {
    const { hits, of } = (rest[name] ?? {}) as { hits?: unknown; of?: unknown }
    const counted = [hits, of].every((n) => Number.isSafeInteger(n) && (n as number) >= 0)
    if (!counted || (hits as number) > (of as number)) wrong(`${name} as { hits, of }`)
  }
  return new Agreement({ model, ...(settings as JsonObject) } as JudgeSettings, {
    model,
    digest: digest as Digest,
    measured: rest as unknown as Measured,
    tokens: (tokens ?? null) as Agreement['tokens'],
  })
}

/** The digest over a judge's model, its settings and what it is told. */
export function judgeDigest(id: string, settings: JudgeSettings, told: string): Digest {
  return digestOf({ model: id, settings: shownSettings(settings), told })
}
