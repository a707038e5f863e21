/**
 * `harness.server()`: what an MCP server under test is made of, said step by step. Each step gives
 * a new server description; nothing runs before `start()`.
 */

import type { z } from 'zod'
import { onlyMembers } from '../../arguments.ts'
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type PolicyReason, REASONS } from '../../receipt/bundle/profile.ts'
import type { Clock, Effect, State, Step, WorldDefinition } from '../../world/world.ts'
import type { DatabaseSource } from './database.ts'
import { FAULT_KINDS, type Fault, type FaultKind, optionsOf } from './fault.ts'
import { type Era, eraOf, requireReset } from './plan-options.ts'
import { planText } from './plan-text.ts'
import type { Refusal } from './policy.ts'
import type { Reset } from './reset.ts'
import type { RunningServer } from './running.ts'
import { EMPTY, type OwnTool, type ServerPlan } from './server-plan.ts'
import type { Transport } from './start.ts'
import type { TableSource } from './tables.ts'

/** A description of an MCP server under test. Immutable. */
export class ServerDescription {
  readonly plan: ServerPlan

  constructor(plan: ServerPlan) {
    this.plan = plan
  }

  private with(change: Partial<ServerPlan>): ServerDescription {
    return new ServerDescription({ ...this.plan, ...change })
  }

  /** The tables the world starts with. Rows without an `id` are given one. */
  state(state: { [table: string]: JsonObject[] }): ServerDescription {
    return this.with({ state })
  }

  /**
   * Add a tool, or replace the world's tool of that name.
   *
   * @param schema  a zod object for the arguments
   * @param handler pure: takes the arguments, the state and the clock, gives `{ reply, state? }`
   */
  tool<I extends JsonObject>(
    name: string,
    schema: z.ZodType<I>,
    handler: (input: I, state: State, clock: Clock) => Step,
    options: { description?: string; effect?: (input: I) => Effect } = {},
  ): ServerDescription {
    onlyMembers(options, ['description', 'effect'], 'options')
    const own: OwnTool = {
      description: options.description ?? name.replaceAll('_', ' '),
      input: schema,
      run: handler as OwnTool['run'],
      effect: options.effect as OwnTool['effect'],
    }
    return this.with({ tools: { ...this.plan.tools, [name]: own } })
  }

  /** Show clients another description of a tool: how a poisoned one is made. */
  describe(tool: string, text: string): ServerDescription {
    return this.with({ describe: { ...this.plan.describe, [tool]: text } })
  }

  /**
   * Show clients other members of a parameter's JSON Schema, such as its description: how a
   * poisoned schema is made. A parameter that the tool does not have is offered too, and dropped
   * when it comes.
   */
  parameter(tool: string, parameter: string, members: JsonObject): ServerDescription {
    const parameters = { ...this.plan.parameters[tool], [parameter]: members }
    return this.with({ parameters: { ...this.plan.parameters, [tool]: parameters } })
  }

  /**
   * Add text to results of a tool: how an injected instruction is made.
   *
   * @param options.after results left as they are first, default 0: a sleeper
   * @param options.times results that it is then added to, default all
   */
  inject(
    tool: string,
    text: string,
    options: { after?: number; times?: number } = {},
  ): ServerDescription {
    onlyMembers(options, ['after', 'times'], 'options')
    return this.with({ inject: { ...this.plan.inject, [tool]: { text, ...options } } })
  }

  /**
   * Make a tool misbehave.
   *
   * @param options.after calls served honestly first, default 0
   * @param options.times calls that the fault then holds for, default all
   * @param options       what the kind can be told besides: `keep`, `seconds`, `message`, `set`,
   *   `describe`, `size_bytes`
   * @throws TouchstoneError `fault_unknown` naming the faults there are, `argument_invalid` for an
   *   option of another kind
   */
  fault(
    tool: string,
    kind: FaultKind,
    options: Omit<Fault, 'tool' | 'kind'> = {},
  ): ServerDescription {
    if (!FAULT_KINDS.includes(kind)) {
      throw new TouchstoneError(
        'fault_unknown',
        `expected one of ${FAULT_KINDS.join(', ')}, ${gotWord(kind, FAULT_KINDS)}`,
        {
          where: 'fault',
        },
      )
    }
    const known: readonly string[] = ['after', 'times', ...optionsOf(kind)]
    const stranger = Object.keys(options).find((name) => !known.includes(name))
    if (stranger !== undefined) {
      throw new TouchstoneError(
        'argument_invalid',
        `expected ${known.join(', ')} beside ${kind}, ${gotWord(stranger, known)}`,
        {
          where: 'fault',
        },
      )
    }
    return this.with({ faults: [...this.plan.faults, { tool, kind, ...options }] })
  }

  /**
   * Put a policy in front of the server that denies a tool's calls. A denied call never reaches the
   * server; its caller gets a JSON-RPC error with `data: { origin, reason }`. Calls of other tools
   * are allowed.
   *
   * @param options.reason one of the reasons of privileged-mcp-action but `allow`, default
   *   `no_declared_allowance`
   * @param options.code   of the JSON-RPC error, default -32042
   * @param options.origin who says no, default `touchstone`. Name the gateway that the policy
   *   stands for here
   * @throws TouchstoneError `argument_invalid`; at the start `tool_unknown`
   */
  deny(
    tool: string,
    options: Partial<Refusal> & { reason?: PolicyReason } = {},
  ): ServerDescription {
    onlyMembers(options, ['reason', ...Object.keys(DEFAULT_REFUSAL)], 'options')
    const { reason = 'no_declared_allowance', ...refusal } = options
    if (reason === 'allow' || !REASONS.includes(reason)) {
      const reasons = REASONS.filter((one) => one !== 'allow')
      throw new TouchstoneError(
        'argument_invalid',
        `expected one of ${reasons.join(', ')}, ${gotWord(reason, reasons)}`,
        { where: 'deny.reason' },
      )
    }
    const { deny = {}, pin = null } = this.plan.policy ?? {}
    const rule = { reason, ...refusalOf(refusal, 'deny') }
    return this.with({ policy: { deny: { ...deny, [tool]: rule }, pin } })
  }

  /**
   * Put a policy in front of the server that holds each tool to its listing: what a tool's
   * description and schemas are at its first call is approved, and once they differ its calls are
   * denied.
   *
   * @param options.code   of the JSON-RPC error, default -32042
   * @param options.origin who says no, default `touchstone`
   * @throws TouchstoneError `argument_invalid`
   */
  pin(options: Partial<Refusal> = {}): ServerDescription {
    const { deny = {} } = this.plan.policy ?? {}
    return this.with({ policy: { deny, pin: refusalOf(options, 'pin') } })
  }

  /**
   * A server that is not ours, as a child process speaking MCP on its standard input and output.
   * One that never came up in a run is given up after 8 starts in a row that failed.
   *
   * @param options.env   variables for it beside those that any program needs; `$NAME` is that
   *   variable of this process, and no other of them is handed on
   * @param options.cwd   its working folder
   * @param options.reset keeps the child from trial to trial, and puts its state back in between:
   *   `files` when the folder of `.files()` is all the state it has, else a call, a command or a
   *   function. Default: a fresh child for each trial
   * @param options.era   `legacy` or `modern`. Default: with `initialize`, and as 2026-07-28 has it
   *   where the server knows none
   */
  stdio(
    command: string,
    args: string[] = [],
    options: {
      env?: { [name: string]: string }
      cwd?: string
      reset?: Reset | 'files'
      era?: Era
    } = {},
  ): ServerDescription {
    onlyMembers(options, ['env', 'cwd', 'reset', 'era'], 'options')
    const { env = {}, cwd, reset = null } = options
    if (reset !== 'files') requireReset(reset, 'stdio.reset', ' or "files"')
    const stdio = { command, args, env, cwd, reset, ...eraOf(options, 'stdio') }
    return this.with({ stdio, http: null, world: null })
  }

  /**
   * A server that is not ours, at an address speaking streamable HTTP.
   *
   * @param options.headers sent with each request; `$NAME` is that variable of this process
   * @param options.reset   puts the server's state back at each start: a call, a command or a
   *   function. Default: the state is as it was left, and a run of several trials says so when it
   *   sees a difference
   * @param options.era     as of `stdio`
   */
  http(
    url: string,
    options: { headers?: { [name: string]: string }; reset?: Reset; era?: Era } = {},
  ): ServerDescription {
    onlyMembers(options, ['headers', 'reset', 'era'], 'options')
    const { headers = {}, reset = null } = options
    requireReset(reset, 'http.reset')
    const http = { url, headers, reset, ...eraOf(options, 'http') }
    return this.with({ http, stdio: null, world: null })
  }

  /**
   * What the judge sees of the state of a server that is not ours: each table is the answer to a
   * call, or to a query of the database. A table is read at the start and at the end, on a
   * connection of the judge's own, behind the faults.
   *
   * @param tables name -> `{ call, with?, id? }` or `{ query, id? }`; `id` is the column that tells
   *   rows apart
   */
  tables(tables: { [table: string]: TableSource }): ServerDescription {
    return this.with({ tables: { ...this.plan.tables, ...tables } })
  }

  /**
   * The database that queries ask: `{ sqlite: path }`, or an adapter `{ query(text) }` that gives
   * rows.
   */
  database(source: DatabaseSource): ServerDescription {
    return this.with({ database: source })
  }

  /**
   * What a successful call of a tool claims to have done to a table; `$name` in `where` is the
   * argument of that name.
   *
   * @param effects tool -> `{ op, table, where }`
   */
  effects(effects: { [tool: string]: Effect }): ServerDescription {
    return this.with({ effects: { ...this.plan.effects, ...effects } })
  }

  /**
   * Files of a folder that is made fresh at each start. The agent and the arguments of `stdio` know
   * it as `/workspace`.
   */
  files(files: { [path: string]: string }): ServerDescription {
    return this.with({ files })
  }

  /**
   * Start it and connect to it.
   *
   * @param options.transport `memory` (default), `stdio` (a child process) or `http` (on loopback);
   *   a server that is not ours has the transport it was described with
   * @throws TouchstoneError `world_unknown`, `tool_unknown`, `case_invalid` (a state that is not
   *   the world's), `server_unreachable`
   */
  async start(
    options: { transport?: Transport; signal?: AbortSignal } = {},
  ): Promise<RunningServer> {
    onlyMembers(options, ['transport', 'signal'], 'options')
    const { startServer } = await import('./start.ts')
    return startServer(this.plan, options)
  }

  toJSON(): JsonObject {
    const { world, tools, ...rest } = this.plan
    const name = world === null || typeof world === 'string' ? world : world.name
    return { ...(rest as unknown as JsonObject), world: name, tools: Object.keys(tools) }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return planText(this.plan)
  }
}

/**
 * What a denial is told with, unless the policy says otherwise: the code of privileged-mcp-action
 * v0.
 */
const DEFAULT_REFUSAL: Refusal = { code: -32042, origin: 'touchstone' }

/** @throws TouchstoneError `argument_invalid` */
function refusalOf(options: Partial<Refusal>, where: string): Refusal {
  onlyMembers(options, Object.keys(DEFAULT_REFUSAL), where)
  const refusal = { ...DEFAULT_REFUSAL, ...options }
  if (!Number.isSafeInteger(refusal.code))
    throw new TouchstoneError('argument_invalid', `expected a whole number, got ${refusal.code}`, {
      where: `${where}.code`,
    })
  if (typeof refusal.origin !== 'string' || refusal.origin === '')
    throw new TouchstoneError('argument_invalid', 'expected a name, got none', {
      where: `${where}.origin`,
    })
  return refusal
}

/** A description of a world's server, or of one that is not ours. */
export function describedServer(
  world: string | WorldDefinition | undefined,
  options: { name?: string },
): ServerDescription {
  const name = options.name ?? (typeof world === 'string' ? world : (world?.name ?? 'server'))
  return new ServerDescription({ ...EMPTY, name, world: world ?? null })
}
