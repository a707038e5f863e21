/**
 * `harness.serve()`: the servers of a case for any client, recorded, and the judgement of what came
 * of them.
 */
import { gotShape, onlyMembers } from '../../arguments.ts'
import { foreign, type Look, tone } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { Outcome, TrialRecord } from '../../log/index.ts'
import type { Decision } from '../../receipt/surface/decision.ts'
import { Shown } from '../../shown.ts'
import { type AgentAnswer, type AgentTask, agentFrom } from '../agent/agent.ts'
import type { Case } from '../case/case.ts'
import { why } from '../page/why.ts'
import type { TrialResult } from '../trial/judge-trial.ts'

export type ServeOptions = {
  /**
   * The longest that it waits for its judgement, from 1 to 86,400,000. Default 86,400,000, a day.
   */
  timeoutMs?: number
  /** The most tool calls that are let through. Default 1,000. */
  calls?: number
  /** Time for one tool call. Default 30,000 ms. */
  callTimeoutMs?: number
  /** Where the seed that the task names comes from. Default 1. */
  seed?: number
}

const LONGEST_MS = 86_400_000

/**
 * Start the servers of a case in front of a recorder, and hand them to whoever calls them: a client
 * of one's own, an agent in a terminal, a person. `judge` ends it. One served case is one trial,
 * with the same worlds, faults and judgement as in a run.
 *
 * @throws TouchstoneError `argument_invalid`, and what the start of a server throws
 * @example
 * // not run: it needs a case
 * await using served = await harness.serve(test)
 * served.mcpServers // { github: { type: 'http', url: 'http://127.0.0.1:...' }, report: ... }
 * const judgement = await served.judge('I added the key.')
 * judgement.record.outcome // 'pass' or 'fail'
 */
export async function serve(test: Case, options: ServeOptions = {}): Promise<ServedCase> {
  if (test === null || typeof test !== 'object' || !Array.isArray(test.servers))
    throw new TouchstoneError(
      'argument_invalid',
      `expected a case from cases.load() or harness.case(), ${gotShape(test)}`,
      { where: 'case' },
    )
  onlyMembers(options, ['timeoutMs', 'calls', 'callTimeoutMs', 'seed'], 'options')
  const timeoutMs = whole(options.timeoutMs ?? LONGEST_MS, LONGEST_MS, 'timeoutMs')
  const callTimeoutMs = whole(options.callTimeoutMs ?? 30_000, LONGEST_MS, 'callTimeoutMs')
  const calls = whole(options.calls ?? 1000, 1_000_000, 'calls')
  const [{ runTrial }, { userSources }, { LIMITERS }] = await Promise.all([
    import('../trial/run-trial.ts'),
    import('../trial/user-models.ts'),
    import('../model/limiter.ts'),
  ])
  const users = await userSources([test], LIMITERS)
  const begun = Promise.withResolvers<AgentTask>()
  const answer = Promise.withResolvers<AgentAnswer>()
  const result = runTrial(
    { case: test, configuration: 'served', trial: 0, attempt: 0, seed: `${options.seed ?? 1}` },
    {},
    {
      id: 'agent/served',
      simulated: false,
      agent: agentFrom('served', (task: AgentTask) => {
        begun.resolve(task)
        return answer.promise
      }),
    },
    {
      limits: { steps: 24, calls, tokens: null, trialTimeoutMs: timeoutMs, callTimeoutMs },
      prices: {},
      drain: new AbortController().signal,
      starts: new Map(),
      users,
      judge: null,
    },
  )
  const task = await Promise.race([begun.promise, result.then(neverBegun)])
  return new ServedCase(test, task, result, answer.resolve)
}

/** The trial ended before anybody could call a server of it. */
function neverBegun({ record: { error, case: id } }: TrialResult): never {
  throw new TouchstoneError(
    (error?.code ?? 'server_unreachable') as TouchstoneError['code'],
    error?.message ?? 'expected a trial that begins, got its end',
    { where: id },
  )
}

/** A case whose servers run. */
export class ServedCase {
  /** What the agent is to do. */
  readonly task: string
  /**
   * By name: a connected client, an address, a program. `report` takes what the agent says it did.
   */
  readonly servers: AgentTask['servers']
  /** The servers as the configuration that MCP clients share. */
  readonly mcpServers: AgentTask['mcpServers']
  readonly #given: AgentTask
  readonly #result: Promise<TrialResult>
  readonly #answer: (answer: AgentAnswer) => void

  constructor(
    { task }: Case,
    given: AgentTask,
    result: Promise<TrialResult>,
    answer: (answer: AgentAnswer) => void,
  ) {
    this.task = task
    this.servers = given.servers
    this.mcpServers = given.mcpServers
    this.#given = given
    this.#result = result
    this.#answer = answer
  }

  /** The tools of all servers for the AI SDK. */
  get tools(): AgentTask['tools'] {
    return this.#given.tools
  }

  /** Say something to the simulated user of the case; null: it has none. */
  get ask(): AgentTask['ask'] {
    return this.#given.ask
  }

  /** Aborts when it is judged, or when its time is over. */
  get signal(): AbortSignal {
    return this.#given.signal
  }

  /**
   * End it: later calls are refused, and what the servers hold is judged. Asked again it gives the
   * same.
   *
   * @param answer the agent's last words, or `{ text, claims, ... }`; default none, so that only a
   *   report says what it did
   */
  async judge(answer: AgentAnswer = ''): Promise<Judgement> {
    this.#answer(answer)
    return new Judgement(await this.#result)
  }

  /** End it without looking at the judgement. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.judge()
  }
}

/** What came of a served case. */
export class Judgement extends Shown {
  /** The record of the trial, as a run's log holds it. */
  readonly record: TrialRecord
  /** What was observed of each call. */
  readonly decisions: readonly Decision[]
  /** Each server's own audit log, in its provider's format. */
  readonly audits: readonly { server: string; provider: string; text: string }[]
  /** The calls with their arguments, without secrets, and what was answered. */
  readonly transcript: JsonObject

  constructor({ record, decisions, audits, transcript }: TrialResult) {
    super()
    this.record = record
    this.decisions = decisions
    this.audits = audits
    this.transcript = transcript
  }

  get outcome(): Outcome {
    return this.record.outcome
  }

  /** Why it is no pass, a line each. */
  get why(): string[] {
    return why(this.record)
  }

  text(look: Look = {}): string {
    const { case: id, outcome, levels, overclaims, reported, calls, malformed } = this.record
    const as = outcome === 'pass' ? 'good' : outcome === 'unjudged' ? 'unsure' : 'bad'
    const claims =
      overclaims === null
        ? 'what the agent says it did is not known'
        : overclaims === 0
          ? 'it claims nothing that is not there'
          : `overclaims: ${overclaims}`
    return [
      `${foreign(id, 200)}: ${tone(outcome, as, look)}`,
      ...this.why.map((line) => `  ${line}`),
      `  calls: ${calls}; malformed: ${malformed ?? 'not to be seen'}; report: ${reported ? 'filed' : 'none'}; ${claims}`,
      `  writes: ${levels.asserted} asserted, ${levels.observed_confirmed} observed_confirmed, ${levels.verified} verified`,
    ].join('\n')
  }

  toJSON(): JsonObject {
    const { record, decisions, audits, transcript } = this
    return { record, why: this.why, decisions, audits, transcript } as unknown as JsonObject
  }
}

function whole(value: number, most: number, where: string): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value
  throw new TouchstoneError(
    'argument_invalid',
    `expected a whole number from 1 to ${most}, got ${String(value)}`,
    { where },
  )
}
