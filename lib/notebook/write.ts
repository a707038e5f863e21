/** The files of a run on disk, and the run in a few lines for a terminal. */
import { readdirSync, rmSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { onlyMembers } from '../arguments.ts'
import { duration, foreign, type Look, tone } from '../display.ts'
import { makeFolder, replaceFile, unwritable } from '../files.ts'
import type { NotebookResult } from './execute.ts'
import { html } from './html.ts'
import { ipynb } from './ipynb.ts'
import { failureText, markdown } from './markdown.ts'

export type Write = {
  /** Folder, made when it is not there. */
  folder: string
  md?: boolean
  html?: boolean
  ipynb?: boolean
}

/**
 * Write a run's files: `<notebook>.md` with `<notebook>-<n>.svg`, `<notebook>.html`,
 * `<notebook>.ipynb`. Charts that an earlier run left and this one does not have are removed.
 *
 * Each file is there whole or as it was before, also when the process is killed.
 *
 * @returns paths written
 * @throws TouchstoneError `file_unwritable`
 */
export async function write(result: NotebookResult, options: Write): Promise<string[]> {
  onlyMembers(options, ['folder', 'md', 'html', 'ipynb'], 'options')
  const name = basename(result.file, extname(result.file))
  const files = new Map<string, string>()
  if (options.md) for (const [file, text] of markdown(result, name).files) files.set(file, text)
  if (options.html) files.set(`${name}.html`, await html(result))
  if (options.ipynb) files.set(`${name}.ipynb`, ipynb(result))
  let path = options.folder
  try {
    makeFolder(options.folder)
    for (const [file, text] of files) {
      path = join(options.folder, file)
      replaceFile(path, text)
    }
    if (options.md) {
      for (const file of readdirSync(options.folder)) {
        const isOld =
          file.startsWith(`${name}-`) &&
          /^\d+\.svg$/.test(file.slice(name.length + 1)) &&
          !files.has(file)
        if (isOld) rmSync(join(options.folder, file))
      }
    }
  } catch (cause) {
    throw unwritable(path, cause)
  }
  return [...files.keys()].map((file) => join(options.folder, file))
}

/** One line for a run, and one for its failure. */
export function summary(result: NotebookResult, look: Look = {}): string {
  const ran = result.cells.filter((cell) => cell.state === 'ran').length
  const runnable = result.cells.filter((cell) =>
    ['ran', 'failed', 'not_run'].includes(cell.state),
  ).length
  const head = `${result.ok ? tone('ran', 'good', look) : tone('failed', 'bad', look)}  ${result.file}  ${ran} of ${runnable} cells, ${duration(result.durationMs)}`
  const failed = result.cells.find((cell) => cell.state === 'failed')
  const failure = failed?.outputs.find((output) => output.kind === 'error')
  return failure ? `${head}\n  ${foreign(failureText(failure), 1000)}` : head
}
