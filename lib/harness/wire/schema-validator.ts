/**
 * JSON Schemas of servers, checked in time linear in what is checked: a server's pattern must not
 * be able to hold up the process that reads its answers.
 */
import { createRequire } from 'node:module'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { Ajv } from 'ajv'
import { canonical } from '../../canonical.ts'
import type { Json } from '../../json.ts'

type Matcher = { test(text: string): boolean; toString(): string }

const load = createRequire(import.meta.url)

/**
 * A pattern on an engine without backtracking. One that the engine does not know (look-around,
 * back-references) says nothing about a text, so it refuses none.
 */
function linear(pattern: string): Matcher {
  // Ajv keeps matchers by this text.
  const key = { toString: () => pattern }
  const { RE2JS } = load('re2js') as typeof import('re2js')
  try {
    const compiled = RE2JS.compile(pattern)
    return { test: (text) => compiled.matcher(text).find(), ...key }
  } catch {
    return { test: () => true, ...key }
  }
}
// Ajv prints this in code that it generates for files, which nobody asks of it here.
linear.code = 'linear'

/** Equal values have one text. */
function textOf(value: unknown): string {
  try {
    return canonical(value as Json)
  } catch {
    // Half a surrogate pair has no canonical text.
    return JSON.stringify(value)
  }
}

// Ajv compares each item with each other. Equal items have one canonical text.
const ajv = new Ajv({
  strict: false,
  // Formats are annotations in JSON Schema 2020-12. Their patterns would run on the other engine.
  validateSchema: false,
  validateFormats: false,
  allErrors: false,
  code: { regExp: linear as never },
})
ajv.removeKeyword('uniqueItems')
ajv.addKeyword({
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (wanted: boolean, items: unknown[]) =>
    !wanted || new Set(items.map(textOf)).size === items.length,
})

/**
 * One for all clients and servers: each would otherwise build its own, which costs more than a
 * trial.
 */
export const schemaValidator = new AjvJsonSchemaValidator(ajv as never)
