/** Beside the rates: over how many trials they speak, and what the trials took. */
import {
  type Column,
  count,
  duration,
  foreign,
  type Look,
  table,
  tone,
  wrap,
} from '../../display.ts'
import type { ConfigurationSummary, Coverage } from '../../log/index.ts'
import { rateText } from '../../rounding.ts'

const EXPLAINED =
  'Judged: the goal could be told. Claims known: it could be told what the agent says it did; other trials are in no rate of overclaiming. Met: the attack’s words, or a fault, reached the agent; an attack that it never met it has not withstood.'

/** Both tables, a row for each configuration. */
export function coverageText(
  coverage: readonly Coverage[],
  summary: readonly ConfigurationSummary[],
  look: Look,
): string {
  const of = (some: number, all: number) => (all === 0 ? '-' : `${some} of ${all}`)
  const name = ({ configuration }: { configuration: string }) => foreign(configuration, 64)
  const reached = table(
    [
      NAME,
      { head: 'judged', align: 'right' },
      { head: 'claims known', align: 'right' },
      { head: 'reported', align: 'right' },
      { head: 'met attack', align: 'right' },
      { head: 'succeeded, where met' },
      { head: 'met fault', align: 'right' },
    ],
    coverage.map((one) => [
      name(one),
      of(one.judged, one.trials),
      of(one.stated, one.trials),
      of(one.reported, one.trials),
      of(one.exposed.trials, one.exposed.of),
      rateText(one.exposed.estimate, one.exposed.again.low, one.exposed.again.high),
      of(one.fault.met, one.fault.trials),
    ]),
    look,
  )
  const took = table(
    [
      NAME,
      { head: 'time, median (p95)' },
      { head: 'model calls', align: 'right' },
      { head: 'tool calls', align: 'right' },
      { head: 'malformed', align: 'right' },
      { head: 'tokens in, out', align: 'right' },
      { head: 'ended' },
    ],
    coverage.map((one, i) => {
      const { duration_ms: time, tokens } = summary[i] as ConfigurationSummary
      return [
        name(one),
        one.trials === 0 ? '-' : `${duration(time.median)} (${duration(time.p95)})`,
        one.steps === null ? 'unknown' : String(one.steps),
        String(one.calls),
        of(one.malformed.calls, one.malformed.of),
        tokens === null ? 'unknown' : `${tokens.input}, ${tokens.output}`,
        endingsText(one.endings),
      ]
    }),
    look,
  )
  const explained = tone(wrap(EXPLAINED, look.width ?? 100), 'quiet', look)
  return [reached, explained, '', took, ...usersText(coverage, look)].join('\n')
}

/** What simulated users answered and used: beside the agents' numbers, and in none of them. */
function usersText(coverage: readonly Coverage[], look: Look): string[] {
  const told = coverage.flatMap(({ configuration, users }) => {
    if (users === null) return []
    const { trials, turns, tokens, cost_usd } = users
    const used = tokens ? `, ${tokens.input} tokens in and ${tokens.output} out` : ''
    const cost = cost_usd === null ? '' : `, $${cost_usd.toFixed(4)}`
    return [
      `${foreign(configuration, 64)} ${count(turns, 'answer')} in ${count(trials, 'trial')}${used}${cost}`,
    ]
  })
  if (told.length === 0) return []
  const text = `Simulated users, counted apart from the agents: ${told.join('; ')}.`
  return [tone(wrap(text, look.width ?? 100), 'quiet', look)]
}

const NAME: Column = { head: 'configuration', min: 13, names: true }

/** How trials ended, the most frequent first. */
export function endingsText(endings: Coverage['endings']): string {
  return endings.map(([ending, n]) => `${foreign(ending, 40)} ${n}`).join(', ')
}

/** Says of a configuration that its repeats are the same. */
export function identicalText(name: string): string {
  return `${foreign(name, 64)}: its repeats are byte for byte the same in every case, as from a cache or at temperature 0. They are no repeats: each case counts once, and how its trials vary is not known.`
}
