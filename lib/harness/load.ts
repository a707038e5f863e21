/** Reading cases from YAML files, with every mistake named by file, line and column. */
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Document, isNode, LineCounter, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { decode, readBytes } from '../canonical.ts'
import { count } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { World, type WorldDefinition, worldNamed } from '../world/index.ts'
import { type Case, caseFrom, caseSchema } from './case.ts'
import type { ServerPlan } from './server.ts'
import { planOf } from './trial.ts'

type Path = (string | number | symbol)[]
type Locate = (path: Path) => string

/** See `cases.load`. */
export async function load(from: string | string[] = shippedCases()): Promise<Case[]> {
  const files = [...new Set([from].flat().flatMap(filesOf))]
  const cases: Case[] = []
  const places = new Map<string, string>()
  const twins: { test: Case; where: string }[] = []
  for (const file of files) {
    for (const { test, locate } of casesIn(decode(readBytes(file), file), file)) {
      const other = places.get(test.id)
      if (other)
        throw new TouchstoneError('case_invalid', `expected each case id once, got "${test.id}" again after ${other}`, {
          where: locate(['id']),
        })
      places.set(test.id, locate(['id']))
      cases.push(test)
      if (test.twin !== null) twins.push({ test, where: locate(['twin']) })
    }
  }
  for (const { test, where } of twins) {
    const twin = cases.find((one) => one.id === test.twin)
    if (twin?.attack)
      throw new TouchstoneError('case_invalid', `expected a benign twin, got "${twin.id}", which has an attack`, {
        where,
      })
  }
  return cases
}

/** The folder of the cases that come with Touchstone. */
export function shippedCases(): string {
  return fileURLToPath(new URL('../../cases/', import.meta.url))
}

/** See `cases.parse`. */
export function parseCases(text: string, source = 'case'): Case[] {
  return casesIn(text, source).map(({ test }) => test)
}

export function filesOf(from: string): string[] {
  let found: string[] = []
  try {
    found = statSync(from).isDirectory() ? globSync(join(from, '**/*.{yaml,yml}')) : [from]
  } catch (cause) {
    if (!/[*?[{]/.test(from)) {
      const code = (cause as NodeJS.ErrnoException).code ?? 'an error'
      throw new TouchstoneError('file_unreadable', `expected a file or folder of cases, got ${code}`, {
        where: from,
        cause,
      })
    }
    found = globSync(from)
  }
  if (found.length === 0)
    throw new TouchstoneError('file_unreadable', 'expected at least one .yaml file, got none', { where: from })
  return found.sort()
}

export function casesIn(text: string, source: string): { test: Case; locate: Locate }[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  if (!Array.isArray(documents) || documents.length === 0) {
    throw new TouchstoneError('case_invalid', 'expected a case, got an empty file', { where: `${source}:1:1` })
  }
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${source}:${line}:${col}`
  }
  return documents.map((document) => {
    const problem = document.errors[0]
    if (problem)
      throw new TouchstoneError('yaml_syntax', `expected YAML, got: ${problem.message}`, { where: at(problem.pos[0]) })
    const locate: Locate = (path) => at(offsetOf(document, path))
    const parsed = caseSchema.safeParse(document.toJS({ maxAliasCount: 100 }))
    if (!parsed.success) {
      const issue = parsed.error.issues[0] as (typeof parsed.error.issues)[number]
      const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] as string] : issue.path
      const others = parsed.error.issues.length - 1
      throw new TouchstoneError(
        'case_invalid',
        `${path.length ? `${path.map(String).join('.')}: ` : ''}${said(issue.message)}${others ? `; and ${count(others, 'more mistake')}` : ''}`,
        { where: locate(path) },
      )
    }
    const test = caseFrom(parsed.data)
    requireNames(test, locate, parsed.data.server !== undefined)
    return { test, locate }
  })
}

/** zod says "Invalid input: expected string, received number"; everything here says "expected string, got number". */
function said(message: string): string {
  return message.replace(/^Invalid (input|option): /, '').replace(', received ', ', got ')
}

/** Where in the text a member stands; for one that is missing, where its nearest parent does. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length) as unknown[], true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

/** The worlds, tools, arguments, tables and columns that a case names are there. */
function requireNames(test: Case, locate: Locate, single: boolean): void {
  const wrong = (expected: string, got: string, path: Path): never => {
    throw new TouchstoneError('case_invalid', `expected ${expected}, got "${got}"`, { where: locate(path) })
  }
  const worlds = new Map<string, World>()
  const toolOf = (server: string | undefined, name: string, path: Path) => {
    const definition = worlds.get(server ?? (test.servers[0]?.name as string))?.definition
    if (!definition) return undefined
    if (Object.hasOwn(definition.tools, name)) return definition.tools[name]
    return wrong(`a tool of ${definition.name} (${Object.keys(definition.tools).join(', ')})`, name, path)
  }
  for (const [i, spec] of test.servers.entries()) {
    if (spec.world === undefined) continue
    const here: Path = single ? ['server'] : ['servers', i]
    worlds.set(
      spec.name,
      startedWorld(planOf(spec), (path) => locate([...here, ...path])),
    )
    for (const [f, fault] of spec.faults.entries()) toolOf(spec.name, fault.tool, [...here, 'faults', f, 'tool'])
    for (const part of ['describe', 'parameters', 'inject'] as const) {
      for (const tool of Object.keys(spec[part])) toolOf(spec.name, tool, [...here, part, tool])
    }
  }
  for (const [i, step] of test.solution.entries()) {
    const calls = [{ step, path: ['solution', i] as Path }]
    if (step.check) calls.push({ step: { ...step.check, server: step.server }, path: ['solution', i, 'check'] })
    for (const { step: one, path } of calls) {
      const problem = toolOf(one.server, one.call, [...path, 'call'])?.input.safeParse(one.with).error?.issues[0]
      if (problem)
        throw new TouchstoneError('case_invalid', `${said(problem.message)}`, {
          where: locate([...path, 'with', ...problem.path]),
        })
    }
  }
  for (const [i, call] of (test.attack?.calls ?? []).entries())
    toolOf(call.server, call.call, ['attack', 'calls', i, 'call'])
  const goals: [Case['goal'], Path][] = [[test.goal, ['goal']]]
  if (test.attack) goals.push([test.attack.goal, ['attack', 'goal']])
  for (const [goal, path] of goals) {
    if (typeof goal === 'function') continue
    for (const [i, predicate] of goal.entries()) {
      const world = worlds.get(predicate.server ?? (test.servers[0]?.name as string))
      if (!world || predicate.table === undefined) continue
      const tables = tablesOf(world.definition)
      const columns = tables[predicate.table]
      if (!columns) wrong(`a table (${Object.keys(tables).join(', ')})`, predicate.table, [...path, i, 'table'])
      for (const column of Object.keys(predicate.where ?? {})) {
        if (columns?.length && !columns.includes(column))
          wrong(`a column of ${predicate.table} (${columns.join(', ')})`, column, [...path, i, 'where', column])
      }
    }
  }
}

function startedWorld(plan: ServerPlan, locate: Locate): World {
  const definition = ((): WorldDefinition => {
    try {
      return worldNamed(plan.world as string)
    } catch (cause) {
      throw new TouchstoneError('case_invalid', (cause as Error).message.replace(/ \([^()]*\)$/, ''), {
        where: locate(['world']),
        cause,
      })
    }
  })()
  try {
    return new World(definition, plan.state)
  } catch (cause) {
    const { where = '', message } = cause as TouchstoneError
    const path = where.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    throw new TouchstoneError('case_invalid', message.slice(0, message.length - where.length - 3), {
      where: locate(path),
      cause,
    })
  }
}

/** Table -> its columns; none are known where the schema is open. */
function tablesOf(definition: WorldDefinition): { [table: string]: string[] } {
  type Schema = { properties?: { [name: string]: { items?: { properties?: object } } } }
  const { properties = {} } = z.toJSONSchema(definition.state, { unrepresentable: 'any' }) as Schema
  return Object.fromEntries(
    Object.entries(properties).map(([table, { items }]) => [table, Object.keys(items?.properties ?? {})]),
  )
}
