/**
 * `touchstone classify`: a draft of classifiers for a running server; and `--classifiers`, which
 * registers a finished file.
 */
import { writeFileSync } from 'node:fs'
import { count } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { unwritable } from '../files.ts'
import { server } from '../harness/index.ts'
import * as receipt from '../receipt/index.ts'
import { EXIT, JSON_OPTION, type Option, print, type Verb, type Words } from './verb/verb.ts'

/** The option of every verb that classifies calls or reads records. */
export const CLASSIFIERS_OPTION: Option = {
  type: 'string',
  multiple: true,
  value: 'FILE',
  says: 'classifiers and importers of your own, as YAML or JSON; may be given again',
}

/** Register the files behind `--classifiers`. @throws TouchstoneError with file, line and column */
export async function registerGiven(words: Words): Promise<void> {
  for (const path of words.texts('classifiers')) await receipt.definitions(path)
}

export const classify: Verb = {
  usage: 'touchstone classify URL | --stdio -- COMMAND [ARGS...]',
  says: "Lists a running server's tools, says which are known, and drafts a file of classifiers for the others, to be completed and given as --classifiers. No tool is called.",
  options: {
    stdio: { type: 'boolean', says: 'start COMMAND and speak to its standard input and output' },
    name: {
      type: 'string',
      value: 'NAME',
      says: 'the name that recorders give the server. Default: server',
    },
    out: {
      type: 'string',
      value: 'FILE',
      says: 'write the draft there; a file that exists is kept',
    },
    json: JSON_OPTION,
  },
  exits: { 0: 'the tools were listed' },
  examples: ['classify --stdio --name memory -- mcp-server-memory'],
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(words, signal) {
    const [first = '', ...args] = words.positionals
    if (!words.flag('stdio') && (args.length > 0 || !/^https?:\/\//.test(first)))
      throw new TouchstoneError(
        'usage',
        `expected one URL, or --stdio and a command, got "${first}"`,
      )
    const name = words.text('name') ?? 'server'
    const described = words.flag('stdio')
      ? server(name).stdio(first, args)
      : server(name).http(first)
    const running = await described.start({ signal })
    try {
      const draft = await receipt.draft(name, running.tools)
      const out = words.text('out')
      if (out !== undefined) write(out, draft.text)
      const told = [
        `${count(running.tools.length, 'tool')} of ${name}: ${draft.known.length} known already, ${count(draft.effects.length, 'effect')} and ${count(draft.reads.length, 'read')} drafted`,
        ...(draft.like === null
          ? []
          : [
              `${draft.like}, which ships, has tools of these names: if ${name} is that server, name it so (--name ${draft.like}), and no file is needed for them`,
            ]),
        ...(out === undefined ? [] : [`Draft: ${out}`]),
      ]
      process.stderr.write(`${told.join('\n')}\n`)
      if (out === undefined || words.flag('json'))
        print({ toJSON: () => draft }, words.flag('json'), draft.text.trimEnd())
    } finally {
      await running.close()
    }
    return EXIT.asHoped
  },
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' })
  } catch (cause) {
    if ((cause as { code?: string }).code === 'EEXIST')
      throw new TouchstoneError('file_exists', 'expected a file that is not there yet, got one', {
        where: path,
      })
    throw unwritable(path, cause)
  }
}
