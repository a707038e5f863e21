/**
 * `harness.agent()`: an agent under test that is not ours. A function, a program or a service; each
 * gets the task and the servers of a trial, and what it calls is recorded at the servers.
 */

import type { ToolSet } from 'ai'
import { onlyMembers } from '../../arguments.ts'
import { type Digest, digestOf } from '../../canonical.ts'
import type { JsonObject } from '../../json.ts'
import { shownAddress } from '../../secrets.ts'
import type { UserAnswer } from '../case/user.ts'
import type { Client } from '../wire/mcp.ts'
import type { AgentLimits } from './ending.ts'
import {
  type AnswerPaths,
  COMMAND_MEMBERS,
  type CommandAgent,
  invalid,
  isTexts,
  nameOfProgram,
  requireCommand,
  requireVersion,
} from './program/command.ts'
import { type KnownAgent, type KnownOptions, knownAgent } from './program/known-agents.ts'
import type { McpServers, StdioServer } from './program/mcp-config.ts'

/**
 * A server of a case in the forms that agents take. All of them reach the same world, and each call
 * is recorded.
 */
export type AgentServer = {
  /** A connected MCP client. */
  client: Client
  /**
   * Streamable HTTP on loopback; the path cannot be guessed. Clients of revision 2026-07-28 have no
   * session, so that two of one name count as one.
   */
  url: string
  /** A program that speaks MCP on its standard input and output. */
  stdio: StdioServer
}

/** What an agent is given in one trial. */
export type AgentTask = {
  task: string
  /**
   * By name. `report` is ours: its tool `report` takes what the agent says it did. Nobody has to
   * call it. Where the case has a user, its tool `ask_user` speaks to them.
   */
  servers: { readonly [name: string]: AgentServer }
  /** The servers as the configuration that MCP clients share: name -> `{ type: 'http', url }`. */
  mcpServers: McpServers
  /** The same tools for the AI SDK; with several servers each stands behind its server's name. */
  readonly tools: ToolSet
  /**
   * Say something to the simulated user of the case, and get the answer. `over`: the user says
   * nothing after it. null: the case has no user.
   *
   * Rejects when the user has ended the conversation before, and ends the trial when the user has
   * no turn left. The same stands among the tools, as `ask_user`.
   */
  ask: ((text: string) => Promise<UserAnswer>) | null
  /** Aborts when the trial is over. What is called afterwards is refused, and counted. */
  signal: AbortSignal
  limits: AgentLimits
  /** For the agent's own draws: the same for the same trial. */
  seed: number
  /** Say what was done, as the tool `report` does. @throws Error naming what is wrong with it */
  report(report: { summary?: string; claims: readonly AgentClaim[] }): void
}

/** A change that an agent says it made. */
export type AgentClaim = {
  tool: string
  action?: string
  /** The arguments that name what was changed. */
  target: JsonObject
  done: boolean
}

/** What an agent answers. What is left out is not known. */
export type AgentAnswer =
  | string
  | {
      text?: string
      claims?: readonly AgentClaim[]
      usage?: { inputTokens: number; outputTokens: number }
      /** Its model calls. */
      steps?: number
      /** The model that it used. */
      model?: string
    }

export type AgentFunction = (task: AgentTask) => Promise<AgentAnswer> | AgentAnswer

/**
 * A service under test. `request` is the body as JSON; texts in it are filled in as those of a
 * program are.
 */
export type HttpAgent = {
  url: string
  /** `$NAME` is that variable of this process. */
  headers?: { readonly [name: string]: string }
  /**
   * Default `{ task: '{task}', mcpServers: '{mcp_servers}', seed: '{seed}' }`. A text that is
   * `{mcp_servers}` or `{seed}` and nothing else becomes the object or number.
   */
  request?: JsonObject
  /**
   * The answer in its JSON: a path to the text, or several. Default `text`, and `claims` where it
   * is there.
   */
  response?: string | AnswerPaths
  version?: string
}

export type AgentKind =
  | { kind: 'function'; run: AgentFunction }
  | { kind: 'command'; options: CommandAgent }
  | { kind: 'http'; options: HttpAgent }

/** An agent under test. Immutable. */
export class Agent {
  readonly name: string
  readonly version: string | null
  readonly how: AgentKind

  constructor(name: string, version: string | null, how: AgentKind) {
    this.name = name
    this.version = version
    this.how = how
  }

  /** What of it is recorded: everything but the values of variables and headers. */
  get settings(): JsonObject {
    const { name, version, how } = this
    if (how.kind === 'function') return { kind: 'function', name, version }
    const { options } = how
    const named = (values: { readonly [name: string]: string } | undefined) =>
      Object.keys(values ?? {})
    const told =
      'command' in options
        ? { ...options, env: named(options.env) }
        : { ...options, url: shownAddress(options.url), headers: named(options.headers) }
    return { kind: how.kind, ...(JSON.parse(JSON.stringify(told)) as JsonObject), name, version }
  }

  /** Tells agents apart: over what is recorded of it and, for a function, its source text. */
  get digest(): Digest {
    const source = this.how.kind === 'function' ? this.how.run.toString() : null
    return digestOf({ settings: this.settings, source })
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const { how } = this
    const what =
      how.kind === 'function'
        ? 'a function'
        : how.kind === 'command'
          ? `a program, ${[how.options.command, ...(how.options.args ?? [])].join(' ')}`
          : `a service, ${shownAddress(how.options.url)}`
    return `Agent ${this.name}: ${what}. harness.run(cases).config('${this.name}', { agent }) tests it.`
  }
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/**
 * An agent under test that is a function.
 *
 * @param name    letters, digits and `_.-`; at most 64
 * @param run     does the task with the servers it is given, and answers with text or `{ text,
 *   claims?, usage?, steps? }`
 * @param options.version tells this agent from an earlier one, beside the function's own source
 *   text
 * @throws TouchstoneError `argument_invalid`
 * @example
 * const honest = agent('honest', async ({ task, servers }) => {
 *   const { tools } = await servers.github.client.listTools()
 *   return `I have ${tools.length} tools and did nothing.`
 * })
 * const lies = await cases.load('cases/lying_success/deploy-key.yaml')
 * const run = await harness.run(lies).config('honest', { agent: honest }).repeat(1).out(null).quiet()
 * run.trials[0].steps // null
 */
function agent(name: string, run: AgentFunction, options: { version?: string } = {}): Agent {
  requireName(name)
  if (typeof run !== 'function') invalid('a function', typeof run, 'agent run')
  onlyMembers(options, ['version'], 'agent options')
  requireVersion(options.version, 'agent options: version')
  return new Agent(name, options.version ?? null, { kind: 'function', run })
}

/**
 * An agent under test that is a program, started anew for each trial. Its process group ends with
 * the trial.
 *
 * @throws TouchstoneError `argument_invalid`
 * @example
 * const mine = agent.command({ command: 'my-agent', args: ['--mcp-config', '{mcp_config}', '{task}'] })
 * mine.name // 'my-agent'
 */
function command(options: CommandAgent & { name?: string }): Agent {
  onlyMembers(options, COMMAND_MEMBERS, 'agent.command')
  const { name, version, ...how } = options
  requireCommand(how)
  requireVersion(version, 'agent.command: version')
  const made = name ?? nameOfProgram(how.command, how.args ?? [])
  requireName(made)
  return new Agent(made, version ?? null, { kind: 'command', options: how })
}

/**
 * An agent under test that is a service: the task and the servers are posted to it, and it answers
 * when it is done.
 *
 * @throws TouchstoneError `argument_invalid`
 * @example
 * agent.http({ url: 'http://127.0.0.1:8000/run', response: 'output.text' }).name // '127.0.0.1-8000'
 */
function http(options: HttpAgent & { name?: string }): Agent {
  onlyMembers(options, HTTP_MEMBERS, 'agent.http')
  const { name, version, ...how } = options
  const url = URL.canParse(how.url) ? new URL(how.url) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return invalid('an http or https URL without a password', how.url, 'agent.http: url')
  if (how.headers !== undefined && !isTexts(Object.values(how.headers)))
    invalid('texts by name', how.headers, 'agent.http: headers')
  requireVersion(version, 'agent.http: version')
  const made = name ?? url.host.replace(/[^A-Za-z0-9_.-]/g, '-')
  requireName(made)
  return new Agent(made, version ?? null, { kind: 'http', options: how })
}

const HTTP_MEMBERS = ['name', 'version', 'url', 'headers', 'request', 'response']

/**
 * An agent as a YAML file of configurations says it: `{ command: ... }`, `{ url: ... }`, `{ known:
 * NAME, args: ... }`, or the name of a known one.
 */
export function agentFrom(name: string, value: unknown): Agent {
  if (value instanceof Agent) return value
  if (typeof value === 'function') return agent(name, value as AgentFunction)
  if (typeof value === 'string') return known(value as KnownAgent, { name })
  if (value !== null && typeof value === 'object') {
    if ('known' in value) {
      const { known: which, ...options } = value as KnownOptions & { known: KnownAgent }
      return known(which, { name, ...options })
    }
    if ('command' in value) return command({ name, ...(value as CommandAgent) })
    if ('url' in value) return http({ name, ...(value as HttpAgent) })
  }
  return invalid(
    'an agent, a function, { command }, { url } or { known }',
    value,
    `config ${name}: agent`,
  )
}

function requireName(name: string): void {
  if (typeof name !== 'string' || !NAME.test(name))
    invalid('a name of letters, digits and _.- (at most 64)', name, 'agent name')
}

/**
 * An agent that many people have, as a program: how it is called without a person, handed the
 * servers, and read. It must be installed, and finds its model and key as it always does.
 *
 * Its own tools (shell, files) are switched off: they would act on this machine, which no case
 * knows of. What is measured is how it uses the servers.
 *
 * @param name         `claude-code`, `codex`, `gemini-cli`, `opencode` or `qwen-code`
 * @param options.args more words for its command line, such as `['--model', 'opus']`
 * @param options.env  laid over the environment of this process; `$NAME` is that variable of it
 * @param options.name the name of the agent in this run; default: the first parameter
 * @throws TouchstoneError `argument_invalid` naming those that are known
 * @example
 * const opus = agent.known('claude-code', { args: ['--model', 'opus'], name: 'opus' })
 * opus.name // 'opus'
 */
function known(name: KnownAgent, options: KnownOptions = {}): Agent {
  return command(knownAgent(name, options))
}

const made = Object.assign(agent, { command, http, known })

export { made as agent }
