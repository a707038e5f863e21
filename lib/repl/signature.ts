/**
 * Types as the library's source writes them, read as text: what a parameter takes, what an object's
 * members are, and which texts a union allows.
 */
import { declarationOf, type Entry, find, membersOfType } from './sources.ts'

/** A type's text, and the file that writes it. */
export type TypeText = { text: string; near: string }

/** The type of a function's parameter. @param n counted from 0; a rest parameter takes the rest */
export function parameterType(entry: Entry, n: number): TypeText | undefined {
  const open = entry.source.indexOf('(')
  if (open < 0) return undefined
  const parameters = parts(inside(entry.source, open), ',')
  const last = parameters.at(-1)
  const text = parameters[n] ?? (last?.trim().startsWith('...') ? last : undefined)
  if (text === undefined) return undefined
  const [, type = ''] = split(text, ':')
  const [bare] = split(type, '=')
  return { text: bare.trim(), near: entry.file }
}

/** Names of the members of an object type. */
export function memberNamesOf(type: TypeText): string[] {
  return [...new Set(objectsOf(type).flatMap(({ names }) => names))]
}

/** The type of a member. `null`: of an element of a list. */
export function memberType(type: TypeText, name: string | null): TypeText | undefined {
  if (name === null) {
    const listed = /^(?:readonly\s+)?\(?([\s\S]*?)\)?\[\]$/.exec(type.text)
    return listed ? { text: listed[1] as string, near: type.near } : undefined
  }
  for (const one of objectsOf(type)) {
    const found = one.typeOf(name)
    if (found) return found
  }
  return undefined
}

/** The texts that a type allows, where it names them. */
export function textsOf({ text, near }: TypeText, depth = 0): string[] {
  if (depth > 6) return []
  return parts(text, '|').flatMap((part): string[] => {
    const one = part.trim()
    const literal = /^'([^']*)'$|^"([^"]*)"$/.exec(one)
    if (literal) return [literal[1] ?? literal[2] ?? '']
    const keys = /^keyof typeof (\w+)$/.exec(one)
    if (keys) return keysOfConst(keys[1] as string, near)
    const listed = /^\(typeof (\w+)\)\[number\]$/.exec(one)
    if (listed) return listOfConst(listed[1] as string, near)
    const aliased = /^[\w.]+$/.test(one) && aliasOf(one, near)
    return aliased ? textsOf(aliased, depth + 1) : []
  })
}

type Members = { names: string[]; typeOf(name: string): TypeText | undefined }

/** The object types that a type is made of: unions and intersections, aliases, what is omitted. */
function objectsOf({ text, near }: TypeText, depth = 0): Members[] {
  if (depth > 6) return []
  const bare = text.trim()
  if (bare.startsWith('{') && matching(bare, 0) === bare.length - 1)
    return [inlineObject(bare, near)]
  const several = parts(bare, '|').flatMap((part) => parts(part, '&'))
  if (several.length > 1)
    return several.flatMap((part) => objectsOf({ text: part, near }, depth + 1))
  const made = /^(Omit|Pick|Partial|Readonly|Required)<([\s\S]*)>$/.exec(bare)
  if (made) {
    const [of = '', names = ''] = parts(made[2] as string, ',')
    const given = textsOf({ text: names.trim(), near })
    return objectsOf({ text: of.trim(), near }, depth + 1).map((one) => ({
      names: one.names.filter((name) =>
        made[1] === 'Omit' ? !given.includes(name) : made[1] !== 'Pick' || given.includes(name),
      ),
      typeOf: one.typeOf,
    }))
  }
  if (!/^\w+$/.test(bare)) return []
  const aliased = aliasOf(bare, near)
  if (aliased && !aliased.text.startsWith('{')) return objectsOf(aliased, depth + 1)
  const names = membersOfType(bare, near)
  return names.length === 0 ? [] : [{ names, typeOf: (name) => ofMember(bare, name, near) }]
}

/** What a name stands for. */
function aliasOf(name: string, near: string): TypeText | undefined {
  const declared = declarationOf(name.split('.').at(-1) as string, near)
  const [, text] =
    /^[^=]*?\btype \w+(?:<[^=]*>)?\s*=\s*([\s\S]*)$/.exec(declared?.source ?? '') ?? []
  return declared && text ? { text: text.trim().replace(/;$/, ''), near: declared.file } : undefined
}

function ofMember(type: string, name: string, near: string): TypeText | undefined {
  const declared = declarationOf(type, near)
  const entry = declared && find([type, name], type, declared.file)
  if (!entry || entry.of !== type || entry.name !== name) return undefined
  const [, text = ''] = split(entry.source, ':')
  return { text: text.trim().replace(/[;,]$/, ''), near: entry.file }
}

function inlineObject(text: string, near: string): Members {
  const rows = parts(text.slice(1, -1), ';\n').flatMap((row) => {
    const [head, type = ''] = split(row, ':')
    const name = /^\s*(?:readonly\s+)?([\w$]+)\??\s*$/.exec(
      head.replace(/\/\*[\s\S]*?\*\//g, ''),
    )?.[1]
    return name ? [[name, { text: type.trim(), near }] as const] : []
  })
  const types = new Map(rows)
  return { names: [...types.keys()], typeOf: (name) => types.get(name) }
}

function constNamed(name: string, near: string): string {
  const found = find([name], undefined, near)
  return found?.kind === 'const' && found.name === name ? found.source : ''
}

function keysOfConst(name: string, near: string): string[] {
  const source = constNamed(name, near)
  const open = source.indexOf('{', source.search(/=|:/))
  if (open < 0) return []
  return parts(inside(source, open), ',;\n').flatMap((row) => {
    const key = /^\s*(?:readonly )?(?:'([^']+)'|([\w$]+))\??\s*:/.exec(row)
    return key ? [key[1] ?? (key[2] as string)] : []
  })
}

function listOfConst(name: string, near: string): string[] {
  const source = constNamed(name, near)
  const open = source.indexOf('[')
  if (open < 0) return []
  return [...inside(source, open).matchAll(/'([^']*)'|"([^"]*)"/g)].map(
    ([, single, double]) => single ?? double ?? '',
  )
}

/** The text between a bracket and the one that closes it. */
function inside(text: string, open: number): string {
  return text.slice(open + 1, matching(text, open))
}

function matching(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    at = behindQuoted(text, at)
    if (opens(text, at)) depth++
    else if (closes(text, at) && --depth === 0) return at
  }
  return text.length
}

/** Parts of a text between separators that stand in no bracket. */
function parts(text: string, separators: string): string[] {
  const found: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    at = behindQuoted(text, at)
    if (opens(text, at)) depth++
    else if (closes(text, at)) depth--
    else if (depth === 0 && separators.includes(text[at] ?? ' ')) {
      found.push(text.slice(from, at))
      from = at + 1
    }
  }
  found.push(text.slice(from))
  return found.filter((part) => part.trim() !== '')
}

/** A text cut at the first separator that stands in no bracket. */
function split(text: string, separator: ':' | '='): [string, string?] {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    at = behindQuoted(text, at)
    if (opens(text, at)) depth++
    else if (closes(text, at)) depth--
    else if (depth === 0 && text[at] === separator && text[at + 1] !== '>')
      return [text.slice(0, at), text.slice(at + 1)]
  }
  return [text]
}

const opens = (text: string, at: number) => '([{<'.includes(text[at] ?? ' ')
const closes = (text: string, at: number) =>
  ')]}'.includes(text[at] ?? ' ') || (text[at] === '>' && text[at - 1] !== '=')

/** A place that is in no quotes and no comment: itself, or the end of what it begins. */
function behindQuoted(text: string, at: number): number {
  if (text.startsWith('/*', at)) return Math.max(at, text.indexOf('*/', at) + 1)
  if (text.startsWith('//', at)) return Math.max(at, text.indexOf('\n', at) - 1)
  if (!`'"\``.includes(text[at] ?? ' ')) return at
  const end = text.indexOf(text[at] as string, at + 1)
  return end < 0 ? at : end
}
