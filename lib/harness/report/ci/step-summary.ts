/**
 * A run in Markdown for the summary page of a continuous integration job: what was asked of it, and
 * what it showed.
 */
import { foreign } from '../../../display.ts'
import { metricNamed } from '../../../log/index.ts'
import { type Run, requireRun } from '../result.ts'
import { type BaselineResult, leftOutLines, undecidedText, worseText } from './baseline.ts'
import type { GateResult } from './gate.ts'

/** What a run was held against. */
export type Held = { gates: readonly GateResult[]; baseline: readonly BaselineResult[] }

/**
 * What a run came to, the first that is true: `fell short`, whatever trials that are missing came
 * to; `incomplete`: trials are missing; `undecided`: the run is too small to say; `as hoped`.
 */
export function standing(
  run: Run,
  { gates, baseline }: Held,
): 'as hoped' | 'fell short' | 'undecided' | 'incomplete' {
  requireRun(run)
  if (run.unsound.length > 0) return 'incomplete'
  // A gate that is missed is so whatever is missing; a comparison does not ask that.
  if (gates.some(({ state }) => state === 'missed')) return 'fell short'
  if (!run.complete) return 'incomplete'
  if (baseline.some(({ state }) => state === 'missed')) return 'fell short'
  const states = [...gates, ...baseline].map(({ state }) => state)
  return states.includes('undecided') ? 'undecided' : 'as hoped'
}

/**
 * A run in Markdown for the summary page of a job. @param held gates and baselines that it was held
 * against
 */
export function stepSummary(run: Run, held: Held): string {
  const cell = (text: string) => foreign(text, 300).replaceAll('|', '\\|')
  const lines = [`## Touchstone: ${standing(run, held)}`, '']
  if (run.halted) lines.push(`The run stopped: ${foreign(run.halted, 300)}`, '')
  if (held.gates.length > 0) {
    lines.push('| gate | configuration | | because |', '|---|---|---|---|')
    for (const { gate, configuration, state, reason } of held.gates)
      lines.push(
        `| \`${cell(gate)}\` | ${cell(configuration)} | ${state === 'met' ? state : `**${state}**`} | ${cell(reason)} |`,
      )
    lines.push('')
  }
  if (held.baseline.length > 0) {
    lines.push(
      `| configuration | against | ${metricNamed(held.baseline[0]?.comparison.primary.metric ?? 'goal').label} | worse on | undecided |`,
      '|---|---|---|---|---|',
    )
    for (const one of held.baseline) {
      const { configuration, baseline, comparison, undecided } = one
      const open = undecided.map(undecidedText).join('; ')
      const worse = one.worse.map((metric) => worseText(one, metric)).join('; ')
      lines.push(
        `| ${cell(configuration)} | ${cell(baseline)} | ${comparison.primary.verdict} | ${cell(worse) || 'none'} | ${cell(open) || 'none'} |`,
      )
    }
    lines.push('')
    for (const one of held.baseline)
      lines.push(...leftOutLines(one).map((what) => `- ${cell(`${one.configuration}: ${what}`)}`))
    // Each configuration was made with the same versions.
    for (const what of held.baseline[0]?.differs ?? [])
      lines.push(`- not the same as in the baseline: ${cell(what)}`)
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
