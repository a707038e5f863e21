/** `touchstone scenarios`: the published sets, and publishing cases as one. */
import { join } from 'node:path'
import { count, lookOf, table } from '../display.ts'
import { printable, TouchstoneError } from '../errors.ts'
import * as cases from '../harness/case/cases.ts'
import * as scenarios from '../scenario/index.ts'
import { EXIT, JSON_OPTION, print, type Verb, type Words } from './verb/verb.ts'

export const sets: Verb = {
  usage:
    'touchstone scenarios list | show ID@VERSION | verify FILE | publish CASES... --id ID --version V --out FOLDER',
  says: 'The published scenario sets: what there is, the text of one, and whether a file is one of them. "publish" freezes cases (files, folders or globs) as a set of their own; what is published is never overwritten.',
  options: {
    id: { type: 'string', value: 'ID', says: 'publish: lower-case words with dashes' },
    version: { type: 'string', value: 'V', says: 'publish: a version such as 1.0' },
    title: {
      type: 'string',
      value: 'TEXT',
      says: 'publish: what it is called. Default: the id in words',
    },
    out: {
      type: 'string',
      value: 'DIR',
      says: 'the folder of published sets. Default, for reading: the one that ships',
    },
    json: JSON_OPTION,
  },
  exits: {
    0: 'done; verify: the file is a published set',
    1: 'verify: the file is no published set',
  },
  examples: [
    'scenarios list',
    'scenarios show mcp-connection@1.0',
    'scenarios publish my-cases --id my-cases --version 1.0 --out sets',
  ],
  offers: ([action]) =>
    action === undefined
      ? ['list', 'show', 'verify', 'publish']
      : action === 'show'
        ? scenarios.list().map(({ id, version }) => `${id}@${version}`)
        : [],
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(words) {
    const [action, what, ...more] = words.positionals
    const json = words.flag('json')
    const out = words.text('out')
    const at = out === undefined ? {} : { root: out }
    if (action === 'publish' && what !== undefined) return publish(words, [what, ...more])
    if (more.length > 0)
      throw new TouchstoneError(
        'usage',
        `expected: ${this.usage}, got: ${words.positionals.join(' ')}`,
      )
    for (const name of ['id', 'version', 'title'])
      if (words.text(name) !== undefined)
        throw new TouchstoneError('usage', `expected "publish" for --${name}, got "${action}"`)
    if (action === 'list' && what === undefined) {
      const all = scenarios.list(at)
      const rows = all.map((set) => [
        `${set.id}@${set.version}`,
        set.released,
        set.digest,
        set.title,
      ])
      print(
        { toJSON: () => all },
        json,
        table(
          [{ head: 'set' }, { head: 'released' }, { head: 'digest' }, { head: 'title', min: 10 }],
          rows,
          {
            ...lookOf(process.stdout),
            width: 160,
          },
        ),
      )
      return EXIT.asHoped
    }
    if (action === 'show' && what !== undefined) {
      const { text } = scenarios.get(what, at)
      process.stdout.write(`${process.stdout.isTTY ? printable(text) : text}\n`)
      return EXIT.asHoped
    }
    if (action === 'verify' && what !== undefined) {
      const set = scenarios.load(what)
      const published = scenarios.isPublished(`${set.id}@${set.version}`, set.digest, at)
      print(
        { toJSON: () => ({ id: set.id, version: set.version, digest: set.digest, published }) },
        json,
        `${set.id}@${set.version} ${set.digest}: ${published ? 'published' : 'not published here'}`,
      )
      return published ? EXIT.asHoped : EXIT.fellShort
    }
    throw new TouchstoneError(
      'usage',
      `expected: ${this.usage}, got: ${words.positionals.join(' ')}`,
    )
  },
}

async function publish(words: Words, from: string[]): Promise<number> {
  const [id, version, root] = [words.text('id'), words.text('version'), words.text('out')]
  if (id === undefined || version === undefined || root === undefined)
    throw new TouchstoneError('usage', 'expected --id ID, --version V and --out FOLDER')
  const title = words.text('title')
  const all = await cases.load(from)
  const set = scenarios.publish(all, { root, id, version, ...(title !== undefined && { title }) })
  const named = {
    id: set.id,
    version: set.version,
    released: set.released,
    title: set.title,
    digest: set.digest,
  }
  print(
    { toJSON: () => ({ ...named, cases: all.length }) },
    words.flag('json'),
    [
      `Published ${set.id}@${set.version}: ${count(all.length, 'case')}, ${set.digest}`,
      `It stands in ${join(root, set.id, `${set.version}.json`)}.`,
    ].join('\n'),
  )
  return EXIT.asHoped
}
