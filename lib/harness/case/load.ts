/** Reading cases from YAML files, with every mistake named by file, line and column. */
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Document, isNode, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml'
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, unreadable } from '../../files.ts'
import { decode } from '../../json.ts'
import type { Case } from './case.ts'
import { type Locate, type Path, readCase } from './check.ts'
import { requirePlayable } from './play.ts'

/** See `cases.load`. */
export async function load(from: string | string[] = shippedCases()): Promise<Case[]> {
  const files = [...new Set([from].flat().flatMap(filesOf))]
  const wholeFolder = [from]
    .flat()
    .some((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
  const cases: Case[] = []
  const places = new Map<string, string>()
  const twins: { test: Case; where: string }[] = []
  for (const file of files) {
    for (const { test, locate } of casesIn(decode(readBytes(file), file), file)) {
      const other = places.get(test.id)
      if (other)
        throw new TouchstoneError(
          'case_invalid',
          `expected each case id once, got "${test.id}" again after ${other}`,
          {
            where: locate(['id']),
          },
        )
      places.set(test.id, locate(['id']))
      await requirePlayable(test, locate)
      cases.push(test)
      if (test.twin !== null) twins.push({ test, where: locate(['twin']) })
    }
  }
  for (const { test, where } of twins) {
    const twin = cases.find((one) => one.id === test.twin)
    // Of a single file the twin may stand in another; of a folder everything is here.
    if (!twin && wholeFolder)
      throw new TouchstoneError(
        'case_invalid',
        `expected the id of a case that is loaded, ${gotWord(
          test.twin,
          cases.map(({ id }) => id),
        )}`,
        {
          where,
        },
      )
    if (twin === test)
      throw new TouchstoneError(
        'case_invalid',
        'expected another case as the twin, got the case itself',
        { where },
      )
    if (twin?.attack)
      throw new TouchstoneError(
        'case_invalid',
        `expected a benign twin, got "${twin.id}", which has an attack`,
        {
          where,
        },
      )
  }
  return cases
}

/** The folder of the cases that come with Touchstone. */
export function shippedCases(): string {
  return fileURLToPath(new URL('../../../cases/', import.meta.url))
}

/** See `cases.parse`. */
export async function parseCases(text: string, source = 'case'): Promise<Case[]> {
  const found = casesIn(text, source)
  for (const { test, locate } of found) await requirePlayable(test, locate)
  return found.map(({ test }) => test)
}

/** Where there is no folder `cases`, `cases/...` means the cases that ship, so that documented lines work anywhere. */
function placed(from: string): string {
  const under = /^(?:\.\/)?cases(?:\/(.*))?$/.exec(from)
  if (under === null || existsSync('cases')) return from
  return join(shippedCases(), under[1] ?? '')
}

export function filesOf(given: string): string[] {
  const from = placed(given)
  let found: string[] = []
  try {
    found = statSync(from).isDirectory() ? globSync(join(from, '**/*.{yaml,yml}')) : [from]
  } catch (cause) {
    if (!/[*?[{]/.test(from)) throw unreadable(given, cause, 'a file or folder of cases')
    found = globSync(from)
  }
  if (found.length === 0)
    throw new TouchstoneError('file_unreadable', 'expected at least one .yaml file, got none', {
      where: given,
    })
  return found.sort()
}

export function casesIn(text: string, source: string): { test: Case; locate: Locate }[] {
  const lines = new LineCounter()
  const documents = documentsIn(text, lines, source)
  if (!Array.isArray(documents) || documents.length === 0) {
    throw new TouchstoneError('case_invalid', 'expected a case, got an empty file', {
      where: `${source}:1:1`,
    })
  }
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
    const locate: Locate = (path) => at(offsetOf(document, path))
    let value: unknown
    try {
      value = document.toJS({ maxAliasCount: 100 })
    } catch (cause) {
      throw new TouchstoneError('yaml_syntax', `expected YAML, got: ${(cause as Error).message}`, {
        where: locate([]),
        cause,
      })
    }
    return { test: readCase(value, locate), locate }
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
