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
 * where a model is not to be had, or that their answers could not be read, and the way out. Null
 * where they did neither.
 */
export function earlyCrashText(run: Trials, configuration: string): string | null {
  const failed = (row: StatRow) => row.outcome === 'fail'
  const ended = [...run.columns.rows(configuration)].filter(({ outcome }) => outcome !== 'error')
  if (2 * ended.filter(failed).length <= ended.length) return null
  let crashed = 0
  const unread: string[] = []
  for (const { configuration: of, calls, error } of run.records(failed)) {
    if (of !== configuration) continue
    if (error?.code === 'agent_crashed' && calls === 0) crashed++
    if (error?.code === 'answer_invalid') unread.push(error.message)
  }
  if (2 * unread.length > ended.length)
    return `the agent’s answer could not be read in ${unread.length} of ${count(ended.length, 'trial')}, which counts as its failure; the first: ${foreign(unread[0] as string, 300)}`
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
