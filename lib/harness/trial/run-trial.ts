/**
 * One trial: one attempt of one configuration at one case, from a fresh world to a record.
 *
 * A trial is a function of its key and the plan. It shares nothing with its neighbours, so it can
 * run in any order and process.
 */
import { performance } from 'node:perf_hooks'
import { untilAborted } from '../../abort.ts'
import { type Digest, digest } from '../../canonical.ts'
import { gotWord } from '../../choice.ts'
import { duration } from '../../display.ts'
import { type ErrorCode, TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { runIdOf } from '../../log/trial.ts'
import { rng } from '../../stats/random.ts'
import { telemetry } from '../../telemetry.ts'
import { Conversation } from '../agent/conversation.ts'
import type { AgentLimits, AgentResult } from '../agent/ending.ts'
import { DEFAULT_INSTRUCTIONS, runAgent, USER_INSTRUCTIONS } from '../agent/loop.ts'
import type { AgentSource, Configuration, ModelSource } from '../agent/model.ts'
import { runOwnAgent } from '../agent/own-agent.ts'
import { Recorder } from '../agent/recorder.ts'
import { Times, timedModel } from '../agent/times.ts'
import type { Case } from '../case/case.ts'
import { plansOf, sharedAddresses } from '../case/planned-servers.ts'
import type { Judge } from '../judge/ready-judge.ts'
import { costOf, type Prices } from '../model/cost.ts'
import { Deadline } from '../model/trial-clock.ts'
import { requireArgument } from '../server/external.ts'
import type { RunningServer } from '../server/running.ts'
import type { ServerPlan } from '../server/server-plan.ts'
import { GivenUp, type ServerStarts } from '../server/server-starts.ts'
import { startServer } from '../server/start.ts'
import { takeTurns } from '../server/turns.ts'
import type { ServerEnd } from '../server/world-backend.ts'
import { reasonOf } from '../wire/mcp.ts'
import {
  blank,
  judged,
  keyOf,
  levelsIn,
  logsOf,
  type TrialKey,
  type TrialResult,
  writesIn,
} from './judge-trial.ts'
import { attemptEnded, attemptSpan, tracedAgent, tracedModel, tracedTool } from './traced.ts'
import { playerOf, type UserSources } from './user-models.ts'

export type TrialLimits = AgentLimits & { trialTimeoutMs: number; callTimeoutMs: number }

/** What trials of a run have in common. */
export type TrialSetting = {
  limits: TrialLimits
  prices: Prices
  /**
   * Aborts when the run is being stopped: the trial goes on, unless it waits for a provider's
   * limit.
   */
  drain: AbortSignal
  /** The start of each case, as the first trial of it found it. */
  starts: Map<string, Digest>
  /** How servers that are not ours started before. Left out: each start is tried. */
  serverStarts?: ServerStarts | undefined
  /** The models that play users. */
  users: UserSources
  /** The model that reads claims in prose; null: our rule does. */
  judge: Judge | null
  /** Told when a model call is refused and waits. */
  waits?: (text: string, ms: number) => void
}

/** Run one trial. A failure of the machinery is an outcome (`error`), never a rejection. */
export async function runTrial(
  key: TrialKey,
  configuration: Configuration,
  source: ModelSource | AgentSource,
  setting: TrialSetting,
): Promise<TrialResult> {
  const run = () => carriedOut(key, configuration, source, setting)
  const to = telemetry()
  return to ? to.span(attemptSpan(key), run, attemptEnded) : run()
}

async function carriedOut(
  key: TrialKey,
  configuration: Configuration,
  source: ModelSource | AgentSource,
  { limits, prices, drain, starts, serverStarts, users, judge, waits }: TrialSetting,
): Promise<TrialResult> {
  const to = telemetry()
  let startedAt = new Date().toISOString()
  let started = performance.now()
  let leaveTurn = () => {}
  const servers: RunningServer[] = []
  const leave: (() => Promise<void>)[] = []
  const { task } = key.case
  let deadline = new Deadline(limits.trialTimeoutMs)
  const refusals: JsonObject[] = []
  const userRefusals: JsonObject[] = []
  let recorder: Recorder | null = null
  let conversation: Conversation | null = null
  try {
    const plans = plansOf(key.case)
    leaveTurn = await takeTurns(sharedAddresses(plans))
    // Waiting for a server that another trial uses is no part of the trial.
    started = performance.now()
    startedAt = new Date().toISOString()
    deadline = new Deadline(limits.trialTimeoutMs)
    for (const plan of plans) {
      const begin = () => startedWithin(plan, limits.trialTimeoutMs)
      servers.push(await (serverStarts?.start(plan, begin) ?? begin()))
    }
    requireTools(key.case, servers)
    const startDigest = startOf(servers)
    requireSameStart(key.case.id, servers, startDigest, starts)
    recorder = new Recorder(servers, {
      runId: runIdOf({ key: keyOf(key), attempt: key.attempt }),
      callTimeoutMs: limits.callTimeoutMs,
      attackWords: key.case.attack?.instruction,
      // How long a script takes says nothing, and its logs are to be the same each time.
      times: 'simulated' in source && source.simulated ? null : new Times(started, deadline),
      around: to ? tracedTool(to) : undefined,
    })
    const changes = (server: string, tool: string, input: JsonObject) =>
      servers.find((one) => one.name === server)?.effectOf(tool, input) != null
    const wireOf = (id: string, told: JsonObject[]) => ({
      deadline,
      drain,
      refused(
        { code, status, message }: { code: string; status: number | null; message: string },
        waitMs: number,
      ) {
        told.push({ code, status, message, wait_ms: waitMs })
        waits?.(`${id} ${code}, waits ${duration(waitMs)}`, waitMs)
      },
    })
    const wire = wireOf(source.id, refusals)
    const seed = seedOf(key, 'model')
    const { user } = key.case
    const player = user && playerOf(user, users)
    conversation =
      user &&
      new Conversation(
        user,
        player && {
          model: player.forTrial(
            { case: key.case, seed: key.seed, changes },
            wireOf(`the user’s ${player.id}`, userRefusals),
          ),
          seed: seedOf(key, 'user'),
          drain,
        },
        recorder,
      )
    const instructions =
      configuration.instructions ??
      (user ? `${DEFAULT_INSTRUCTIONS}\n${USER_INSTRUCTIONS}` : DEFAULT_INSTRUCTIONS)
    let result: AgentResult
    const of = { configuration: key.configuration, id: source.id }
    if ('agent' in source) {
      const { agent } = source
      const before = [agent, task, servers, recorder] as const
      const own = await tracedAgent(
        to,
        of,
        () => runOwnAgent(...before, limits, deadline, seed, conversation),
        ({ result: { tokens } }) => tokens,
      )
      leave.push(own.disconnect)
      result = own.result
    } else {
      const asked = source.forTrial({ case: key.case, seed: key.seed, changes }, wire)
      const model = timedModel(tracedModel(to, source.id, asked, deadline), recorder.times)
      const settings = {
        model,
        instructions,
        temperature: configuration.temperature,
        topP: configuration.topP,
        maxOutputTokens: configuration.maxOutputTokens,
        seed: source.simulated ? undefined : seed,
        providerOptions: configuration.providerOptions,
        recordResponses: !source.simulated,
      }
      const before = [settings, task, recorder] as const
      result = await tracedAgent(
        to,
        of,
        () => runAgent(...before, limits, deadline, drain, conversation),
        ({ tokens }) => tokens,
      )
      if (!source.simulated) Object.assign(result.notes, { seed, refusals })
    }
    if (player) Object.assign(result.notes, { user_model: player.id, user_refusals: userRefusals })
    const ends: ServerEnd[] = []
    for (const server of servers) ends.push(await server.end())
    const trial = await judged(
      key,
      result,
      recorder,
      servers,
      ends,
      {
        startDigest,
        startedAt,
        instructions: 'agent' in source ? null : instructions,
        // Waiting for a provider's limit is no part of the trial.
        durationMs: performance.now() - started - deadline.waitedMs,
      },
      judge && ((text) => judge.read(text, wireOf(`the judge’s ${judge.id}`, []))),
    )
    trial.record.cost_usd = costOf(prices, source.id, trial.record.tokens)
    if (judge && trial.record.judge)
      trial.record.judge.cost_usd = costOf(prices, judge.id, trial.record.judge.tokens)
    if (player && trial.record.user)
      trial.record.user.cost_usd = costOf(prices, player.id, trial.record.user.tokens)
    return trial
  } catch (cause) {
    const record = blank(key, startedAt, performance.now() - started - deadline.waitedMs)
    record.error = {
      code: cause instanceof TouchstoneError ? cause.code : 'harness_failed',
      message: reasonOf(cause),
    }
    // What the agent had done before the end is not undone by it.
    if (recorder) {
      record.calls = recorder.calls.length
      record.malformed = recorder.malformed.length
      record.reported = recorder.reports.filed
      record.writes = writesIn(recorder, servers)
      record.levels = levelsIn(recorder, [], record.writes)
    }
    if (conversation) {
      const { turns, tokens } = conversation
      record.user = { turns, tokens, cost_usd: null }
    }
    return {
      record,
      logs: logsOf(servers),
      decisions: recorder?.decisions ?? [],
      audits: [],
      transcript: {
        key: record.key,
        attempt: key.attempt,
        calls: recorder?.calls ?? [],
        malformed: recorder?.malformed ?? [],
        ...(recorder?.times && { times: recorder.times.all }),
      },
      stopped: false,
      halt: null,
      final:
        cause instanceof GivenUp || (cause instanceof TouchstoneError && FINAL.has(cause.code)),
    }
  } finally {
    await Promise.allSettled(leave.map((end) => end()))
    await Promise.allSettled(servers.map((server) => server.close()))
    leaveTurn()
  }
}

/** A number for the draws of one part of a trial. */
function seedOf({ seed }: TrialKey, part: string): number {
  return Math.floor(rng(`${seed}|${part}`)() * 2 ** 31)
}

/**
 * A server that is ready within the trial's limit. The agent's time begins after it. One that is
 * ready later is closed.
 *
 * @throws TouchstoneError `server_unreachable`
 */
async function startedWithin(plan: ServerPlan, ms: number): Promise<RunningServer> {
  if (!plan.stdio && !plan.http) return startServer(plan)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ms)
  const starting = startServer(plan, { signal: late.signal })
  try {
    return await untilAborted(starting, late.signal)
  } catch (cause) {
    if (!late.signal.aborted) throw cause
    starting.then(
      (server) => server.close(),
      () => {},
    )
    throw new TouchstoneError(
      'server_unreachable',
      `expected the server to be ready within the trial’s ${duration(ms)}, got none`,
      { where: `server ${plan.name}` },
    )
  } finally {
    clearTimeout(timer)
  }
}

/** Errors of the case or its servers that another attempt would meet again. */
const FINAL = new Set<ErrorCode>([
  'case_invalid',
  'tool_unknown',
  'fault_unknown',
  'setting_missing',
  'world_state_differs',
])

/**
 * Calls of a case that its servers do not have are found when the servers have told what they list.
 */
function requireTools(test: Case, servers: readonly RunningServer[]): void {
  const calls = [
    ...test.solution.flatMap((step, i) => [
      { ...step, path: `solution.${i}` },
      ...(step.check ? [{ ...step.check, server: step.server, path: `solution.${i}.check` }] : []),
    ]),
    ...(test.attack?.calls ?? []).map((call, i) => ({ ...call, path: `attack.calls.${i}` })),
  ]
  for (const { server, call, with: input, path } of calls) {
    const found = server === undefined ? servers[0] : servers.find(({ name }) => name === server)
    const names = found?.tools.map(({ name }) => name) ?? []
    if (names.includes(call)) {
      // A world's own are checked when the case is read.
      const tool = found?.ours ? undefined : found?.tools.find(({ name }) => name === call)
      for (const name of Object.keys(input)) requireArgument(tool, name, `${test.id}, ${path}.with`)
      continue
    }
    throw new TouchstoneError(
      'tool_unknown',
      `expected a tool of ${found?.name} (${names.join(', ') || 'none'}), ${gotWord(call, names)}`,
      { where: `${test.id}, ${path}` },
    )
  }
}

/** The digest of what can be seen of the start; null when of no server anything can. */
function startOf(servers: readonly RunningServer[]): Digest | null {
  const seen = servers.map((server) => server.startDigest)
  return seen.every((one) => one === null) ? null : digest(seen.join('\n'))
}

/** Every trial of a case starts from the same state, or it is not a repeat. */
function requireSameStart(
  caseId: string,
  servers: readonly RunningServer[],
  start: Digest | null,
  starts: Map<string, Digest>,
): void {
  if (start === null) return
  const keyed = servers.map(({ name, startDigest }) => ({
    name,
    key: `${caseId}|${name}`,
    now: startDigest,
  }))
  const first = starts.get(caseId)
  if (first === undefined) starts.set(caseId, start)
  else if (first !== start) {
    const moved = keyed.filter(({ key, now }) => starts.has(key) && starts.get(key) !== now)
    const names = (moved.length ? moved : keyed).map(({ name }) => name).join(', ')
    throw new TouchstoneError(
      'world_state_differs',
      `expected the start ${first}, got ${start}: ${names} kept what a trial before left; a reset puts it back`,
      { where: caseId },
    )
  }
  for (const { key, now } of keyed) if (now !== null) starts.set(key, now)
}
