/**
 * From TypeScript to JavaScript with every character at its place, and from there to a syntax tree.
 *
 * Types are blanked, not removed, so that offsets in the tree are offsets in what was typed. Shared
 * by notebooks and the prompt.
 */
// By its name it could not be linked on a Node that lacks it, and no sentence would say why.
import * as modules from 'node:module'
import type { Options, Program } from 'acorn'
import { TouchstoneError } from '../errors.ts'

// It comes with the first text that is read: a prompt is there before.
let parser: typeof import('acorn') | undefined
function acorn(): typeof import('acorn') {
  parser ??= modules.createRequire(import.meta.url)('acorn') as typeof import('acorn')
  return parser
}

const OPTIONS: Options = {
  ecmaVersion: 'latest',
  sourceType: 'module',
  allowHashBang: true,
  locations: true,
  ranges: true,
}

export type Source = {
  /** JavaScript, as long as the TypeScript was. */
  code: string
  program: Program
}

/** Why a text is not a program; `incomplete` when more text could make it one. */
export type SyntaxFault = { message: string; line: number; column: number; incomplete: boolean }

/**
 * Read TypeScript (erasable syntax only) or JavaScript.
 *
 * Text without `<` that already parses as JavaScript is taken as it is: starting the type stripper
 * costs about 60 ms.
 *
 * @returns the stripped code and its tree, or a {@link SyntaxFault}; line and column count from 1
 */
export function readSource(text: string): Source | SyntaxFault {
  if (!text.includes('<')) {
    try {
      return { code: text, program: acorn().parse(text, OPTIONS) }
    } catch {
      // It may still be TypeScript.
    }
  }
  let code: string
  try {
    code = quietly(() => modules.stripTypeScriptTypes(text))
  } catch (error) {
    return faultOf(error, text)
  }
  try {
    return { code, program: acorn().parse(code, OPTIONS) }
  } catch (error) {
    return faultOf(error, text)
  }
}

/**
 * As {@link readSource}, but a syntax fault throws `notebook_invalid` naming file, line and column.
 */
export function readSourceOrThrow(text: string, file: string): Source {
  const source = readSource(text)
  if ('program' in source) return source
  throw new TouchstoneError(
    'notebook_invalid',
    `expected TypeScript with erasable types, got: ${source.message}`,
    {
      where: `${file}:${source.line}:${source.column}`,
    },
  )
}

/**
 * Run without the warnings that parts of Node are experimental; a reader of a prompt has no use for
 * them.
 */
export function quietly<T>(work: () => T): T {
  const emitWarning = process.emitWarning
  process.emitWarning = () => {}
  try {
    return work()
  } finally {
    process.emitWarning = emitWarning
  }
}

/**
 * The stripper tells the place only in its text; acorn in fields. Acorn's complaint about the raw
 * text is the better one.
 */
function faultOf(error: unknown, text: string): SyntaxFault {
  const stripper = error as { code?: string; message: string; snippet?: string }
  const first = firstLine(stripper.message)
  if (stripper.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return { message: first, ...placeOf(text, stripper.snippet), incomplete: false }
  }
  const own = acornFault(error) ?? acornFault(tryParse(text))
  const place = own ?? { line: 1, column: 1, pos: 0 }
  const incomplete = looksOpen(text) || (own !== undefined && endsEarly(own, text))
  const message = own ? own.message : first
  return { message, line: place.line, column: place.column, incomplete }
}

function firstLine(message: string): string {
  return (
    message
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '' && !/^[|×x,╭╰·\s]*$/.test(line)) ?? 'a syntax error'
  ).replace(/^[x×]\s+/, '')
}

function placeOf(text: string, snippet: string | undefined): { line: number; column: number } {
  const at = snippet ? text.indexOf(snippet) : -1
  if (at < 0) return { line: 1, column: 1 }
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

function tryParse(text: string): unknown {
  try {
    acorn().parse(text, OPTIONS)
  } catch (error) {
    return error
  }
}

type AcornFault = { message: string; line: number; column: number; pos: number }
function acornFault(error: unknown): AcornFault | undefined {
  const fault = error as
    | { loc?: { line: number; column: number }; pos?: number; message: string }
    | undefined
  if (!fault?.loc || fault.pos === undefined) return undefined
  return {
    message: fault.message.replace(/ \(\d+:\d+\)$/, ''),
    line: fault.loc.line,
    column: fault.loc.column + 1,
    pos: fault.pos,
  }
}

/** A fault at the very end of the text, but for a string that its line leaves open. */
function endsEarly(fault: AcornFault, text: string): boolean {
  return (
    fault.pos >= text.trimEnd().length && !/Unterminated string|Invalid regular/.test(fault.message)
  )
}

const CLOSES: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/**
 * Is a bracket, template or comment open at the end, or does the text end where an expression must
 * follow?
 */
function looksOpen(text: string): boolean {
  const open: string[] = []
  let last: { label: string; beforeExpr?: boolean } | undefined
  try {
    for (const token of acorn().tokenizer(text, OPTIONS)) {
      const { label } = (last = token.type as unknown as { label: string; beforeExpr?: boolean })
      if (label === '(' || label === '[' || label === '{' || label === '${')
        open.push(label === '${' ? '{' : label)
      else if (label in CLOSES && open.pop() !== CLOSES[label]) return false
    }
  } catch (error) {
    return /Unterminated (template|comment)/.test((error as Error).message)
  }
  if (open.length > 0) return true
  return (
    last !== undefined &&
    last.label !== ';' &&
    (last.beforeExpr === true || last.label === '.' || last.label === '?.')
  )
}
