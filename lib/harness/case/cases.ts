/** `cases`: cases from YAML files. The reader and the schema are loaded on first use. */
import { requireText } from '../../arguments.ts'
import type { Case } from './case.ts'

/**
 * Load cases from a file, a folder (all its .yaml and .yml files, at any depth), a glob, or a list
 * of these.
 *
 * A file may hold several cases, separated by `---`. The order is by path, then by place in the
 * file. Where there is no folder `cases`, `cases/...` means those that come with Touchstone; so do
 * a kind of theirs, `lying_success`, and the id of one, where no file has that name.
 *
 * @param from default: the cases that come with Touchstone
 * @throws TouchstoneError `argument_invalid`; `file_unreadable` when nothing is there;
 *   `yaml_syntax` and `case_invalid` with file:line:column
 * @example
 * const all = await load()
 * all.some((test) => test.id === 'lying_success/deploy-key') // true
 * await load('no/such/folder') // throws file_unreadable
 */
export async function load(from?: string | string[]): Promise<Case[]> {
  if (from !== undefined)
    for (const path of [from].flat()) requireText(path, 'a path or a list of paths', 'from')
  const loader = await import('./load.ts')
  return loader.load(from)
}

/**
 * Read cases from a text of YAML. @throws TouchstoneError `yaml_syntax`, `case_invalid` with
 * source:line:column
 */
export async function parse(text: string, source = 'case'): Promise<Case[]> {
  if (text !== '') requireText(text, 'a text of YAML', 'text')
  const loader = await import('./load.ts')
  return loader.parseCases(text, source)
}
