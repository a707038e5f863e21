/**
 * What a program printed as JSON: one value, or one on each line. A path leads to a part of it:
 *
 * | path | what it finds |
 * |---|---|
 * | `a.b[0].c`, `a[-1]` | a member of a member; a negative number counts from the end |
 * | `a.*.c` | that member of each value of `a` |
 * | `a[type=text].c` | that member of each element of the list `a` whose `type` is `text` |
 * | `[type=text].c[-1]` | the same of the lines of the output, and of what was found the last |
 * | `a + b` | both, for counts that are added up |
 */
import type { Json } from '../../../json.ts'

/** A JSON value, and the lines that were JSON: all of them, unless some were `cut` off. */
export type JsonOutput = { value: Json; lines: Json[]; cut: boolean }

/** Lines of an output that are looked at from its end. It may have millions that are no JSON. */
const MOST_OTHER_LINES = 1000

/**
 * The JSON of an output: the whole of it, or the last line that is an object or a list. Undefined
 * where none of the last 1,000 lines is one.
 *
 * @param cut the text is the end of a longer one
 */
export function jsonOutput(text: string, cut = false): JsonOutput | undefined {
  const whole = objectIn(text)
  if (whole !== undefined)
    return { value: whole, lines: Array.isArray(whole) ? whole : [whole], cut }
  const lines: Json[] = []
  let end = text.trimEnd().length
  for (let others = 0; others < MOST_OTHER_LINES && end > 0; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1
    const value = objectIn(text.slice(start, end))
    if (value === undefined) others++
    else lines.push(value)
    end = start - 1
  }
  const [value] = lines
  if (value === undefined) return undefined
  return { value, lines: lines.reverse(), cut: cut || end > 0 }
}

/** What a path leads to: nothing, one value, or all that a `*` or a condition left. */
type Found = { many: boolean; values: Json[] }

/** The text at a path, several on lines of their own; undefined where nothing is there. */
export function textAt(output: JsonOutput, path: string): string | undefined {
  const found = follow(output, path)
  if (found === undefined) return undefined
  return found.values
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join('\n')
}

/** The value at a path; of several, the last. */
export function valueAt(output: JsonOutput, path: string): Json | undefined {
  return follow(output, path)?.values.at(-1)
}

/**
 * The sum of the counts at a path, or what is there in place of a number. Undefined where one of
 * its terms leads nowhere, or to lines of which some are cut off: what is not known is not 0.
 */
export function sumAt(output: JsonOutput, path: string): Json | undefined {
  let sum = 0
  for (const term of path.split(' + ')) {
    const values = follow(output, term)?.values ?? []
    const other = values.find((value) => typeof value !== 'number')
    if (other !== undefined) return other
    if (values.length === 0 || (output.cut && term.startsWith('['))) return undefined
    for (const value of values) sum += value as number
  }
  return sum
}

function follow({ value, lines }: JsonOutput, path: string): Found | undefined {
  let found: Found = { many: false, values: [path.startsWith('[') ? lines : value] }
  for (const [part, inside] of path.matchAll(/\[([^\]]*)\]|[^.[\]]+/g)) {
    const next = step(found, inside ?? part)
    if (next === undefined) return undefined
    found = next
  }
  return found
}

function step({ many, values }: Found, part: string): Found | undefined {
  if (part === '*') return { many: true, values: values.flatMap(membersOf) }
  const [name = '', wanted] = part.split(/=(.*)/s)
  if (wanted !== undefined) {
    const among = many
      ? values.flatMap((one) => (Array.isArray(one) ? one : [one]))
      : listIn(values)
    const named = among?.filter((one) => memberOf(one, name) !== undefined)
    // Nothing has that member: the output is of another form than the path.
    if (among === undefined || (named?.length === 0 && among.length > 0)) return undefined
    return { many: true, values: named?.filter((one) => memberOf(one, name) === wanted) ?? [] }
  }
  // Of what a condition left, which may be nothing, a number takes one.
  if (many && /^-?\d+$/.test(part)) return { many, values: values.slice(Number(part)).slice(0, 1) }
  const inside = values
    .map((one) => memberOf(one, part))
    .filter((member): member is Json => member !== undefined)
  return inside.length === 0 && values.length > 0 ? undefined : { many, values: inside }
}

function listIn([value]: Json[]): Json[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function membersOf(value: Json): Json[] {
  return value !== null && typeof value === 'object' ? Object.values(value) : []
}

function memberOf(value: Json, name: string): Json | undefined {
  if (Array.isArray(value)) return /^-?\d+$/.test(name) ? value.at(Number(name)) : undefined
  const has = value !== null && typeof value === 'object' && Object.hasOwn(value, name)
  return has ? value[name] : undefined
}

function objectIn(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    return value !== null && typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}
