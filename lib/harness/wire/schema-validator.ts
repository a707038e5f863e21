/**
 * JSON Schemas of servers, checked within a number of steps: neither a schema nor what it is asked
 * about must be able to hold up the process that reads a server's answers.
 */
import { createRequire } from 'node:module'
import type { Ajv as AjvClass, ValidateFunction } from 'ajv'
import { type Among, bounded, Steps, sizeOf, textOf, Unbounded } from './bounded-schema.ts'

type Checked<T> =
  | { valid: true; data: T; errorMessage: undefined }
  | { valid: false; data: undefined; errorMessage: string }
type Check = <T>(input: unknown) => Checked<T>

const load = createRequire(import.meta.url)
const steps = new Steps()

type Matcher = { test(text: string): boolean; toString(): string }

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
    const cost = 1 + pattern.length / 16
    return {
      test(text) {
        steps.take(cost * (1 + text.length / 16))
        return compiled.matcher(text).find()
      },
      ...key,
    }
  } catch {
    return { test: () => true, ...key }
  }
}
// Ajv prints this in code that it generates for files, which nobody asks of it here.
linear.code = 'linear'

/** An Ajv of one schema: what one server declares must not be found by the `$id` of another's. */
function ajvOf(among: readonly Among[]): AjvClass {
  const { Ajv } = load('ajv') as typeof import('ajv')
  const ajv = new Ajv({
    strict: false,
    meta: false,
    // Formats are annotations in JSON Schema 2020-12. Their patterns would run on the other engine.
    validateSchema: false,
    validateFormats: false,
    allErrors: false,
    addUsedSchema: false,
    inlineRefs: false,
    logger: false,
    code: { regExp: linear as never, optimize: false },
  })
  // Before all others, so that what follows and fails is counted as well.
  ajv.addKeyword({
    keyword: '$cost',
    before: '$ref',
    validate(cost: number, data: unknown) {
      steps.take(cost + sizeOf(data))
      return true
    },
  })
  const isAmong = (place: number, data: unknown) => among[place - 1]?.has(data, steps) === true
  ajv.addKeyword({
    keyword: '$among',
    validate: isAmong,
    error: { message: 'must be one of the values that are allowed' },
  })
  ajv.addKeyword({
    keyword: '$one',
    validate: isAmong,
    error: { message: 'must be the value that is allowed' },
  })
  // Ajv compares each item with each other. Equal items have one canonical text.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    validate(wanted: unknown, items: unknown[]) {
      if (wanted !== true) return true
      const texts = new Set<string>()
      for (const item of items) {
        const text = textOf(item)
        steps.take(1 + text.length / 16)
        texts.add(text)
      }
      return texts.size === items.length
    },
  })
  return ajv
}

function unknown<T>(input: unknown): Checked<T> {
  return { valid: true, data: input as T, errorMessage: undefined }
}

/** What cannot be checked within bounds is not known to be wrong, and is not refused. */
function compiled(schema: unknown): Check {
  let validate: ValidateFunction
  let ajv: AjvClass
  try {
    const made = bounded(schema)
    ajv = ajvOf(made.among)
    validate = ajv.compile(made.schema)
  } catch {
    return unknown
  }
  return <T>(input: unknown): Checked<T> => {
    steps.begin()
    try {
      if (validate(input)) return unknown<T>(input)
      return { valid: false, data: undefined, errorMessage: ajv.errorsText(validate.errors) }
    } catch (cause) {
      // Recursion without end leaves the stack before it has used its steps.
      if (cause instanceof Unbounded || cause instanceof RangeError) return unknown<T>(input)
      throw cause
    }
  }
}

/** Checks by the text of their schema, the one last used at the end. */
const known = new Map<string, Check>()
const MOST_KNOWN = 256

/**
 * One for all clients and servers: each would otherwise build its own, which costs more than a
 * trial. A schema is compiled when something is first checked by it.
 */
export const schemaValidator = {
  getValidator<T>(schema: unknown): (input: unknown) => Checked<T> {
    let check: Check | undefined
    return (input) => {
      check ??= checkOf(schema)
      return check<T>(input)
    }
  },
}

function checkOf(schema: unknown): Check {
  let text: string
  try {
    text = JSON.stringify(schema)
  } catch {
    // Nested deeper than its text can be written.
    return unknown
  }
  const check = known.get(text) ?? compiled(schema)
  known.delete(text)
  known.set(text, check)
  const [oldest] = known.keys()
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  return check
}
