/** A run as workflow commands: what GitHub shows beside the job and in its log. */
import { randomUUID } from 'node:crypto'
import { count, foreign } from '../../display.ts'
import { type Held, type Run, type TrialRecord, why } from '../../harness/index.ts'
import { withoutPass } from '../../harness/page/why.ts'
import { undecidedText, worseText } from '../../harness/report/ci/baseline.ts'

/** GitHub shows this many per kind and step. */
const MOST = 10

/**
 * Lines that GitHub turns into annotations: an error per gate and baseline that was missed, a
 * warning per one that is undecided, and one per case and configuration of which trials did not
 * pass, those with the most first, with the first reason.
 *
 * @param held what the run was held against
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function annotations(run: Run, held: Held = { gates: [], baseline: [] }): string[] {
  const errors: string[] = []
  const warnings: string[] = []
  for (const { gate, configuration, state, reason } of held.gates)
    if (state !== 'met')
      (state === 'missed' ? errors : warnings).push(
        command(
          state === 'missed' ? 'error' : 'warning',
          `Gate ${gate}, ${configuration}: ${state}`,
          reason,
        ),
      )
  for (const one of held.baseline) {
    const { configuration, baseline, worse, undecided } = one
    const title = `${configuration} against ${baseline}`
    const said = worse.map((metric) => worseText(one, metric)).join('; ')
    if (said) errors.push(command('error', title, `worse on ${said}`))
    for (const open of undecided)
      warnings.push(
        command('warning', title, `undecided whether it is worse: ${undecidedText(open)}`),
      )
  }
  const groups = [...Map.groupBy(run.trials, (row) => `${row.case}|${row.configuration}`).values()]
    .map((rows) => ({ all: rows.length, ...withoutPass(rows) }))
    .filter(({ rows }) => rows.length > 0)
    .sort((a, b) => b.rows.length / b.all - a.rows.length / a.all)
  for (const { all, rows, text } of groups) {
    const [first] = rows as [TrialRecord]
    const title = `${first.case}, ${first.configuration}`
    const said = `${rows.length} of ${count(all, 'trial')} without a pass: ${text}. Trial ${first.trial}: ${why(first)[0] ?? first.outcome}`
    warnings.push(command('warning', title, said))
  }
  return [...errors.slice(0, MOST), ...warnings.slice(0, MOST)]
}

/**
 * Have GitHub read no workflow commands in what is printed from here on: a run's text holds words
 * of agents, and a line that begins with them may look like one.
 *
 * @returns what lets it read them again, by the end of this process at the latest
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions#stopping-and-starting-workflow-commands
 */
export function stopCommands(): () => void {
  const token = randomUUID()
  let stopped = true
  const resume = () => {
    process.off('exit', resume)
    if (stopped) process.stderr.write(`::${token}::\n`)
    stopped = false
  }
  process.stderr.write(`::stop-commands::${token}\n`)
  process.once('exit', resume)
  return resume
}

/** A workflow command. What stands in it cannot begin another one. */
function command(kind: 'error' | 'warning', title: string, message: string): string {
  const data = (text: string) =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const property = data(foreign(title, 200)).replaceAll(':', '%3A').replaceAll(',', '%2C')
  return `::${kind} title=${property}::${data(foreign(message, 1000))}`
}
