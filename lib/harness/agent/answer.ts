/** What an agent answered: checked where it is a value, found by paths where it was printed. */
import type { StatedClaim } from '../../log/prose/clause.ts'
import type { AnswerPaths } from './program/command.ts'
import { type JsonOutput, sumAt, textAt, valueAt } from './program/json-output.ts'
import { claimsIn } from './report-tool.ts'

/** An answer that has been read. What is not known is null. */
export type Answer = {
  text: string
  claims: StatedClaim[] | null
  tokens: { input: number; output: number } | null
  steps: number | null
  model: string | null
}

/** The answer that a function gave. @throws Error naming what is wrong with it */
export function answerOf(value: unknown): Answer {
  if (typeof value === 'string') return { ...NOTHING, text: value.toWellFormed() }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error(`expected text or { text, claims, usage, steps }, got ${kindOf(value)}`)
  const { text, claims, usage, steps, model, ...rest } = value as { [member: string]: unknown }
  const stranger = Object.keys(rest)[0]
  if (stranger !== undefined)
    throw new Error(`expected text, claims, usage, steps or model, got ${stranger}`)
  if (text === undefined && claims === undefined)
    throw new Error('expected text or claims, got neither')
  const used = usage ?? {}
  const none = typeof used !== 'object' || Array.isArray(used)
  // A provider may say nothing of tokens; a usage of other words says something that is not read.
  const names = Object.keys(used)
  if (none || (names.length > 0 && !names.some((name) => /^(in|out)putTokens$/.test(name))))
    throw new Error(
      `expected usage to have inputTokens and outputTokens, got ${none ? kindOf(used) : names.slice(0, 4).join(', ')}`,
    )
  if (model !== undefined && model !== null && typeof model !== 'string')
    throw new Error(`expected model to be a text, got ${kindOf(model)}`)
  const { inputTokens, outputTokens } = used as { [member: string]: unknown }
  return read({ text: text ?? '', claims, inputTokens, outputTokens, steps, model })
}

/**
 * The answer in what was printed. @throws Error naming the path that leads nowhere, or what is
 * there
 */
export function answerIn(output: JsonOutput, paths: AnswerPaths): Answer {
  const at = (path: string | undefined) => (path === undefined ? undefined : valueAt(output, path))
  const sum = (path: string | undefined) => (path === undefined ? undefined : sumAt(output, path))
  const text = textAt(output, paths.text)
  if (text === undefined) throw new Error(`expected an answer at ${paths.text}, got nothing`)
  return read({
    text,
    claims: at(paths.claims),
    inputTokens: sum(paths.inputTokens),
    outputTokens: sum(paths.outputTokens),
    steps: sum(paths.steps),
    model: at(paths.model),
  })
}

const NOTHING: Answer = { text: '', claims: null, tokens: null, steps: null, model: null }

/** The largest count of steps or tokens that a log holds. */
const MOST = 2 ** 31 - 1

function read(parts: { [part: string]: unknown }): Answer {
  const { text, claims, inputTokens, outputTokens, steps, model } = parts
  if (typeof text !== 'string') throw new Error(`expected text to be a text, got ${kindOf(text)}`)
  const stated = claims === undefined || claims === null ? null : claimsIn(claims)
  if (typeof stated === 'string') throw new Error(stated)
  const count = (name: string, value: unknown): number | null => {
    if (value === undefined || value === null) return null
    if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > MOST)
      throw new Error(
        `expected ${name} to be a whole number from 0 to ${MOST}, got ${kindOf(value)}`,
      )
    return value as number
  }
  const input = count('inputTokens', inputTokens)
  const output = count('outputTokens', outputTokens)
  return {
    text: text.toWellFormed(),
    claims: stated,
    tokens: input === null || output === null ? null : { input, output },
    steps: count('steps', steps),
    model: typeof model === 'string' ? model.slice(0, 200).toWellFormed() : null,
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'bigint') return `${value}n`.slice(0, 60)
  return typeof value === 'object' ? 'an object' : `${JSON.stringify(value)?.slice(0, 60)}`
}
