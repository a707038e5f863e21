/**
 * A run, or two of them, as what a page shows: every figure is one that the tables of the run have
 * too.
 */

import { toSvg } from '../../chart/draw/render.ts'
import { config } from '../../chart/draw/theme.ts'
import type { Chart } from '../../chart/index.ts'
import { count, duration, foreign } from '../../display.ts'
import { isObject, type JsonObject } from '../../json.ts'
import {
  type ComparedMetric,
  type ConfigurationSummary,
  MARKS,
  type Mark,
  METRICS,
  type Measure,
  type Metric,
  measureNamed,
  metricNamed,
  repeatsOf,
  type TrialRecord,
  trialKey,
} from '../../log/index.ts'
import { differenceText, pText, rateText } from '../../rounding.ts'
import { earlyCrashText } from '../page/agent-faults.ts'
import { coverageShown, openText } from '../page/coverage.ts'
import { type PageOf, RunPage } from '../page/page.ts'
import type {
  Answered,
  ChartShown,
  ComparisonShown,
  ConfigurationShown,
  Overview,
  Said,
} from '../page/shape.ts'
import { unclassifiedText } from '../page/unclassified.ts'
import { comparisonNotes } from './compared/comparison-text.ts'
import type { RunComparison } from './compared/run-comparison.ts'
import { nameIn, namesakes, sharedCases, sharedText, unmatchedText } from './compared/two-runs.ts'
import { identicalText, uncachedText } from './coverage-text.ts'
import { judgeLines } from './judge-text.ts'
import { kindsWorstFirst } from './kinds.ts'
import { Run } from './result.ts'
import {
  absentLines,
  incompleteText,
  looksText,
  lostLines,
  runText,
  simulatedNote,
} from './text.ts'

/** What a page is made of when it has more than one run. */
type Parts = {
  pairs: (readonly [a: string, b: string])[]
  folders: PageOf['folders']
  notes: string[]
}

/**
 * A run beside an earlier one, on the cases that both have. The others are named, and in no figure.
 *
 * @throws TouchstoneError `run_differs` when no case is in both, or no configurations belong
 *   together
 */
export async function pageOfTwo(run: Run, earlier: Run): Promise<RunPage> {
  const { cases, leftOut } = sharedCases(run.manifest, earlier.manifest)
  const shared = new Set(cases.map(({ id }) => id))
  const before = (name: string) => nameIn(earlier, name, run)
  const { pairs, unmatched } = namesakes(run.manifest, earlier.manifest)
  const renamed = (row: TrialRecord): TrialRecord => {
    const configuration = before(row.configuration)
    return { ...row, configuration, key: trialKey(row.case, configuration, row.trial) }
  }
  const [was, is] = [earlier, run].map(({ trials, earlier: lost }) => ({
    trials: trials.filter((row) => shared.has(row.case)),
    lost: lost.filter((row) => shared.has(row.case)),
  })) as [Part, Part]
  const planned = ({ manifest }: Run) =>
    cases.length * manifest.configurations.length * manifest.repeats
  const both = new Run({
    dir: run.dir,
    manifest: {
      ...run.manifest,
      id: `${run.id} against ${earlier.id}`,
      planned: planned(run) + planned(earlier),
      cases,
      configurations: [
        ...earlier.manifest.configurations.map((one) => ({ ...one, name: before(one.name) })),
        ...run.manifest.configurations,
      ],
    },
    trials: [...was.trials.map(renamed), ...is.trials],
    earlier: [...was.lost.map(renamed), ...is.lost],
    problems: [...earlier.problems, ...run.problems],
    // Each run's own transcripts say which of its repeats are the same.
    identical: new Set([...[...earlier.identical].map(before), ...run.identical]),
  })
  return pageOf(both, {
    pairs: pairs.map(([name, other]) => [before(other), name]),
    folders: [
      { dir: earlier.dir, trials: was.trials, nameOf: renamed },
      { dir: run.dir, trials: is.trials, nameOf: (record) => record },
    ],
    notes: [
      ...(leftOut.length > 0 ? [`The two runs are ${sharedText(cases.length, leftOut)}.`] : []),
      ...(unmatched.length > 0 ? [`Configurations ${unmatchedText(unmatched)}.`] : []),
    ],
  })
}

type Part = { trials: TrialRecord[]; lost: TrialRecord[] }

/** The page of a run. Of a run that does not agree with itself it has problems and no figures. */
export async function pageOf(run: Run, parts?: Parts): Promise<RunPage> {
  const { manifest, unsound } = run
  const sound = unsound.length === 0
  const [a, ...others] = run.configurations
  const pairs = parts?.pairs ?? others.map((b) => [a as string, b] as const)
  const overview: Overview = {
    id: manifest.id,
    created: manifest.created_at.slice(0, 16).replace('T', ' '),
    size: said(
      `${count(manifest.cases.length, 'case')} × ${count(manifest.configurations.length, 'configuration')} × ${count(manifest.repeats, 'repeat')} = ${count(manifest.planned, 'trial')}, seed ${manifest.seed}`,
      trialsLink({}, 'all trials'),
    ),
    notes: [
      ...[
        ...(parts?.notes ?? []),
        simulatedNote(run),
        uncachedText(manifest),
        looksText(run),
      ].flatMap((text) => (text ? [said(text)] : [])),
      ...(sound ? judgeLines(manifest, run.summary()) : []).map((text) => said(text)),
      ...[...run.identical].map((name) =>
        said(identicalText(name), trialsLink({ configuration: name }, `trials of ${name}`)),
      ),
      ...manifest.left_out.map(({ case: id, reason }) => said(`Left out: ${id} (${reason}).`)),
    ],
    alerts: [
      ...(run.complete ? [] : [said(incompleteText(run), lostLink(run.errors, {}))]),
      ...(run.complete ? [] : absentLines(run, { width: 400 }).map((text) => said(text))),
      ...(sound ? run.summary() : []).flatMap((one) => {
        const link = lostLink(one.errors, { configuration: one.configuration })
        return lostLines(one, { width: 1000 }).map((text) => said(text, link))
      }),
      ...(sound ? run.configurations : []).flatMap((name) => {
        const text = earlyCrashText(run, name)
        return text
          ? [said(`${name}: ${text}.`, trialsLink({ configuration: name }, `trials of ${name}`))]
          : []
      }),
      ...unsound.slice(0, 12).map(({ code, where, detail }) => said(`${code} ${where}: ${detail}`)),
    ],
    metrics: Object.fromEntries(
      Object.entries(METRICS).map(([name, { label, better }]) => [name, { label, better }]),
    ) as Overview['metrics'],
    configurations: sound
      ? run.summary().map((one) => configurationShown(run, one))
      : manifest.configurations.map(unknownFigures),
    comparisons: sound ? pairs.map(([from, to]) => comparisonShown(run.compare(from, to))) : [],
    coverage: sound ? coverageShown(run.coverage(), run.summary()) : null,
    unclassified: sound ? unclassifiedText(run) : null,
    marks: Object.keys(MARKS) as Mark[],
    cases: manifest.cases.map(({ id, title, kind, adversarial, twin }) => ({
      id,
      title: foreign(title, 300),
      kind,
      adversarial,
      twin,
    })),
    kinds: kindsWorstFirst(run).map(({ kind }) => kind),
    repeats: manifest.repeats,
    charts: sound ? await chartsOf(run) : [],
    // Two runs have two times.
    activity: sound && !parts ? await activityOf(run) : null,
    began: Date.parse(manifest.created_at),
    beside: null,
  }
  return new RunPage({
    overview,
    trials: run.trials,
    repeats: repeatsOf(run.trials, run.identical),
    folders: parts?.folders ?? [{ dir: run.dir, trials: run.trials, nameOf: (record) => record }],
    text: runText(run, { width: 100 }),
  })
}

const said = (text: string, link: Said['link'] = null): Said => ({ text, link })

/** The list of trials with these marks, on the page. */
function trialsLink(marks: { [name: string]: string }, label: string): Said['link'] {
  const query = new URLSearchParams(marks).toString()
  return { to: `#/trials${query ? `?${query}` : ''}`, label }
}

function lostLink(errors: number, marks: { [name: string]: string }): Said['link'] {
  return errors > 0 ? trialsLink({ ...marks, outcome: 'error' }, count(errors, 'trial')) : null
}

const finite = (value: number) => (Number.isFinite(value) ? value : null)

function configurationShown(run: Run, one: ConfigurationSummary): ConfigurationShown {
  const { configuration, model, trials, errors, unrun, rates, levels } = one
  const usable = run.trials.filter(
    (row) => row.configuration === configuration && row.outcome !== 'error',
  )
  const tokens = usable.flatMap((row) => (row.tokens ? [row.tokens.input + row.tokens.output] : []))
  const per = (sum: number, n: number, say: (value: number) => string) =>
    n > 0 ? say(sum / n) : '–'
  return {
    name: configuration,
    model: foreign(model, 120),
    trials,
    errors,
    unrun,
    rates: Object.fromEntries(
      (Object.keys(METRICS) as Metric[]).map((metric) => {
        const { estimate, low, high, again } = rates[metric]
        const open = openText(rates[metric])
        return [
          metric,
          {
            again: rateText(estimate, again.low, again.high),
            other: rateText(estimate, low, high),
            open: open && `judged ${open.judged}, of all ${open.all}`,
            at: finite(estimate),
            low: finite(again.low),
            high: finite(again.high),
          },
        ]
      }),
    ) as ConfigurationShown['rates'],
    levels,
    cost: {
      time: Number.isFinite(one.duration_ms.median) ? duration(one.duration_ms.median) : '–',
      calls: Number.isFinite(one.calls.median) ? String(one.calls.median) : '–',
      tokens: per(
        tokens.reduce((a, b) => a + b, 0),
        tokens.length,
        (n) => Math.round(n).toLocaleString('en-US'),
      ),
      usd: usable.some((row) => row.cost_usd === null)
        ? '–'
        : per(
            usable.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0),
            usable.length,
            (n) => `$${n.toPrecision(3)}`,
          ),
    },
  }
}

/** A configuration of which no figure can be given. */
function unknownFigures({ name, model }: { name: string; model: string }): ConfigurationShown {
  const none = { again: '–', other: '–', open: null, at: null, low: null, high: null }
  return {
    name,
    model: foreign(model, 120),
    trials: 0,
    errors: 0,
    unrun: 0,
    rates: Object.fromEntries(
      Object.keys(METRICS).map((metric) => [metric, none]),
    ) as ConfigurationShown['rates'],
    levels: { asserted: 0, observed_confirmed: 0, verified: 0 },
    cost: { time: '–', calls: '–', tokens: '–', usd: '–' },
  }
}

const COSTS: Measure[] = ['duration_ms', 'calls', 'tokens', 'cost_usd']

function comparisonShown(comparison: RunComparison): ComparisonShown {
  const { a, b, primary, answers } = comparison
  const { these, 'like these': other } = answers
  const of = (answer: (typeof answers)['these'], metric: ComparedMetric): Answered | null => {
    const found = [answer.primary, ...answer.others].find((one) => one.metric === metric)
    if (!found) return null
    return {
      verdict: found.verdict,
      difference: differenceText(found.difference, found.low, found.high),
      p: pText(found.pAdjusted, 1 - found.level),
    }
  }
  const metrics = [primary.metric, ...these.others.map(({ metric }) => metric)]
  return {
    a,
    b,
    headline: headlineOf(comparison),
    lead: said(leadOf(comparison), {
      to: `#/?${new URLSearchParams({ show: 'differs', metric: primary.metric })}`,
      label: 'cases that differ',
    }),
    notes: comparisonNotes(comparison),
    metrics: metrics.map((metric) => ({
      metric,
      label: metricNamed(metric).label,
      again: of(these, metric),
      other: of(other, metric),
    })),
    measures: COSTS.map((measure) => {
      const { unit } = measureNamed(measure)
      const { difference, low, high, p, cases } = comparison.measure(measure)
      if (cases === 0 || !Number.isFinite(difference)) return null
      const say = (value: number) =>
        `${value > 0 ? '+' : ''}${unit === 'ms' ? Math.round(value) : Number(value.toPrecision(3))}`
      const ends = Number.isFinite(low) ? ` [${say(low)}, ${say(high)}]` : ' [unknown]'
      return { difference: `${say(difference)}${ends} ${unit}`, p: pText(p) }
    }),
  }
}

/** The figures behind the verdict. */
export function leadOf({ a, b, answers }: RunComparison): string {
  const [these, other] = [answers.these.primary, answers['like these'].primary]
  if (these.cases === 0) return ''
  const points = (one: typeof these) => differenceText(one.difference, one.low, one.high)
  return `${metricNamed(these.metric).label}, ${b} minus ${a}, in points: ${points(these)} on these ${count(these.cases, 'case')} run again; ${points(other)} on other cases like these.`
}

/** The verdict as a sentence, for these cases and for others. */
export function headlineOf({ a, b, answers }: RunComparison): string {
  const [these, other] = [answers.these.primary, answers['like these'].primary]
  const label = metricNamed(these.metric).label
  const said = (verdict: string) =>
    verdict === 'better' || verdict === 'worse' ? `${verdict} than ${a}` : verdict
  if (these.verdict === other.verdict)
    return these.verdict === 'cannot tell'
      ? `Whether ${b} is better than ${a} on ${label} cannot be told`
      : `${b} is ${said(these.verdict)} on ${label}`
  return `On these cases, ${b} against ${a} on ${label}: ${these.verdict}; on others like these: ${other.verdict}`
}

/** Pictures of the run, each leading to the trials that it counts. */
async function chartsOf(run: Run): Promise<Overview['charts']> {
  const adversarial = run.manifest.cases.some((one) => one.adversarial)
  const metrics: Metric[] = adversarial ? ['goal', 'attack', 'overclaim'] : ['goal', 'overclaim']
  const drawn: [Chart, string][] = []
  for (const metric of metrics)
    drawn.push([await run.plot('strip', { metric }), `#/trials?metric=${metric}`])
  drawn.push([await run.plot('levels'), '#/trials'])
  const made: ChartShown[] = []
  for (const [chart, link] of drawn) made.push(await chartShown(chart, link))
  return made
}

async function activityOf(run: Run): Promise<Overview['activity']> {
  const chart = await run.plot('activity')
  const link = '#/trials?columns=outcome,calls,time,began&sort=began'
  return { ...(await chartShown(chart, link)), text: chart.text() }
}

async function chartShown(chart: Chart, link: string): Promise<ChartShown> {
  const [light, dark] = [await chart.svg(), await toSvg(inDark(chart.spec))]
  const { title, notes } = chart
  return { title, notes: notes.join(' '), light: asUrl(light), dark: asUrl(dark), link }
}

function asUrl(svg: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}

/** A drawing in the colours of a dark page. */
function inDark(spec: JsonObject): JsonObject {
  const over = (a: unknown, b: JsonObject): JsonObject =>
    Object.fromEntries(
      [...new Set([...Object.keys((a ?? {}) as object), ...Object.keys(b)])].map((name) => {
        const [was, is] = [(a as JsonObject | undefined)?.[name], b[name]]
        return [name, is === undefined ? (was ?? null) : isObject(is) ? over(was, is) : is]
      }),
    )
  return { ...spec, config: over(spec['config'], config('dark')) }
}
