/**
 * What tokens cost, by a price table that its user owns. A price that is not in it is not known,
 * and never zero.
 */

import { TouchstoneError } from '../../errors.ts'
import { readBytes } from '../../files.ts'
import type { JsonObject } from '../../json.ts'
import { decode } from '../../json.ts'

/**
 * US dollars per million tokens, by model as a configuration names it (`groq/openai/gpt-oss-20b`).
 */
export type Prices = {
  readonly [model: string]: { readonly input: number; readonly output: number }
}

/** The cost of a trial in US dollars, or null when its tokens or its price are not known. */
export function costOf(
  prices: Prices,
  model: string,
  tokens: { input: number; output: number } | null,
): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined
  if (!price || !tokens) return null
  // Rounded to a millionth of a cent, so that a sum reads the same however it was added up.
  return Math.round((tokens.input * price.input + tokens.output * price.output) * 100) / 1e8
}

/** Check a price table. @throws TouchstoneError `argument_invalid` naming the model */
export function requirePrices(value: unknown, where = 'prices'): Prices {
  const wrong = (expected: string, at: string): never => {
    throw new TouchstoneError('argument_invalid', `expected ${expected}`, { where: at })
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    wrong('models with { input, output } in US dollars per million tokens', where)
  for (const [model, price] of Object.entries(value as JsonObject)) {
    const at = `${where}: ${model}`
    if (price === null || typeof price !== 'object' || Array.isArray(price))
      wrong('{ input, output }', at)
    const { input, output, ...rest } = price as JsonObject
    for (const amount of [input, output])
      if (typeof amount !== 'number' || !(amount >= 0) || !Number.isFinite(amount))
        wrong('input and output as numbers >= 0, in US dollars per million tokens', at)
    for (const name of Object.keys(rest)) wrong(`only input and output, got "${name}"`, at)
  }
  return value as Prices
}

/**
 * Read a price table from YAML. @throws TouchstoneError `file_unreadable`, `yaml_syntax`,
 * `argument_invalid`
 */
export async function readPrices(path: string): Promise<Prices> {
  const { parse } = await import('yaml')
  const text = decode(readBytes(path), path)
  let value: unknown
  try {
    value = parse(text)
  } catch (cause) {
    throw new TouchstoneError(
      'yaml_syntax',
      `expected YAML, got: ${(cause as Error).message.split('\n')[0]}`,
      {
        where: path,
        cause,
      },
    )
  }
  return requirePrices(value, path)
}
