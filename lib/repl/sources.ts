/**
 * What the library's own source says about a name: description, signature, source, and the type
 * that a call returns.
 *
 * Read from the `.ts` files, or from the `.d.ts` files beside a compiled library, at the first
 * question.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { types } from 'node:util'

export type Entry = {
  name: string
  /** Class or type that it is a member of; null at the top of a file. */
  of: string | null
  /** File from the library's folder, such as `stats/wilson.ts`, and line from 1. */
  file: string
  line: number
  kind: 'function' | 'class' | 'const' | 'type' | 'member'
  exported: boolean
  /** Description without comment marks, tags kept; empty when there is none. */
  doc: string
  /** Source from its first line to its last. */
  source: string
}

const TOP =
  /^(export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(function\*?|class|const|let|type|interface) ([\p{ID_Continue}$]+)/u
const MEMBER =
  /^( +)(?:(?:readonly|static|async|get|set|override|declare) )*\*?(?:'([^']+)'|([\p{ID_Start}$_][\p{ID_Continue}$]*))\??(?:[(:<!]| =)/u

const PRIVATE = /^ +(private|protected) |^ +#/

/**
 * Entries of one file, by its layout: what stands at the margin, and one level in. Our files are
 * formatted by a tool.
 */
export function entriesOf(text: string, file: string): Entry[] {
  const lines = text.split('\n')
  const entries: Entry[] = []
  let doc = ''
  let owner: { name: string; end: number; indent: string } | null = null
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const opening = /^( *)\/\*\*/.exec(line)
    if (opening) {
      let end = i
      while (end < lines.length && !lines[end]!.includes('*/')) end++
      doc = plainDoc(lines.slice(i, end + 1).join('\n'))
      i = end
      continue
    }
    const top = TOP.exec(line)
    const member = owner && i <= owner.end && !top && !PRIVATE.test(line) ? MEMBER.exec(line) : null
    if (top) {
      const word = top[2]!
      const kind = word.startsWith('function')
        ? 'function'
        : word === 'class'
          ? 'class'
          : /type|interface/.test(word)
            ? 'type'
            : 'const'
      const end = endOf(lines, i, '')
      entries.push({
        name: top[3]!,
        of: null,
        file,
        line: i + 1,
        kind,
        exported: Boolean(top[1]),
        doc,
        source: lines.slice(i, end + 1).join('\n'),
      })
      owner =
        kind === 'class' || kind === 'type'
          ? { name: top[3]!, end, indent: /^ */.exec(lines[i + 1] ?? '')![0] }
          : null
      if (kind === 'function') i = end
    } else if (member && owner && member[1] === owner.indent) {
      const indent = owner.indent
      const end = endOf(lines, i, indent)
      entries.push({
        name: member[2] ?? member[3]!,
        of: owner.name,
        file,
        line: i + 1,
        kind: 'member',
        exported: true,
        doc,
        source: lines
          .slice(i, end + 1)
          .map((one) => one.slice(indent.length))
          .join('\n'),
      })
      if (end > i) i = end
    }
    if (line.trim() !== '') doc = ''
  }
  return entries
}

/**
 * Last line of what starts at a line: the first one at the same indent that closes it, or the line
 * itself.
 */
function endOf(lines: string[], start: number, indent: string): number {
  if (
    /[;,]\s*$|^\s*\S.*[^{([=|&<>,?:]\s*$/.test(lines[start]!) &&
    !/[{([=|&<]\s*$/.test(lines[start]!)
  ) {
    const next = lines[start + 1] ?? ''
    if (!next.startsWith(`${indent}  `) || next.trim() === '') return start
  }
  const opens = /[{([=<]\s*$/.test(lines[start]!)
  for (let i = start + 1; i < lines.length; i++) {
    const line = lines[i]!
    if (
      line.startsWith(`${indent}}`) ||
      line.startsWith(`${indent})`) ||
      line.startsWith(`${indent}]`)
    ) {
      if (/[{([]\s*$/.test(line)) continue
      return i
    }
    if (line.trim() === '' && opens) continue
    if (line.trim() === '' || (line.startsWith(indent) && /^\S/.test(line.slice(indent.length))))
      return i - 1
  }
  return lines.length - 1
}

function plainDoc(comment: string): string {
  return comment
    .replace(/^\s*\/\*\*\s?/, '')
    .replace(/\s*\*\/\s*$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
}

let read: Entry[] | undefined
const FOLDER = fileURLToPath(new URL('..', import.meta.url))

/** Every entry of the library. About 20 ms the first time. */
function libraryEntries(): Entry[] {
  if (read) return read
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).sort()
  const compiled = files.some((file) => file.endsWith('.d.ts'))
  read = files
    .filter((file) => file.endsWith(compiled ? '.d.ts' : '.ts'))
    .flatMap((file) =>
      entriesOf(
        readFileSync(join(FOLDER, file), 'utf8'),
        relative(FOLDER, join(FOLDER, file)).replaceAll(sep, '/'),
      ),
    )
  return read
}

/** The header of a file: its first comment. */
function headerOf(file: string): string {
  try {
    const text = readFileSync(join(FOLDER, file), 'utf8')
    return plainDoc(/^\s*\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? '')
  } catch {
    return ''
  }
}

/**
 * The entry that a path of names means: `stats.wilson`, `run.compare`.
 *
 * @param path  names, the asked one last
 * @param owner class or type of what it is read from, when known; `near` is a file that knows it
 */
export function find(path: readonly string[], owner?: string, near?: string): Entry | undefined {
  const name = path.at(-1)
  const parent = path.at(-2)
  const score = (entry: Entry) =>
    (owner !== undefined && entry.of === owner ? 8 : 0) +
    (near !== undefined && folderOf(entry.file) === folderOf(near) ? 4 : 0) +
    (entry.of === null && parent !== undefined && isOf(entry.file, parent) ? 6 : 0) +
    (entry.of === null && parent === undefined ? 6 : 0) +
    (entry.doc ? 2 : 0) +
    (entry.exported ? 1 : 0)
  const best = libraryEntries()
    .filter((entry) => entry.name === name)
    .sort((a, b) => score(b) - score(a))[0]
  return best && score(best) >= 6 ? best : undefined
}

/** What a namespace gives out may have another name at home: `harness.case` is `define`. */
export function exportedAs(namespace: string, value: unknown): Entry | undefined {
  if (typeof value !== 'function' || types.isProxy(value)) return undefined
  const own: unknown = Object.getOwnPropertyDescriptor(value, 'name')?.value
  const [first] = libraryEntries()
    .filter(
      ({ name, exported, of, kind }) =>
        name === own && exported && of === null && /^(function|class)$/.test(kind),
    )
    .sort((a, b) => Number(isOf(b.file, namespace)) - Number(isOf(a.file, namespace)))
  return first
}

/** The public members of a class or type, each once, in the order of its source. */
export function membersOf({ name, file }: Entry): Entry[] {
  const all = libraryEntries().filter(
    (entry) =>
      entry.of === name &&
      entry.file === file &&
      entry.name !== 'constructor' &&
      !entry.name.startsWith('['),
  )
  return all.filter((entry, i) => all.findIndex((other) => other.name === entry.name) === i)
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/') + 1)
}

/**
 * Does a file belong to a namespace: `stats/wilson.ts` to stats, `scenario.ts` to scenarios,
 * `harness/cases.ts` to cases?
 */
function isOf(file: string, namespace: string): boolean {
  return file.split(/[/.]/).some((part) => part === namespace || `${part}s` === namespace)
}

/** What a namespace is for: the first comment of its index, or of the file that it is. */
export function headerOfNamespace(namespace: string): string {
  const files = [...new Set(libraryEntries().map((entry) => entry.file))]
  const named = files.filter((file) => isOf(file.split('/').at(-1)!, namespace))
  const own = named.find((file) => file.includes(`${namespace}.`)) ?? named[0]
  return (
    headerOf(`${namespace}/index.ts`) ||
    headerOf(`${namespace}/index.d.ts`) ||
    (own ? headerOf(own) : '')
  )
}

/**
 * A type as a call gives it: its name, the file that says so, and whether a promise of it comes
 * first.
 */
export type Typed = {
  type: string
  /** Of a list: the type of its elements, where it has a name. */
  of?: string | undefined
  near: string
  promised: boolean
}

/** The declaration of a type, from the folder nearest to who names it. */
export function declarationOf(type: string, near: string): Entry | undefined {
  const all = libraryEntries().filter(
    (one) => one.name === type && one.of === null && (one.kind === 'type' || one.kind === 'class'),
  )
  return all.find((one) => folderOf(one.file) === folderOf(near)) ?? all[0]
}

/** Names of a type's or class's members; empty when the library has no such type. */
export function membersOfType(type: string, near: string): string[] {
  const declared = declarationOf(type, near)
  if (!declared) return []
  const own = libraryEntries()
    .filter(
      (entry) => entry.of === type && entry.file === declared.file && entry.name !== 'constructor',
    )
    .map((entry) => entry.name)
  const inferred = /\binfer<typeof (\w+)>/.exec(declared.source)?.[1]
  if (inferred !== undefined) return keysOf(inferred, declared.file)
  const heads = declared.source.split('{')[0]!
  const parts = [...heads.matchAll(/(?:[=&]|extends)\s*([A-Z]\w+)/g)].map((match) => match[1]!)
  return [
    ...own,
    ...parts.filter((part) => part !== type).flatMap((part) => membersOfType(part, declared.file)),
  ]
}

/** The keys of a schema: what stands at the least indent of its source. */
function keysOf(schema: string, file: string): string[] {
  const declared = libraryEntries().find(
    (one) => one.name === schema && one.file === file && one.kind === 'const',
  )
  const rows = [...(declared?.source ?? '').matchAll(/^( +)(?:readonly )?([\w$]+)\??:/gm)]
  const least = Math.min(...rows.map(([, indent = '']) => indent.length))
  return rows.flatMap(([, indent = '', name = '']) => (indent.length === least ? [name] : []))
}

/** What `await` makes of a type: a class that is a promise of something says so in its head. */
export function awaitedType(known: Typed): Typed {
  const head = declarationOf(known.type, known.near)?.source.split('{')[0] ?? ''
  const of = known.promised ? undefined : /PromiseLike<(\w+)/.exec(head)?.[1]
  return { type: of ?? known.type, of: known.of, near: known.near, promised: false }
}

/** The type that a call or read gives: `Promise<Run>` is Run, promised. */
export function typeOf(entry: Entry): Typed | undefined {
  const head = entry.source.split('\n').slice(0, 12).join(' ')
  const said = entry.source.includes('(')
    ? /\)\s*:\s*(?:readonly )?([\w.]+)(?:<([\w.]+)(\[\])?)?/.exec(
        head.slice(closingParenthesis(head)),
      )
    : /:\s*([\w.]+)(?:<([\w.]+)(\[\])?)?/.exec(head)
  if (!said) return undefined
  const near = entry.file
  const promised = said[1] === 'Promise' || said[1] === 'PromiseLike'
  const type = promised ? said[2] : said[1]
  if (type === 'this') return entry.of ? { type: entry.of, near, promised: false } : undefined
  if (!type) return undefined
  const listed = promised ? (said[3] ?? '') : afterType(head, said)
  const isList = /\[\]/.test(listed) || /^(Readonly)?Array$/.test(type)
  const of = /\[\]/.test(listed) ? type : said[2]
  return isList ? { type: 'Array', of, near, promised } : { type, near, promised }
}

function afterType(head: string, said: RegExpExecArray): string {
  const at = head.indexOf(said[0])
  return at < 0 ? '' : head.slice(at + said[0].length, at + said[0].length + 2)
}

function closingParenthesis(head: string): number {
  let depth = 0
  for (let i = head.indexOf('('); i >= 0 && i < head.length; i++) {
    if (head[i] === '(') depth++
    else if (head[i] === ')' && --depth === 0) return i
  }
  return 0
}
