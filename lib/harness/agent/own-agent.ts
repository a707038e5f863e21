/**
 * One trial of an agent of its own: it is given the task and the servers, and ended with everything
 * that it started.
 */
import { TouchstoneError } from '../../errors.ts'
import { refusalOf } from '../model/provider-refusal.ts'
import type { Deadline } from '../model/trial-clock.ts'
import type { RunningServer } from '../server/running.ts'
import { filledIn, headersFilledIn } from '../server/variables.ts'
import { reasonOf } from '../wire/mcp.ts'
import type { Agent, AgentTask } from './agent.ts'
import { bridgeTo, type Ended, httpServers, read, type Trial } from './agent-trial.ts'
import { answerOf } from './answer.ts'
import { runCommand } from './command-agent.ts'
import type { Conversation } from './conversation.ts'
import type { AgentEnd, AgentLimits, AgentResult } from './ending.ts'
import { Gateway, type GatewayEnd } from './gateway.ts'
import { runHttp } from './http-agent.ts'
import type { Recorder } from './recorder.ts'
import { toolSet } from './tool-set.ts'

/**
 * The variables that an agent is given by its configuration. @throws TouchstoneError
 * `setting_missing` for one that is not set
 */
export function requireSettings(name: string, source: object | { agent: Agent }): void {
  if (!('agent' in source)) return
  const { how } = source.agent
  const where = `configuration ${name}`
  if (how.kind === 'command') filledIn(how.options.env ?? {}, `${where}: env`)
  if (how.kind === 'http') headersFilledIn(how.options.headers ?? {}, `${where}: headers`)
}

/**
 * Run an agent for one trial. Never rejects: how it ended is part of the result.
 *
 * @param seed a number for the agent's own draws
 * @param conversation with the user of the case, or null
 */
export async function runOwnAgent(
  agent: Agent,
  task: string,
  servers: readonly RunningServer[],
  recorder: Recorder,
  limits: AgentLimits,
  deadline: Deadline,
  seed: number,
  conversation: Conversation | null = null,
): Promise<{ result: AgentResult; disconnect(): Promise<void> }> {
  const { reports } = recorder
  const stop = new AbortController()
  const { promise: cut, resolve: cutOff } = Promise.withResolvers<Ended>()
  const gateway = new Gateway(recorder, servers, reports, {
    calls: limits.calls,
    conversation,
    onEnd(end: GatewayEnd) {
      cutOff({ end })
      stop.abort(OVER)
    },
  })
  if (conversation)
    conversation.onEnd = (end) => {
      cutOff({ end })
      stop.abort(OVER)
    }
  deadline.start(() => {
    cutOff({
      end: {
        how: 'timeout',
        waitingFor: conversation?.answering ? 'user' : gateway.running > 0 ? 'tool' : 'agent',
      },
    })
    stop.abort(OVER)
  })
  const trial = {
    task,
    gateway,
    recorder,
    reports,
    limits,
    seed,
    conversation,
    signal: stop.signal,
  }
  const work = started(agent, trial).catch((cause: unknown): Ended => ({ end: crashOf(cause) }))
  let ended = await Promise.race([work, cut])
  deadline.stop()
  await gateway.close()
  stop.abort(OVER)
  // A program that was cut off is waited for: its group ends within a second or two. A function may
  // never return.
  if (agent.how.kind === 'command') {
    const { notes } = await work
    ended = { ...ended, ...(notes && { notes }) }
  }
  const answer = 'answer' in ended ? ended.answer : null
  const tokens = answer?.tokens ?? null
  const spent =
    tokens !== null && limits.tokens !== null && tokens.input + tokens.output > limits.tokens
  const end: AgentEnd =
    'end' in ended
      ? ended.end
      : spent
        ? { how: 'token_limit' }
        : {
            how:
              answer?.text === '' && !reports.filed && answer.claims === null
                ? 'no_answer'
                : 'finished',
          }
  const last = answer?.text ? [{ text: answer.text, after: recorder.begun }] : []
  const result: AgentResult = {
    end,
    reports,
    claims: answer?.claims ?? null,
    answer: [...(conversation?.told ?? []), ...last.map(({ text }) => text)].join('\n'),
    allTools: false,
    steps: answer?.steps ?? null,
    tokens,
    said: [...(conversation?.words ?? []), ...last],
    user: conversation && { turns: conversation.turns, tokens: conversation.tokens },
    modelId: answer?.model ?? null,
    malformed: recorder.malformed.length,
    notes: { ...ended.notes, seed, late_calls: gateway.late },
  }
  return {
    result,
    async disconnect() {
      await gateway.disconnect()
    },
  }
}

const OVER = new DOMException('the trial is over', 'AbortError')

function started(agent: Agent, trial: Trial): Promise<Ended> {
  switch (agent.how.kind) {
    case 'function':
      return runFunction(agent.how.run, trial)
    case 'command':
      return runCommand(agent.how.options, trial).catch(notRun)
    case 'http':
      return runHttp(agent.how.options, trial).catch(notRun)
  }
}

/**
 * An error of our own code, whatever it is: a folder that cannot be made, no descriptor that is
 * left. One that an agent's function throws is the function's.
 */
function notRun(cause: unknown): never {
  if (!(cause instanceof TouchstoneError))
    throw new NotRun('harness_failed', reasonOf(cause), false)
  throw new NotRun(cause.code, cause.message, cause.code !== 'file_unwritable')
}

/** What says nothing about an agent. `final`: the next time would be the same. */
class NotRun extends Error {
  readonly code: string
  readonly final: boolean

  constructor(code: string, message: string, final = true) {
    super(message)
    this.code = code
    this.final = final
  }
}

/**
 * An error that reached us: a provider's refusal says nothing about the agent, a full context is a
 * limit as in our own loop, anything else is the agent's own, and so is what cannot be read.
 */
function crashOf(thrown: unknown): AgentEnd {
  try {
    // A proxy may throw where it is asked what it is.
    if (thrown instanceof NotRun) {
      const { code, message, final } = thrown
      return { how: 'agent_error', code, message, final }
    }
    const cause = refused(thrown)
    const { status, kind, code } = refusalOf(cause)
    if (status !== null && (kind !== 'outcome' || code === 'context_exceeded'))
      return { how: 'model_error', cause }
  } catch {}
  return { how: 'agent_crashed', message: reasonOf(thrown) || 'the agent threw without a message' }
}

/**
 * What a refusal is told by, read once: a getter of the agent's may say something else the next
 * time, or throw. @throws whatever such a getter throws
 */
function refused(thrown: unknown): Error {
  const of = (thrown ?? {}) as { [member: string]: unknown }
  const { message, cause, statusCode, responseBody } = of
  return Object.assign(new Error(`${message ?? ''}`, { cause }), { statusCode, responseBody })
}

async function runFunction(
  run: (task: AgentTask) => unknown,
  { task, gateway, recorder, reports, limits, seed, conversation, signal }: Trial,
): Promise<Ended> {
  // All at once: what takes time is the turns that a handshake waits for.
  const connected = await Promise.all(
    gateway.servers.map(async (behind) => {
      const [client, url] = await Promise.all([gateway.connect(behind), gateway.address(behind)])
      return [behind.name, { client, url, stdio: bridgeTo(url) }] as const
    }),
  ).catch(notRun)
  const servers: { [name: string]: AgentTask['servers'][string] } = Object.fromEntries(connected)
  const given: AgentTask = {
    task,
    servers,
    mcpServers: httpServers(Object.entries(servers).map(([name, { url }]) => [name, url])),
    get tools() {
      const call = gateway.call.bind(gateway)
      return toolSet(
        recorder.offer(),
        {
          call: ({ server, tool }, input) => call(server, tool.name, input, 'tools'),
          refuse: (tool, input, problem) => recorder.refuse(tool, input, problem),
        },
        reports,
        conversation && ((text) => gateway.say(text)),
      )
    },
    ask: conversation && ((text) => gateway.say(text)),
    signal,
    limits,
    seed,
    report({ summary = '', claims }) {
      const problem = reports.file({ summary, claims })
      if (problem !== null) throw new Error(problem)
    },
  }
  try {
    const value = await run(given)
    return read(() => answerOf(value))
  } finally {
    restorePrototype()
  }
}

/**
 * A function shares its process with the run: a member of every object would be a member of every
 * world and answer. Which function put it there is not known where several run at once.
 *
 * @throws NotRun naming the members, which are taken away
 */
function restorePrototype(): void {
  const added = Object.keys(Object.prototype)
  if (added.length === 0) return
  for (const name of added) Reflect.deleteProperty(Object.prototype, name)
  throw new NotRun(
    'process_changed',
    `expected Object.prototype as it was, got new members: ${added.slice(0, 4).join(', ')}; a function of an agent put them there`,
  )
}
