/**
 * The seam of a run. The coordinator holds the folder's lock: it alone writes, decides what is
 * tried again, counts costs, stops and looks. An executor takes tasks and gives back what came of
 * each: it decides nothing and keeps nothing.
 */

import type { AgentSource, Configuration, ModelSource } from '../agent/model.ts'
import { ServerStarts } from '../server/server-starts.ts'
import type { TrialResult } from './judge-trial.ts'
import { runTrial, type TrialSetting } from './run-trial.ts'
import type { Scheduled } from './schedule.ts'

/** Configurations with their models, by name. */
export type Sources = Map<
  string,
  { configuration: Configuration; source: ModelSource | AgentSource }
>

/** One attempt at one trial. */
export type Task = Scheduled & {
  attempt: number
  /** The span of the run, as W3C writes it. */
  traceparent?: string | undefined
}

export interface Executor {
  /** Tasks that are handed over before the first of them has ended. */
  readonly width: number
  /** It says itself what is at work, since that is not here. */
  readonly tells?: true
  /**
   * Try once. A failure of the machinery is a result (`error`), never a rejection.
   *
   * @param drain aborts when no trial of this configuration is to start any more: what runs goes on
   *   to its end, what does not resolves to a result that is `stopped`
   */
  attempt(task: Task, drain: AbortSignal): Promise<TrialResult>
  /** Give back what it holds. No task is at work any more. */
  close(): Promise<void>
}

/** Trials in this process: the default. */
export function inProcess(
  sources: Sources,
  concurrency: number,
  setting: Omit<TrialSetting, 'drain' | 'serverStarts'>,
): Executor {
  const serverStarts = new ServerStarts()
  return {
    width: concurrency,
    attempt(task, drain) {
      const { configuration, source } = sources.get(task.configuration) as NonNullable<
        ReturnType<Sources['get']>
      >
      return runTrial(task, configuration, source, { ...setting, drain, serverStarts })
    },
    close: async () => {},
  }
}
