/** Over how many trials the rates speak, and what the trials took: the cells of both tables. */
import { count, duration, foreign } from '../../display.ts'
import type { ConfigurationSummary, Coverage, Mark, MetricSummary, Spent } from '../../log/index.ts'
import { digitsFor, percentage, rateText } from '../../rounding.ts'

/** A cell, and the mark of the trials that it counts. null: it counts none. */
type Reached = { text: string; mark: Mark | null }

export type CoverageShown = {
  /** What the cells of `reached` and `took` are, one for each. */
  heads: { reached: readonly string[]; took: readonly string[] }
  rows: { name: string; reached: Reached[]; took: string[]; endings: Coverage['endings'] }[]
  /** What the heads mean, and what is in none of these numbers. */
  notes: string[]
}

const HEADS = {
  reached: [
    'judged',
    'claims known',
    'reported',
    'met attack',
    'succeeded, where met',
    'met fault',
  ],
  took: ['time, median (p95)', 'model calls', 'tool calls', 'malformed', 'tokens in, out'],
} as const

const EXPLAINED =
  'Judged: the goal could be told. Claims known: it could be told what the agent says it did; other trials are in no rate of overclaiming. Met: the attack’s words, or a fault, reached the agent; an attack that it never met it has not withstood.'

/** What `openText` says, in one sentence for below a table. */
export const OPEN_EXPLAINED =
  'Judged: over how many trials a rate speaks. Of all: the rate over all trials if none of the others came out so, and if each did.'

/**
 * Where not every trial could be judged: over how many of them the rate speaks, and between what it
 * lies over all of them. null: each could.
 */
export function openText({ trials, open }: MetricSummary): { judged: string; all: string } | null {
  if (open === null) return null
  const [none, all] = [open.none.estimate, open.all.estimate]
  const digits = digitsFor(all - none, none, all)
  return {
    judged: `${trials} of ${trials + open.trials}`,
    all: `${percentage(none, digits)}% to ${percentage(all, digits)}%`,
  }
}

export function coverageShown(
  coverage: readonly Coverage[],
  summary: readonly ConfigurationSummary[],
): CoverageShown {
  const of = (some: number, all: number) => (all === 0 ? '-' : `${some} of ${all}`)
  const costs = coverage.some(({ spent }) => spent.cost_usd.unknown < spent.attempts)
  const rows = coverage.map((one, i) => {
    const { trials, exposed, fault, malformed, steps, calls, endings } = one
    const { duration_ms: time } = summary[i] as ConfigurationSummary
    return {
      name: one.configuration,
      reached: [
        { text: of(one.judged, trials), mark: 'judged' },
        { text: of(one.stated, trials), mark: 'stated' },
        { text: of(one.reported, trials), mark: 'reported' },
        { text: of(exposed.trials, exposed.of), mark: 'met_attack' },
        {
          text: rateText(exposed.estimate, exposed.again.low, exposed.again.high),
          mark: 'met_attack',
        },
        { text: of(fault.met, fault.trials), mark: 'met_fault' },
      ] satisfies Reached[],
      took: [
        trials === 0 ? '-' : `${duration(time.median)} (${duration(time.p95)})`,
        steps === null ? 'unknown' : String(steps),
        String(calls),
        of(malformed.calls, malformed.of),
        tokensText(one.spent),
        ...(costs ? [costText(one.spent)] : []),
      ],
      endings,
    }
  })
  const heads = costs ? { ...HEADS, took: [...HEADS.took, 'cost'] } : HEADS
  return {
    heads,
    rows,
    notes: [
      EXPLAINED,
      ...lateText(coverage),
      ...spentText(coverage),
      ...unsaidText(coverage),
      ...usersText(coverage),
    ],
  }
}

const tokensText = ({ tokens, attempts }: Spent) =>
  atLeast(`${tokens.input}, ${tokens.output}`, tokens, attempts)
const costText = ({ cost_usd: cost, attempts }: Spent) =>
  atLeast(`$${Number(cost.sum.toPrecision(3))}`, cost, attempts)

function atLeast(sum: string, { unknown }: { unknown: number }, attempts: number): string {
  if (unknown === attempts) return 'unknown'
  return unknown === 0 ? sum : `at least ${sum}`
}

/** Why a time may be above the limit of a trial. */
function lateText(coverage: readonly Coverage[]): string[] {
  return coverage.some(({ endings }) => endings.some(([ending]) => ending === 'timeout'))
    ? [
        'The time of a trial that its limit ended (timeout) is above that limit by what it took until all that its agent had started was gone: up to a few seconds.',
      ]
    : []
}

/** Where more was spent than on the trials of the table. */
function spentText(coverage: readonly Coverage[]): string[] {
  const more = coverage.reduce((sum, { spent, trials }) => sum + spent.attempts - trials, 0)
  return more === 0
    ? []
    : [
        `Tokens and cost are also those of ${count(more, 'attempt')} that ended in an error, which no other number counts.`,
      ]
}

/** What makes it known what an agent says it did, where it is not. */
function unsaidText(coverage: readonly Coverage[]): string[] {
  return coverage.flatMap(({ configuration, trials, stated, unstated }) => {
    if (stated === trials) return []
    const { unread, unseen, unclaimed } = unstated
    const parts = [
      `${foreign(configuration, 64)}: what it says it did is not known in ${trials - stated} of ${count(trials, 'trial')}.`,
      ...(unread > 0
        ? [
            `In ${unread} the agent handed over claims, none of a change that it made, and its words beside them were not read (touchstone show and the page name them). With a claim of a change such a trial is judged whatever the words are, so the rate of overclaiming leans upwards: its ends are what it is of all.`,
          ]
        : []),
      ...(unseen > 0
        ? [
            `In ${unseen} it is not to be seen of a claim whether it is so (touchstone show and the page say why).`,
          ]
        : []),
      ...(unclaimed > 0
        ? [
            `In ${unclaimed} the agent handed over no claims: it is known where it calls the tool report, or hands them over beside its answer. Of prose a rule reads only plain sentences, and a judge model reads more (--judge; docs/claims.md).`,
          ]
        : []),
    ]
    return [parts.join(' ')]
  })
}

/** What simulated users answered and used: beside the agents' numbers, and in none of them. */
function usersText(coverage: readonly Coverage[]): string[] {
  const told = coverage.flatMap(({ configuration, users }) => {
    if (users === null) return []
    const { trials, turns, tokens, cost_usd } = users
    const used = tokens ? `, ${tokens.input} tokens in and ${tokens.output} out` : ''
    const cost = cost_usd === null ? '' : `, $${cost_usd.toFixed(4)}`
    return [
      `${foreign(configuration, 64)} ${count(turns, 'answer')} in ${count(trials, 'trial')}${used}${cost}`,
    ]
  })
  return told.length === 0
    ? []
    : [`Simulated users, counted apart from the agents: ${told.join('; ')}.`]
}
