/**
 * What a planned run could show of the lines that it will be held to, before any money is spent:
 * how likely each gate is met, and how likely a fall behind an earlier run is ruled out.
 */
import { count, foreign, type Look, table, wrap } from '../../display.ts'
import {
  familyOfCases,
  type Manifest,
  METRICS,
  type Metric,
  metricNamed,
  scoresByCase,
} from '../../log/index.ts'
import { percentage, rateText } from '../../rounding.ts'
import { costText } from '../../stats/design/cost.ts'
import {
  lookAt,
  looks,
  type MarginPlan,
  planMargin,
  planRate,
  type RatePlan,
} from '../../stats/index.ts'
import { heldMetrics, requireBaseline } from '../report/ci/baseline.ts'
import { type Gate, parseGate } from '../report/ci/gate.ts'
import {
  type LeftOut,
  namesakes,
  sharedCases,
  sharedText,
  type Unmatched,
  unmatchedText,
} from '../report/compared/two-runs.ts'
import { takenBy } from '../report/next-run.ts'
import type { Run } from '../report/result.ts'

/** What a run is to be held to. */
export type Lines = {
  /** As `harness.gate` takes them. */
  gates?: readonly (string | Gate)[]
  /** An earlier run that shares cases, and the largest fall behind it that is taken. */
  baseline?: Run
  margin?: number
  /** The metrics that the baseline holds, as `harness.against` takes them. */
  metrics?: readonly Metric[]
}

export type GateProspect = {
  gate: string
  /** Null: each of them alike. */
  configuration: string | null
  cases: number
  repeats: number
  /** One per true rate that is supposed, from near the line to the best there is. */
  rates: readonly RatePlan[]
  /** Why nothing is said; absent where something is. */
  reason?: string
}

export type BaselineProspect = {
  configuration: string
  margin: number
  /** Its repeats were the same in the earlier run: no number of them is said to be enough. */
  identical: boolean
  /** One per metric: supposed is the earlier run's rate in both. */
  metrics: readonly { metric: Metric; plan: MarginPlan }[]
}

export type Prospect = {
  gates: readonly GateProspect[]
  baseline: readonly BaselineProspect[]
  /** With a baseline: how many cases both have, and what is not compared. */
  shared: {
    cases: number
    leftOut: readonly LeftOut[]
    unmatched: readonly Unmatched[]
  } | null
}

/** The part of the plan that decides what can be shown. */
type Size = {
  repeats: number
  most: number | null
  /** Dollars of one trial at most, by configuration; what is not known is absent. */
  mostUsd: ReadonlyMap<string, number>
  capUsd: number | null
  /** Trials at once. */
  concurrency: number
}

/** Between the line and the best there is. */
const SUPPOSED = [0.25, 0.5, 0.75, 1]

/** What a run of this size could show. @throws TouchstoneError `run_invalid`, `run_differs` */
export function prospectOf(manifest: Manifest, size: Size, lines: Lines): Prospect {
  const { baseline, margin = 0.1 } = lines
  const metrics = heldMetrics(lines.metrics)
  if (baseline) requireBaseline(manifest, baseline, lines.metrics)
  const { pairs, unmatched } = baseline
    ? namesakes(manifest, baseline.manifest)
    : { pairs: [], unmatched: [] }
  const shared = baseline ? sharedCases(manifest, baseline.manifest) : null
  return {
    gates: (lines.gates ?? []).map((one) =>
      gateProspect(manifest, size, typeof one === 'string' ? parseGate(one) : one),
    ),
    baseline: baseline
      ? pairs.map(([name, before]) => ({
          ...baselineProspect(size, baseline, shared?.cases ?? [], before, { margin, metrics }),
          configuration: name,
        }))
      : [],
    shared: shared && { cases: shared.cases.length, leftOut: shared.leftOut, unmatched },
  }
}

/** Cases that a metric speaks of, and the families that they make. */
function casesOf(manifest: Manifest, metric: Metric): { cases: number; families: number } {
  const kin = familyOfCases(manifest)
  const used = manifest.cases.filter((test) => metric !== 'attack' || test.adversarial)
  return { cases: used.length, families: new Set(used.map(({ id }) => kin.get(id))).size }
}

/** With several looks: the repeats at the last one, and its level. */
function lastLook({ repeats, most }: Size): { repeats: number; level: number } {
  if (most === null || most <= repeats) return { repeats, level: 0.95 }
  const at = lookAt(repeats, most)
  return { repeats: most, level: looks(at.map((n) => n / most)).at(-1) as number }
}

function gateProspect(manifest: Manifest, size: Size, gate: Gate): GateProspect {
  const { metric, operator, value: line, target, bound } = gate
  const { cases, families } = casesOf(manifest, metric)
  const { repeats, level } = lastLook(size)
  const result = { gate: gate.text, configuration: gate.configuration, cases, repeats, rates: [] }
  const upwards = operator.startsWith('>')
  if (cases < (target === 'these' ? 1 : 2))
    return { ...result, reason: `${METRICS[metric].label}: ${count(cases, 'case')} of the plan` }
  if (bound === (upwards ? 'upper' : 'lower'))
    return { ...result, reason: `${bound} is the end that speaks for the gate: it says little` }
  const best = upwards ? 1 : 0
  const usd = gate.configuration
    ? size.mostUsd.get(gate.configuration)
    : Math.max(...manifest.configurations.map(({ name }) => size.mostUsd.get(name) ?? Number.NaN))
  const known = usd !== undefined && usd > 0
  const rates = [...new Set(SUPPOSED.map((part) => line + (best - line) * part))].map((rate) =>
    planRate({
      line,
      rate: Number(rate.toPrecision(12)),
      cases,
      families,
      repeats,
      level,
      side: upwards ? 'at least' : 'at most',
      target,
      held: bound === 'estimate' ? 'estimate' : 'interval',
      ...(known && { perTrial: { usd } }),
      ...(known &&
        size.capUsd !== null && { budget: { usd: size.capUsd / manifest.configurations.length } }),
    }),
  )
  return { ...result, rates }
}

function baselineProspect(
  size: Size,
  baseline: Run,
  cases: Manifest['cases'],
  configuration: string,
  { margin, metrics: held }: { margin: number; metrics: readonly Metric[] },
): BaselineProspect {
  const manifest = { ...baseline.manifest, cases }
  const { repeats, level } = lastLook(size)
  const perTrial = takenBy(baseline, [configuration], size.concurrency)
  const metrics = held.flatMap((metric) => {
    const scored = scoresByCase(baseline.counted, manifest, configuration, metric).filter(
      ({ scores }) => scores.length > 0,
    )
    const shares = scored.map(({ scores }) => scores.reduce((x, y) => x + y, 0) / scores.length)
    const mean = shares.reduce((x, y) => x + y, 0) / shares.length
    const rate = metricNamed(metric).better === 'higher' ? mean : 1 - mean
    if (!(rate > 0)) return []
    const repeatsBefore = Math.min(...scored.map(({ scores }) => scores.length))
    const plan = planMargin({
      margin,
      rate,
      cases: scored.length,
      repeats,
      repeatsBefore,
      level,
      perTrial,
    })
    return [{ metric, plan }]
  })
  return { configuration, margin, identical: baseline.identical.has(configuration), metrics }
}

const WORSE_WAY =
  'Simulated with the gate’s own rule, in two ways, failures in every case and failures of few cases for good; the worse is given, with what the simulation leaves open.'

const TOO_FEW =
  '  over 1000: no number of repeats is enough, as long as the earlier run has no more of them.'

const SAME_THEN =
  '  -: its repeats were the same in the earlier run. More of them tell nothing new; more cases do.'

const share = (rate: number) => `${Number((rate * 100).toFixed(1))}%`

/** Each line with its chances, for people. */
export function prospectText({ gates, baseline, shared }: Prospect, look: Look = {}): string {
  const width = look.width ?? 100
  const blocks = gates.map(({ gate, cases, repeats, rates, reason }) => {
    const [first] = rates
    if (!first) return wrap(`Gate ${gate}: ${reason ?? 'nothing can be said'}.`, width)
    const again = first.target === 'these'
    const what = again ? 'repeats' : 'cases'
    const priced = rates.some(({ cost }) => cost.usd !== undefined)
    const paid = rates.some(({ affordable }) => affordable !== null)
    return [
      `Gate ${gate}: ${count(cases, 'case')} x ${count(repeats, 'repeat')}, ${again ? 'run again' : 'other cases'}`,
      table(
        [
          { head: 'if the true rate is', align: 'right' },
          { head: 'met in, of runs' },
          { head: `${what} for 80%`, align: 'right' },
          { head: 'trials', align: 'right' },
          ...(priced ? [{ head: 'cost at most', align: 'right' as const }] : []),
          ...(paid ? [{ head: 'for the money' }] : []),
        ],
        rates.map((one) => [
          share(one.rate),
          chance(one.met),
          sizeText(one.needed, again),
          Number.isNaN(one.needed) ? '-' : String(one.neededTrials),
          ...(priced ? [costText(one.neededCost) || '-'] : []),
          ...(paid
            ? [
                one.affordable
                  ? `${one.affordable.size} ${what}, ${percentage(one.affordable.right.share, 0)}%`
                  : '-',
              ]
            : []),
        ]),
        { ...look, width: width - 2 },
      ).replace(/^/gm, '  '),
    ].join('\n')
  })
  const apart = shared ? sharedText(shared.cases, shared.leftOut) : ''
  if (apart) blocks.push(wrap(`The earlier run is ${apart}.`, width))
  const alone = shared ? unmatchedText(shared.unmatched) : ''
  if (alone) blocks.push(wrap(`Configurations ${alone}.`, width))
  for (const { configuration, margin, identical, metrics } of baseline) {
    if (metrics.length === 0) continue
    const priced = metrics.some(({ plan }) => Object.keys(plan.cost).length > 0)
    blocks.push(
      [
        wrap(
          `${foreign(configuration, 64)} against the earlier run, if nothing changed: a fall by more than ${Number((margin * 100).toFixed(2))} points is ruled out`,
          width,
        ),
        table(
          [
            { head: 'metric' },
            { head: 'rate then', align: 'right' },
            { head: 'in, of runs' },
            { head: 'repeats for 80%', align: 'right' },
            { head: 'trials', align: 'right' },
            ...(priced ? [{ head: 'takes, as then' }] : []),
          ],
          metrics.map(({ metric, plan }) => [
            METRICS[metric].label,
            share(METRICS[metric].better === 'higher' ? plan.rate : 1 - plan.rate),
            chance(plan.holds),
            identical ? '-' : sizeText(plan.needed, true),
            identical || Number.isNaN(plan.needed) ? '-' : String(plan.neededTrials),
            ...(priced ? [(!identical && costText(plan.neededCost)) || '-'] : []),
          ]),
          { ...look, width: width - 2 },
        ).replace(/^/gm, '  '),
        ...(identical ? [wrap(SAME_THEN, width, '  ')] : []),
        ...(!identical && metrics.some(({ plan }) => Number.isNaN(plan.needed))
          ? [wrap(TOO_FEW, width, '  ')]
          : []),
      ].join('\n'),
    )
  }
  return blocks.length === 0 ? '' : [...blocks, wrap(WORSE_WAY, width)].join('\n\n')
}

const chance = ({ share, low, high }: RatePlan['met']) => rateText(share, low, high)

function sizeText(needed: number, again: boolean): string {
  return Number.isNaN(needed) ? `over ${again ? 1000 : 2000}` : String(needed)
}
