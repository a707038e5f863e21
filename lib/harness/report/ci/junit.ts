/**
 * A run as JUnit XML, as continuous integration reads it: a suite per configuration, a test per
 * case, its trials inside.
 *
 * A case passes when all its trials did, or as many as asked for. Where the run was held to gates
 * or a baseline, those alone pass and fail, as the exit code does, and the element of a case tells
 * how it went. Written to the schema that Jenkins' xUnit plugin publishes (junit-10.xsd), the
 * strictest in use.
 */
import { onlyMembers } from '../../../arguments.ts'
import { count, escapeMarkup } from '../../../display.ts'
import { TouchstoneError } from '../../../errors.ts'
import type { TrialRecord } from '../../../log/index.ts'
import { why } from '../../page/why.ts'
import { unmatchedText } from '../compared/two-runs.ts'
import { type Run, requireRun } from '../result.ts'
import { leftOutLines, recordText, toldApart, undecidedText, worseText } from './baseline.ts'
import type { Held } from './step-summary.ts'

/** Trials whose reasons a case's element holds. */
const MOST_TOLD = 10

export type JunitOptions = {
  /**
   * What the run was held against: a suite more, with a test per gate and per configuration of a
   * baseline. They alone fail then, unless `share` is given.
   */
  held?: Held
  /** Share of a case's trials that must pass, in (0, 1]. Default 1 where nothing is held. */
  share?: number
}

/**
 * A run as JUnit XML: a test per case and configuration, which passes when enough of its trials
 * did.
 *
 * @throws TouchstoneError `argument_invalid` for a share outside (0, 1]
 */
export function junit(run: Run, options: JunitOptions = {}): string {
  requireRun(run)
  onlyMembers(options, ['held', 'share'], 'options')
  const held = options.held ?? { gates: [], baseline: [] }
  const judged = options.share !== undefined || held.gates.length + held.baseline.length === 0
  const share = options.share ?? 1
  if (!(share > 0 && share <= 1)) {
    throw new TouchstoneError(
      'argument_invalid',
      `expected a share in (0, 1], got ${String(share)}`,
      {
        where: 'share',
      },
    )
  }
  const suites = [
    ...run.manifest.configurations.map((one) =>
      suiteOf(run, one.name, one.model, judged ? share : null),
    ),
    ...heldSuites(run, held),
  ]
  return documentOf(suites)
}

type Suite = { tests: number; failures: number; errors: number; lines: string[] }

function documentOf(suites: readonly Suite[]): string {
  const sum = (of: 'tests' | 'failures' | 'errors') =>
    suites.reduce((total, suite) => total + suite[of], 0)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'touchstone', tests: sum('tests'), failures: sum('failures'), errors: sum('errors') })}>`,
    ...suites.flatMap((suite) => suite.lines),
    '</testsuites>',
    '',
  ].join('\n')
}

/** A document with one error: why there is no run. */
export function refusedJunit(code: string, message: string): string {
  const counts = { tests: 1, failures: 0, errors: 1, skipped: 0 }
  const test = { name: 'run', classname: 'touchstone', state: 'undecided', reasons: [message] }
  const head = { ...counts, time: '0.000', timestamp: new Date().toISOString().slice(0, 19) }
  const lines = [
    `  <testsuite${attributes({ name: 'run', ...head })}>`,
    ...heldTest(test, code),
    '  </testsuite>',
  ]
  return documentOf([{ ...counts, lines }])
}

/** Is this a document of ours? */
export function isJunit(text: string): boolean {
  return /^<\?xml[^>]*\?>\s*<testsuites name="touchstone"/.test(text)
}

/** @param share null: no case fails; what its trials came to is told */
function suiteOf(run: Run, configuration: string, model: string, share: number | null) {
  const byCase = Map.groupBy(
    run.trials.filter((row) => row.configuration === configuration),
    (row) => row.case,
  )
  const counts = { failures: 0, errors: 0, skipped: run.manifest.left_out.length }
  const tests: string[] = []
  for (const { id, kind } of run.manifest.cases) {
    const rows = byCase.get(id) ?? []
    const { word, ...verdict } = verdictOf(rows, run.manifest.repeats, share)
    // Nobody knows what a run came to of which trials are missing, whatever it was held to.
    const counted = share !== null || (word === 'error' && !run.complete)
    if (word === 'failure' && counted) counts.failures++
    if (word === 'error' && counted) counts.errors++
    const came = counted || word === 'pass' ? [] : [verdict.message, ...told(verdict.told)]
    const time = seconds(rows.reduce((total, row) => total + row.duration_ms, 0))
    tests.push(
      `    <testcase${attributes({ name: id, classname: `${configuration}.${kind}`, time })}>`,
      ...(counted && word !== 'pass' ? element(word, verdict) : []),
      `      <system-out>${[...rows.map(trialLine), ...came].map(escapeMarkup).join('\n')}</system-out>`,
      '    </testcase>',
    )
  }
  for (const { case: id, reason } of run.manifest.left_out) {
    tests.push(
      `    <testcase${attributes({ name: id, classname: `${configuration}.left_out` })}>`,
      `      <skipped${attributes({ message: reason })}/>`,
      '    </testcase>',
    )
  }
  const all = run.manifest.cases.length + run.manifest.left_out.length
  const time = seconds(
    [...byCase.values()].flat().reduce((total, row) => total + row.duration_ms, 0),
  )
  const head = {
    name: configuration,
    tests: all,
    ...counts,
    time,
    timestamp: run.manifest.created_at.slice(0, 19),
  }
  const properties = {
    run: run.id,
    model,
    seed: run.manifest.seed,
    repeats: run.manifest.repeats,
    ...(share !== null && { share }),
  }
  return {
    tests: all,
    ...counts,
    lines: [
      `  <testsuite${attributes(head)}>`,
      '    <properties>',
      ...Object.entries(properties).map(
        ([name, value]) => `      <property${attributes({ name, value })}/>`,
      ),
      '    </properties>',
      ...tests,
      '  </testsuite>',
    ],
  }
}

/**
 * A suite per kind of line that the run was held to. What is undecided is an error: nobody knows,
 * and the build is not green.
 */
function heldSuites(run: Run, { gates, baseline }: Held) {
  const gateTests = gates.map(({ gate, configuration, state, reason }) => ({
    name: gate,
    classname: `gates.${configuration}`,
    state,
    reasons: [reason],
  }))
  const unmatched = baseline[0]?.unmatched ?? []
  const added = unmatchedText(unmatched.filter(({ why }) => why === 'added'))
  const baselineTests = baseline.map((one) => {
    // What only this run has is undecided by itself, below.
    const open = one.undecided.filter(({ reason }) => reason !== added)
    return {
      name: `${one.configuration} against ${one.baseline}`,
      classname: `baseline.${one.configuration}`,
      state: one.worse.length > 0 ? 'missed' : open.length > 0 ? 'undecided' : 'met',
      reasons: [
        ...one.worse.map((metric) => `worse on ${worseText(one, metric)}`),
        ...open.map((what) => `undecided: ${undecidedText(what)}`),
        ...leftOutLines(one),
      ],
    }
  })
  // Whoever deletes or edits a case that failed, or renames a configuration, finds it here.
  const leftTests = baseline.flatMap(({ configuration, leftOut }) =>
    leftOut.filter(toldApart).map((one) => ({
      name: one.case,
      classname: `baseline.${configuration}.left_out`,
      state: 'skipped',
      reasons: [`not compared: ${recordText(one)}`],
    })),
  )
  for (const one of unmatched)
    leftTests.push({
      name: one.configuration,
      classname: 'baseline.left_out',
      state: one.why === 'added' ? 'undecided' : 'skipped',
      reasons: [unmatchedText([one])],
    })
  return Object.entries({ gates: gateTests, baseline: [...baselineTests, ...leftTests] })
    .filter(([, tests]) => tests.length > 0)
    .map(([name, tests]) => {
      const counts = {
        tests: tests.length,
        failures: tests.filter(({ state }) => state === 'missed').length,
        errors: tests.filter(({ state }) => state === 'undecided').length,
        skipped: tests.filter(({ state }) => state === 'skipped').length,
      }
      const timestamp = run.manifest.created_at.slice(0, 19)
      const head = { name, ...counts, time: '0.000', timestamp }
      return {
        ...counts,
        lines: [
          `  <testsuite${attributes(head)}>`,
          ...tests.flatMap((test) => heldTest(test)),
          '  </testsuite>',
        ],
      }
    })
}

type HeldTest = { name: string; classname: string; state: string; reasons: string[] }

function heldTest({ name, classname, state, reasons }: HeldTest, type: string = state): string[] {
  const text = escapeMarkup(reasons.join('\n'))
  const element = state === 'missed' ? 'failure' : 'error'
  const message = reasons[0] ?? state
  const told = attributes({ type, message })
  return [
    `    <testcase${attributes({ name, classname, time: '0.000' })}>`,
    state === 'met'
      ? `      <system-out>${text}</system-out>`
      : state === 'skipped'
        ? `      <skipped${attributes({ message })}/>`
        : `      <${element}${told}>${text}</${element}>`,
    '    </testcase>',
  ]
}

type Verdict = { type: string; message: string; told: readonly TrialRecord[] }

/** What became of a case: a failure of the agent, an error of the machinery, or neither. */
function verdictOf(
  rows: TrialRecord[],
  repeats: number,
  share: number | null,
): Verdict & { word: 'pass' | 'failure' | 'error' } {
  const passed = rows.filter((row) => row.outcome === 'pass').length
  const failed = rows.filter((row) => row.outcome === 'fail')
  const errors = rows.filter((row) => row.outcome === 'error')
  const needed = Math.ceil((share ?? 1) * repeats - 1e-9)
  if (passed >= needed) return { word: 'pass', type: 'pass', message: '', told: [] }
  // Had all that is not known passed, it would still be too few: that is a failure whatever the
  // machinery did.
  if (repeats - failed.length < needed) {
    const came = `${passed} of ${count(repeats, 'trial')} passed`
    const message = share === null ? came : `${came}, ${needed} needed`
    return { word: 'failure', type: 'fail', message, told: failed }
  }
  const [first] = errors
  const unjudged = rows.filter((row) => row.outcome === 'unjudged')
  const message = `${count(errors.length, 'trial')} ended in an error, ${unjudged.length} could not be judged, ${repeats - rows.length} did not run`
  const type = first?.error?.code ?? (unjudged.length > 0 ? 'unjudged' : 'not_run')
  return { word: 'error', type, message, told: [...errors, ...unjudged] }
}

/** An element whose body has the reasons of the trials that it counts. */
function element(name: string, { type, message, told: rows }: Verdict): string[] {
  const head = `${name}${attributes({ type, message })}`
  const text = told(rows).map(escapeMarkup).join('\n')
  return [text === '' ? `      <${head}/>` : `      <${head}>${text}</${name}>`]
}

/** Why trials ended so, those of the first few. */
function told(rows: readonly TrialRecord[]): string[] {
  const some = rows
    .slice(0, MOST_TOLD)
    .flatMap((row) => [`trial ${row.trial}:`, ...why(row).map((line) => `  ${line}`)])
  const more = rows.length - MOST_TOLD
  return more > 0 ? [...some, `and ${count(more, 'more trial')}`] : some
}

function trialLine(row: TrialRecord): string {
  const parts = [
    `trial ${row.trial}: ${row.outcome}`,
    `goal ${row.goal ?? 'unknown'}`,
    ...(row.attack === null ? [] : [`attack ${row.attack}`]),
    `overclaims ${row.overclaims ?? 'unknown'}`,
    count(row.calls, 'call'),
    ...(row.attempt > 0 ? [`attempt ${row.attempt + 1}`] : []),
    ...(row.error ? [`${row.error.code}: ${row.error.message}`] : []),
  ]
  return parts.join(', ')
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

function attributes(values: { [name: string]: string | number }): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeMarkup(String(value))}"`)
    .join('')
}
