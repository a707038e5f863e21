/**
 * A notebook's module with its cells marked: which one is at work, what its last expression gave,
 * and where it ended.
 *
 * Text is only inserted within lines, so errors tell the notebook's own line.
 */
import type { AnyNode } from 'acorn'
import MagicString from 'magic-string'
import { readSourceOrThrow } from '../code/strip-types.ts'
import { TouchstoneError } from '../errors.ts'
import { type Cell, parse } from './parse.ts'

/** Name of the variable that holds the marks; made so that a notebook will not have it. */
const MARKS = '__notebook'

export type Marks = {
  start(cell: number): void
  show(cell: number, value: unknown): Promise<void>
  end(cell: number): void
  given(name: string, fallback: unknown): unknown
}

export type Instrumented = {
  code: string
  cells: Cell[]
  /** Does the cell have statements? */
  runs: boolean[]
  /** Names that `set` may give: those declared in cells tagged `parameters`. */
  parameters: string[]
  /** Specifiers that cells import, with their cells: an import that fails is its cell's failure. */
  imports: { specifier: string; cell: number }[]
}

/**
 * Mark the cells of a notebook.
 *
 * @param key the marks are found under `Symbol.for(key)` of the global object
 * @throws `notebook_invalid` for a syntax error, or for a statement that runs across a mark
 */
export function instrument(text: string, file: string, key: string): Instrumented {
  const cells = parse(text)
  const source = readSourceOrThrow(endedBeforeMarks(text, cells).replace(/^#!/, '//'), file)
  const marked = new MagicString(source.code)
  const parameters: string[] = []
  const imports: Instrumented['imports'] = []

  const statements: AnyNode[][] = cells.map(() => [])
  for (const node of source.program.body) {
    const at = cells.findIndex((cell) => node.start >= cell.start && node.start < cell.end)
    const cell = cells[at]
    if (!cell) continue
    // A semicolon set at the mark is one behind the cell.
    if (node.end > cell.end + 1) {
      const next = /^\s*[([`]/.exec(cells[at + 1]?.source ?? '')?.[0].trim()
      const why = next
        ? `: what begins with ${next} goes on with the cell before, unless a ; stands before it`
        : ''
      throw new TouchstoneError(
        'notebook_invalid',
        `expected a statement to end before the next // %%, got one that runs across it${why}`,
        {
          where: `${file}:${node.loc?.start.line ?? cell.line}`,
        },
      )
    }
    if (cell.kind === 'markdown') {
      throw new TouchstoneError(
        'notebook_invalid',
        'expected prose in comments, got code in a markdown cell',
        {
          where: `${file}:${node.loc?.start.line ?? cell.line}`,
        },
      )
    }
    statements[at]!.push(node)
    if (node.type === 'ImportDeclaration')
      imports.push({ specifier: String(node.source.value), cell: at })
  }

  for (const [i, body] of statements.entries()) {
    const first = body[0]
    const last = body.at(-1)
    if (!first || !last) continue
    marked.appendRight(first.start, `;${MARKS}.start(${i});`)
    if (cells[i]!.tags.includes('parameters')) parameters.push(...markParameters(body, marked))
    // An assignment is done for its effect; what it assigned is shown by naming it.
    if (last.type === 'ExpressionStatement' && last.expression.type !== 'AssignmentExpression') {
      const end = source.code[last.end - 1] === ';' ? last.end - 1 : last.end
      marked.appendRight(last.start, `await ${MARKS}.show(${i},(`)
      marked.appendLeft(end, '))')
    }
    marked.appendLeft(last.end, `;${MARKS}.end(${i});`)
  }

  return {
    code: `const ${MARKS} = globalThis[Symbol.for(${JSON.stringify(key)})];${marked}`,
    cells,
    runs: statements.map((body) => body.length > 0),
    parameters,
    imports,
  }
}

/**
 * The text with a semicolon at the mark of every cell that begins with one, as it does where a
 * style without semicolons guards `;[a, b]`: it is to end the cell before there, and not behind the
 * mark. Every other character keeps its place.
 */
function endedBeforeMarks(text: string, cells: readonly Cell[]): string {
  let ended = text
  for (const { kind, source, start } of cells) {
    if (kind !== 'code' || source[codeBegins(source)] !== ';') continue
    const mark = text.lastIndexOf('\n', start - 2) + 1
    ended = `${ended.slice(0, mark)};//${ended.slice(mark + 3)}`
  }
  return ended
}

/** Where the first character stands that is neither white space nor in a comment. */
function codeBegins(source: string): number {
  const passed = /\s+|\/\/.*|\/\*[\s\S]*?\*\//y
  let at = 0
  while (passed.test(source)) at = passed.lastIndex
  return at
}

/**
 * `const model = 'sim/naive'` in a cell tagged `parameters`: its value may be given from outside.
 */
function markParameters(body: readonly AnyNode[], marked: MagicString): string[] {
  const names: string[] = []
  for (const statement of body) {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (node?.type !== 'VariableDeclaration') continue
    for (const { id, init } of node.declarations) {
      if (id.type !== 'Identifier' || !init) continue
      names.push(id.name)
      marked.appendRight(init.start, `${MARKS}.given(${JSON.stringify(id.name)}, (`)
      marked.appendLeft(init.end, '))')
    }
  }
  return names
}

/**
 * A parameter's value from text, read as what its default is: a number, true or false, text, or
 * JSON.
 *
 * @throws `argument_invalid` for text that is not of that kind
 */
export function parameterOf(name: string, text: string, fallback: unknown): unknown {
  const wrong = (expected: string) =>
    new TouchstoneError('argument_invalid', `expected ${expected}, got ${JSON.stringify(text)}`, {
      where: `--set ${name}`,
    })
  switch (typeof fallback) {
    case 'string':
      return text
    case 'number': {
      const value = Number(text)
      if (text.trim() === '' || !Number.isFinite(value)) throw wrong('a number')
      return value
    }
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw wrong('true or false')
      return text === 'true'
    default:
      try {
        return JSON.parse(text) as unknown
      } catch {
        // A default of null or undefined says nothing about its kind.
        if (fallback === null || fallback === undefined) return text
        throw wrong('JSON')
      }
  }
}
