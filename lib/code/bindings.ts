/**
 * Which names does a program declare at its top, and where does it use names it does not declare inside a function or
 * block? The prompt keeps such names alive from line to line.
 */
import type { AnyNode, Identifier, Node, Pattern, Program } from 'acorn'

/** One use of a name that no inner function or block declares. */
export type Reference = {
  name: string
  start: number
  end: number
  /** How the use must be spelled out when the name becomes a member: `{ x }` needs its key, `x()` must not get a receiver. */
  as: 'plain' | 'shorthand' | 'callee' | 'typeof'
}

export type Bindings = { declared: Set<string>; references: Reference[] }

type Scope = { names: Set<string>; parent: Scope | null }

/** Names bound by a pattern: `{ a, b: [c] }` gives a and c. */
function patternNames(pattern: Pattern): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        patternNames(property.type === 'RestElement' ? property.argument : property.value),
      )
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element ? patternNames(element) : []))
    case 'RestElement':
      return patternNames(pattern.argument)
    case 'AssignmentPattern':
      return patternNames(pattern.left)
    default:
      return []
  }
}

/** Child nodes in source order, whatever the node is. */
export function children(node: Node): AnyNode[] {
  const found: AnyNode[] = []
  for (const value of Object.values(node)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item && typeof (item as AnyNode).type === 'string') found.push(item as AnyNode)
    }
  }
  return found
}

/** let, const, class, function and import names declared directly in a list of statements. */
function lexicalNames(body: readonly AnyNode[]): string[] {
  return body.flatMap((statement): string[] => {
    switch (statement.type) {
      case 'VariableDeclaration':
        return statement.declarations.flatMap((declarator) => patternNames(declarator.id))
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
        return statement.id ? [statement.id.name] : []
      case 'ImportDeclaration':
        return statement.specifiers.map((specifier) => specifier.local.name)
      case 'ExportNamedDeclaration':
        return statement.declaration ? lexicalNames([statement.declaration]) : []
      case 'ExportDefaultDeclaration':
        return lexicalNames([statement.declaration as AnyNode])
      default:
        return []
    }
  })
}

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'StaticBlock',
])

/** `var` names anywhere below, but not below another function. */
function hoistedNames(node: AnyNode): string[] {
  const own =
    node.type === 'VariableDeclaration' && node.kind === 'var'
      ? node.declarations.flatMap((declarator) => patternNames(declarator.id))
      : []
  return [
    ...own,
    ...children(node).flatMap((child) => (FUNCTIONS.has(child.type) ? [] : hoistedNames(child))),
  ]
}

/**
 * Analyse a program.
 *
 * A `var` inside a block at the top stays local to the program; everything else follows the language.
 */
export function bindings(program: Program): Bindings {
  const declared = new Set(lexicalNames(program.body))
  const references: Reference[] = []
  const top: Scope = { names: declared, parent: null }
  const inner = new Set(
    program.body.flatMap((node) => hoistedNames(node)).filter((name) => !declared.has(name)),
  )

  const local = (name: string, scope: Scope): boolean => {
    if (inner.has(name)) return true
    for (let at: Scope | null = scope; at && at !== top; at = at.parent)
      if (at.names.has(name)) return true
    return false
  }
  const use = (node: Identifier, scope: Scope, as: Reference['as'] = 'plain') => {
    if (!local(node.name, scope))
      references.push({ name: node.name, start: node.start, end: node.end, as })
  }
  const within = (parent: Scope, names: Iterable<string>): Scope => ({
    names: new Set(names),
    parent,
  })
  const walkAll = (nodes: readonly (AnyNode | null | undefined)[], scope: Scope) => {
    for (const node of nodes) if (node) walk(node, scope)
  }

  const walk = (node: AnyNode, scope: Scope): unknown => {
    switch (node.type) {
      case 'Identifier':
        return use(node, scope)
      case 'MemberExpression':
        walk(node.object, scope)
        if (node.computed) walk(node.property, scope)
        return
      case 'Property':
        if (node.computed) walk(node.key, scope)
        if (node.shorthand) {
          const value = node.value as AnyNode
          if (value.type === 'Identifier') return use(value, scope, 'shorthand')
          if (value.type === 'AssignmentPattern' && value.left.type === 'Identifier') {
            use(value.left, scope, 'shorthand')
            return walk(value.right, scope)
          }
        }
        return walk(node.value, scope)
      case 'MethodDefinition':
      case 'PropertyDefinition':
        if (node.computed) walk(node.key, scope)
        if (node.value) walk(node.value, scope)
        return
      case 'CallExpression':
        if (node.callee.type === 'Identifier') use(node.callee, scope, 'callee')
        else walk(node.callee, scope)
        return walkAll(node.arguments, scope)
      case 'TaggedTemplateExpression':
        if (node.tag.type === 'Identifier') use(node.tag, scope, 'callee')
        else walk(node.tag, scope)
        return walk(node.quasi, scope)
      case 'UnaryExpression':
        if (node.operator === 'typeof' && node.argument.type === 'Identifier')
          return use(node.argument, scope, 'typeof')
        return walk(node.argument, scope)
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression': {
        const own = node.type === 'FunctionExpression' && node.id ? [node.id.name] : []
        const names = [...own, ...node.params.flatMap(patternNames)]
        if (node.type !== 'ArrowFunctionExpression') names.push('arguments')
        if (node.body.type === 'BlockStatement')
          names.push(...lexicalNames(node.body.body), ...hoistedNames(node.body))
        const scopeOfFunction = within(scope, names)
        walkAll(node.params, scopeOfFunction)
        if (node.body.type === 'BlockStatement') return walkAll(node.body.body, scopeOfFunction)
        return walk(node.body, scopeOfFunction)
      }
      case 'ClassDeclaration':
      case 'ClassExpression': {
        const named = within(scope, node.id ? [node.id.name] : [])
        if (node.superClass) walk(node.superClass, named)
        return walkAll(node.body.body, named)
      }
      case 'StaticBlock':
        return walkAll(
          node.body,
          within(scope, [...lexicalNames(node.body), ...node.body.flatMap(hoistedNames)]),
        )
      case 'BlockStatement':
        return walkAll(node.body, within(scope, lexicalNames(node.body)))
      case 'SwitchStatement': {
        walk(node.discriminant, scope)
        const cases = within(
          scope,
          node.cases.flatMap((one) => lexicalNames(one.consequent)),
        )
        return walkAll(
          node.cases.flatMap((one) => [one.test, ...one.consequent]),
          cases,
        )
      }
      case 'ForStatement': {
        const head = within(scope, node.init ? lexicalNames([node.init]) : [])
        return walkAll([node.init, node.test, node.update, node.body], head)
      }
      case 'ForInStatement':
      case 'ForOfStatement': {
        const head = within(scope, lexicalNames([node.left]))
        walk(node.left, head)
        walk(node.right, scope)
        return walk(node.body, head)
      }
      case 'CatchClause': {
        const caught = within(scope, [
          ...(node.param ? patternNames(node.param) : []),
          ...lexicalNames(node.body.body),
        ])
        if (node.param) walk(node.param, caught)
        return walkAll(node.body.body, caught)
      }
      case 'LabeledStatement':
        return walk(node.body, scope)
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'MetaProperty':
        return
      case 'ExportNamedDeclaration':
        if (node.declaration) walk(node.declaration, scope)
        return
      default:
        return walkAll(children(node), scope)
    }
  }
  walkAll(program.body, top)
  return { declared, references }
}
