/** `touchstone agreement`: how well a reader of prose agrees with the labelled answers. */
import { lookOf } from '../display.ts'
import { replaceFile } from '../files.ts'
import { agreement } from '../harness/index.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

export const agreementVerb: Verb = {
  usage: 'touchstone agreement [MODEL] [options]',
  says: 'Measures a model that is to read claims in the prose of agents on the labelled answers that ship, or our rule where no MODEL is named. It is asked once per answer.',
  options: {
    out: {
      type: 'string',
      value: 'FILE',
      says: 'write it down, for touchstone run --judge FILE',
    },
    temperature: { type: 'string', value: 'T', says: 'from 0 to 2. Default: the model’s' },
    'base-url': { type: 'string', value: 'URL', says: 'where its API is' },
    concurrency: { type: 'string', value: 'N', says: 'answers at once. Default 4' },
    json: JSON_OPTION,
  },
  exits: { 0: 'it was measured, whatever came of it' },
  examples: ['agreement', 'agreement --json'],
  takes: { least: 0, most: 1 },
  async run(words, signal) {
    const [model] = words.positionals
    const temperature = words.text('temperature')
    const baseURL = words.text('base-url')
    const judge =
      model === undefined
        ? null
        : {
            model,
            ...(temperature !== undefined && { temperature: Number(temperature) }),
            ...(baseURL !== undefined && { baseURL }),
          }
    const concurrency = words.whole('concurrency', 1, 256)
    const found = await agreement(judge, {
      ...(concurrency !== undefined && { concurrency }),
      ...(signal && { signal }),
    })
    const out = words.text('out')
    if (out !== undefined) replaceFile(out, `${JSON.stringify(found, null, 2)}\n`)
    print(found, words.flag('json'), found.text(lookOf(process.stdout)))
    return EXIT.asHoped
  },
}
