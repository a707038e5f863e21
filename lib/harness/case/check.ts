/**
 * Checks a case, and says what is wrong with it in one line with its place: "expected X, got Y".
 */
import { z } from 'zod'
import { amongText, gotWord, nearest } from '../../choice.ts'
import { count } from '../../display.ts'
import type { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { World, type WorldDefinition, worldNamed } from '../../world/index.ts'
import { type Case, type CaseFunctions, caseFrom } from './case.ts'
import { shownAsFile } from './case-text.ts'
import { questionsOf, requireJudged } from './check-judged.ts'
import { requireUser } from './check-user.ts'
import { type Issue, kindOf, plain, shown, told } from './issue-text.ts'
import { invalid, type Locate, type Path } from './mistake.ts'
import { caseSchema, type ServerSpec } from './schema/case-schema.ts'
import { kindMeant } from './twins.ts'

/** Mistakes told after the first one. */
const SHOWN = 5

/**
 * Check a document and make a case of it.
 *
 * @throws TouchstoneError `case_invalid` with each mistake and its place; the error's own place is
 *   that of the first
 */
export function readCase(value: unknown, locate: Locate, functions: CaseFunctions = {}): Case {
  const parsed = caseSchema.safeParse(value)
  if (!parsed.success) {
    const { issues } = parsed.error
    // A member that does not belong there is often one that is missing, misspelt: it is named
    // first.
    const first = issues.find((one) => one.code === 'unrecognized_keys') ?? (issues[0] as Issue)
    const others = issues.filter((one) => one !== first)
    const named = (issue: Issue) => {
      const { path, message } = told(issue, value)
      return {
        message: `${path.length ? `${path.map(String).join('.')}: ` : ''}${message}`,
        // A member that does not belong there is wrong by its name.
        where: locate(path, issue.code === 'unrecognized_keys' ? 'key' : undefined),
      }
    }
    const { message, where } = named(first)
    // Whoever mends a file wants all of it at once.
    const rest = others.slice(0, SHOWN).map((issue) => {
      const other = named(issue)
      return `${other.message} at ${other.where}`
    })
    const unsaid = others.length > SHOWN ? '; ...' : ''
    const more = others.length
      ? `; and ${count(others.length, 'more mistake')}: ${rest.join('; ')}${unsaid}`
      : ''
    invalid(message + more, where)
  }
  const test = caseFrom(parsed.data, functions)
  requireNames(test, locate, parsed.data.server !== undefined)
  return shownAsFile(test)
}

/** The words of a condition in `where`. */
const CONDITIONS = ['not', 'contains', 'oneOf']

/** Of JSON Schema 2020-12 what a tool's parameter may say of itself. */
const KEYWORDS = (
  'type enum const default description title examples format pattern minLength maxLength minimum ' +
  'maximum exclusiveMinimum exclusiveMaximum multipleOf items prefixItems contains minItems ' +
  'maxItems uniqueItems minContains maxContains properties required additionalProperties ' +
  'patternProperties propertyNames minProperties maxProperties dependentRequired ' +
  'dependentSchemas unevaluatedItems unevaluatedProperties anyOf oneOf allOf not if then else ' +
  'deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema $ref $defs ' +
  '$schema $id $comment $anchor definitions'
).split(' ')

/** The worlds, tools, arguments, tables and columns that a case names are there. */
function requireNames(test: Case, locate: Locate, single: boolean): void {
  const wrong = (what: string, got: string, path: Path, known: readonly string[]): never =>
    invalid(amongText(what, got, known), locate(path))
  const kind = kindMeant(test.kind)
  if (kind) wrong('a kind that is known, or one that is unlike each', test.kind, ['kind'], [kind])
  const first = test.servers[0]?.name as string
  const worlds = new Map<string, WorldDefinition>()
  const specs = new Map(test.servers.map((spec) => [spec.name, spec]))
  const toolOf = (server: string | undefined, name: string, path: Path) => {
    const definition = worlds.get(server ?? first)
    if (!definition) return undefined
    if (Object.hasOwn(definition.tools, name)) return definition.tools[name]
    return wrong(`a tool of ${definition.name}`, name, path, Object.keys(definition.tools))
  }
  const requireCall = (server: string | undefined, name: string, input: JsonObject, path: Path) => {
    const tool = toolOf(server, name, [...path, 'call'])
    if (!tool) return
    const offered = specs.get(server ?? first)?.parameters[name] ?? {}
    const own = parametersOf(tool.input)
    const names = [...new Set([...own, ...Object.keys(offered)])]
    const known = Object.entries(input).filter(
      ([key]) => own.includes(key) || !Object.hasOwn(offered, key),
    )
    const given = Object.fromEntries(known)
    const issues = tool.input.safeParse(given).error?.issues ?? []
    const strict = issues.find((one) => one.code === 'unrecognized_keys')
    const issue = strict ?? issues[0]
    if (!issue) return
    // An argument that does not belong there is often one that is missing, misspelt. A schema of
    // somebody's own may let it pass.
    const strange =
      strict?.keys[0] ??
      Object.keys(given).find((key) => !names.includes(key) && nearest(key, names) !== null)
    const mistake = told(issue, given)
    const place = ['with', ...(strict || strange === undefined ? mistake.path : [strange])]
    const message =
      strange === undefined
        ? mistake.message
        : names.length
          ? amongText(`an argument of ${name}`, strange, names)
          : `expected no arguments, got "${strange}"`
    invalid(`${[...path, ...place].map(String).join('.')}: ${message}`, locate([...path, ...place]))
  }

  for (const [i, spec] of test.servers.entries()) {
    if (spec.world === undefined) continue
    const here: Path = single ? ['server'] : ['servers', i]
    worlds.set(
      spec.name,
      startedWorld(spec, (path) => locate([...here, ...path])),
    )
    for (const [f, fault] of spec.faults.entries()) {
      const tool = toolOf(spec.name, fault.tool, [...here, 'faults', f, 'tool'])
      const own = tool ? parametersOf(tool.input) : []
      for (const key of Object.keys(fault.set ?? {}))
        if (!own.includes(key))
          wrong(`a parameter of ${fault.tool}`, key, [...here, 'faults', f, 'set', key], own)
    }
    for (const part of ['describe', 'parameters', 'inject'] as const)
      for (const tool of Object.keys(spec[part])) toolOf(spec.name, tool, [...here, part, tool])
    for (const [tool, shown] of Object.entries(spec.parameters))
      for (const [name, schema] of Object.entries(shown))
        for (const member of Object.keys(schema))
          if (!KEYWORDS.includes(member) && !member.startsWith('x-'))
            invalid(
              `expected a keyword of JSON Schema, or one of your own behind x-, ${gotWord(member, KEYWORDS)}`,
              locate([...here, 'parameters', tool, name, member]),
            )
    for (const tool of Object.keys(spec.policy?.deny ?? {}))
      toolOf(spec.name, tool, [...here, 'policy', 'deny', tool])
  }
  for (const [i, step] of test.solution.entries()) {
    requireCall(step.server, step.call, step.with as JsonObject, ['solution', i])
    if (step.check)
      requireCall(step.server, step.check.call, step.check.with as JsonObject, [
        'solution',
        i,
        'check',
      ])
  }
  for (const [i, call] of (test.attack?.calls ?? []).entries())
    requireCall(call.server, call.call, call.with as JsonObject, ['attack', 'calls', i])

  requireUser(test, locate)
  requireJudged(test, locate, single)
  for (const { question, path } of questionsOf(test))
    requireCall(question.server, question.call as string, (question.with ?? {}) as JsonObject, path)
  const goals: [Case['goal'], Path][] = [[test.goal, ['goal']]]
  if (test.attack) goals.push([test.attack.goal, ['attack', 'goal']])
  for (const [goal, path] of goals) {
    if (typeof goal === 'function') continue
    for (const [i, predicate] of goal.entries()) {
      for (const member of ['called', 'before'] as const) {
        const tool = predicate[member]
        if (tool !== undefined) toolOf(predicate.server, tool, [...path, i, member])
      }
      const definition = worlds.get(predicate.server ?? first)
      requireConditions(predicate.where ?? {}, (column) => locate([...path, i, 'where', column]))
      if (!definition) continue
      const tables = tablesOf(definition)
      const names = Object.keys(tables)
      const unchanged = Array.isArray(predicate.unchanged) ? predicate.unchanged : []
      for (const [n, table] of unchanged.entries())
        if (!names.includes(table)) wrong('a table', table, [...path, i, 'unchanged', n], names)
      if (predicate.table === undefined) continue
      const columns = Object.hasOwn(tables, predicate.table) ? tables[predicate.table] : undefined
      if (!columns) wrong('a table', predicate.table, [...path, i, 'table'], names)
      const kinds = columnTypes(definition, predicate.table)
      for (const [column, wanted] of Object.entries(predicate.where ?? {})) {
        const place = [...path, i, 'where', column]
        if (columns?.length && !columns.includes(column))
          wrong(`a column of ${predicate.table}`, column, place, columns)
        // A list never equals a text: such a goal could not be met, and every agent would seem to
        // fail it.
        const kind = kinds[column]
        const words = isObject(wanted) ? Object.keys(wanted) : []
        const other = words.find((word) => !CONDITIONS.includes(word))
        if (kind && kind !== 'object' && isObject(wanted) && other !== undefined)
          wrong('a value, or a condition', other, [...place, other], CONDITIONS)
        if (
          kind &&
          wanted !== null &&
          (Array.isArray(wanted) || typeof wanted !== 'object') &&
          typeName(wanted) !== kind
        )
          invalid(
            `${place.join('.')}: expected ${plain(kind)}, got ${kindOf(wanted)}`,
            locate(place),
          )
      }
    }
  }
}

/** A condition has one word and says nothing else: of two words only one would be asked. */
function requireConditions(where: JsonObject, locate: (column: string) => string): void {
  for (const [column, condition] of Object.entries(where)) {
    if (condition === null || typeof condition !== 'object' || Array.isArray(condition)) continue
    const words = Object.keys(condition)
    if (!words.some((word) => CONDITIONS.includes(word))) continue
    if (words.length > 1)
      invalid(`expected one of not, contains and oneOf, got ${words.join(' and ')}`, locate(column))
    if (
      'oneOf' in condition &&
      !(Array.isArray(condition['oneOf']) && condition['oneOf'].length > 0)
    )
      invalid(
        `expected oneOf to be a list of values, got ${shown(condition['oneOf'])}`,
        locate(column),
      )
    if (
      'contains' in condition &&
      (typeof condition['contains'] !== 'string' || condition['contains'] === '')
    )
      invalid(`expected contains to be text, got ${shown(condition['contains'])}`, locate(column))
  }
}

/** The definition of a server's world, which its state is tried on. */
function startedWorld(spec: ServerSpec, locate: Locate): WorldDefinition {
  const definition = ((): WorldDefinition => {
    try {
      return worldNamed(spec.world as string)
    } catch (cause) {
      return invalid((cause as Error).message.replace(/ \([^()]*\)$/, ''), locate(['world']), cause)
    }
  })()
  const tables = tablesOf(definition)
  for (const [table, rows] of Object.entries(spec.state ?? {})) {
    const columns = Object.hasOwn(tables, table) ? tables[table] : undefined
    if (!columns)
      invalid(amongText('a table', table, Object.keys(tables)), locate(['state', table]))
    for (const [i, row] of rows.entries()) {
      const unknown = Object.keys(row).find(
        (column) => columns.length > 0 && !columns.includes(column),
      )
      if (unknown !== undefined)
        invalid(
          amongText(`a column of ${table}`, unknown, columns),
          locate(['state', table, i, unknown]),
        )
    }
  }
  try {
    new World(definition, spec.state ?? {})
  } catch (cause) {
    const { where = '', message } = cause as TouchstoneError
    const path = where.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    const bare = where ? message.slice(0, message.length - where.length - 3) : message
    invalid(`${where}: ${bare}`, locate(path), cause)
  }
  return definition
}

/** Names out of a schema, made once: the conversion costs more than the rest of a check. */
const known = new WeakMap<
  z.ZodType,
  { [name: string]: Json & { items?: { properties?: object } } }
>()

function membersOf(schema: z.ZodType) {
  const made = known.get(schema)
  if (made) return made
  type Schema = { properties?: { [name: string]: Json & { items?: { properties?: object } } } }
  const { properties = {} } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  }) as Schema
  known.set(schema, properties)
  return properties
}

/** Column -> the one JSON type that it has; columns of several types are left out. */
function columnTypes(definition: WorldDefinition, table: string): { [column: string]: string } {
  const items = membersOf(definition.state)[table]?.items?.properties ?? {}
  const typed = Object.entries(items as { [column: string]: { type?: unknown } })
  return Object.fromEntries(
    typed.flatMap(([column, { type }]) =>
      typeof type === 'string' ? [[column, type === 'integer' ? 'number' : type]] : [],
    ),
  )
}

function typeName(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}

/** Table -> its columns; none are known where the schema is open. */
function tablesOf(definition: WorldDefinition): { [table: string]: string[] } {
  const tables = Object.entries(membersOf(definition.state))
  return Object.fromEntries(
    tables.map(([table, { items }]) => [table, Object.keys(items?.properties ?? {})]),
  )
}

function parametersOf(input: z.ZodType): string[] {
  return Object.keys(membersOf(input))
}
