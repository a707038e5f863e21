/**
 * `touchstone compare`: the configurations of a run that has ended, or two runs on the cases that
 * both have.
 */
import { lookOf, wrap } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import type { Run } from '../harness/index.ts'
import { baselineLines, compareRuns, leftOutLines } from '../harness/report/ci/baseline.ts'
import { comparisonText } from '../harness/report/compared/comparison-text.ts'
import { nameIn } from '../harness/report/compared/two-runs.ts'
import { METRICS, type Metric, metricNamed } from '../log/index.ts'
import { openRun, runNames } from './finished.ts'
import { baselineOptions } from './verb/gate-options.ts'
import { EXIT, JSON_OPTION, print, type Verb, type Words } from './verb/verb.ts'

export const compare: Verb = {
  usage: 'touchstone compare [RUN [LATER_RUN]] [options]',
  says: 'Compares the configurations of one run with its first one (default: the newest run), or two runs on the cases that both have: is the later one better? A run is a folder, or in runs/ its name, its id or the beginning of one.',
  options: {
    a: {
      type: 'string',
      value: 'NAME',
      says: 'the configuration that is compared with, of one run',
    },
    b: { type: 'string', value: 'NAME', says: 'the configuration that is asked about, of one run' },
    metric: {
      type: 'string',
      multiple: true,
      value: 'METRIC',
      says: 'of one run: goal (default), attack, overclaim, underclaim, unneeded, refused or pass. Of two runs, with --margin: hold this metric alone; may be given again',
      offers: () => Object.keys(METRICS),
    },
    margin: {
      type: 'string',
      value: 'SHARE',
      says: 'of two runs: how much worse the later one may be, such as 5%. With it the exit code tells',
    },
    json: JSON_OPTION,
  },
  exits: {
    0: 'compared; with --margin: no rate is worse by more',
    1: 'with --margin: a rate is worse for sure',
    4: 'with --margin: undecided, the runs are too small to say',
  },
  examples: ['compare', 'compare checked --metric attack', 'compare checked again --margin 20%'],
  takes: { least: 0, most: 2 },
  offers: (before) => (before.length < 2 ? runNames() : []),
  async run(words) {
    const [first, second] = words.positionals
    const run = await openWithTrials(first)
    return second === undefined
      ? within(run, words)
      : between(run, await openWithTrials(second), words)
  },
}

/** What has no trial is neither better nor worse. @throws TouchstoneError `run_invalid` */
async function openWithTrials(word: string | undefined): Promise<Run> {
  const run = await openRun(word)
  if (run.trials.length > 0) return run
  throw new TouchstoneError(
    'run_invalid',
    'expected a run with trials, got one that has none yet',
    {
      where: run.dir,
    },
  )
}

function within(run: Run, words: Words): number {
  if (words.text('margin') !== undefined)
    throw new TouchstoneError('usage', 'expected two runs beside --margin, got one')
  const [metric, another] = words.texts('metric')
  if (metric !== undefined) metricNamed(metric)
  if (another !== undefined)
    throw new TouchstoneError('usage', 'expected one --metric of one run, got several')
  const [first, ...rest] = run.configurations
  const a = words.text('a') ?? first
  const others =
    words.text('b') ?? (a === first ? rest : run.configurations.filter((one) => one !== a))
  const asked = [others].flat()
  if (a === undefined || asked.length === 0)
    throw new TouchstoneError(
      'argument_invalid',
      `expected a run of two configurations or two runs, got one run of ${run.configurations.join(', ') || 'none'}`,
      { where: run.dir },
    )
  const choice = metric === undefined ? {} : { metric: metric as Metric }
  const all = asked.map((b) => run.compare(a, b, choice))
  const look = lookOf(process.stdout)
  print(
    { toJSON: () => (all.length === 1 ? all[0] : all) },
    words.flag('json'),
    all.map((one) => one.text(look)).join('\n\n'),
  )
  return EXIT.asHoped
}

function between(before: Run, after: Run, words: Words): number {
  const stray = ['a', 'b'].find((name) => words.text(name) !== undefined)
  if (stray) throw new TouchstoneError('usage', `expected one run beside --${stray}, got two`)
  const options = baselineOptions(words)
  const { margin } = options
  if (margin === undefined && options.metrics)
    throw new TouchstoneError('usage', 'expected one run, or --margin beside it, got two runs', {
      where: '--metric',
    })
  const results = compareRuns(after, before, options, (name) => nameIn(after, name, before))
  const look = lookOf(process.stdout)
  const texts = results.map(({ comparison }) => comparisonText(comparison, look))
  const lines =
    margin === undefined
      ? [...new Set(results.flatMap(leftOutLines))]
      : results.flatMap(baselineLines)
  const held = lines.map((line) => wrap(line, look.width ?? 100, /^ */.exec(line)?.[0]))
  print(
    { toJSON: () => results },
    words.flag('json'),
    [...texts, held.join('\n')].filter(Boolean).join('\n\n'),
  )
  if (margin === undefined) return EXIT.asHoped
  if (results.some(({ worse }) => worse.length > 0)) return EXIT.fellShort
  return results.some(({ undecided }) => undecided.length > 0) ? EXIT.undecided : EXIT.asHoped
}
