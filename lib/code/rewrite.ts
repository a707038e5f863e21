/**
 * Turns a line of the prompt (or a script) into one async function over a scope object, so that
 * top-level await, static imports and declaring a name again all work, and values outlive the line.
 *
 * Names at the top become members of the scope object rather than globals: `const performance =
 * ...` at the prompt must not take the clock away from the library. Text is only inserted within
 * lines, so error lines are true.
 */
import type { AnyNode, ImportDeclaration, Program, VariableDeclaration } from 'acorn'
import MagicString from 'magic-string'
import { bindings, children } from './bindings.ts'

const SCOPE = '__scope'
const LINE = '__line'
const HOISTED = '__hoisted_'

export type Rewritten = {
  code: string
  declared: string[]
  /** The column in the source of a place in the code; lines are the same. Both count from 1. */
  columnOf(line: number, column: number): number
}

/**
 * @param known is this name kept by the scope already?
 * @returns a script that hands an async function over the scope to `Symbol.for('touchstone.line')`
 */
export function rewrite(
  source: string,
  program: Program,
  known: (name: string) => boolean,
): Rewritten {
  const text = new MagicString(source.replace(/^#!/, '//'))
  const { declared, references } = bindings(program)
  const hoisted: string[] = []

  for (const reference of references) {
    const kept = declared.has(reference.name) || known(reference.name)
    if (!kept && (reference.name in globalThis || reference.as === 'typeof')) continue
    const member = `${SCOPE}.${reference.name}`
    const spelled =
      reference.as === 'callee'
        ? `(0,${member})`
        : reference.as === 'shorthand'
          ? `${reference.name}: ${member}`
          : member
    text.update(reference.start, reference.end, spelled)
  }

  const beforeSemicolon = (node: AnyNode) =>
    source[node.end - 1] === ';' ? node.end - 1 : node.end
  const declaration = (node: VariableDeclaration) => {
    const keyword =
      /^(await\s+using|using|const|let|var)/.exec(source.slice(node.start))?.[0] ?? node.kind
    text.update(node.start, node.start + keyword.length, ';(')
    for (const { id, init } of node.declarations) {
      if (!init) {
        text.appendLeft(
          id.end,
          node.kind === 'var' && id.type === 'Identifier'
            ? ` = ${LINE}.old(${JSON.stringify(id.name)})`
            : ' = undefined',
        )
      } else if (node.kind.endsWith('using')) {
        text.appendRight(init.start, `${LINE}.using(`)
        text.appendLeft(init.end, ')')
      } else if (id.type === 'Identifier' && isAnonymous(init)) {
        // An assignment to a member would leave the function without its name.
        text.appendRight(init.start, `{${id.name}: `)
        text.appendLeft(init.end, `}.${id.name}`)
      }
    }
    text.appendLeft(beforeSemicolon(node), ')')
  }

  const top = (node: AnyNode, last: boolean): unknown => {
    switch (node.type) {
      case 'VariableDeclaration':
        return declaration(node)
      case 'FunctionDeclaration':
        if (!node.id) return
        hoisted.push(node.id.name)
        return text.update(node.id.start, node.id.end, HOISTED + node.id.name)
      case 'ClassDeclaration':
        if (!node.id) return
        text.appendRight(node.start, `;${SCOPE}.${node.id.name} = `)
        return text.appendLeft(node.end, ';')
      case 'ImportDeclaration':
        return text.update(
          node.start,
          node.end,
          importText(node) + '\n'.repeat(source.slice(node.start, node.end).split('\n').length - 1),
        )
      case 'ExportNamedDeclaration':
        if (!node.declaration)
          return text.update(
            node.start,
            node.end,
            source.slice(node.start, node.end).replace(/[^\n]/g, ' '),
          )
        text.update(node.start, node.declaration.start, ' ')
        return top(node.declaration, false)
      case 'ExportAllDeclaration':
        return text.update(
          node.start,
          node.end,
          source.slice(node.start, node.end).replace(/[^\n]/g, ' '),
        )
      case 'ExportDefaultDeclaration': {
        const inner = node.declaration as AnyNode
        const named =
          (inner.type === 'FunctionDeclaration' || inner.type === 'ClassDeclaration') && inner.id
        text.update(node.start, inner.start, named ? ' ' : ';(')
        if (named) return top(inner, false)
        return text.appendLeft(inner.end, ');')
      }
      case 'ExpressionStatement': {
        if (!last) return
        text.appendRight(node.start, `;${LINE}.value = (`)
        return text.appendLeft(beforeSemicolon(node), ')')
      }
    }
  }
  for (const [i, node] of program.body.entries()) top(node, i === program.body.length - 1)
  everyStatement(program, (node) => {
    if (source[node.end - 1] !== ';') text.appendLeft(node.end, ';')
  })
  metaProperties(program, (node) => text.update(node.start, node.end, `${LINE}.meta`))

  const head = hoisted
    .map((name) => `${SCOPE}.${name} = ${LINE}.named(${HOISTED}${name}, ${JSON.stringify(name)});`)
    .join('')
  // In an array the function gets no name: frames of the line's top have none. The call stands
  // behind the last line, so that its frame is not one of the code.
  text.prepend(
    `'use strict'; { const [__body] = [async ({ scope: ${SCOPE}, line: ${LINE} }) => { ${head}`,
  )
  text.append("\n}]; globalThis[Symbol.for('touchstone.line')](__body) }")
  return {
    code: text.toString(),
    declared: [...declared],
    columnOf(line, column) {
      const segments = text.generateDecodedMap({ hires: true }).mappings[line - 1] ?? []
      const [, , , at] = segments.findLast(([made]) => made <= column - 1) ?? []
      return (at ?? column - 1) + 1
    },
  }
}

function isAnonymous(node: AnyNode): boolean {
  return (
    node.type === 'ArrowFunctionExpression' ||
    ((node.type === 'FunctionExpression' || node.type === 'ClassExpression') && !node.id)
  )
}

function importText(node: ImportDeclaration): string {
  const attributes = node.attributes.map(
    (one) =>
      `${JSON.stringify('name' in one.key ? one.key.name : one.key.value)}: ${one.value.raw}`,
  )
  const names: string[] = []
  const targets: string[] = []
  let namespace = ''
  for (const specifier of node.specifiers) {
    if (specifier.type === 'ImportNamespaceSpecifier')
      namespace = `${SCOPE}.${specifier.local.name} = `
    else {
      const imported =
        specifier.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(specifier.imported)
      names.push(imported)
      targets.push(`${JSON.stringify(imported)}: ${SCOPE}.${specifier.local.name}`)
    }
  }
  const options = attributes.length > 0 ? `, { with: { ${attributes.join(', ')} } }` : ''
  const loaded = `${LINE}.exporting(await import(${node.source.raw}${options}), ${node.source.raw}, ${JSON.stringify(names)})`
  return `;(${targets.length > 0 ? `{ ${targets.join(', ')} } = ` : ''}${namespace}${loaded});`
}

function nameOf(node: { type: string; name?: string; value?: unknown }): string {
  return node.name ?? String(node.value)
}

const ENDED_BY_SEMICOLON = new Set([
  'ExpressionStatement',
  'VariableDeclaration',
  'ReturnStatement',
  'ThrowStatement',
  'BreakStatement',
  'ContinueStatement',
  'DoWhileStatement',
  'DebuggerStatement',
])

/**
 * Statements that the language would end for us: an inserted `(` on the next line must not be taken
 * for a call.
 */
function everyStatement(node: Program | AnyNode, found: (statement: AnyNode) => void): void {
  for (const child of children(node)) {
    const isHead =
      (node.type === 'ForStatement' && child === node.init) ||
      ((node.type === 'ForOfStatement' || node.type === 'ForInStatement') && child === node.left)
    if (ENDED_BY_SEMICOLON.has(child.type) && !isHead) found(child)
    everyStatement(child, found)
  }
}

function metaProperties(node: Program | AnyNode, found: (node: AnyNode) => void): void {
  for (const child of children(node)) {
    if (child.type === 'MetaProperty' && child.meta.name === 'import') found(child)
    else metaProperties(child, found)
  }
}
