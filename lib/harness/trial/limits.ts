/** The limits of a run and of each of its trials. */

export type Limits = {
  /** Model calls per trial. Default 24. */
  steps: number
  /** Tool calls per trial. Default 100. */
  calls: number
  /** Tokens per trial, in and out, counted after each model call. Default null: no limit. */
  tokens: number | null
  /**
   * A trial's time, whatever the agent waits for, and as much for its servers to be ready. Default
   * 120,000 ms.
   */
  trialTimeoutMs: number
  /** A tool call's time. Default 30,000 ms. */
  callTimeoutMs: number
  /** Attempts at a trial that ends in an error of the machinery. Default 2. */
  attempts: number
  /**
   * Attempts at a trial that a worker of a queue began and gave no result of, after which it has
   * ended in an error. They are no attempts of `attempts`. Default 3.
   */
  lost: number
  /**
   * US dollars that the run may cost; each model then needs a price. Trials at work still end.
   * Default null: no limit.
   */
  costUsd: number | null
}

export const DEFAULT_LIMITS: Limits = {
  steps: 24,
  calls: 100,
  tokens: null,
  trialTimeoutMs: 120_000,
  callTimeoutMs: 30_000,
  attempts: 2,
  lost: 3,
  costUsd: null,
}
