/**
 * JSON Schemas of servers, checked in time linear in what is checked: a server's pattern must not
 * be able to hold up the process that reads its answers.
 */
import { createRequire } from 'node:module'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { Ajv } from 'ajv'

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

/**
 * One for all clients and servers: each would otherwise build its own, which costs more than a
 * trial.
 */
export const schemaValidator = new AjvJsonSchemaValidator(
  // Formats are annotations in JSON Schema 2020-12. Their patterns would run on the other engine.
  new Ajv({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    allErrors: false,
    code: { regExp: linear as never },
  }) as never,
)
