/**
 * A run's own file in a worker: the plan that it awaits is served, and not run again. What stands
 * behind the await has no result to go on with, so it is not reached.
 */
import type { Run } from '../report/result.ts'
import type { RunPlan } from '../trial/planned-run.ts'

/** On the global object, so that a second copy of the package finds it too. */
const KEY = Symbol.for('touchstone.worker')
const holder = globalThis as { [KEY]?: (plan: RunPlan) => void }

/** From now on plans that are awaited are handed over. Returns what ends it. */
export function handOver(take: (plan: RunPlan) => void): () => void {
  holder[KEY] = take
  return () => {
    delete holder[KEY]
  }
}

/** In a worker: hand a plan over, and never come back. Elsewhere null. */
export function served(plan: RunPlan): Promise<Run> | null {
  const take = holder[KEY]
  if (!take) return null
  take(plan)
  return new Promise(() => {})
}
