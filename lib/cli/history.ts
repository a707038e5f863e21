/** `touchstone history`: the runs of a project over days. */
import { resolve } from 'node:path'
import { foreign, lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { type History, history as read } from '../harness/index.ts'
import { type Metric, RUNS } from '../log/index.ts'
import { runFolder, runName, runNames } from './finished.ts'
import { ownName, quoted } from './verb/own-name.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

export const history: Verb = {
  usage: 'touchstone history [DIR] [options]',
  says: 'Shows one rate of every run in a folder (default: runs) over time, and the first run that is worse beyond the noise.',
  options: {
    metric: {
      type: 'string',
      value: 'METRIC',
      says: 'goal (default), attack, overclaim, underclaim, unneeded, refused or pass',
    },
    after: {
      type: 'string',
      value: 'RUN',
      says: 'ask about the runs after this one alone: those up to it have been looked at. They stay in the table and in what is expected',
      offers: runNames,
    },
    svg: { type: 'string', value: 'FILE', says: 'write the chart' },
    json: JSON_OPTION,
  },
  more: 'A run is expected where the earlier ones of the same configuration name landed. How much runs differ of themselves is\ntaken from runs of an unchanged configuration: run one again now and then, or the noise from day to day stays unknown.',
  exits: {
    0: 'no run is worse beyond the noise, or none after the one that --after names',
    1: 'one is: the first is named',
  },
  examples: ['history runs', 'history runs --metric attack --svg attack.svg'],
  takes: { least: 0, most: 1 },
  async run(words) {
    const [dir = RUNS] = words.positionals
    const metric = words.text('metric') as Metric | undefined
    const past = await read(dir, metric === undefined ? {} : { metric })
    const svg = words.text('svg')
    if (svg !== undefined) await (await past.plot()).save(svg)
    const after = words.text('after')
    const worse = after === undefined ? past.firstWorse : worseAfter(past, after)
    const next =
      worse === null
        ? after === undefined
          ? ''
          : `\n\nNo run after ${foreign(after, 400)} is worse beyond the noise.`
        : `\n\nLook at it: ${ownName()} ${quoted(['open', runName(worse.dir)])}`
    print(past, words.flag('json'), past.text(lookOf(process.stdout), runName) + next)
    return worse === null ? EXIT.asHoped : EXIT.fellShort
  },
}

/** The first run that is worse, of those that began after the one that is meant. */
function worseAfter({ series }: History, word: string) {
  const folder = resolve(runFolder(word))
  const points = series.flatMap((one) => one.points)
  const seen = points.find(({ dir }) => resolve(dir) === folder)
  if (seen === undefined)
    throw new TouchstoneError('run_unknown', `expected a run of this history, got "${word}"`, {
      where: '--after',
    })
  const later = points.filter(({ is, at }) => is === 'worse' && at > seen.at)
  return later.toSorted((x, y) => (x.at < y.at ? -1 : 1))[0] ?? null
}
