/**
 * `harness.judge()` and `harness.recorder()`: the two halves of a trial, apart. A recorder in front
 * of servers that run, for an agent that is driven by code of one's own; and the judgement of what
 * it recorded, or of calls and states that were recorded somewhere else.
 */

import type { ZodType } from 'zod'
import { onlyMembers, requireAwaited, requireObject, requireText } from '../../arguments.ts'
import { digest } from '../../canonical.ts'
import { gotWord } from '../../choice.ts'
import { count } from '../../display.ts'
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
  const names = servers.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) invalid('each server once, by its name', twice, 'servers')
  if (test !== undefined) requireCase(test, 'options.case')
  if (!Number.isSafeInteger(callTimeoutMs) || callTimeoutMs < 1)
    invalid('a whole number from 1', callTimeoutMs, 'options.callTimeoutMs')
  const { Recorder } = await import('../agent/recorder.ts')
  const made = new Recorder(servers, {
    runId: test === undefined ? 'recorded' : `${test.id}|recorded|0`,
    callTimeoutMs,
    attackWords: test?.attack?.instruction,
  })
  used.set(made, { of: test ?? null, judged: false })
  return made
}

/** The case that a recorder was made for, and whether its trial was judged, which ends it. */
const used = new WeakMap<Recorder, { of: Case | null; judged: boolean }>()

/**
 * Judge what was recorded in front of a case's servers, or calls and states that are brought from
 * somewhere else, as a trial of a run is judged. `harness.serve` starts the servers too.
 *
 * What is brought is taken at its word: a record of it can be believed as far as whoever brings it.
 * There is no audit log then, so that no call is `verified`.
 *
 * @param test    from `cases.load` or `harness.case`
 * @param brought `{ recorder }`, whose servers are ended, and which is judged once; or `{ calls,
 *   states }`, the calls in order and the tables of each server at the end, where all servers of
 *   the case are simulated. A call that was answered with success is of a tool that its server has,
 *   with arguments that the tool takes; a table that holds rows at the start is there at the end
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
    import('../agent/report-tool.ts'),
    import('../trial/judge-trial.ts'),
  ])
  let said: ReturnType<typeof answerOf>
  try {
    said = answerOf(answer)
  } catch (cause) {
    const { message } = cause as Error
    // What a getter of the answer threw has words of its own.
    if (!/^expected .+, got /s.test(message)) return invalid(message, answer, 'answer')
    throw new TouchstoneError('argument_invalid', message, { where: 'answer', cause })
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
  const own = used.get(recorder)
  if (own?.judged) invalid('a recorder that was not judged yet', 'one that was', 'brought.recorder')
  if (own?.of && own.of.digest !== test.digest)
    invalid(`a recorder for the case ${test.id}, or for none`, own.of.id, 'brought.recorder')
  const servers = test.servers.map(
    ({ name }) =>
      recorder.servers.find((one) => one.name === name) ??
      invalid(
        `a recorder in front of the server ${name}`,
        recorder.servers.map((one) => one.name).join(', '),
        'brought.recorder',
      ),
  )
  await requireStarts(test, servers)
  if (own) own.judged = true
  recorder.close()
  const ends: ServerEnd[] = []
  for (const server of servers) ends.push(await server.end())
  return { recorder, servers, ends }
}

/** Worlds that began in another state than the case's would be judged by a goal of another task. */
async function requireStarts(test: Case, servers: readonly RunningServer[]): Promise<void> {
  const [{ plansOf }, { WorldBackend }] = await Promise.all([
    import('../case/planned-servers.ts'),
    import('../server/world-backend.ts'),
  ])
  for (const [i, plan] of plansOf(test).entries()) {
    const server = servers[i] as RunningServer
    if (plan.stdio || plan.http || !server.ours) continue
    if (server.startDigest !== new WorldBackend(plan).world.digest())
      invalid(
        `${plan.name} in the state in which the case starts (harness.server(test.servers[${i}]))`,
        'another one',
        'brought.recorder',
      )
  }
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
    if (!known.includes(name)) unknown('a server of the case', name, known, 'brought.states')
  const [
    { plansOf },
    { startServer },
    { WorldBackend },
    { Recorder },
    { argumentsOf },
    { changesBetween },
  ] = await Promise.all([
    import('../case/planned-servers.ts'),
    import('../server/start.ts'),
    import('../server/world-backend.ts'),
    import('../agent/recorder.ts'),
    import('../agent/tool-arguments.ts'),
    import('../../world/world.ts'),
  ])
  const servers: RunningServer[] = []
  const ends: ServerEnd[] = []
  const inputs = new Map<string, { tools: Map<string, { input: ZodType }>; faulty: boolean }>()
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
        unknown(`a table of ${plan.name}`, table, tables, `brought.states.${plan.name}`)
    // One that is left out is not one that was emptied.
    for (const [table, rows] of Object.entries(before.start))
      if (rows.length > 0 && !Object.hasOwn(state as object, table))
        invalid(
          `the table ${table}, which held ${count(rows.length, 'row')} at the start ([] where it is empty now)`,
          Object.keys(state as object).join(', ') || 'none',
          `brought.states.${plan.name}`,
        )
    inputs.set(plan.name, {
      tools: new Map(Object.entries(before.definition.tools)),
      faulty: plan.faults.length > 0,
    })
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
    const where = `brought.calls[${i}]`
    const found = servers.find(({ name }) => name === server)
    if (!found) unknown('a server of the case', server, known, `${where}.server`)
    const { tools, faulty } = inputs.get(found.name) as NonNullable<ReturnType<typeof inputs.get>>
    const schema = tools.get(tool)?.input
    if (!schema) unknown(`a tool of ${server}`, tool, [...tools.keys()], `${where}.tool`)
    const carried = carriedInput(input, `${where}.input`, argumentsOf)
    // A server with faults may say that it did what it cannot have done.
    const checked = status === 'success' && !faulty ? schema.safeParse(carried) : null
    const issue = checked?.error?.issues[0]
    if (issue)
      invalid(
        `arguments with which ${tool} succeeds`,
        `${issue.path.join('.') || 'others'} (${issue.message})`,
        `${where}.input`,
      )
    recorder.take({ server: found, tool: { name: tool } }, carried, status, {
      content: [{ type: 'text', text: answer }],
      isError: status !== 'success',
    })
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
  const { servers, solution, id } = (test ?? {}) as Partial<Case>
  if (!Array.isArray(servers) || servers.length === 0 || !Array.isArray(solution) || !isText(id))
    invalid('a case from cases.load() or harness.case()', test, where)
}

/** A word that is none of those there are, with what was probably meant. */
function unknown(what: string, word: unknown, known: readonly string[], where: string): never {
  throw new TouchstoneError(
    'argument_invalid',
    `expected ${what} (${known.join(', ')}), ${gotWord(word, known)}`,
    { where },
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function invalid(expected: string, got: unknown, where: string): never {
  requireAwaited(got, expected, where)
  const whole = typeof got === 'object' && got !== null
  const shown = whole ? 'an object' : typeof got === 'bigint' ? `${got}n` : JSON.stringify(got)
  throw new TouchstoneError('argument_invalid', `expected ${expected}, got ${shown ?? 'none'}`, {
    where,
  })
}
