/** zod's issues in this project's words: "expected X, got Y". */
import type { z } from 'zod'
import { amongText, nearest } from '../../choice.ts'
import type { Path } from './mistake.ts'
import { caseJsonSchema } from './schema/case-schema.ts'

export type Issue = z.core.$ZodIssue

/** zod's issue in our words, with what was found. */
export function told(issue: Issue, value: unknown): { path: Path; message: string } {
  switch (issue.code) {
    case 'unrecognized_keys': {
      const names = membersAt(issue.path)
      const key = issue.keys.find((one) => nearest(one, names)) ?? (issue.keys[0] as string)
      return {
        path: [...issue.path, key],
        message: names.length
          ? amongText('a member', key, names)
          : `expected no such member, got "${key}"`,
      }
    }
    case 'invalid_union': {
      // Of the forms that a value may have, the one that it follows furthest says what is wrong
      // with it.
      const branches = issue.errors.map((branch) => branch[0]).filter((one) => one !== undefined)
      // A member that does not belong there is often one that is missing, misspelt.
      const strange = issue.errors
        .flat()
        .map((one) => ({ ...one, path: [...issue.path, ...one.path] }) as Issue)
        .find(
          (one) =>
            one.code === 'unrecognized_keys' &&
            one.keys.some((key) => nearest(key, membersAt(one.path)) !== null),
        )
      if (strange) return told(strange, value)
      const deepest = branches.toSorted((a, b) => b.path.length - a.path.length)[0]
      if (deepest && deepest.path.length > 0)
        return told({ ...deepest, path: [...issue.path, ...deepest.path] } as Issue, value)
      const forms = branches.map((one) =>
        plain(said(one.message).replace(/^expected |, got .*$/g, '')),
      )
      return {
        path: issue.path,
        message: `expected ${[...new Set(forms)].join(' or ')}, got ${kindOf(at(value, issue.path))}`,
      }
    }
    case 'invalid_value': {
      const [found, known] = [at(value, issue.path), issue.values.map(String)]
      const near = typeof found === 'string' && nearest(found, known) !== null
      return {
        path: issue.path,
        message: near
          ? amongText('a known value', found, known)
          : `expected ${known.length > 1 ? 'one of ' : ''}${known.join(', ')}, got ${shown(found)}`,
      }
    }
    case 'invalid_type':
      return {
        path: issue.path,
        message: `expected ${plain(issue.expected)}${shapeAt(issue.path)}, got ${kindOf(at(value, issue.path))}`,
      }
    default: {
      const message = said(issue.message)
      const found = at(value, issue.path)
      const told = /, got /.test(message) || (found !== null && typeof found === 'object')
      return { path: issue.path, message: told ? message : `${message}, got ${shown(found)}` }
    }
  }
}

type Node = {
  $ref?: string
  description?: string
  type?: string
  properties?: { [name: string]: Node }
  items?: Node
  additionalProperties?: Node
  anyOf?: Node[]
}

/** The members that may stand at a place of a case. */
function membersAt(path: Path): string[] {
  return Object.keys(nodeAt(path)?.properties ?? {})
}

/** Of a place that wants an object: what it maps, or its members. */
function shapeAt(path: Path): string {
  const node = path.length > 0 ? nodeAt(path) : undefined
  if (node?.type !== 'object') return ''
  const [, maps] = /^([A-Z][^.]* -> [^.]*)/.exec(node.description ?? '') ?? []
  if (maps) return ` (${maps})`
  const names = Object.keys(node.properties ?? {})
  return names.length > 0
    ? ` with ${names.slice(0, 6).join(', ')}${names.length > 6 ? ', …' : ''}`
    : ''
}

/** A place of a case in its JSON Schema. */
function nodeAt(path: Path): Node | undefined {
  const schema = caseJsonSchema() as Node & { $defs: { [name: string]: Node } }
  const whole = (node: Node | undefined): Node | undefined => {
    const found = node?.$ref ? schema.$defs[node.$ref.replace('#/$defs/', '')] : node
    const forms = found?.anyOf?.map(whole).filter((one) => one?.properties) ?? []
    // Of several forms each member may stand there.
    return forms.length > 0
      ? { ...forms[0], properties: Object.assign({}, ...forms.map((one) => one?.properties)) }
      : found
  }
  let node: Node | undefined = schema
  for (const key of path)
    node = whole(
      typeof key === 'number'
        ? node?.items
        : (node?.properties?.[String(key)] ?? node?.additionalProperties),
    )
  return node
}

/**
 * zod says "Too small: expected string to have >=1 characters"; everything here starts with
 * "expected".
 */
function said(message: string): string {
  return message.replace(/^[A-Z][A-Za-z ]*: (?=expected)/, '').replace(', received ', ', got ')
}

const PLAIN: { [type: string]: string } = {
  array: 'a list',
  object: 'an object',
  record: 'an object',
  string: 'text',
}

export function plain(type: string): string {
  return Object.hasOwn(PLAIN, type) ? (PLAIN[type] as string) : type
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (from, key) => (from as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value,
  )
}

export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : shown(value)
}

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
