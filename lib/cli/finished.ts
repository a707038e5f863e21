/**
 * A run that has ended, found by what a person types: its folder, its id, the beginning of its id,
 * or nothing for the newest.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gotWord } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import { readJson } from '../files.ts'
import { open, type Run } from '../harness/index.ts'
import { requirePlainFiles } from '../log/index.ts'
import type { Option } from './verb/verb.ts'

/** Where runs are left that name no other folder. */
export const RUNS = 'runs'

/** Ids of the runs in runs/, the newest first. */
export function runNames(): string[] {
  return foldersIn(RUNS).map((folder) => relative(RUNS, folder))
}

/**
 * Cases, configurations and repeats of the run that `--run` among the words names, or of the
 * newest.
 */
export function namesIn(given: readonly string[]): {
  cases: string[]
  configurations: string[]
  trials: string[]
} {
  const at = given.indexOf('--run')
  const folder = runFolder(at < 0 ? undefined : given[at + 1])
  requirePlainFiles(folder)
  const { cases, configurations, repeats } = readJson(join(folder, 'manifest.json')) as {
    cases: { id: string }[]
    configurations: { name: string }[]
    repeats: number
  }
  return {
    cases: cases.map(({ id }) => id),
    configurations: configurations.map(({ name }) => name),
    trials: Array.from({ length: repeats }, (_, i) => String(i)),
  }
}

export const RUN_OPTION: Option = {
  type: 'string',
  value: 'RUN',
  says: 'the run: its folder, or its id or the beginning of it in runs/. Default: the newest there',
  offers: runNames,
}

/** Folders of runs in a folder, the newest first. A run's id begins with its time. */
export function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'manifest.json')))
    .map((name) => ({ name, at: statSync(join(folder, name, 'manifest.json')).mtimeMs }))
    .sort((a, b) => b.at - a.at || (a.name < b.name ? 1 : -1))
    .map(({ name }) => join(folder, name))
}

/** The folder of the run that is meant. @throws TouchstoneError `run_unknown` with what there is */
function runFolder(word: string | undefined): string {
  const folders = foldersIn(RUNS)
  if (word === undefined) {
    const [newest] = folders
    if (newest !== undefined) return newest
    throw new TouchstoneError(
      'run_unknown',
      `expected a run in ${RUNS}/, got none: touchstone run writes one`,
    )
  }
  if (existsSync(join(word, 'manifest.json'))) return word
  const names = runNames()
  if (names.includes(word)) return join(RUNS, word)
  const begun = names.filter((name) => name.startsWith(word))
  if (begun.length === 1) return join(RUNS, begun[0] as string)
  if (begun.length > 1)
    throw new TouchstoneError(
      'run_unknown',
      `expected the beginning of one run, got "${word}", which begins ${begun.slice(0, 5).join(', ')}`,
    )
  throw new TouchstoneError(
    'run_unknown',
    `expected a run's folder with manifest.json or a run in ${RUNS}/ (${names.slice(0, 5).join(', ') || 'none'}), ${gotWord(word, names)}`,
  )
}

/** Whether a word is a run's folder, or its whole id. */
export function isRun(word: string): boolean {
  return existsSync(join(word, 'manifest.json')) || runNames().includes(word)
}

/** Open the run that is meant. */
export function openRun(word: string | undefined): Promise<Run> {
  return open(runFolder(word))
}
