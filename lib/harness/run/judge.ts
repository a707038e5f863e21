/**
 * `harness.judge()` and `harness.recorder()`: the two halves of a trial, apart. A recorder in front
 * of servers that run, for an agent that is driven by code of one's own; and the judgement of what
 * it recorded, or of calls and states that were recorded somewhere else.
 */
import { onlyMembers, requireObject, requireText } from '../../arguments.ts'
import { digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { AgentAnswer } from '../agent/agent.ts'
import type { AgentResult } from '../agent/ending.ts'
import type { Recorder } from '../agent/recorder.ts'
import type { Case } from '../case/case.ts'
import type { RunningServer } from '../server/running.ts'
import type { ServerEnd } from '../server/world-backend.ts'
import { Judgement } from './serve.ts'

/** A call that was made somewhere else, and what it was answered. */
export type BroughtCall = {
  /** Default: the first server of the case. */
  server?: string
  tool: string
  input: JsonObject
  /** Default `success`. */
  status?: 'success' | 'error' | 'timeout' | 'denied'
  /** The answer as text. Default: none. */
  answer?: string
}

/** What is judged: what a recorder holds, or calls and the tables at the end, by server. */
export type Brought =
  | { recorder: Recorder }
  | {
      calls: readonly BroughtCall[]
      states: { readonly [server: string]: { readonly [table: string]: readonly JsonObject[] } }
    }

/**
 * A recorder in front of servers that run: what is called through it is observed, and leaves the
 * record that a run's agents leave. `harness.judge` judges it.
 *
 * @param servers         from `harness.server(...).start()`; those of a case by their names there
 * @param options.case    of which is recorded whether its attack's words were met
 * @param options.callTimeoutMs time for one call, from 1; default 30,000
 * @returns `call({ server, tool: { name } }, input, signal)` carries a call out: a lost reply, a
 *   timeout and an error are results with `isError`; `calls` and `decisions` are what was recorded
 * @throws TouchstoneError `argument_invalid`
 * @example
 * const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
 * await using github = await harness.server(test.servers[0]).start()
 * const recorded = await recorder([github], { case: test })
 * const { with: input } = test.solution[0]
 * const { result } = await recorded.call({ server: github, tool: { name: 'add_deploy_key' } }, input, AbortSignal.timeout(9000))
 * recorded.calls.length // 1
 * const judgement = await judge(test, { recorder: recorded }, 'I added the deploy key ci-2026.')
 * judgement.record.overclaims // 1
 */
export async function recorder(
  servers: readonly RunningServer[],
  options: { case?: Case; callTimeoutMs?: number } = {},
): Promise<Recorder> {
  onlyMembers(options, ['case', 'callTimeoutMs'], 'options')
  const { callTimeoutMs = 30_000, case: test } = options
  if (!Array.isArray(servers) || servers.length === 0)
    invalid('servers that run', servers, 'servers')
  for (const [i, one] of servers.entries())
    if (typeof one?.end !== 'function' || !Array.isArray(one.tools) || !isText(one.name))
      invalid('a server that runs', one, `servers[${i}]`)
  if (test !== undefined) requireCase(test, 'options.case')
  if (!Number.isSafeInteger(callTimeoutMs) || callTimeoutMs < 1)
    invalid('a whole number from 1', callTimeoutMs, 'options.callTimeoutMs')
  const { Recorder } = await import('../agent/recorder.ts')
  return new Recorder(servers, {
    runId: test === undefined ? 'recorded' : `${test.id}|recorded|0`,
    callTimeoutMs,
    attackWords: test?.attack?.instruction,
  })
}

/**
 * Judge what was recorded in front of a case's servers, or calls and states that are brought from
 * somewhere else, as a trial of a run is judged. `harness.serve` starts the servers too.
 *
 * What is brought is taken at its word: a record of it can be believed as far as whoever brings it.
 * There is no audit log then, so that no call is `verified`.
 *
 * @param test    from `cases.load` or `harness.case`
 * @param brought `{ recorder }`, whose servers are ended; or `{ calls, states }`, the calls in
 *   order and the tables of each server at the end, where all servers of the case are simulated
 * @param answer  the agent's last words, or `{ text, claims, ... }`; default none, so that what it
 *   says it did is not known
 * @throws TouchstoneError `argument_invalid` naming what is missing, `case_invalid` for a state
 *   that is not the world's
 * @example
 * const [test] = await cases.load('cases/lying_success/deploy-key.yaml')
 * const { state } = test.servers[0]
 * const nothing = await judge(test, { calls: [], states: { github: state } })
 * nothing.outcome // 'fail'
 */
export async function judge(
  test: Case,
  brought: Brought,
  answer: AgentAnswer = '',
): Promise<Judgement> {
  requireCase(test, 'case')
  requireObject(brought, '{ recorder } or { calls, states }', 'brought')
  onlyMembers(brought, 'recorder' in brought ? ['recorder'] : ['calls', 'states'], 'brought')
  const [{ answerOf }, { Reports }, { judged }] = await Promise.all([
    import('../agent/answer.ts'),
    import('../agent/report.ts'),
    import('../trial/judge-trial.ts'),
  ])
  let said: ReturnType<typeof answerOf>
  try {
    said = answerOf(answer)
  } catch (cause) {
    return invalid((cause as Error).message.replace(/^expected |, got .*$/gs, ''), answer, 'answer')
  }
  const { recorder, servers, ends } =
    'recorder' in brought ? await ended(test, brought.recorder) : await rebuilt(test, brought)
  try {
    const seen = servers.every(({ startDigest }) => startDigest === null)
    const result: AgentResult = {
      end: { how: said.text === '' && said.claims === null ? 'no_answer' : 'finished' },
      reports: new Reports(),
      claims: said.claims,
      answer: said.text,
      allTools: false,
      steps: said.steps,
      tokens: said.tokens,
      said: said.text === '' ? [] : [{ text: said.text, after: recorder.begun }],
      user: null,
      modelId: said.model,
      malformed: recorder.malformed.length,
      notes: {},
    }
    const key = { case: test, configuration: 'recorded', trial: 0, attempt: 0, seed: '1' }
    return new Judgement(
      await judged(key, result, recorder, servers, ends, {
        startDigest: seen ? null : digest(servers.map((one) => one.startDigest).join('\n')),
        startedAt: new Date().toISOString(),
        durationMs: 0,
        instructions: null,
      }),
    )
  } finally {
    await Promise.allSettled(servers.map((server) => server.close()))
  }
}

type Ready = { recorder: Recorder; servers: RunningServer[]; ends: ServerEnd[] }

/** The servers of a recorder at their end, in the order of the case. */
async function ended(test: Case, recorder: Recorder): Promise<Ready> {
  const { Recorder } = await import('../agent/recorder.ts')
  if (!(recorder instanceof Recorder))
    invalid('a recorder from harness.recorder()', recorder, 'brought.recorder')
  const servers = test.servers.map(
    ({ name }) =>
      recorder.servers.find((one) => one.name === name) ??
      invalid(
        `a recorder in front of the server ${name}`,
        recorder.servers.map((one) => one.name).join(', '),
        'brought.recorder',
      ),
  )
  recorder.close()
  const ends: ServerEnd[] = []
  for (const server of servers) ends.push(await server.end())
  return { recorder, servers, ends }
}

/** Servers in the state that is brought, and a recorder that holds the calls. */
async function rebuilt(
  test: Case,
  { calls, states }: Extract<Brought, { calls: unknown }>,
): Promise<Ready> {
  if (!Array.isArray(calls)) invalid('a list of calls', calls, 'brought.calls')
  for (const [i, call] of calls.entries()) requireCall(call, `brought.calls[${i}]`)
  requireObject(states, 'the tables at the end, by server', 'brought.states')
  const known = test.servers.map(({ name }) => name)
  for (const name of Object.keys(states))
    if (!known.includes(name))
      invalid(`a server of the case (${known.join(', ')})`, name, 'brought.states')
  const [
    { plansOf },
    { startServer },
    { WorldBackend },
    { Recorder },
    { argumentsOf },
    { changesBetween },
  ] = await Promise.all([
    import('../case/server-plan.ts'),
    import('../server/start.ts'),
    import('../server/world-backend.ts'),
    import('../agent/recorder.ts'),
    import('../agent/arguments.ts'),
    import('../../world/world.ts'),
  ])
  const servers: RunningServer[] = []
  const ends: ServerEnd[] = []
  for (const plan of plansOf(test)) {
    if (plan.stdio || plan.http)
      invalid('a recorder, since only worlds can be rebuilt', `the server ${plan.name}`, 'brought')
    const state = states[plan.name]
    if (state === undefined)
      invalid(`the tables of ${plan.name} at the end`, 'none', 'brought.states')
    requireObject(state, 'tables', `brought.states.${plan.name}`)
    const { world: before } = new WorldBackend(plan)
    const tables = Object.keys(before.start)
    for (const table of Object.keys(state as object))
      if (!tables.includes(table))
        invalid(`a table of ${plan.name} (${tables.join(', ')})`, table, 'brought.states')
    const server = await startServer({ ...plan, faults: [], state: state as never })
    servers.push(server)
    const end = await server.end()
    ends.push({
      ...end,
      start: before.start,
      changes: changesBetween(before.start, end.state),
      audit: null,
    })
  }
  const recorder = new Recorder(servers, {
    runId: `${test.id}|recorded|0`,
    callTimeoutMs: 1,
    attackWords: test.attack?.instruction,
  })
  for (const [
    i,
    { server = known[0], tool, input, status = 'success', answer = '' },
  ] of calls.entries()) {
    const found = servers.find(({ name }) => name === server)
    if (!found) invalid(`a server of the case (${known.join(', ')})`, server, `brought.calls[${i}]`)
    recorder.take(
      { server: found, tool: { name: tool } },
      carriedInput(input, `brought.calls[${i}].input`, argumentsOf),
      status,
      {
        content: [{ type: 'text', text: answer }],
        isError: status !== 'success',
      },
    )
  }
  return { recorder, servers, ends }
}

/** Arguments as the log carries them. */
function carriedInput(
  input: unknown,
  where: string,
  argumentsOf: (input: unknown) => JsonObject,
): JsonObject {
  try {
    return argumentsOf(input)
  } catch (cause) {
    return invalid((cause as Error).message.replace(/^expected |, got .*$/gs, ''), input, where)
  }
}

const STATUSES = ['success', 'error', 'timeout', 'denied']

function requireCall(call: BroughtCall, where: string): void {
  onlyMembers(call, ['server', 'tool', 'input', 'status', 'answer'], where)
  const { server, tool, input, status = 'success', answer = '' } = call
  if (server !== undefined && typeof server !== 'string')
    invalid('a text', server, `${where}.server`)
  requireText(tool, 'the name of a tool', `${where}.tool`)
  requireObject(input, 'arguments', `${where}.input`)
  if (!STATUSES.includes(status))
    invalid(`one of ${STATUSES.join(', ')}`, status, `${where}.status`)
  if (typeof answer !== 'string') invalid('a text', answer, `${where}.answer`)
}

function requireCase(test: unknown, where: string): void {
  if (!Array.isArray((test as Case | null)?.servers))
    invalid('a case from cases.load() or harness.case()', test, where)
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function invalid(expected: string, got: unknown, where: string): never {
  const whole = typeof got === 'object' && got !== null
  const shown = whole ? 'an object' : typeof got === 'bigint' ? `${got}n` : JSON.stringify(got)
  throw new TouchstoneError('argument_invalid', `expected ${expected}, got ${shown ?? 'none'}`, {
    where,
  })
}
