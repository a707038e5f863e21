/** `touchstone export`: the trials of a run as a Parquet file. */
import { TouchstoneError } from '../errors.ts'
import { openRun, runNames } from './finished.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

export const exported: Verb = {
  usage: 'touchstone export [RUN] --parquet FILE [options]',
  says: 'Writes the trials of a run as a table that pandas, R and DuckDB read, one row for each trial. Default: the newest run. It needs the package @duckdb/node-api. docs/analysis.md says what each column is.',
  options: {
    parquet: { type: 'string', value: 'FILE', says: 'a file that is not there yet' },
    json: { ...JSON_OPTION, says: 'print the path of the file, as JSON' },
  },
  exits: { 0: 'the file is written' },
  examples: ['export checked --parquet trials.parquet'],
  takes: { least: 0, most: 1 },
  offers: (before) => (before.length === 0 ? runNames() : []),
  async run(words) {
    const file = words.text('parquet')
    if (file === undefined)
      throw new TouchstoneError('usage', 'expected --parquet FILE, got no file to write')
    const run = await openRun(words.positionals[0])
    await run.parquet(file)
    print({ toJSON: () => ({ parquet: file }) }, words.flag('json'), `Trials: ${file}`)
    return EXIT.asHoped
  },
}
