/**
 * A run that has ended, found by what a person types: its folder, its id, the beginning of its id,
 * or nothing for the newest.
 */
import { existsSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { gotWord } from '../choice.ts'
import { count } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { readJson } from '../files.ts'
import { open, type Run, type TrialRecord } from '../harness/index.ts'
import { namesOfFolder, RUNS, requirePlainFiles, runFoldersIn } from '../log/index.ts'
import { ownName, quoted } from './verb/own-name.ts'
import type { Option } from './verb/verb.ts'

/** Names of the runs in runs/, the newest first. */
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
  says: 'the run: its folder, or in runs/ its name, its id or the beginning of one. Default: the newest there',
  offers: runNames,
}

/** Folders of runs in a folder and below it, the newest first. */
export function foldersIn(folder: string): string[] {
  return runFoldersIn(folder)
    .map((path) => ({ path, at: statSync(join(path, 'manifest.json')).mtimeMs }))
    .sort((a, b) => b.at - a.at || (a.path < b.path ? 1 : -1))
    .map(({ path }) => path)
}

/** The folder of a run by its own path, or by its path in runs/. */
function folderNamed(word: string): string | undefined {
  return [word, join(RUNS, word)].find((path) => existsSync(join(path, 'manifest.json')))
}

/** The shortest name by which each verb takes the run in a folder. */
export function runName(dir: string): string {
  const whole = resolve(dir)
  const taken = (name: string) => resolve(folderNamed(name) ?? '') === whole
  return namesOfFolder(dir).find(taken) ?? whole
}

/** Folders in runs/ with the id of each run, which is its folder's name where none was given. */
function byId(): { folder: string; id: string }[] {
  return foldersIn(RUNS).map((folder) => {
    try {
      requirePlainFiles(folder)
      const { id } = readJson(join(folder, 'manifest.json')) as { id?: unknown }
      return { folder, id: String(id ?? '') }
    } catch {
      // It is said to be damaged by what opens it.
      return { folder, id: '' }
    }
  })
}

/** What a word can mean: the run of that name or id, else those whose name or id begins so. */
function foldersMeant(word: string): string[] {
  const named = folderNamed(word)
  if (named !== undefined) return [named]
  const known = byId()
  const same = known.filter(({ id }) => id === word)
  const begun = known.filter(
    ({ folder, id }) => id.startsWith(word) || relative(RUNS, folder).startsWith(word),
  )
  return (same.length > 0 ? same : begun).map(({ folder }) => folder)
}

/** A word that is meant as a time, as ids are: one that is like it is another run. */
const ID = /^\d{4}-\d\d-\d\dT/

/** The folder of the run that is meant. @throws TouchstoneError `run_unknown` with what there is */
export function runFolder(word: string | undefined): string {
  if (word === undefined) {
    const [newest] = foldersIn(RUNS)
    if (newest !== undefined) return newest
    throw new TouchstoneError(
      'run_unknown',
      `expected a run in ${RUNS}/, got none: touchstone run writes one`,
    )
  }
  const [folder, ...more] = foldersMeant(word)
  const names = runNames()
  if (folder === undefined)
    throw new TouchstoneError(
      'run_unknown',
      `expected a run's folder with manifest.json or a run in ${RUNS}/ (${names.slice(0, 5).join(', ') || 'none'}), ${ID.test(word) ? `got "${word}": a run elsewhere is named by its folder` : gotWord(word, names)}`,
    )
  if (more.length > 0)
    throw new TouchstoneError(
      'run_unknown',
      `expected the name of one run, got "${word}", which begins the name or id of ${[folder, ...more].slice(0, 5).map(runName).join(', ')}`,
    )
  return folder
}

/** Whether a word is a run's folder, or its whole id. */
export function isRun(word: string): boolean {
  if (folderNamed(word) !== undefined) return true
  return ID.test(word) && byId().some(({ id }) => id === word)
}

/** The folder of a run where a word names one, else the word: a path of something else. */
export function runOrPath(word: string): string {
  if (existsSync(word)) return word
  const [folder, ...more] = foldersMeant(word)
  return folder !== undefined && more.length === 0 ? folder : word
}

/** That a run does not agree with itself, in a line; empty where it does. */
export function unsoundLine(run: Run): string {
  const problems = run.unsound.length
  if (problems === 0) return ''
  const all = `${ownName()} ${quoted(['verify', runName(run.dir)])}`
  return `${run.id} does not agree with itself: ${count(problems, 'problem')}. ${all} has all`
}

/** A record as JSON. What evidence gives that is not the record's is not known. */
export function recordJson(run: Run, record: TrialRecord) {
  return run.unsound.length === 0 ? record : { ...record, levels: null }
}

/** Open the run that is meant. */
export function openRun(word: string | undefined): Promise<Run> {
  return open(runFolder(word))
}
