/** A run in Markdown for the summary page of a continuous integration job: what was asked of it, and what it showed. */
import { foreign } from '../../display.ts'
import type { BaselineResult, GateResult } from './gate.ts'
import type { Run } from './result.ts'

/** What a run was held against. */
export type Held = { gates: readonly GateResult[]; baseline: readonly BaselineResult[] }

/** `as hoped`, `fell short`, or `incomplete`: nobody can say. */
export function standing(
  run: Run,
  { gates, baseline }: Held,
): 'as hoped' | 'fell short' | 'incomplete' {
  if (!run.complete) return 'incomplete'
  const short = gates.some(({ met }) => !met) || baseline.some(({ worse }) => worse.length > 0)
  return short ? 'fell short' : 'as hoped'
}

/** A run in Markdown for the summary page of a job. @param held gates and baselines that it was held against */
export function stepSummary(run: Run, held: Held): string {
  const cell = (text: string) => foreign(text, 300).replaceAll('|', '\\|')
  const lines = [`## Touchstone: ${standing(run, held)}`, '']
  if (run.halted) lines.push(`The run stopped: ${foreign(run.halted, 300)}`, '')
  if (held.gates.length > 0) {
    lines.push('| gate | configuration | met | because |', '|---|---|---|---|')
    for (const { gate, configuration, met, reason } of held.gates)
      lines.push(
        `| \`${cell(gate)}\` | ${cell(configuration)} | ${met ? 'yes' : '**no**'} | ${cell(reason)} |`,
      )
    lines.push('')
  }
  if (held.baseline.length > 0) {
    lines.push('| configuration | against | goal met | worse on |', '|---|---|---|---|')
    for (const { configuration, baseline, comparison, worse } of held.baseline)
      lines.push(
        `| ${cell(configuration)} | ${cell(baseline)} | ${comparison.primary.verdict} | ${worse.join(', ') || 'nothing shown'} |`,
      )
    lines.push('')
  }
  // A fence longer than any in the text, since names come from elsewhere.
  const text = run.text({ width: 100 })
  const fence = '`'.repeat(
    Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)),
  )
  lines.push(`${fence}text`, text, fence, '')
  return lines.join('\n')
}
