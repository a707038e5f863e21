/**
 * What a run will do and may cost, said before it does it. Bounds, not promises: how an agent
 * behaves is what the run is for.
 */
import { count, foreign, type Look, table, wrap } from '../../display.ts'
import type { JsonObject } from '../../json.ts'
import type { Manifest } from '../../log/index.ts'
import { Shown } from '../../shown.ts'
import { lookAt } from '../../stats/index.ts'
import type { Sources } from '../trial/executor.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import { type Lines, type Prospect, prospectOf, prospectText } from './prospect.ts'

export type ForecastRow = {
  configuration: string
  model: string
  trials: number
  /**
   * null: an agent's own model calls are not known. Else, if every trial takes the solution's
   * calls, a look after each, and a report.
   */
  modelCalls: { expected: number; most: number } | null
  toolCalls: { expected: number; most: number }
  /**
   * US dollars at most: tokens per trial are limited and the price is known; else null. Simulated
   * models cost nothing.
   */
  mostUsd: number | null
}

export class Forecast extends Shown {
  readonly cases: number
  readonly repeats: number
  readonly trials: number
  readonly rows: readonly ForecastRow[]
  /** The run stops at this cost, or null. Trials at work then still end. */
  readonly capUsd: number | null
  readonly leftOut: readonly { case: string; reason: string }[]
  /**
   * The repeats at each look, where they are added until it is known, and the trials at most; else
   * null.
   */
  readonly until: { looks: readonly number[]; mostTrials: number } | null
  /** What the run could show of the gates and the earlier run that were named. */
  readonly prospect: Prospect
  /** Models that play users, or judge, are asked too: their calls and cost are in no figure. */
  readonly besides: boolean

  constructor(
    parts: Pick<
      Forecast,
      | 'cases'
      | 'repeats'
      | 'trials'
      | 'rows'
      | 'capUsd'
      | 'leftOut'
      | 'until'
      | 'prospect'
      | 'besides'
    >,
  ) {
    super()
    this.cases = parts.cases
    this.repeats = parts.repeats
    this.trials = parts.trials
    this.rows = parts.rows
    this.capUsd = parts.capUsd
    this.leftOut = parts.leftOut
    this.besides = parts.besides
    this.until = parts.until
    this.prospect = parts.prospect
  }

  /** Dollars at most over all configurations, or null when one of them has no bound. */
  get mostUsd(): number | null {
    return this.rows.reduce<number | null>(
      (sum, { mostUsd }) => (sum === null || mostUsd === null ? null : sum + mostUsd),
      0,
    )
  }

  text(look: Look = {}): string {
    const { cases, repeats, trials, rows } = this
    const dollars = (value: number | null) =>
      value === null ? 'not known' : `$${value.toFixed(2)}`
    const between = ({ expected, most }: { expected: number; most: number }) =>
      `about ${expected}, at most ${most}`
    const bounds = [
      this.mostUsd === null
        ? this.besides
          ? 'What it may cost has no bound that is known.'
          : 'What it may cost has no bound that is known: a bound needs a limit of tokens per trial and a price for each model.'
        : `Cost at most ${dollars(this.mostUsd)}.`,
    ]
    if (this.capUsd !== null) bounds.push(`The run stops at ${dollars(this.capUsd)}.`)
    if (this.mostUsd !== null && this.mostUsd > 0)
      bounds.push('More only where a single tool result is larger than the limit of tokens.')
    if (rows.some(({ modelCalls }) => modelCalls === null))
      bounds.push('What an agent of your own asks of models is not seen.')
    if (this.besides)
      bounds.push('Models that play users, and a judge, are asked besides: they are in no bound.')
    const prospect = prospectText(this.prospect, look)
    return [
      `${count(cases, 'case')} x ${count(rows.length, 'configuration')} x ${count(repeats, 'repeat')} = ${count(trials, 'trial')}`,
      '',
      table(
        [
          { head: 'configuration' },
          { head: 'model' },
          { head: 'trials', align: 'right' },
          { head: 'model calls' },
          { head: 'tool calls' },
          { head: 'cost at most', align: 'right' },
        ],
        rows.map((row) => [
          foreign(row.configuration, 64),
          foreign(row.model, 64),
          String(row.trials),
          row.modelCalls === null ? 'not known' : between(row.modelCalls),
          between(row.toolCalls),
          dollars(row.mostUsd),
        ]),
        look,
      ),
      wrap(bounds.join(' '), look.width ?? 100),
      ...(this.until
        ? [
            `The table is for the first look. Looks at ${this.until.looks.join(', ')} repeats, so that there are at most ${count(this.until.mostTrials, 'trial')}: ${Number((this.until.mostTrials / trials).toFixed(1))} times as many.`,
          ]
        : []),
      ...this.leftOut.map(({ case: id, reason }) => `Left out: ${id} (${reason}).`),
      ...(prospect ? ['', prospect] : []),
    ].join('\n')
  }

  toJSON(): JsonObject {
    const { cases, repeats, trials, rows, capUsd, mostUsd, leftOut, until, prospect, besides } =
      this
    return JSON.parse(
      JSON.stringify({
        schema: 'touchstone.forecast.v0',
        cases,
        repeats,
        trials,
        rows,
        mostUsd,
        besides,
        capUsd,
        leftOut,
        until,
        prospect,
      }),
    ) as JsonObject
  }
}

/** What a plan whose models are found will do. */
export function forecast(
  plan: RunPlan,
  sources: Sources,
  manifest: Manifest,
  lines: Lines = {},
): Forecast {
  const { limits, prices, repeats, cases } = plan
  const trials = cases.length * repeats
  const besides = plan.judge !== undefined || cases.some(({ user }) => user?.model !== undefined)
  const solution = cases.reduce((sum, test) => sum + test.solution.length, 0) * repeats
  const checks =
    cases.reduce((sum, test) => sum + test.solution.filter((step) => step.check).length, 0) *
    repeats
  const rows = [...sources].map(([configuration, { source }]): ForecastRow => {
    const price = Object.hasOwn(prices, source.id) ? prices[source.id] : undefined
    const perTrial = boundUsd(price, limits.tokens)
    return {
      configuration,
      model: source.id,
      trials,
      modelCalls:
        'agent' in source
          ? null
          : {
              expected: solution + checks + trials,
              most: trials * limits.attempts * limits.steps,
            },
      toolCalls: { expected: solution + checks, most: trials * limits.attempts * limits.calls },
      mostUsd: besides
        ? null
        : source.simulated
          ? 0
          : perTrial === null
            ? null
            : trials * limits.attempts * perTrial,
    }
  })
  return new Forecast({
    cases: cases.length,
    repeats,
    trials: trials * sources.size,
    rows,
    besides,
    capUsd: limits.costUsd,
    until: plan.until
      ? {
          looks: lookAt(repeats, plan.until.most),
          mostTrials: cases.length * sources.size * plan.until.most,
        }
      : null,
    leftOut: manifest.left_out,
    prospect: prospectOf(
      manifest,
      {
        repeats,
        most: plan.until?.most ?? null,
        capUsd: limits.costUsd,
        concurrency: plan.concurrency,
        mostUsd: new Map(
          rows.flatMap(({ configuration, mostUsd }) =>
            mostUsd === null ? [] : [[configuration, mostUsd / trials] as const],
          ),
        ),
      },
      lines,
    ),
  })
}

/**
 * What one trial costs at most. The limit is looked at after each model call, so the last one may
 * go beyond it by its own size; a call's prompt holds what was spent before it, so it is taken as
 * the limit once more. A tool result larger than that is not bounded.
 */
function boundUsd(
  price: { input: number; output: number } | undefined,
  tokens: number | null,
): number | null {
  return price && tokens !== null ? (2 * tokens * Math.max(price.input, price.output)) / 1e6 : null
}
