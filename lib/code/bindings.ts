/**
 * Names that a program declares at its top, and where it uses names from outside of its functions
 * and blocks. The prompt keeps such names alive from line to line.
 */
import type { AnyNode, Node, Pattern, Program } from 'acorn'
import { analyze } from 'eslint-scope'

/** One use of a name that no inner function or block declares. */
export type Reference = {
  name: string
  start: number
  end: number
  /** How the use is spelled as a member: `{ x }` needs its key, `x()` must not get a receiver. */
  as: 'plain' | 'shorthand' | 'callee' | 'typeof'
}

export type Bindings = { declared: Set<string>; references: Reference[] }

/** A name in the tree, as `eslint-scope` hands it back. */
type Name = { name: string; start: number; end: number }

/** Names bound by a pattern: `{ a, b: [c] }` gives a and c. */
export function patternNames(pattern: Pattern): string[] {
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

/**
 * Analyse a program.
 *
 * A `var` inside a block at the top stays local to the program; everything else follows the
 * language.
 */
export function bindings(program: Program): Bindings {
  const { globalScope } = analyze(program as Parameters<typeof analyze>[0], {
    ecmaVersion: 2026,
    sourceType: 'module',
  })
  const statements = new Set<unknown>(
    program.body.map((node) => ('declaration' in node && node.declaration) || node),
  )
  const declared = new Set<string>()
  const uses = (globalScope?.through ?? []).map(({ identifier }) => identifier as unknown as Name)
  for (const variable of globalScope?.childScopes[0]?.variables ?? []) {
    const isVariable = (type: string) => type === 'Variable'
    if (!variable.defs.some((one) => !isVariable(one.type) || statements.has(one.parent))) continue
    declared.add(variable.name)
    uses.push(...variable.references.map(({ identifier }) => identifier as unknown as Name))
    // A declaration without a value is no reference.
    for (const { type, name } of variable.defs)
      if (isVariable(type)) uses.push(name as unknown as Name)
  }
  const spelled = spellings(program)
  const references = new Map<number, Reference>()
  for (const { name, start, end } of uses)
    references.set(start, { name, start, end, as: spelled.get(start) ?? 'plain' })
  return { declared, references: [...references.values()].sort((a, b) => a.start - b.start) }
}

/** Where names stand that cannot simply become members. */
function spellings(program: Program): Map<number, Reference['as']> {
  const found = new Map<number, Reference['as']>()
  const note = (node: Node, as: Reference['as']) => {
    if (node.type === 'Identifier') found.set(node.start, as)
  }
  const visit = (node: Program | AnyNode) => {
    if (node.type === 'Property' && node.shorthand) note(node.key, 'shorthand')
    else if (node.type === 'CallExpression') note(node.callee, 'callee')
    else if (node.type === 'TaggedTemplateExpression') note(node.tag, 'callee')
    else if (node.type === 'UnaryExpression' && node.operator === 'typeof')
      note(node.argument, 'typeof')
    for (const child of children(node)) visit(child)
  }
  visit(program)
  return found
}
