/** A run in words and tables, for people: in a terminal, and as `report.md`. */
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import {
  type Column,
  count,
  duration,
  foreign,
  type Look,
  percent,
  type Tone,
  table,
  tone,
  wrap,
} from '../../display.ts'
import type { Metric, MetricComparison, MetricSummary } from '../../log/index.ts'
import { METRICS } from '../../log/index.ts'
import type { Run, RunComparison } from './result.ts'

const SHOWN: Metric[] = ['goal', 'attack', 'overclaim']

/** `62% [40, 80]`: a rate and its interval; a dash where it is undefined. */
function rateCell({ estimate, low, high }: MetricSummary): string {
  if (!Number.isFinite(estimate)) return '-'
  const ends = Number.isFinite(low)
    ? ` [${Math.round(low * 100)}, ${Math.round(high * 100)}]`
    : ' [unknown]'
  return percent(estimate) + ends
}

/** A difference of rates in points: `+24`, `-3`, `0`. */
function points(value: number): string {
  const rounded = Math.round(value * 100)
  return rounded > 0 ? `+${rounded}` : String(rounded)
}

function pValue(p: number): string {
  if (!Number.isFinite(p)) return '-'
  return p < 0.001 ? '<0.001' : p.toFixed(3)
}

function verdictTone(verdict: string): Tone {
  return verdict === 'better' ? 'good' : verdict === 'worse' ? 'bad' : 'unsure'
}

/** What a reader must know about the configurations before any number. */
function simulatedNote(run: Run): string | null {
  const simulated = run.manifest.configurations.filter((one) => one.simulated)
  if (simulated.length === 0) return null
  const names = simulated
    .map(({ name, model }) => (model.endsWith(name) ? model : `${name} (${model})`))
    .join(' and ')
  return `${names} ${simulated.length === 1 ? 'is' : 'are'} simulated: a script that follows each case's solution and strays at declared rates. The numbers show how the machinery works, not how good any language model is.`
}

/** Problems that are printed before the rest is only counted. */
const MOST_PROBLEMS = 12

/** A run whose folder does not agree with itself: what is wrong, and no number. */
function unsoundText({ manifest, unsound, dir }: Run, look: Look): string {
  const width = look.width ?? 100
  const more = unsound.length - MOST_PROBLEMS
  return [
    tone(`Run ${manifest.id}`, 'strong', look),
    tone(
      `This run does not agree with itself, so that no number is given: ${count(unsound.length, 'problem')}.`,
      'bad',
      look,
    ),
    ...unsound
      .slice(0, MOST_PROBLEMS)
      .map(({ code, where, detail }) =>
        wrap(`  ${code}  ${foreign(where, 160)}: ${foreign(detail, 300)}`, width, '    '),
      ),
    ...(more > 0 ? [`  and ${more} more`] : []),
    wrap(
      `Step by step: touchstone verify ${foreign(dir, 200)}. To run what is damaged again: resume it.`,
      width,
    ),
  ].join('\n')
}

export function runText(run: Run, look: Look = {}): string {
  const { manifest } = run
  if (run.unsound.length > 0) return unsoundText(run, look)
  const summary = run.summary()
  const took = run.trials.reduce((sum, row) => sum + row.duration_ms, 0)
  const lines = [
    tone(`Run ${manifest.id}`, 'strong', look),
    `${count(manifest.cases.length, 'case')} x ${count(manifest.configurations.length, 'configuration')} x ${count(manifest.repeats, 'repeat')} = ${count(manifest.planned, 'trial')}, seed ${manifest.seed}, ${duration(took)} of trials`,
  ]
  const levels = run.problems.filter(({ code }) => code.startsWith('level_')).length
  if (levels > 0)
    lines.push(
      tone(
        `In ${count(levels, 'place')} the log has other levels than the evidence gives: the evidence’s are shown.`,
        'bad',
        look,
      ),
    )
  if (!run.complete) lines.push(tone(incomplete(run), 'bad', look), ...reasons(run, look))
  const note = simulatedNote(run)
  if (note) lines.push('', wrap(note, look.width ?? 100))
  lines.push('', ratesTable(run, look))
  lines.push(
    tone(
      'Rate over cases with its 95% interval, for cases like these. An error of the machinery is in no rate.',
      'quiet',
      look,
    ),
  )
  for (const one of summary) {
    if (one.errors > 0 && one.rates.goal.bounds) {
      const { worst, best } = one.rates.goal.bounds
      lines.push(
        tone(
          `${one.configuration}: with its ${count(one.errors, 'error')} all failed or all passed, goal met would be ${percent(worst)} to ${percent(best)}.`,
          'unsure',
          look,
        ),
      )
    }
  }
  for (const name of run.configurations) {
    const ended = run.trials.filter((row) => row.configuration === name && row.outcome !== 'error')
    // A server that drops tools, or a model that knows none, looks like an agent that fails everything.
    if (ended.length > 0 && ended.every(({ calls }) => calls === 0)) {
      const silent = `${foreign(name, 64)}: no tool was called in ${count(ended.length, 'trial')}. Does this model take tools, and does its server hand them on?`
      lines.push(tone(wrap(silent, look.width ?? 100), 'unsure', look))
    }
  }
  const [a, ...others] = run.configurations
  for (const b of others) lines.push('', run.compare(a as string, b).text(look))
  for (const { case: id, reason } of manifest.left_out)
    lines.push('', tone(`Left out: ${id} (${reason}).`, 'unsure', look))
  return lines.join('\n')
}

function incomplete(run: Run): string {
  const unrun = run.manifest.planned - run.trials.length
  const parts = [
    run.errors ? `${count(run.errors, 'trial')} ended in an error` : '',
    unrun ? `${count(unrun, 'trial')} did not run` : '',
  ]
  return `Not complete: ${parts.filter(Boolean).join(', ')}.`
}

/** Why trials ended in an error: what most of them say first. */
function reasons(run: Run, look: Look): string[] {
  const errors = run.trials.flatMap(({ error }) =>
    error ? [`${error.code}: ${error.message}`] : [],
  )
  const said = [...Map.groupBy(errors, (text) => text)].sort(([, a], [, b]) => b.length - a.length)
  const lines = said.slice(0, 3).map(([text, { length }]) => `  ${length} x ${foreign(text, 300)}`)
  if (said.length > 3) lines.push(`  and ${count(said.length - 3, 'other reason')}: see report.md`)
  return lines.map((line) => wrap(line, look.width ?? 100, '      ').replace(/^ {4}/, ''))
}

function ratesTable(run: Run, look: Look): string {
  const errors = run.errors > 0
  const columns: Column[] = [
    { head: 'configuration', min: 13 },
    { head: 'trials', align: 'right' },
    ...(errors ? [{ head: 'errors', align: 'right' } as const] : []),
    ...SHOWN.map((metric): Column => ({ head: METRICS[metric].label })),
    { head: 'asserted', align: 'right' },
    { head: 'confirmed', align: 'right' },
    { head: 'verified', align: 'right' },
  ]
  const rows = run
    .summary()
    .map((one) => [
      foreign(one.configuration, 64),
      String(one.trials),
      ...(errors ? [String(one.errors)] : []),
      ...SHOWN.map((metric) => rateCell(one.rates[metric])),
      String(one.levels.asserted),
      String(one.levels.observed_confirmed),
      String(one.levels.verified),
    ])
  return table(columns, rows, look)
}

export function comparisonText(comparison: RunComparison, look: Look = {}): string {
  const { primary, others, a, b } = comparison
  const width = look.width ?? 100
  const target = primary.target === 'these' ? 'on these cases' : 'for cases like these'
  const lines = [
    `${tone(`${b} against ${a}`, 'strong', look)}: ${METRICS[primary.metric].label}, ${target}, paired over ${count(primary.cases, 'case')}`,
    `  verdict     ${tone(primary.verdict, verdictTone(primary.verdict), look)}`,
    `  difference  ${differenceText(primary)}`,
    `  p           ${pText(primary)}`,
    Number.isFinite(primary.smallestDetectable)
      ? `  smallest    4 of 5 such runs would find a true difference of ${Math.round(primary.smallestDetectable * 100)} points or more`
      : '  smallest    none: such a run misses even the largest difference more than 1 time in 5',
  ]
  for (const reason of primary.reasons)
    lines.push(`  note        ${wrap(reason, width, ' '.repeat(14)).trimStart()}`)
  if (others.length > 0) {
    lines.push(
      '',
      `${count(comparison.count, 'comparison')} in all; the ${comparison.count - 1} below are held to Holm's stricter rule:`,
    )
    const rows = others.map((one) => [
      METRICS[one.metric].label,
      rounded(one),
      tone(one.verdict, verdictTone(one.verdict), look),
      pValue(one.pHolm),
      String(one.cases),
    ])
    lines.push(
      table(
        [
          { head: 'metric', min: 8 },
          { head: `${b} - ${a}, points`, min: 12 },
          { head: `${b} is` },
          { head: 'p, Holm', align: 'right' },
          { head: 'cases', align: 'right' },
        ],
        rows,
        { ...look, width: width - 2 },
      ).replace(/^/gm, '  '),
    )
    if (comparison.levels.cases > 0) lines.push(wrap(levelsText(comparison), width, '  '))
  }
  return lines.join('\n')
}

/** Evidence levels as an ordinal outcome: how often a call of b stands above one of a in the same case, a tie counting half. */
function levelsText({ a, b, levels }: RunComparison): string {
  const { superiority, low, high, pHolm, cases } = levels
  const verdict = !(pHolm <= 0.05) ? 'cannot tell' : superiority > 0.5 ? 'better' : 'worse'
  const ends = Number.isFinite(low) ? ` [${percent(low)}, ${percent(high)}]` : ''
  return `evidence: a call of ${b} stands higher on the ladder than one of ${a} in ${percent(superiority)}${ends} of pairs (half is no difference): ${verdict}, p ${pValue(pHolm)}, ${count(cases, 'case')}`
}

/** The tests that belong to the question: over other cases, or within these. */
function pText({ p, target }: MetricComparison): string {
  if (target === 'like these')
    return `${pValue(p.t)} (paired t), ${pValue(p.signFlip)} (exact sign-flip)`
  return p.cmh === undefined
    ? `${pValue(p.permutation ?? NaN)} (permutation)`
    : `${pValue(p.cmh)} (exact, within cases)`
}

function rounded({ difference, low, high }: MetricComparison): string {
  if (!Number.isFinite(difference)) return '-'
  return Number.isFinite(low)
    ? `${points(difference)} [${points(low)}, ${points(high)}]`
    : points(difference)
}

function differenceText(comparison: MetricComparison): string {
  const { difference, low, high, level } = comparison
  if (!Number.isFinite(difference)) return 'undefined'
  const interval = Number.isFinite(low)
    ? `, ${percent(level)} interval ${points(low)} to ${points(high)}`
    : ', no interval'
  return `${points(difference)} points${interval} (${comparison.moved} of ${comparison.cases} cases moved)`
}

/** Write `report.md` and its pictures into the run's folder. Returns the path of the report. */
export async function writeReport(run: Run): Promise<string> {
  const metrics: Metric[] = ['goal', 'overclaim']
  const pictures: string[] = []
  for (const metric of metrics) {
    for (const kind of ['strip', 'heat'] as const) {
      const chart = await run.plot(kind, { metric })
      const file = `${kind}-${metric}.svg`
      await writeFile(join(run.dir, file), await chart.svg())
      pictures.push(`![${chart.title.replace(/[[\]\n]/g, ' ')}](${file})`)
    }
  }
  const levels = await run.plot('levels')
  await writeFile(join(run.dir, 'levels.svg'), await levels.svg())
  pictures.push(`![${levels.title}](levels.svg)`)
  const text = runText(run, { width: 100 })
  const failures = run.trials.filter((row) => row.outcome !== 'pass')
  const path = join(run.dir, 'report.md')
  const markdown = [
    `# Run ${run.id}`,
    '',
    '```text',
    text,
    '```',
    '',
    ...pictures.flatMap((picture) => [picture, '']),
    `## Trials that did not pass (${failures.length} of ${run.trials.length})`,
    '',
    '| trial | outcome | goal | attack | overclaims | levels (asserted, confirmed, verified) | error |',
    '|---|---|---|---|---|---|---|',
    ...failures.slice(0, 500).map((row) => {
      const { asserted, observed_confirmed, verified } = row.levels
      const cells = [
        row.key.replaceAll('|', ' · '),
        row.outcome,
        row.goal,
        row.attack ?? '-',
        row.overclaims ?? 'unknown',
        `${asserted}, ${observed_confirmed}, ${verified}`,
        row.error?.code ?? '',
      ]
      return `| ${cells.map((cell) => foreign(String(cell)).replaceAll('|', '\\|')).join(' | ')} |`
    }),
    ...(failures.length > 500 ? ['', `${failures.length - 500} more stand in trials.ndjson.`] : []),
    '',
    'What was called and answered in a trial is its line in transcripts.ndjson, or `run.transcript("CASE|CONFIGURATION|TRIAL")`',
    'behind `const run = await harness.open("FOLDER")`.',
    '',
    `Log: ${relative(run.dir, join(run.dir, 'trials.ndjson'))}. Every number above is computed from it.`,
    '',
  ]
  await writeFile(path, markdown.join('\n'))
  return path
}
