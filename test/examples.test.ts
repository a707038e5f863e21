/**
 * Runs every `@example` in the docstrings of `lib/`, so that no example goes stale.
 *
 * In a block, a line `EXPRESSION // RESULT` is evaluated and compared with RESULT: a literal, where a number with a decimal
 * point is compared to the digits shown and a pattern literal is matched against the text, or `throws CODE`. The result may
 * also stand alone on the next line. Every other statement is set-up and is run. In scope: what the file exports, and the
 * namespaces of `lib/index.ts`. A block whose first line is `// not run: WHY` is reported as skipped.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { type Comment, type Expression, type Program, parse, parseExpressionAt } from 'acorn'
import { temporaryFolder } from './temporary.ts'

// What examples write is removed with it.
process.env['TMPDIR'] = temporaryFolder('examples')

const root = join(import.meta.dirname, '..')
const index = join(root, 'lib/index.ts')

type Block = { file: string; line: number; code: string }
type Scope = Record<string, unknown>

/** Every `@example` of a source text, with the line its code starts on. */
function blocksOf(file: string, source: string): Block[] {
  const blocks: Block[] = []
  for (const comment of source.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
    const first = source.slice(0, comment.index).split('\n').length
    let block: Block | undefined
    for (const [i, raw] of comment[0].split('\n').entries()) {
      const text = raw.replace(/\s*\*\/\s*$/, '').replace(/^\s*\*? ?/, '')
      const tag = /^\s*(?:\/\*\*)?\s*@(\w+)\s*(.*)$/.exec(text)
      if (tag?.[1] === 'example') {
        block = { file, line: first + i, code: tag[2] ?? '' }
        blocks.push(block)
      } else if (tag) block = undefined
      else if (block) block.code += `\n${text}`
    }
  }
  return blocks
}

function parsed(code: string): { program: Program; code: string; comments: Comment[] } {
  const comments: Comment[] = []
  const options = {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowAwaitOutsideFunction: true,
    locations: true,
    onComment: comments,
  } as const
  try {
    return { program: parse(code, options), code, comments }
  } catch {
    // Types are replaced by blanks, so that lines and columns stay.
    const plain = stripTypeScriptTypes(code)
    comments.length = 0
    return { program: parse(plain, options), code: plain, comments }
  }
}

/** The literal in a comment as a syntax tree, or undefined when it is none. */
function literal(text: string): Expression | undefined {
  try {
    const node = parseExpressionAt(text, 0, { ecmaVersion: 'latest' })
    return text.slice(node.end).trim() === '' && isLiteral(node) ? node : undefined
  } catch {
    return undefined
  }
}

function isLiteral(node: Expression): boolean {
  switch (node.type) {
    case 'Literal':
      return true
    case 'Identifier':
      return ['NaN', 'Infinity', 'undefined'].includes(node.name)
    case 'UnaryExpression':
      return node.operator === '-' && isLiteral(node.argument)
    case 'TemplateLiteral':
      return node.expressions.length === 0
    case 'ArrayExpression':
      return node.elements.every(
        (element) => element !== null && element.type !== 'SpreadElement' && isLiteral(element),
      )
    case 'ObjectExpression':
      return node.properties.every(
        (property) =>
          property.type === 'Property' && !property.computed && isLiteral(property.value),
      )
    default:
      return false
  }
}

/** Where a value differs from the literal, as a path and what was expected; undefined when it does not. */
function difference(actual: unknown, node: Expression, path = 'value'): string | undefined {
  const differs = (expected: string) =>
    `${path}: expected ${expected}, got ${inspect(actual, { depth: 6 })}`
  switch (node.type) {
    case 'Literal': {
      if (node.regex)
        return typeof actual === 'string' &&
          new RegExp(node.regex.pattern, node.regex.flags).test(actual)
          ? undefined
          : differs(node.raw ?? '')
      if (typeof node.value === 'number')
        return sameDigits(actual, node.value, node.raw ?? '') ? undefined : differs(node.raw ?? '')
      return Object.is(actual, node.value) ? undefined : differs(node.raw ?? '')
    }
    case 'UnaryExpression':
      return typeof actual === 'number' && difference(-actual, node.argument) === undefined
        ? undefined
        : differs('the opposite sign or other digits')
    case 'Identifier': {
      const expected = node.name === 'NaN' ? NaN : node.name === 'Infinity' ? Infinity : undefined
      return Object.is(actual, expected) ? undefined : differs(node.name)
    }
    case 'TemplateLiteral':
      return actual === node.quasis[0]?.value.cooked
        ? undefined
        : differs(JSON.stringify(node.quasis[0]?.value.cooked))
    case 'ArrayExpression': {
      if (!Array.isArray(actual) && !ArrayBuffer.isView(actual)) return differs('a list')
      const items = Array.from(actual as unknown as unknown[])
      if (items.length !== node.elements.length) return differs(`${node.elements.length} items`)
      return items
        .map((item, i) => difference(item, node.elements[i] as Expression, `${path}[${i}]`))
        .find(Boolean)
    }
    case 'ObjectExpression': {
      if (typeof actual !== 'object' || actual === null) return differs('an object')
      const members = node.properties.map((property) => {
        assert.equal(property.type, 'Property')
        const key =
          property.key.type === 'Identifier'
            ? property.key.name
            : String((property.key as { value?: unknown }).value)
        return [key, property.value] as const
      })
      const names = new Set(members.map(([key]) => key))
      const more = Object.entries(actual).filter(
        ([key, value]) => value !== undefined && !names.has(key),
      )
      if (more.length > 0) return differs(`no member ${more.map(([key]) => key).join(', ')}`)
      return members
        .map(([key, value]) => difference((actual as Scope)[key], value, `${path}.${key}`))
        .find(Boolean)
    }
    default:
      return differs('a literal')
  }
}

/** A whole number must be met exactly, one with decimals or an exponent to half of its last digit. */
function sameDigits(actual: unknown, expected: number, raw: string): boolean {
  if (typeof actual !== 'number') return false
  const digits = /^(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(raw.replaceAll('_', ''))
  if (!digits || (digits[2] === undefined && digits[3] === undefined)) return actual === expected
  const last = 10 ** (Number(digits[3] ?? 0) - (digits[2]?.length ?? 0))
  return Math.abs(actual - expected) <= (last / 2) * (1 + 1e-9)
}

/** Run one block; rejects with `file:line` and what differed. */
async function run(block: Block, scope: Scope): Promise<void> {
  const { program, code, comments } = parsed(block.code)
  const at = (line: number) => `${block.file}:${block.line + line - 1}`
  const checks: { line: number; wanted: Expression | { code: string } }[] = []
  let body = ''
  for (const node of program.body) {
    const text = code.slice(node.start, node.end)
    const { line } = node.loc?.end ?? { line: 1 }
    if (node.type === 'ImportDeclaration') {
      const from =
        node.source.value === 'touchstone' ? pathToFileURL(index).href : String(node.source.value)
      const names = node.specifiers.map((s) => {
        if (s.type === 'ImportNamespaceSpecifier') return `const ${s.local.name} = $module;`
        const imported =
          s.type === 'ImportDefaultSpecifier'
            ? 'default'
            : s.imported.type === 'Identifier'
              ? s.imported.name
              : s.imported.value
        return `const ${s.local.name} = $module[${JSON.stringify(imported)}];`
      })
      body += names
        .map((n) => n.replace('$module', `(await $import(${JSON.stringify(from)}))`))
        .join('\n')
      continue
    }
    const note = comments.find(
      (comment) =>
        comment.type === 'Line' &&
        comment.start >= node.end &&
        (comment.loc?.start.line === line ||
          (comment.loc?.start.line === line + 1 &&
            code.split('\n')[line]?.trim().startsWith('//') === true)),
    )
    if (node.type !== 'ExpressionStatement' || !note) {
      body += `${text}\n`
      continue
    }
    const said = note.value.trim()
    const thrown = /^throws (\w+)$/.exec(said)
    const wanted = thrown?.[1] ? { code: thrown[1] } : literal(said)
    if (!wanted) {
      assert.equal(
        note.loc?.start.line === line,
        false,
        `${at(line)}: expected a literal or "throws CODE", got ${said}`,
      )
      body += `${text}\n`
      continue
    }
    const expression = code.slice(node.expression.start, node.expression.end)
    body += `await $check(${checks.push({ line, wanted }) - 1}, async () => (${expression}));\n`
  }
  const check = async (which: number, evaluate: () => Promise<unknown>) => {
    const { line, wanted } = checks[which] as (typeof checks)[number]
    if ('code' in wanted) {
      const outcome = await evaluate().then(
        (value) => `returned ${inspect(value)}`,
        (error: { code?: string }) =>
          error.code === wanted.code ? undefined : `threw ${inspect(error)}`,
      )
      assert.equal(
        outcome,
        undefined,
        `${at(line)}: expected it to throw ${wanted.code}, but it ${outcome}`,
      )
    } else {
      const found = difference(await evaluate(), wanted)
      assert.equal(found, undefined, `${at(line)}: ${found}`)
    }
  }
  const names = Object.keys(scope).filter((name) => name !== 'default')
  const AsyncFunction = (async () => {}).constructor as new (
    ...texts: string[]
  ) => (...values: unknown[]) => Promise<void>
  const go = new AsyncFunction('$check', '$import', ...names, `'use strict'; {\n${body}\n}`)
  try {
    await go(check, (name: string) => import(name), ...names.map((name) => scope[name]))
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    throw new Error(`${at(1)}: the example threw`, { cause: error })
  }
}

const files = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(root, 'lib', name))
  .sort()

for (const file of files) {
  const blocks = blocksOf(relative(root, file), readFileSync(file, 'utf8'))
  if (blocks.length === 0) continue
  test(`examples of ${relative(root, file)} give what they say`, async (t) => {
    const namespaces: Scope = existsSync(index) ? await import(pathToFileURL(index).href) : {}
    const exported: Scope = await import(pathToFileURL(file).href)
    for (const block of blocks) {
      const why = /^\s*\/\/ not run: (.+)/.exec(block.code)?.[1]
      await t.test(`line ${block.line}`, { skip: why, timeout: 20_000 }, () =>
        run(block, { ...namespaces, ...exported }),
      )
    }
  })
}

test('an example is run and judged: wrong digits, a wrong code, more members and prose for a result are all found', async () => {
  const judge = (code: string) =>
    run({ file: 'lib/x.ts', line: 10, code }, { third: 1 / 3, pair: { a: 1, b: 2 } })
  await judge('third // 0.3333\nconst two: number = 2\ntwo // 2\npair // { a: 1, b: 2 }')
  await assert.rejects(
    judge('third // 0.3334'),
    /lib\/x\.ts:10: value: expected 0\.3334, got 0\.3333/,
  )
  await assert.rejects(judge('\n\nthird // 0.34'), /lib\/x\.ts:12/)
  await assert.rejects(judge('pair // { a: 1 }'), /no member b/)
  await assert.rejects(judge('third\n// 0.4'), /expected 0\.4/)
  await assert.rejects(judge('third // about a third'), /expected a literal/)
  await assert.rejects(judge('third // throws argument_invalid'), /but it returned 0\.333/)
  await assert.rejects(judge('nothing()'), /the example threw/)
  assert.equal(blocksOf('x', '/**\n * @example\n * f() // 1\n * @see y\n */').length, 1)
})
