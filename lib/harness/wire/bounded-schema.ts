/**
 * A stranger's JSON Schema made ready for a check that cannot run away: copied within bounds, with
 * a counter in every subschema, so that recursion, alternatives and large data stop at a number of
 * steps.
 */
import { gotShape } from '../../arguments.ts'
import { canonical } from '../../canonical.ts'
import type { Json, JsonObject } from '../../json.ts'

/**
 * Objects and lists of a schema, nested so deep at most. Real ones have some hundreds. To make a
 * check of more takes seconds, or more stack than there is.
 */
const MOST_NODES = 1000
const MOST_DEPTH = 64
/** Steps of one check: an evaluation of a subschema, an item, sixteen characters of a pattern. */
const MOST_STEPS = 4_000_000

/** Members that no check reads, or that would make it one that is never awaited. */
const LEFT_OUT = new Set(['$async', 'default', 'examples', 'description', 'title', '$comment'])
/** Members that hold schemas by name. */
const NAMED = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependencies',
  'dependentSchemas',
])

/** The schema cannot be checked within bounds, or what was checked cannot. */
export class Unbounded extends Error {}

/** Values of `enum` and `const`, found without comparing each with each. */
export class Among {
  private readonly plain = new Set<unknown>()
  private readonly texts = new Set<string>()

  constructor(values: readonly unknown[]) {
    for (const value of values)
      if (isComposed(value)) this.texts.add(textOf(value))
      else this.plain.add(value)
  }

  has(value: unknown, steps: Steps): boolean {
    if (!isComposed(value)) return this.plain.has(value)
    if (this.texts.size === 0) return false
    const text = textOf(value)
    steps.take(text.length / 16)
    return this.texts.has(text)
  }
}

/** What a check has used. One check runs at a time. */
export class Steps {
  private used = 0

  begin(): void {
    this.used = 0
  }

  take(count: number): void {
    this.used += count
    if (this.used > MOST_STEPS)
      throw new Unbounded(`expected a check of at most ${MOST_STEPS} steps, got more`)
  }
}

export type Bounded = {
  schema: JsonObject | boolean
  /** By the number that stands in the place of an `enum` or a `const`. */
  among: Among[]
}

/** Copy a schema with `$cost` and `$among` in it. @throws Unbounded */
export function bounded(schema: unknown): Bounded {
  const among: Among[] = []
  let nodes = 0
  const node = (depth: number) => {
    if (++nodes > MOST_NODES)
      throw new Unbounded(`expected a schema of at most ${MOST_NODES} parts, got more`)
    if (depth > MOST_DEPTH)
      throw new Unbounded(`expected a schema nested at most ${MOST_DEPTH} deep, got deeper`)
  }
  const byName = (value: JsonObject, depth: number): JsonObject => {
    node(depth)
    return fromEntries(Object.entries(value).map(([name, one]) => [name, part(one, depth + 1)]))
  }
  const part = (value: Json, depth: number): Json => {
    if (!isComposed(value)) return value
    node(depth)
    if (Array.isArray(value)) return value.map((one) => part(one, depth + 1))
    let cost = 1
    const members: [string, Json][] = []
    for (const [name, one] of Object.entries(value as JsonObject)) {
      if (LEFT_OUT.has(name)) continue
      cost += 1 + sizeOf(one)
      if (name === 'enum' && Array.isArray(one))
        members.push(['$among', among.push(new Among(one))])
      else if (name === 'const') members.push(['$one', among.push(new Among([one]))])
      else if (NAMED.has(name) && isComposed(one) && !Array.isArray(one))
        members.push([name, byName(one as JsonObject, depth + 1)])
      else members.push([name, part(one, depth + 1)])
    }
    return fromEntries([...members, ['$cost', cost]])
  }
  if (typeof schema === 'boolean') return { schema, among }
  if (!isComposed(schema) || Array.isArray(schema))
    throw new Unbounded(`expected a schema, ${gotShape(schema)}`)
  return { schema: part(schema as JsonObject, 0) as JsonObject, among }
}

/** Members as they are: one named `__proto__` is a member and no prototype. */
function fromEntries(entries: [string, Json][]): JsonObject {
  return Object.fromEntries(entries)
}

/** Members or items of a value: what evaluating a keyword may look at. */
export function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  return isComposed(value) ? Object.keys(value).length : 0
}

function isComposed(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Equal values have one text. */
export function textOf(value: unknown): string {
  try {
    return canonical(value as Json)
  } catch {
    // Half a surrogate pair has no canonical text.
    return JSON.stringify(value)
  }
}
