/**
 * Attempts that ended in an error of the machinery, and trials that are not there: what a run's
 * rates leave out.
 *
 * The attempt that counts is the last one. What an earlier one did is in no rate, so it is counted
 * beside them, and in their bounds.
 */
import type { Manifest, TrialRecord } from './records.ts'
import { trialKey } from './trial.ts'

export type LostAttempts = {
  /** Attempts that ended in an error, whether or not another followed. */
  attempts: number
  /** Of these, the ones whose agent had begun to act, or may have: see `hadActed`. */
  acted: number
  /** Of these, the ones that had changed their world, or may have. */
  changed: number
  /** By the code of the error, in alphabetical order. */
  ended: { [code: string]: number }
}

/**
 * Planned trials of one case and configuration that have no record, by their repeat. `more`: how
 * many there are besides, where a run lacks too many to list.
 */
export type Absent = { case: string; configuration: string; trials: number[]; more?: number }

/** Absent trials of a run that are listed one by one. Of the rest, each cell has the number. */
const MOST_LISTED = 100_000

/** Which trials there are. */
type There = { has(key: string): boolean; count(caseId: string, configuration: string): number }

/** What the attempts in an error came to. */
export function lostOf(attempts: readonly TrialRecord[]): LostAttempts {
  const lost = attempts.filter(({ outcome }) => outcome === 'error')
  const ended = Map.groupBy(lost, ({ error }) => error?.code ?? 'unknown')
  return {
    attempts: lost.length,
    acted: lost.filter(hadActed).length,
    changed: lost.filter(changedWorld).length,
    ended: Object.fromEntries([...ended].map(([code, { length }]) => [code, length]).sort()),
  }
}

/**
 * True unless it is known that the attempt broke off before its agent had done anything.
 *
 * Once an agent has acted it may know how the trial will end, and why an attempt ended in an error
 * is often the word of the agent alone: an exit code, a refusal that it hands on, a service that
 * falls silent. So whoever ended such an attempt, the one that follows must not hide it: the trial
 * is in the bounds of each rate. Before its first act an agent has nothing to weigh but the task,
 * which it can weigh within one attempt: a provider that fails there costs it nothing.
 */
export function hadActed(
  attempt: Pick<
    TrialRecord,
    'start_digest' | 'end_digest' | 'calls' | 'levels' | 'malformed' | 'user' | 'reported' | 'error'
  >,
): boolean {
  const { calls, malformed, user, reported, error } = attempt
  // Nothing is known of an attempt whose worker is gone.
  if (error?.code === 'worker_lost') return true
  if (reported || calls > 0 || (malformed ?? 0) > 0) return true
  return (user?.turns ?? 0) > 0 || changedWorld(attempt)
}

/** True unless it is known that the attempt left its world as it was. */
export function changedWorld({
  start_digest: start,
  end_digest: end,
  calls,
  levels,
}: Pick<TrialRecord, 'start_digest' | 'end_digest' | 'calls' | 'levels'>): boolean {
  // What was done and undone leaves no trace in the end, so a tool that said that it changed
  // something counts too.
  if (levels.asserted + levels.observed_confirmed + levels.verified > 0) return true
  // Where nobody sees the state, any call may have changed it.
  return start === null || end === null ? calls > 0 : start !== end
}

/**
 * The planned trials without a record, in the order of the manifest.
 *
 * @param most how many are listed by their repeat
 */
export function absentIn(
  { cases, configurations, repeats }: Pick<Manifest, 'cases' | 'configurations' | 'repeats'>,
  there: There,
  most: number = MOST_LISTED,
): Absent[] {
  let left = most
  return cases.flatMap(({ id }) =>
    configurations.flatMap(({ name }): Absent[] => {
      const missing = repeats - there.count(id, name)
      if (missing === 0) return []
      const trials: number[] = []
      for (let trial = 0; trial < repeats && trials.length < Math.min(missing, left); trial++)
        if (!there.has(trialKey(id, name, trial))) trials.push(trial)
      left -= trials.length
      const more = missing - trials.length
      return [{ case: id, configuration: name, trials, ...(more > 0 && { more }) }]
    }),
  )
}

/** Absent trials in words, such as `repeats 0 to 2, 5` or `repeats 0 to 2 and 8 more`. */
export function absentText({ trials, more = 0 }: Absent, word: string): string {
  const named = trials.length + more === 1 ? word : `${word}s`
  if (trials.length === 0) return `${more} ${named}`
  return `${named} ${rangesOf(trials)}${more > 0 ? ` and ${more} more` : ''}`
}

/** `[0, 1, 2, 5]` as `0 to 2, 5`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const n of numbers) {
    const last = ranges.at(-1)
    if (last && n === last[1] + 1) last[1] = n
    else ranges.push([n, n])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ')
}
