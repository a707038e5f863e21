/** `touchstone list`: the runs that there are, and the trials of one. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gotWord } from '../choice.ts'
import { count, foreign, listLook, table, tone } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import type { TrialRecord } from '../harness/index.ts'
import { why } from '../harness/index.ts'
import { readLines } from '../lines.ts'
import { RUNS, readManifest, requireTrialLog } from '../log/index.ts'
import {
  foldersIn,
  namesIn,
  openRun,
  recordJson,
  runName,
  runNames,
  unsoundLine,
} from './finished.ts'
import { EXIT, JSON_OPTION, print, type Verb, type Words } from './verb/verb.ts'

const OUTCOMES = ['pass', 'fail', 'unjudged', 'error'] as const

export const list: Verb = {
  usage: 'touchstone list [RUN] [options]',
  says: 'Lists the runs in runs/, the newest first; or the trials of one run, with the first reason of each that did not pass.',
  options: {
    in: { type: 'string', value: 'DIR', says: 'the folder with the runs. Default: runs' },
    outcome: {
      type: 'string',
      value: 'OUTCOME',
      says: 'trials of RUN that ended so: pass, fail, unjudged, error, or not-pass',
      offers: () => [...OUTCOMES, 'not-pass'],
    },
    case: {
      type: 'string',
      value: 'CASE',
      says: 'trials of one case',
      offers: (given) => ofRun(given).cases,
    },
    config: {
      type: 'string',
      value: 'NAME',
      says: 'trials of one configuration',
      offers: (given) => ofRun(given).configurations,
    },
    json: { ...JSON_OPTION, says: 'print the list as JSON' },
  },
  exits: { 0: 'listed, also where there is nothing' },
  examples: ['list', 'list checked --outcome not-pass'],
  takes: { least: 0, most: 1 },
  offers: (before) => (before.length === 0 ? runNames() : []),
  async run(words) {
    const [run] = words.positionals
    if (run !== undefined) return trials(run, words)
    for (const name of ['outcome', 'case', 'config'])
      if (words.text(name) !== undefined)
        throw new TouchstoneError('usage', `expected a run beside --${name}, got none`)
    return runs(words)
  },
}

/** The names in the run that stands first among the words. */
function ofRun([run = '']: readonly string[]) {
  return namesIn(['--run', run])
}

async function runs(words: Words): Promise<number> {
  const given = words.text('in')
  if (given !== undefined && !existsSync(`${given}/.`))
    throw new TouchstoneError('file_unreadable', 'expected a folder with runs, got none', {
      where: given,
    })
  const folder = given ?? RUNS
  const all: Awaited<ReturnType<typeof summaryOf>>[] = []
  const leftOut: string[] = []
  for (const dir of foldersIn(folder))
    try {
      all.push(await summaryOf(dir))
    } catch (cause) {
      // One folder that cannot be read hides no other.
      if (!(cause instanceof TouchstoneError)) throw cause
      leftOut.push(`Left out: ${runName(dir)} (${cause.code}: ${cause.message})`)
    }
  const rows = all.map((one) => [
    runName(one.dir),
    one.created_at.slice(0, 16).replace('T', ' '),
    String(one.cases),
    one.configurations.map((name) => foreign(name, 40)).join(', '),
    `${one.trials} of ${one.planned}`,
    String(one.passed),
    one.errors === 0 ? '' : String(one.errors),
  ])
  const columns = [
    // Never cut: it is what each verb takes.
    { head: 'run' },
    { head: 'begun (UTC)' },
    { head: 'cases', align: 'right' as const },
    { head: 'configurations', min: 12 },
    { head: 'trials', align: 'right' as const },
    { head: 'passed', align: 'right' as const },
    { head: 'errors', align: 'right' as const },
  ]
  const text = rows.length
    ? table(columns, rows, listLook(process.stdout))
    : `No run in ${folder}/. touchstone run writes one.`
  print({ toJSON: () => all }, words.flag('json'), text)
  for (const line of leftOut) process.stderr.write(`${foreign(line, 500)}\n`)
  return leftOut.length === 0 ? EXIT.asHoped : EXIT.badUsage
}

/**
 * A run in a line, from its manifest and the last attempt of each trial; nothing is held against
 * the evidence.
 */
async function summaryOf(dir: string) {
  const manifest = await readManifest(dir)
  const outcomes = new Map<string, string>()
  const log = join(dir, 'trials.ndjson')
  requireTrialLog(dir)
  // A run that was begun a moment ago has none yet.
  if (existsSync(log))
    for await (const { value } of readLines(log)) {
      const { key, outcome } = value as { key: string; outcome: string }
      outcomes.set(key, outcome)
    }
  const of = (outcome: string) => [...outcomes.values()].filter((one) => one === outcome).length
  const { id, created_at, repeats, planned } = manifest
  return {
    id,
    dir,
    created_at,
    cases: manifest.cases.length,
    configurations: manifest.configurations.map(({ name }) => name),
    repeats,
    planned,
    trials: outcomes.size,
    passed: of('pass'),
    errors: of('error'),
  }
}

async function trials(word: string, words: Words): Promise<number> {
  const run = await openRun(word)
  const outcome = words.text('outcome')
  const outcomes: readonly string[] = [...OUTCOMES, 'not-pass']
  requireOne('outcome', outcome, outcomes)
  requireOne(
    'case',
    words.text('case'),
    run.manifest.cases.map(({ id }) => id),
  )
  requireOne('config', words.text('config'), run.configurations)
  const wanted = run.trials.filter(
    (row) =>
      (outcome === undefined ||
        (outcome === 'not-pass' ? row.outcome !== 'pass' : row.outcome === outcome)) &&
      (words.text('case') ?? row.case) === row.case &&
      (words.text('config') ?? row.configuration) === row.configuration,
  )
  const look = listLook(process.stdout)
  const rows = wanted.map((row) => [
    foreign(row.case, 100),
    foreign(row.configuration, 64),
    String(row.trial),
    row.outcome,
    why(row)[0] ?? '',
  ])
  const columns = [
    { head: 'case', min: 12, names: true },
    { head: 'configuration', min: 8, names: true },
    { head: 'trial', align: 'right' as const },
    { head: 'outcome' },
    { head: 'because', min: 24 },
  ]
  const sound = run.unsound.length === 0
  if (!sound && words.flag('json')) process.stderr.write(`${unsoundLine(run)}\n`)
  const text = [
    ...(sound ? [] : [run.text(look), '']),
    ...(rows.length ? [table(columns, rows, look)] : []),
    tone(`${count(rows.length, 'trial')} of ${run.trials.length}`, 'quiet', look),
  ].join('\n')
  const told = (row: TrialRecord) => ({ ...recordJson(run, row), why: why(row) })
  print({ toJSON: () => wanted.map(told) }, words.flag('json'), text)
  return EXIT.asHoped
}

/** @throws TouchstoneError `usage` for a word that is not among those there are */
export function requireOne(name: string, word: string | undefined, known: readonly string[]): void {
  if (word === undefined || known.includes(word)) return
  const listed = known.length <= 12 ? known.join(', ') : `${known.slice(0, 12).join(', ')}, ...`
  throw new TouchstoneError('usage', `expected one of ${listed}, ${gotWord(word, known)}`, {
    where: `--${name}`,
  })
}
