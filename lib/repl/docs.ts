/** `?name` and `??name`: what the source says about it, with its example, and the source itself. */
import { inspect } from 'node:util'
import type { Names } from '../code/evaluate.ts'
import { type Look, table, tone, wrap } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { isNamespace, namespaceOf, valueAt } from './follow.ts'
import { type Entry, exportedAs, find, headerOfNamespace, membersOf } from './sources.ts'

/**
 * Text for `?name` or `??name`.
 *
 * @param question a name or a path of names, such as `stats.wilson` or `run.compare`
 * @param source   show the source too
 * @throws `argument_invalid` when nothing of that name exists
 */
export function describe(question: string, scope: Names, look: Look, source = false): string {
  const path = question.replace(/\(.*$/s, '').trim().split('.').filter(Boolean)
  const found = path.length > 0 ? valueAt(path, scope) : undefined
  const owner = path.length > 1 ? ownerOf(valueAt(path.slice(0, -1), scope)?.value) : undefined
  const value = found?.value
  if (isNamespace(value)) return describeNamespace(path.at(-1)!, value, look)
  const parent = path.length > 1 ? valueAt(path.slice(0, -1), scope)?.value : undefined
  const entry =
    path.length > 1
      ? (isNamespace(parent) && exportedAs(path.at(-2)!, value)) ||
        (find(path, owner ?? path.at(-2)) ?? entryOfValue(value))
      : entryOfName(path[0] ?? '', found, scope)
  if (entry) {
    const home = isNamespace(parent) ? path.at(-2) : namespaceOf(value, scope)
    const names = home === undefined ? undefined : valueAt([home], scope)?.value
    const doc = isNamespace(names) ? asTyped(entry.doc, home as string, names) : entry.doc
    return describeEntry({ ...entry, doc }, value, look, source)
  }
  if (!found)
    throw new TouchstoneError(
      'argument_invalid',
      `expected a name in scope, got ${question.trim()}`,
    )
  if (typeof value === 'function') {
    const text = Function.prototype.toString.call(value)
    return source
      ? text
      : `${tone(text.split('\n')[0]!.replace(/\s*\{\s*$/, ''), 'strong', look)}\n${quiet('no description; ?? shows the source', look)}`
  }
  return `${tone(path.join('.'), 'strong', look)}  ${quiet(typeName(value), look)}\n${inspect(value, { colors: look.colors ?? false, depth: 1, breakLength: look.width ?? 100 })}`
}

const quiet = (text: string, look: Look) => tone(text, 'quiet', look)

/** Class of a value: by its constructor, or by a tag it carries. */
function ownerOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  const tag = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
  const name = (Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null)
    ?.constructor?.name
  return name && name !== 'Object' ? name : typeof tag === 'string' ? tag : undefined
}

function typeName(value: unknown): string {
  return value === null
    ? 'null'
    : typeof value === 'object'
      ? (ownerOf(value) ?? 'object')
      : typeof value
}

/** A name alone: a function of the session is its own, whatever the library has of that name. */
function entryOfName(
  name: string,
  found: { value: unknown } | undefined,
  scope: Names,
): Entry | undefined {
  if (found && typeof found.value === 'function') {
    const home = namespaceOf(found.value, scope)
    return home === undefined ? undefined : find([home, found.value.name])
  }
  if (found) return entryOfValue(found.value)
  const entry = find([name])
  return entry?.exported && entry.of === null && entry.doc ? entry : undefined
}

/** The class of a value. */
function entryOfValue(value: unknown): Entry | undefined {
  const owner = value !== null && typeof value === 'object' ? ownerOf(value) : undefined
  return owner ? find([owner]) : undefined
}

function describeEntry(entry: Entry, value: unknown, look: Look, source: boolean): string {
  const place = quiet(`lib/${entry.file}:${entry.line}`, look)
  if (source) {
    const compiled = entry.file.endsWith('.d.ts') && typeof value === 'function'
    return `${compiled ? Function.prototype.toString.call(value) : entry.source}\n${place}`
  }
  return [
    tone(signatureOf(entry), 'strong', look),
    '',
    layOut(entry.doc || 'No description; ?? shows the source.', look),
    '',
    ...(entry.kind === 'class' ? [membersTable(entry, look), ''] : []),
    place,
  ].join('\n')
}

/**
 * A description whose examples run where they are shown: they are written at home, where a function
 * has no namespace before it, and perhaps another name.
 */
function asTyped(doc: string, namespace: string, names: Names): string {
  const [text = '', ...examples] = doc.split(/^(?=@example)/m)
  const calls = Object.entries(names).filter(([, value]) => typeof value === 'function')
  const named = examples.map((example) =>
    calls.reduce((code, [as, value]) => {
      const { name } = value as () => void
      const own = new RegExp(
        `\\b(?:const|let|function|class)\\s+${name}\\b|[{,]\\s*${name}\\s*[,}].*=`,
      )
      const bare = new RegExp(`(?<![\\w$.'"])${name}(?=\\()`, 'g')
      return own.test(code) ? code : code.replace(bare, `${namespace}.${as}`)
    }, example),
  )
  return [text, ...named].join('')
}

/** What a class offers, a line each. */
function membersTable(entry: Entry, look: Look): string {
  const rows = membersOf(entry).map(({ name, doc, source }) => [
    /^(?:async )?[\w$]+\s*[(<]/.test(source) ? `.${name}()` : `.${name}`,
    firstSentence(doc),
  ])
  return table([{ head: 'member' }, { head: 'what it does', min: 20 }], rows, look)
}

/** The head of a declaration: up to its body. */
function signatureOf(entry: Entry): string {
  if (entry.kind === 'type') return `type ${entry.name}`
  const head = entry.source.replace(/^(export |default |declare |async )+/, '')
  const lines = head.split('\n')
  if (entry.kind === 'const') return lines[0]!.replace(/\s*[={[(]+\s*$/, '')
  const end = lines.findIndex((line) => /\{\s*$/.test(line) && !/[(,:<]\s*\{\s*$/.test(line))
  return lines
    .slice(0, end < 0 ? 1 : end + 1)
    .join('\n')
    .replace(/\s*\{\s*$/, '')
}

/** Paragraphs wrapped, tags on lines of their own, the example as it was written. */
function layOut(doc: string, look: Look): string {
  const width = Math.min(look.width ?? 100, 100)
  const [text = '', ...examples] = doc.split(/^@example\s*/m)
  const paragraphs = text
    .trim()
    .split(/\n(?=@)|\n{2,}/)
    .map((paragraph) => {
      const flat = paragraph.replace(/\s*\n\s*/g, ' ').replace(/\{@link (\S+?)\}/g, '$1')
      const tag = /^@(\w+)\s+/.exec(flat)
      return tag
        ? wrap(flat.replace(tag[0], `${tag[1]} `), width, '  ').replace('  ', '')
        : wrap(flat, width)
    })
  let out = ''
  for (const [i, paragraph] of paragraphs.entries()) {
    const tags = /^(param|returns|throws|see|source) /
    out +=
      (i === 0 ? '' : tags.test(paragraph) && tags.test(paragraphs[i - 1]!) ? '\n' : '\n\n') +
      paragraph
  }
  for (const example of examples)
    out += `\n\n${quiet('example', look)}\n${example.trim().replace(/^/gm, '  ')}`
  return out
}

function describeNamespace(name: string, value: Names, look: Look): string {
  const rows = Object.keys(value)
    .sort()
    .map((member) => {
      const entry = exportedAs(name, value[member]) ?? find([name, member])
      return [`${name}.${member}`, firstSentence(entry?.doc ?? '')]
    })
  const head = headerOfNamespace(name)
  return [
    tone(name, 'strong', look),
    ...(head ? [layOut(head, look)] : []),
    '',
    table([{ head: 'name' }, { head: 'what it does', min: 20 }], rows, look),
  ].join('\n')
}

function firstSentence(doc: string): string {
  const paragraph = doc.split(/\n\n|(?:^|\s)@/)[0]!.replace(/\s*\n\s*/g, ' ')
  return /^.*?[.](?=\s|$)/.exec(paragraph)?.[0] ?? paragraph
}
