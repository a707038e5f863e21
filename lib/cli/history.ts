/** `touchstone history`: the runs of a project over days. */
import { lookOf } from '../display.ts'
import { history as read } from '../harness/index.ts'
import { type Metric, RUNS } from '../log/index.ts'
import { runName } from './finished.ts'
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
    svg: { type: 'string', value: 'FILE', says: 'write the chart' },
    json: JSON_OPTION,
  },
  more: 'A run is expected where the earlier ones of the same configuration name landed. How much runs differ of themselves is\ntaken from runs of an unchanged configuration: run one again now and then, or the noise from day to day stays unknown.',
  exits: { 0: 'no run is worse beyond the noise', 1: 'one is: the first is named' },
  examples: ['history runs', 'history runs --metric attack --svg attack.svg'],
  takes: { least: 0, most: 1 },
  async run(words) {
    const [dir = RUNS] = words.positionals
    const metric = words.text('metric') as Metric | undefined
    const past = await read(dir, metric === undefined ? {} : { metric })
    const svg = words.text('svg')
    if (svg !== undefined) await (await past.plot()).save(svg)
    const worse = past.firstWorse
    const next =
      worse === null ? '' : `\n\nLook at it: ${ownName()} ${quoted(['open', runName(worse.dir)])}`
    print(past, words.flag('json'), past.text(lookOf(process.stdout), runName) + next)
    return worse === null ? EXIT.asHoped : EXIT.fellShort
  },
}
