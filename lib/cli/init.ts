/** `touchstone init`: a first case, configurations, and a workflow, in a folder of one's own. */
import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { TouchstoneError } from '../errors.ts'
import { makeFolder, readText, writeNew, writing } from '../files.ts'
import { ownVersion } from '../harness/run/packages.ts'
import { packaged } from '../packaged.ts'
import { ownName, quoted } from './verb/own-name.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

/** What is written, and where it comes from in the package. */
const FILES = {
  'touchstone/cases/refund.yaml': 'first/case.yaml',
  'touchstone/configurations.yaml': 'first/configurations.yaml',
  'touchstone/case.schema.json': 'fixtures/schemas/case.json',
  '.github/workflows/touchstone.yml': 'first/workflow.yaml',
}

export const init: Verb = {
  usage: 'touchstone init [DIR]',
  says: 'Writes a first case with its benign twin, configurations, the schema that editors complete cases with, and a workflow for GitHub into a folder (default: this one). What is there already is never overwritten.',
  options: { json: { ...JSON_OPTION, says: 'print the paths that were written, as JSON' } },
  exits: { 0: 'all of it is written' },
  examples: ['init my-project'],
  takes: { least: 0, most: 1 },
  async run(words) {
    const [folder = '.'] = words.positionals
    if (folder.trim() === '')
      throw new TouchstoneError('usage', 'expected a folder, got an empty text', { where: 'DIR' })
    for (const path of Object.keys(FILES)) requireFree(folder, path)
    for (const [path, from] of Object.entries(FILES)) {
      const to = join(folder, path)
      writing(to, () => makeFolder(dirname(to)))
      const text = readText(
        from.startsWith('first/') ? join(import.meta.dirname, from) : packaged(from),
      )
      writeNew(to, text.replaceAll('{version}', ownVersion()))
    }
    const paths = Object.keys(FILES).map((path) => join(folder, path))
    const at = (path: string) => join(folder, 'touchstone', path)
    const run = quoted(['run', at('cases'), '--config', at('configurations.yaml')])
    print(
      { toJSON: () => paths },
      words.flag('json'),
      ['Written:', ...paths.map((path) => `  ${path}`), '', 'Now:', `  ${ownName()} ${run}`].join(
        '\n',
      ),
    )
    return EXIT.asHoped
  },
}

/**
 * Nothing is written where any of it would not go through.
 *
 * @throws TouchstoneError `file_exists` for what is there, `file_unwritable` for a way that is no
 *   folder
 */
function requireFree(folder: string, path: string): void {
  const file = join(folder, path)
  const there = (at: string) => lstatSync(at, { throwIfNoEntry: false })
  for (let at = dirname(resolve(file)); ; at = dirname(at)) {
    const found = there(at)
    if (found === undefined) continue
    if (found.isSymbolicLink() && !existsSync(at))
      throw new TouchstoneError('file_unwritable', 'expected a folder, got a link to nothing', {
        where: at,
      })
    if (!statSync(at).isDirectory())
      throw new TouchstoneError('file_unwritable', 'expected a folder, got a file', { where: at })
    break
  }
  if (there(file) !== undefined)
    throw new TouchstoneError('file_exists', 'expected a path where nothing is yet, got a file', {
      where: file,
    })
}
