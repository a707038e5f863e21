/**
 * A session at the prompt as a notebook: what ran, in order, as a module that runs again from the
 * start.
 *
 * The prompt allows what a module does not: declaring a name twice, and `_`. Both are spelled out.
 */
import type { AnyNode, Program } from 'acorn'
import MagicString from 'magic-string'
import { bindings, patternNames } from '../code/bindings.ts'
import { readSource, type Source } from '../code/strip-types.ts'
import { type Cell, format } from '../notebook/parse.ts'

export type SessionOptions = {
  /** Names that the prompt had from the start; those used are imported. */
  given: ReadonlySet<string>
  /** Module that they are imported from. */
  from: string
  title?: string
}

/**
 * Write entries as a percent notebook.
 *
 * @param entries code that ran without an error, in order
 */
export function sessionNotebook(entries: readonly string[], options: SessionOptions): string {
  const sources = entries.map((entry) => readSource(entry))
  const declaredIn = new Map<string, number[]>()
  const used = new Set<string>()
  for (const [i, source] of sources.entries()) {
    if (!('program' in source)) continue
    const { declared, references } = bindings(source.program)
    for (const name of declared) declaredIn.set(name, [...(declaredIn.get(name) ?? []), i])
    for (const { name } of references) if (!declared.has(name)) used.add(name)
  }
  const code: { text: string; open: boolean }[] = []
  let lastValue: string | null = null
  for (const [i, entry] of entries.entries()) {
    const source = sources[i]!
    if (!('program' in source)) {
      code.push({ text: entry, open: true })
      continue
    }
    const text = new MagicString(entry)
    again(text, source, declaredIn, i)
    for (const reference of bindings(source.program).references) {
      if (reference.name === '_' && lastValue)
        text.update(reference.start, reference.end, lastValue)
    }
    const last = source.program.body.at(-1)
    const next = sources.slice(i + 1).findIndex(endsInValue)
    const until = next < 0 ? sources.length : i + 2 + next
    if (last?.type === 'ExpressionStatement') {
      const asked = sources
        .slice(i + 1, until)
        .some((one) => 'program' in one && usesUnderscore(one.program))
      lastValue = asked ? `value${i + 1}` : null
      if (asked) {
        const end = entry[last.end - 1] === ';' ? last.end - 1 : last.end
        text.appendRight(last.start, `const ${lastValue} = `)
        text.appendLeft(end, `\n${lastValue}`)
      }
    }
    code.push({
      text: text.toString(),
      open: last !== undefined && entry[last.end - 1] !== ';',
    })
  }
  // Without a semicolon a cell that starts with a bracket would go on with the cell before it.
  const texts = code.map(({ text, open }, i) =>
    open && /^\s*[([`/+-]/.test(code[i + 1]?.text ?? '') ? `${text}\n;` : text,
  )
  const imported = [...options.given]
    .filter((name) => used.has(name) && !declaredIn.has(name))
    .sort()
  const cells: Pick<Cell, 'kind' | 'source'>[] = [
    { kind: 'markdown', source: `# ${options.title ?? 'A session at the prompt'}` },
  ]
  if (imported.length > 0)
    cells.push({ kind: 'code', source: `import { ${imported.join(', ')} } from '${options.from}'` })
  cells.push(...texts.map((source) => ({ kind: 'code' as const, source })))
  return format(cells)
}

function endsInValue(source: ReturnType<typeof readSource>): boolean {
  return 'program' in source && source.program.body.at(-1)?.type === 'ExpressionStatement'
}

function usesUnderscore(program: Program): boolean {
  return bindings(program).references.some(({ name }) => name === '_')
}

/** A name that is declared in several entries becomes one `let` that later entries assign. */
function again(
  text: MagicString,
  source: Source,
  declaredIn: Map<string, number[]>,
  at: number,
): void {
  const entry = text.original
  const repeated = (name: string) => (declaredIn.get(name)?.length ?? 0) > 1
  const isFirst = (name: string) => declaredIn.get(name)![0] === at
  for (const node of source.program.body as AnyNode[]) {
    if (node.type === 'VariableDeclaration') {
      const names = node.declarations.flatMap((one) => patternNames(one.id))
      if (!names.some(repeated)) continue
      const keywordEnd = node.start + node.kind.length
      const only = node.declarations.every(
        (one) => one.id.type === 'Identifier' && !isFirst(one.id.name),
      )
      if (names.every(isFirst)) text.update(node.start, keywordEnd, 'let')
      else if (only) {
        text.remove(node.start, node.declarations[0]!.start)
        for (const { id, init } of node.declarations) {
          // A type belongs to the declaration only.
          if (init) text.update(id.end, entry.lastIndexOf('=', init.start - 1), ' ')
          else text.appendLeft(id.end, ' = undefined')
        }
      } else {
        const fresh = names.filter(isFirst)
        const end = entry[node.end - 1] === ';' ? node.end - 1 : node.end
        const declared = fresh.length > 0 ? `let ${fresh.join(', ')}\n` : ''
        text.update(node.start, keywordEnd, `${declared}(`)
        text.appendLeft(end, ')')
      }
    } else if (
      (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') &&
      node.id &&
      repeated(node.id.name)
    ) {
      text.appendRight(node.start, `${isFirst(node.id.name) ? 'let ' : ''}${node.id.name} = `)
    } else if (node.type === 'ImportDeclaration') {
      const names = node.specifiers.map((one) => one.local.name)
      if (names.length > 0 && names.every((name) => repeated(name) && !isFirst(name)))
        text.remove(node.start, node.end)
    }
  }
}
