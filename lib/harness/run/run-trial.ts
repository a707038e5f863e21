/**
 * One trial: one attempt of one configuration at one case, from a fresh world to a record.
 *
 * A trial is a function of its key and the plan. It shares nothing with its neighbours, so it can run in any order and process.
 */
import { performance } from 'node:perf_hooks'
import { type Digest, digest } from '../../canonical.ts'
import { duration } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { runIdOf } from '../../log/trial.ts'
import { rng } from '../../stats/random.ts'
import { costOf, type Prices } from '../agent/cost.ts'
import type { AgentLimits, AgentResult } from '../agent/ending.ts'
import { DEFAULT_INSTRUCTIONS, runAgent } from '../agent/loop.ts'
import type { AgentSource, Configuration, ModelSource } from '../agent/model.ts'
import { runOwnAgent } from '../agent/own-agent.ts'
import { Recorder } from '../agent/recorder.ts'
import { Deadline } from '../agent/trial-clock.ts'
import type { ServerSpec } from '../case/schema.ts'
import { reasonOf } from '../server/mcp.ts'
import type { ServerPlan } from '../server/plan.ts'
import type { RunningServer } from '../server/running.ts'
import { startServer } from '../server/start.ts'
import type { ServerEnd } from '../server/world-backend.ts'
import { blank, judged, keyOf, type TrialKey, type TrialResult } from './judge-trial.ts'

export type TrialLimits = AgentLimits & { trialTimeoutMs: number; callTimeoutMs: number }

/** What trials of a run have in common. */
export type TrialSetting = {
  limits: TrialLimits
  prices: Prices
  /** Aborts when the run is being stopped: the trial goes on, unless it waits for a provider's limit. */
  drain: AbortSignal
  /** The start of each case, as the first trial of it found it. */
  starts: Map<string, Digest>
  /** Told when a model call is refused and waits. */
  waits?: (text: string) => void
}

/** The description of a case's server. */
function planOf(spec: ServerSpec & { name: string }): ServerPlan {
  return {
    name: spec.name,
    world: spec.world ?? null,
    state: spec.state ?? {},
    tools: {},
    describe: spec.describe,
    parameters: spec.parameters as ServerPlan['parameters'],
    inject: spec.inject,
    faults: spec.faults,
    stdio: spec.stdio ?? null,
    http: spec.http ?? null,
    files: spec.files ?? null,
    effects: spec.effects as ServerPlan['effects'],
    policy: spec.policy ?? null,
  }
}

/** Run one trial. A failure of the machinery is an outcome (`error`), never a rejection. */
export async function runTrial(
  key: TrialKey,
  configuration: Configuration,
  source: ModelSource | AgentSource,
  { limits, prices, drain, starts, waits }: TrialSetting,
): Promise<TrialResult> {
  const startedAt = new Date().toISOString()
  const started = performance.now()
  const servers: RunningServer[] = []
  const leave: (() => Promise<void>)[] = []
  const { task } = key.case
  const deadline = new Deadline(limits.trialTimeoutMs)
  const refusals: JsonObject[] = []
  try {
    for (const spec of key.case.servers) servers.push(await startServer(planOf(spec)))
    const startDigest = digest(servers.map((server) => server.startDigest).join('\n'))
    requireSameStart(key.case.id, startDigest, starts)
    const recorder = new Recorder(servers, {
      runId: runIdOf({ key: keyOf(key), attempt: key.attempt }),
      callTimeoutMs: limits.callTimeoutMs,
      attackWords: key.case.attack?.instruction,
    })
    const changes = (server: string, tool: string, input: JsonObject) =>
      servers.find((one) => one.name === server)?.effectOf(tool, input) != null
    const wire = {
      deadline,
      drain,
      refused(
        { code, status, message }: { code: string; status: number | null; message: string },
        waitMs: number,
      ) {
        refusals.push({ code, status, message, wait_ms: waitMs })
        waits?.(`${source.id} ${code}, waits ${duration(waitMs)}`)
      },
    }
    const seed = Math.floor(rng(`${key.seed}|model`)() * 2 ** 31)
    let result: AgentResult
    if ('agent' in source) {
      const { agent } = source
      const own = await runOwnAgent(agent, task, servers, recorder, limits, deadline, seed)
      leave.push(own.disconnect)
      result = own.result
    } else {
      result = await runAgent(
        {
          model: source.forTrial({ case: key.case, seed: key.seed, changes }, wire),
          instructions: configuration.instructions ?? DEFAULT_INSTRUCTIONS,
          temperature: configuration.temperature,
          topP: configuration.topP,
          maxOutputTokens: configuration.maxOutputTokens,
          seed: source.simulated ? undefined : seed,
          providerOptions: configuration.providerOptions,
          recordResponses: !source.simulated,
        },
        task,
        recorder,
        limits,
        deadline,
        drain,
      )
      if (!source.simulated) Object.assign(result.notes, { seed, refusals })
    }
    const ends: ServerEnd[] = []
    for (const server of servers) ends.push(await server.end())
    const trial = judged(key, result, recorder, servers, ends, {
      startDigest,
      startedAt,
      // Waiting for a provider's limit is no part of the trial.
      durationMs: performance.now() - started - deadline.waitedMs,
    })
    trial.record.cost_usd = costOf(prices, source.id, trial.record.tokens)
    return trial
  } catch (cause) {
    const record = blank(key, startedAt, performance.now() - started)
    record.error = {
      code: cause instanceof TouchstoneError ? cause.code : 'harness_failed',
      message: reasonOf(cause),
    }
    return {
      record,
      decisions: [],
      audits: [],
      transcript: { key: record.key, attempt: key.attempt, calls: [] },
      stopped: false,
      halt: null,
      final: false,
    }
  } finally {
    await Promise.allSettled(leave.map((end) => end()))
    await Promise.allSettled(servers.map((server) => server.close()))
  }
}

/** Every trial of a case starts from the same state, or it is not a repeat. */
function requireSameStart(caseId: string, start: Digest, starts: Map<string, Digest>): void {
  const first = starts.get(caseId)
  if (first === undefined) starts.set(caseId, start)
  else if (first !== start) {
    throw new TouchstoneError('world_state_differs', `expected the start ${first}, got ${start}`, {
      where: caseId,
    })
  }
}
