/** Where runs stand: the folders of runs in a folder, and how a person names one. */
import { existsSync, readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { FILES } from './folder.ts'

/** Where runs are left that name no other folder. */
export const RUNS = 'runs'

/** So many folders deep: `runs/2026/may/ci`. */
const DEEPEST = 4

/**
 * The folders of runs in a folder, and in the folders below it, such as those that artifacts of a
 * build were unpacked into. The folder of a run holds no other run.
 *
 * Below the first level `manifest.json` alone is no run: other programs call files so. Hidden
 * folders, `node_modules` and what a link leads to are not searched.
 */
export function runFoldersIn(dir: string): string[] {
  const found: string[] = []
  const search = (folder: string, depth: number) => {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      const told = existsSync(join(path, FILES.manifest))
      if (told && (depth === 1 || existsSync(join(path, FILES.trials)))) found.push(path)
      else if (depth < DEEPEST && entry.isDirectory() && !/^(\.|node_modules$)/.test(entry.name))
        search(path, depth + 1)
    }
  }
  search(dir, 1)
  return found
}

/** What is not there, is no folder or may not be read has no run that anybody could open. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/**
 * The names of a run's folder from where the program was called, the shortest first: within runs/,
 * else as a path, and as a whole path where it stands elsewhere.
 */
export function namesOfFolder(dir: string): string[] {
  const whole = resolve(dir)
  const within = (from: string) => {
    const name = relative(from, whole)
    return name === '' || /^(\.\.|-)/.test(name) ? [] : [name]
  }
  return [...within(resolve(RUNS)), ...within(resolve('.')), whole]
}
