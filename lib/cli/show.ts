/** `touchstone show`: one trial of a run that has ended, and why it ended so. */
import { gotWord } from '../choice.ts'
import { count, lookOf, wrap } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { type Run, type TrialRecord, trialText, why } from '../harness/index.ts'
import { unclassifiedText } from '../harness/page/unclassified.ts'
import { withoutPass } from '../harness/page/why.ts'
import { isRun, namesIn, openRun, RUN_OPTION, recordJson, unsoundLine } from './finished.ts'
import { ownName, quoted } from './verb/own-name.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

export const show: Verb = {
  usage: 'touchstone show [RUN] [CASE [CONFIGURATION [TRIAL]]] [options]',
  says: 'Shows one trial: how it ended and why, the task, what the agent said and called, each answer, its report. Where several are meant, the first that did not pass; without words, of the newest run.',
  options: {
    run: RUN_OPTION,
    full: { type: 'boolean', says: 'every text whole, however long' },
    json: { ...JSON_OPTION, says: 'print the record, its reasons and its transcript, as JSON' },
  },
  more: "A trial's key, such as 'lying_success/deploy-key|naive|0', names one too. In a shell it stands in quotes.",
  exits: { 0: 'the trial is shown, however it ended' },
  examples: [
    'show',
    'show lying_success/deploy-key',
    'show lying_success/deploy-key naive 2 --run checked',
  ],
  takes: { least: 0, most: 4 },
  offers(before, given) {
    const { cases, configurations, trials } = namesIn(given)
    return [cases, configurations, trials][before.length] ?? []
  },
  async run(words) {
    const [first] = words.positionals
    const named = words.text('run') === undefined && first !== undefined && isRun(first)
    const name = named ? first : words.text('run')
    const run = await openRun(name)
    const meant = trialsMeant(run, words.positionals.slice(named ? 1 : 0))
    const failed = withoutPass(meant)
    const record = failed.rows[0] ?? (meant[0] as TrialRecord)
    const transcript = run.transcript(record.key)
    const unsound = unsoundLine(run)
    if (unsound) process.stderr.write(`${unsound}\n`)
    const look = {
      ...lookOf(process.stdout),
      full: words.flag('full'),
      ...(unsound && { levels: 'not known' as const }),
    }
    const unknown = unclassifiedText(run, [record.key])
    const parts = [
      trialText(record, transcript, look),
      ...(unknown ? [wrap(unknown, look.width ?? 100)] : []),
      whereNext(name, failed, meant),
    ]
    print(
      { toJSON: () => ({ record: recordJson(run, record), why: why(record), transcript }) },
      words.flag('json'),
      parts.filter(Boolean).join('\n\n'),
    )
    return EXIT.asHoped
  },
}

/**
 * The trials that words name. @throws TouchstoneError `argument_invalid` with what there is, and
 * what was perhaps meant
 */
function trialsMeant(run: Run, given: readonly string[]): TrialRecord[] {
  const parts = given.length === 1 && given[0]?.includes('|') ? given[0].split('|') : given
  const [test, configuration, trial, more] = parts
  if (more !== undefined)
    throw new TouchstoneError('usage', `expected CASE CONFIGURATION TRIAL, got "${more}" too`)
  const narrowed = (
    from: readonly TrialRecord[],
    word: string | undefined,
    of: (row: TrialRecord) => string,
    what: string,
  ): readonly TrialRecord[] => {
    if (word === undefined) return from
    const found = from.filter((row) => of(row) === word)
    if (found.length > 0) return found
    const known = [...new Set(from.map(of))]
    const listed = known.length <= 12 ? known.join(', ') : `${known.slice(0, 12).join(', ')}, ...`
    throw new TouchstoneError(
      'argument_invalid',
      `expected ${what} (${listed || 'none'}), ${gotWord(word, known)}`,
      { where: run.dir },
    )
  }
  const rows = narrowed(
    narrowed(
      narrowed(run.trials, test, (row) => row.case, 'a case of the run'),
      configuration,
      (row) => row.configuration,
      'a configuration',
    ),
    trial,
    (row) => String(row.trial),
    'a trial',
  )
  if (rows.length === 0)
    throw new TouchstoneError('argument_invalid', 'expected a trial, got a run that has none', {
      where: run.dir,
    })
  return [...rows]
}

/** What can be looked at next, as a command. */
function whereNext(
  run: string | undefined,
  failed: ReturnType<typeof withoutPass<TrialRecord>>,
  meant: readonly TrialRecord[],
): string {
  if (failed.rows.length === 0)
    return meant.length > 1 ? `Each of these ${count(meant.length, 'trial')} passed.` : ''
  const [, next] = failed.rows
  if (!next) return ''
  const command = [
    'show',
    next.case,
    next.configuration,
    String(next.trial),
    ...(run === undefined ? [] : ['--run', run]),
  ]
  return `1 of ${count(failed.rows.length, 'trial')} without a pass: ${failed.text}. The next: ${ownName()} ${quoted(command)}`
}
