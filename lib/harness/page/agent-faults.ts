/** What a reader must know of agents that fell short for a reason beside the task. */
import { count, foreign } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { StatRow, Transcript, TrialRecord } from '../../log/index.ts'

/** What is read of a run. */
type Trials = {
  columns: { rows(configuration: string): Iterable<StatRow> }
  records(which?: ((row: StatRow) => boolean) | null): Iterable<TrialRecord>
  transcript(key: string): Transcript
}

/**
 * Says that more than half of a configuration's trials crashed before their first call, as they do
 * where a model is not to be had, and the way out. Null where they did not.
 */
export function earlyCrashText(run: Trials, configuration: string): string | null {
  const silent = (row: StatRow) => row.outcome === 'fail' && row.calls === 0
  const ended = [...run.columns.rows(configuration)].filter(({ outcome }) => outcome !== 'error')
  if (2 * ended.filter(silent).length <= ended.length) return null
  let crashed = 0
  for (const row of run.records(silent))
    if (row.configuration === configuration && row.error?.code === 'agent_crashed') crashed++
  if (2 * crashed <= ended.length) return null
  return `the agent crashed before its first call in ${crashed} of ${count(ended.length, 'trial')}, which counts as its failure; if its model was not to be had, say so by exit code 75, unavailable: or a thrown statusCode (docs/agents.md)`
}

/** Says that calls of a configuration were none, and of the first one why. Null where none was. */
export function malformedText(run: Trials, configuration: string, calls: number): string | null {
  if (calls === 0) return null
  for (const row of run.records())
    if (row.configuration === configuration && row.malformed) {
      const first = firstOf(run, row.key)
      const why = first
        ? ` The first: ${foreign(first.tool, 64)}: ${foreign(first.problem, 300)}.`
        : ''
      return `${count(calls, 'tool call')} could not be read.${why}`
    }
  return null
}

function firstOf(run: Trials, key: string) {
  try {
    const { malformed = [] } = run.transcript(key)
    return malformed.find(({ tool }) => tool === 'report') ?? malformed[0]
  } catch (cause) {
    // A transcript that is damaged is told of elsewhere.
    if (cause instanceof TouchstoneError) return undefined
    throw cause
  }
}
