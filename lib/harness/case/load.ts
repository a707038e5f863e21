/** Reading cases from YAML files, with every mistake named by file, line and column. */
import { existsSync, globSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nearest } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import { readBytes, unreadable } from '../../files.ts'
import { decode } from '../../json.ts'
import { packaged } from '../../packaged.ts'
import { documentsOf } from '../../yaml.ts'
import type { Case } from './case.ts'
import { shownAsTable } from './case-text.ts'
import { readCase } from './check.ts'
import type { Locate } from './mistake.ts'
import { requirePlayable } from './play.ts'
import { twinProblem } from './twins.ts'

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
    // Of a single file the twin may stand in another; of a folder everything is here.
    const problem = twinProblem(test, cases, wholeFolder)
    if (problem) throw new TouchstoneError('case_invalid', problem, { where })
  }
  return shownAsTable(cases)
}

/** The folder of the cases that come with Touchstone. */
export function shippedCases(): string {
  return packaged('cases/')
}

/** See `cases.parse`. */
export async function parseCases(text: string, source = 'case'): Promise<Case[]> {
  const found = casesIn(text, source)
  for (const { test, locate } of found) await requirePlayable(test, locate)
  const all = found.map(({ test }) => test)
  for (const { test, locate } of found) {
    const problem = twinProblem(test, all, false)
    if (problem) throw new TouchstoneError('case_invalid', problem, { where: locate(['twin']) })
  }
  return shownAsTable(all)
}

/**
 * Where there is no folder `cases`, `cases/...` means the cases that ship, so that documented lines
 * work anywhere. What is no path may be a kind of theirs, or the id of one, as tables name them.
 */
function placed(from: string): string {
  const under = /^(?:\.\/)?cases(?:\/(.*))?$/.exec(from)
  if (under !== null && !existsSync('cases')) return join(shippedCases(), under[1] ?? '')
  if (!NAME.test(from) || existsSync(from)) return from
  const named = ['cases', shippedCases()].flatMap((root) => {
    const path = join(root, from.replace(/\.benign$/, ''))
    return [path, `${path}.yaml`]
  })
  return named.find((path) => existsSync(path)) ?? from
}

const NAME = /^[a-z][a-z_]*(?:\/[a-z0-9.-]+)?$/

/** Kinds of the cases that ship. */
function kinds(): string[] {
  return readdirSync(shippedCases(), { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => name)
}

export function filesOf(given: string): string[] {
  const from = placed(given)
  let found: string[] = []
  try {
    found = statSync(from).isDirectory() ? globSync(join(from, '**/*.{yaml,yml}')) : [from]
  } catch (cause) {
    const meant = NAME.test(given) ? nearest(given.split('/')[0] as string, kinds()) : null
    const what = `a file or folder of cases${meant === null ? '' : ` (is the kind ${meant} meant?)`}`
    if (!/[*?[{]/.test(from)) throw unreadable(given, cause, what)
    found = globSync(from)
  }
  if (found.length === 0)
    throw new TouchstoneError('file_unreadable', 'expected at least one .yaml file, got none', {
      where: given,
    })
  return found.sort()
}

export function casesIn(text: string, source: string): { test: Case; locate: Locate }[] {
  const documents = documentsOf(text, source)
  if (documents.length === 0)
    throw new TouchstoneError('case_invalid', 'expected a case, got an empty file', {
      where: `${source}:1:1`,
    })
  return documents.map(({ value, locate }) => ({ test: readCase(value, locate), locate }))
}
