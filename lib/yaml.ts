/**
 * YAML for people: values with the place of every member, and mistakes named by line and column.
 * JSON is YAML too.
 */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseAllDocuments,
  stringify,
  visit,
} from 'yaml'
import { TouchstoneError } from './errors.ts'

type Path = readonly (string | number | symbol)[]

/** A document's value, and where a member of it, or its key, stands: `file:line:column`. */
export type Located = { value: unknown; locate(path: Path, part?: 'key'): string }

/** A value as a document, without the line feed at its end. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 96 }).trimEnd()
}

/**
 * The documents of a text; none for an empty one.
 *
 * @throws TouchstoneError `yaml_syntax` with the place
 */
export function documentsOf(text: string, source: string): Located[] {
  const lines = new LineCounter()
  const documents = documentsIn(text, lines, source)
  if (!Array.isArray(documents)) return []
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${source}:${line}:${col}`
  }
  return documents.map((document) => {
    const problem = document.errors[0]
    if (problem)
      throw new TouchstoneError('yaml_syntax', `expected YAML, got: ${problem.message}`, {
        where: at(problem.pos[0]),
      })
    requireKeysOnce(document, at)
    const locate = (path: Path, part?: 'key') =>
      at((part && keyOf(document, path)) ?? offsetOf(document, path))
    try {
      return { value: document.toJS({ maxAliasCount: 100 }), locate }
    } catch (cause) {
      throw new TouchstoneError('yaml_syntax', `expected YAML, got: ${(cause as Error).message}`, {
        where: locate([]),
        cause,
      })
    }
  })
}

/**
 * The documents of a text. The library's own check of repeated keys takes time in the square of
 * their number, so `requireKeysOnce` does it.
 */
function documentsIn(text: string, lineCounter: LineCounter, source: string) {
  try {
    return parseAllDocuments(text, { lineCounter, prettyErrors: false, uniqueKeys: false })
  } catch (cause) {
    // The parser calls itself for each level.
    if (!(cause instanceof RangeError)) throw cause
    throw new TouchstoneError('yaml_syntax', 'expected YAML of fewer levels, got too many', {
      where: source,
      cause,
    })
  }
}

/** @throws TouchstoneError `yaml_syntax` at the second of two equal keys of a mapping */
function requireKeysOnce(document: Document, at: (offset: number) => string): void {
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value))
          throw new TouchstoneError('yaml_syntax', 'expected YAML, got: Map keys must be unique', {
            where: at(key.range?.[0] ?? 0),
          })
        seen.add(key.value)
      }
    },
  })
}

/** Where in the text a member stands; for one that is missing, where its nearest parent does. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node =
      length === 0 ? document.contents : document.getIn(path.slice(0, length) as unknown[], true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

/** Where the key of a member of a mapping stands; null for the document and what a list holds. */
function keyOf(document: Document, path: Path): number | null {
  const within = path.slice(0, -1) as unknown[]
  const holder = within.length === 0 ? document.contents : document.getIn(within, true)
  if (path.length === 0 || !isMap(holder)) return null
  const pair = holder.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
  return isScalar(pair?.key) ? (pair.key.range?.[0] ?? null) : null
}
