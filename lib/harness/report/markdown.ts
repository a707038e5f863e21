/**
 * `report.md`: the verdict, the rates, where it differs and the most telling failures, a screen or
 * two; the page has the rest.
 */
import { join } from 'node:path'
import { count, foreign } from '../../display.ts'
import { replaceFile } from '../../files.ts'
import {
  type ComparedMetric,
  changedWorld,
  type Metric,
  metricNamed,
  type TrialRecord,
} from '../../log/index.ts'
import { differenceText, pText, rateText } from '../../rounding.ts'
import { OPEN_EXPLAINED, openText } from '../page/coverage.ts'
import { unclassifiedText } from '../page/unclassified.ts'
import { why, withoutPass } from '../page/why.ts'
import { comparisonNotes } from './compared/comparison-text.ts'
import type { RunComparison } from './compared/run-comparison.ts'
import { identicalText, uncachedText } from './coverage-text.ts'
import { judgeLines } from './judge-text.ts'
import { kindsWorstFirst } from './kinds.ts'
import { type Run, requireRun } from './result.ts'
import { headlineOf, leadOf, pageOf } from './run-page.ts'
import { incompleteText, looksText, runText, simulatedNote, trialsText } from './text.ts'

const PAGE = 'report.html'
/** Rows of a table before the page is named for the rest. */
const MOST = { kinds: 12, cases: 10, failures: 10, earlier: 10 }
const SHOWN: Metric[] = ['goal', 'attack', 'overclaim']

/**
 * Write `report.md` with its pictures and `report.html` into the run's folder. Returns the path of
 * `report.md`.
 */
export async function writeReport(run: Run): Promise<string> {
  requireRun(run)
  const path = join(run.dir, 'report.md')
  if (run.unsound.length > 0) {
    replaceFile(path, fenced(runText(run, { width: 100 })), { follow: false })
    return path
  }
  await (await pageOf(run)).save(join(run.dir, PAGE))
  const text = [...markdown(run), ...(await pictures(run)), ''].join('\n')
  replaceFile(path, text, { follow: false })
  return path
}

function markdown(run: Run): string[] {
  const [a, ...others] = run.configurations
  const comparisons = others.map((b) => run.compare(a as string, b))
  const [first] = comparisons
  const note = simulatedNote(run)
  return [
    `# ${first ? plain(headlineOf(first)) : `Run ${run.id}`}`,
    '',
    ...(first ? [plain(leadOf(first)), ''] : []),
    `Run ${run.id}: ${count(run.manifest.cases.length, 'case')} x ${count(run.configurations.length, 'configuration')} x ${count(run.manifest.repeats, 'repeat')}, seed ${run.manifest.seed}. [The page of this run](${PAGE}) leads from each number to the trials behind it.`,
    '',
    ...(run.complete ? [] : [`**${plain(incompleteText(run))}**`, '']),
    ...[note ?? '', looksText(run)].filter(Boolean).flatMap((text) => [`> ${plain(text)}`, '']),
    ...rates(run),
    ...comparisons.flatMap(comparisonLines),
    ...kinds(run),
    ...apart(run),
    ...failures(run),
    ...earlierAttempts(run),
  ]
}

function rates(run: Run): string[] {
  const summary = run.summary()
  const unknown = unclassifiedText(run)
  const rows = summary.map((one) => {
    const { configuration, errors, rates: of, levels } = one
    return [
      configuration,
      trialsText(run, one) + (errors > 0 ? `, and ${count(errors, 'error')}` : ''),
      ...SHOWN.map((metric) => {
        const { estimate, low, high, again } = of[metric]
        const other = rateText(estimate, low, high).replace(/^[^[]*/, '')
        const open = openText(of[metric])
        const judged = open === null ? '' : `, judged ${open.judged}, of all ${open.all}`
        return `${rateText(estimate, again.low, again.high)} / ${other || '-'}${judged}`
      }),
      `${levels.asserted} / ${levels.observed_confirmed} / ${levels.verified}`,
    ]
  })
  return [
    '## Rates',
    '',
    ...table(
      [
        'configuration',
        'trials',
        ...SHOWN.map((metric) => metricNamed(metric).label),
        'asserted / observed_confirmed / verified',
      ],
      rows,
    ),
    'First interval: run again on these cases. Second: other cases like these. Levels: writes by the evidence for them.',
    '',
    ...(unknown ? [plain(unknown), ''] : []),
    ...[
      ...[...run.identical].map((name) => identicalText(name)),
      uncachedText(run.manifest),
    ].flatMap((text) => (text ? [plain(text), ''] : [])),
    ...(summary.some(({ rates: of }) => SHOWN.some((metric) => of[metric].open !== null))
      ? [OPEN_EXPLAINED, '']
      : []),
    ...judgeLines(run.manifest, run.summary()).flatMap((line) => [plain(line), '']),
  ]
}

function comparisonLines(comparison: RunComparison): string[] {
  const { a, b, answers } = comparison
  const { these, 'like these': other } = answers
  const metrics = [these.primary, ...these.others].map(({ metric }) => metric)
  const cells = (answer: typeof these, metric: ComparedMetric) => {
    const one = [answer.primary, ...answer.others].find((found) => found.metric === metric)
    if (!one) return ['-', '-', '-']
    return [
      one.verdict,
      differenceText(one.difference, one.low, one.high),
      pText(one.pAdjusted, 1 - one.level),
    ]
  }
  return [
    `## ${plain(`${b} against ${a}`)}`,
    '',
    ...table(
      ['metric', 'run again', 'points', 'p', 'other cases', 'points', 'p'],
      metrics.map((metric) => [
        metricNamed(metric).label,
        ...cells(these, metric),
        ...cells(other, metric),
      ]),
    ),
    ...comparisonNotes(comparison).map((text) => `- ${plain(text)}`),
    '',
  ]
}

/** Trials by kind, the kind that comes out worst first. */
function kinds(run: Run): string[] {
  const metrics = SHOWN.filter((metric) =>
    run.trials.some((row) => metricNamed(metric).score(row) !== null),
  )
  const ended = kindsWorstFirst(run).filter(({ trials }) => trials.length > 0)
  const rows = ended.map(({ kind, trials, share }) => {
    const of = (configuration: string, metric: Metric) => {
      const scores = trials
        .filter((row) => row.configuration === configuration)
        .map(metricNamed(metric).score)
        .filter((score) => score !== null)
      return { yes: scores.filter((score) => score === 1).length, n: scores.length }
    }
    const cells = run.configurations.flatMap((name) =>
      metrics.map((metric) => {
        const { yes, n } = of(name, metric)
        return n > 0 ? `${yes}/${n}` : '-'
      }),
    )
    return { kind, share, cells }
  })
  const short = rows.filter(({ share }) => share < 1)
  const shown = short.slice(0, MOST.kinds)
  const rest = rows.length - shown.length
  return [
    '## Kinds of cases that did not all pass',
    '',
    ...(shown.length === 0
      ? [rows.length === 0 ? 'No trial ended.' : 'Every trial that ended passed.']
      : table(
          [
            'kind',
            ...run.configurations.flatMap((name) =>
              metrics.map((metric) => `${name}: ${metricNamed(metric).label}`),
            ),
          ],
          shown.map(({ kind, cells }) => [
            link(kind, `?kind=${encodeURIComponent(kind)}`),
            ...cells,
          ]),
          true,
        )),
    ...(rest > 0 ? [`${count(rest, 'other kind')}: [on the page](${PAGE}).`] : []),
    '',
  ]
}

/** The cases where configurations come apart most. */
function apart(run: Run): string[] {
  if (run.configurations.length < 2) return []
  const rows = run.manifest.cases.map(({ id }) => {
    const counts = run.configurations.map((name) => {
      const { pass, fail, unjudged } = run.columns.outcomes(id, name)
      return { passed: pass, n: pass + fail + unjudged }
    })
    const shares = counts.filter(({ n }) => n > 0).map(({ passed, n }) => passed / n)
    return {
      id,
      counts,
      distance: shares.length > 1 ? Math.max(...shares) - Math.min(...shares) : 0,
    }
  })
  const differ = rows.filter(({ distance }) => distance > 0).sort((p, q) => q.distance - p.distance)
  const shown = differ.slice(0, MOST.cases)
  const rest = differ.length - shown.length
  return [
    `## Cases where they differ (${differ.length} of ${rows.length})`,
    '',
    ...(shown.length === 0
      ? ['None.']
      : table(
          ['case', ...run.configurations.map((name) => `${name} passed`)],
          shown.map(({ id, counts }) => [
            link(id, pathOf('case', id)),
            ...counts.map(({ passed, n }) => `${passed}/${n}`),
          ]),
          true,
        )),
    ...(rest > 0 ? [`${count(rest, 'more case')}: [on the page](${PAGE}#/?show=differs).`] : []),
    '',
  ]
}

/**
 * The failures that say most: attacks first, then overclaims, one of each kind and configuration
 * before a second.
 */
function failures(run: Run): string[] {
  const kindOf = new Map(run.manifest.cases.map(({ id, kind }) => [id, kind]))
  const { rows: failed, text } = withoutPass(run.trials)
  const weight = (row: TrialRecord) =>
    (row.attack === true ? 4 : 0) +
    ((row.overclaims ?? 0) > 0 ? 2 : 0) +
    (row.outcome === 'fail' ? 1 : 0)
  const seen = new Map<string, number>()
  const ranked = failed
    .map((row) => {
      const group = `${kindOf.get(row.case)}|${row.configuration}`
      const turn = seen.get(group) ?? 0
      seen.set(group, turn + 1)
      return { row, turn }
    })
    .sort((p, q) => p.turn - q.turn || weight(q.row) - weight(p.row))
    .slice(0, MOST.failures)
  if (ranked.length === 0) return []
  return [
    `## ${ranked.length} telling of ${count(failed.length, 'trial')} without a pass: ${text}`,
    '',
    ...ranked.flatMap(({ row }) => [
      `- ${link(row.key.replaceAll('|', ' · '), pathOf('trial', row.key))}: ${row.outcome}`,
      ...why(row)
        .slice(0, 2)
        .map((line) => `  - ${plain(line)}`),
    ]),
    '',
    `All of them: [on the page](${PAGE}#/trials).`,
    '',
  ]
}

/** Attempts that another one followed. */
function earlierAttempts({ earlier }: Run): string[] {
  if (earlier.length === 0) return []
  const shown = earlier.slice(0, MOST.earlier)
  const more = earlier.length - shown.length
  return [
    `## Attempts that do not count (${earlier.length})`,
    '',
    'Each ended in an error of the machinery, and the trial was tried again in a fresh world.',
    '',
    ...table(
      [
        'trial',
        'attempt',
        'ended with',
        'calls',
        'of these ask for a change',
        'changed something, or may have',
      ],
      shown.map((row) => [
        row.key.replaceAll('|', ' · '),
        String(row.attempt + 1),
        row.error?.code ?? 'unknown',
        String(row.calls),
        String(row.writes.length),
        changedWorld(row) ? 'yes' : 'no',
      ]),
    ),
    ...(more > 0 ? [`${count(more, 'more attempt')}: trials.ndjson.`, ''] : []),
  ]
}

/** The pictures, those of attacks wherever a case has one. */
async function pictures(run: Run): Promise<string[]> {
  const adversarial = run.manifest.cases.some((one) => one.adversarial)
  const metrics: Metric[] = adversarial ? ['goal', 'attack', 'overclaim'] : ['goal', 'overclaim']
  const lines: string[] = ['## Pictures', '']
  for (const kind of ['strip', 'heat'] as const)
    for (const metric of metrics) {
      const chart = await run.plot(kind, { metric })
      lines.push(await picture(run, `${kind}-${metric}.svg`, chart), '')
    }
  lines.push(await picture(run, 'levels.svg', await run.plot('levels')))
  return lines
}

async function picture(
  run: Run,
  file: string,
  chart: Awaited<ReturnType<Run['plot']>>,
): Promise<string> {
  replaceFile(join(run.dir, file), await chart.svg(), { follow: false })
  const alt = `${chart.title}. ${chart.notes.join(' ')}`.replace(/[[\]\\\n]/g, ' ')
  return `![${alt}](${file})`
}

/** Foreign text that Markdown takes as text. */
function plain(text: string): string {
  // An underscore inside a word is one to Markdown too.
  return foreign(text, 700).replace(/[\\`*{}[\]<>|#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
}

/** A link into the page. */
function link(text: string, to: string): string {
  return `[${plain(text)}](${PAGE}#/${to})`
}

function pathOf(view: string, name: string): string {
  const parts = name
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`),
    )
  return `${view}/${parts.join('/')}`
}

/** @param marked the first cell of each row is Markdown already */
function table(heads: string[], rows: string[][], marked = false): string[] {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    line(heads.map(plain)),
    line(heads.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...rows.map((row) => line(row.map((cell, i) => (marked && i === 0 ? cell : plain(cell))))),
    '',
  ]
}

/** A fence longer than any in the text, since names come from elsewhere. */
function fenced(text: string): string {
  const ticks = [...text.matchAll(/`+/g)].map(([run]) => run.length + 1)
  const fence = '`'.repeat(Math.max(3, ...ticks))
  return [`${fence}text`, text, fence, ''].join('\n')
}
