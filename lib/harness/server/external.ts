/**
 * Servers that are not ours: a child process, or an address. What can be seen of their state are
 * tables that the case names (by a call, a query, a folder) and the folder that is given to a
 * child; the effects of tools are said by the case.
 */
import { gotWord, nearest } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import { changesBetween, digestOfState, type Effect, type State } from '../../world/world.ts'
import { type Client, callTool, listTools, onRelisted, type Tool } from '../wire/mcp.ts'
import { giveBack, kindOf, takeChild } from './child-pool.ts'
import { type Connection, connect } from './connection.ts'
import { queried } from './database.ts'
import { ExternalBackend, type Upstream } from './external-backend.ts'
import { FaultEngine, needsEngine, requireTools } from './fault-engine.ts'
import { type Front, frontOf } from './front.ts'
import { asking, type Judge, runProgram, unread } from './judge-asks.ts'
import { resetBy } from './reset.ts'
import type { RunningServer } from './running.ts'
import { exchanged, fill, readFolder, WORKSPACE } from './server-folder.ts'
import type { ServerPlan } from './server-plan.ts'
import { dataOf, readTable, textOf } from './tables.ts'

type Asked = { signal: AbortSignal; timeoutMs: number }

/**
 * Start it, or take one that was kept, and connect.
 *
 * @throws TouchstoneError `server_unreachable`, `setting_missing`, `tool_unknown`, `fault_unknown`,
 *   `case_invalid`, `reset_failed`, `state_unreadable`
 */
export async function startExternal(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  const kind = kindOf(plan)
  const kept = takeChild(kind)
  const connection = kept ?? (await connect(plan, options))
  const { client, folder } = connection
  const judge = judgeOf(plan, connection, options)
  let front: Front | null = null
  try {
    // Files are laid before a server starts. Only one that was kept for its folder finds them laid
    // anew.
    if (kept && folder && plan.files && plan.stdio?.reset === 'files') fill(folder, plan.files)
    if (plan.http?.reset) await resetBy(plan.http.reset, { name: plan.name, client, folder })
    const tools = await listTools(client, options.signal)
    requireNamed(plan, tools)
    const start = await stateOf(plan, folder, judge)
    const startDigest = await startOf(plan, start, judge)
    const direct = async (tool: string, input: Record<string, unknown>, how: Asked) =>
      exchanged(
        await callTool(client, tool, exchanged(input, WORKSPACE, folder), how),
        folder,
        WORKSPACE,
      )
    if (needsEngine(plan)) {
      front = await behindEngine(plan, tools, client, {
        list: () => listTools(client),
        call: (tool, input, signal) => direct(tool, input, { signal, timeoutMs: LONGEST_MS }),
      })
    }
    const close = async () => {
      await front?.close()
      await judge.close()
      await giveBack(kind, connection, plan)
    }
    return {
      name: plan.name,
      ours: false,
      tools: front?.tools ?? tools,
      client: front?.client ?? client,
      url: plan.http?.url ?? null,
      startDigest,
      async call(tool, input, { number, ...how }) {
        try {
          return await (front
            ? front.call(tool, input, { number, ...how })
            : direct(tool, input, how))
        } catch (cause) {
          // In front of the server the engine tells of its end as of any other error.
          throw connection.gone ? connection.goneFor(cause) : cause
        }
      },
      effectOf: (tool, input) => declaredEffect(plan.effects, tool, input),
      writes: (tool) => Object.hasOwn(plan.effects, tool),
      judge,
      ...(front && { met: front.met }),
      log: () => connection.log(),
      async end() {
        const state = await stateOf(plan, folder, judge)
        return {
          state,
          start,
          changes: changesBetween(start, state),
          provider: null,
          audit: null,
          digest: digestOfState(state),
        }
      },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (cause) {
    await front?.close()
    await judge.close()
    await connection.close()
    throw cause instanceof TouchstoneError ? connection.explained(cause) : cause
  }
}

/** A call through the engine is timed by the agent's side of it. */
const LONGEST_MS = 86_400_000

/** Put the fault engine before a server. */
async function behindEngine(
  plan: ServerPlan,
  tools: Tool[],
  client: Client,
  upstream: Upstream,
): Promise<Front> {
  const backend = new ExternalBackend(upstream, tools)
  const front = await frontOf(plan.name, new FaultEngine(plan, backend))
  onRelisted(client, () => {
    backend.relisted()
    front.server.sendToolListChanged().catch(() => {})
  })
  return front
}

/** Require that a plan names tools that the server lists. @throws TouchstoneError `tool_unknown` */
function requireNamed(plan: ServerPlan, tools: Tool[]): void {
  const names = tools.map(({ name }) => name)
  requireTools(plan, names)
  for (const [tool, effect] of Object.entries(plan.effects)) {
    const found = tools.find(({ name }) => name === tool)
    for (const argument of argumentsIn(effect))
      requireArgument(found, argument, `effects of ${plan.name}`)
  }
  const reset = plan.stdio?.reset ?? plan.http?.reset
  const questions = [...Object.values(plan.tables), ...plan.questions]
  const asked = [
    ...Object.keys(plan.effects).map((tool) => ['effects', tool]),
    ...questions.flatMap((one) => ('call' in one ? [['a question of the judge', one.call]] : [])),
    ...(typeof reset === 'object' && reset && 'call' in reset ? [['reset', reset.call]] : []),
  ] as [string, string][]
  const stranger = asked.find(([, tool]) => !names.includes(tool))
  if (stranger)
    throw new TouchstoneError(
      'tool_unknown',
      `expected a tool of ${plan.name} (${names.join(', ') || 'none'}), ${gotWord(stranger[1], names)}`,
      { where: stranger[0] },
    )
}

/** The arguments that an effect takes values of: each text "$name" in it. */
function argumentsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('$') ? [value.slice(1)] : []
  return value !== null && typeof value === 'object'
    ? Object.values(value).flatMap(argumentsIn)
    : []
}

/**
 * Refuse a name that is nearly one of a tool's arguments and none: any other may be one that its
 * schema leaves open.
 *
 * @throws TouchstoneError `case_invalid`
 */
export function requireArgument(tool: Tool | undefined, name: string, where: string): void {
  const own = Object.keys(tool?.inputSchema.properties ?? {})
  if (own.includes(name) || nearest(name, own) === null) return
  throw new TouchstoneError(
    'case_invalid',
    `expected an argument of ${tool?.name} (${own.join(', ')}), ${gotWord(name, own)}`,
    { where },
  )
}

/**
 * The judge of a server that is not ours. A server at an address is asked on a connection of the
 * judge's own; a child process has one connection, which the judge shares, behind the faults.
 */
function judgeOf(
  plan: ServerPlan,
  connection: Connection,
  options: { signal?: AbortSignal | undefined },
): Judge {
  const where = `server ${plan.name}`
  const { folder } = connection
  let own: Promise<Connection> | null = null
  const client = async () => {
    if (!plan.http) return connection.client
    own ??= connect(plan, options)
    return (await own).client
  }
  return {
    client,
    ask: async (tool, input) =>
      exchanged(
        await asking(plan.name, await client(), tool, exchanged(input, WORKSPACE, folder)),
        folder,
        WORKSPACE,
      ),
    async query(text) {
      if (!plan.database) throw unread('a server with a database', 'none', where)
      try {
        return await queried(exchanged(plan.database, WORKSPACE, folder), text)
      } catch (cause) {
        throw unread('rows of the database', cause, where)
      }
    },
    run: (command, args) =>
      runProgram(command, exchanged([...args], WORKSPACE, folder), {
        cwd: folder ?? undefined,
        where,
      }),
    async close() {
      const opened = await own?.catch(() => null)
      await opened?.close()
    },
  }
}

/** What can be seen of the state now. @throws TouchstoneError `state_unreadable` */
async function stateOf(plan: ServerPlan, folder: string | null, judge: Judge): Promise<State> {
  const watched = folder ?? plan.folder
  const state: { [table: string]: State[string] } = watched ? { ...readFolder(watched) } : {}
  for (const [name, source] of Object.entries(plan.tables))
    state[name] = await readTable(plan.name, name, source, judge)
  return state
}

/**
 * The digest of the start, over the tables and the answers to the goal's questions, without members
 * that differ at each look. Null when nothing of the state can be seen.
 */
async function startOf(plan: ServerPlan, start: State, judge: Judge) {
  const answers: { [question: string]: Json } = {}
  for (const { call, with: input = {} } of plan.questions) {
    const answer = await judge.ask(call, input)
    const said = dataOf(answer) ?? textOf(answer)
    answers[JSON.stringify([call, input])] = { said, error: answer.isError ?? false }
  }
  const seen = Object.keys(start).length + Object.keys(answers).length
  if (seen === 0) return null
  const steady = without({ ...start, ...answers } as JsonObject, new Set(plan.volatile))
  return digestOfState(steady as unknown as State)
}

/** A value without the members of these names, at any depth. */
function without(value: Json, names: ReadonlySet<string>): Json {
  if (names.size === 0 || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item) => without(item, names))
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) =>
      names.has(name) ? [] : [[name, without(item, names)]],
    ),
  )
}

/**
 * An effect said by the case: `$name` is the argument of that name; a path in the folder is
 * relative to it.
 */
function declaredEffect(
  effects: { [tool: string]: Effect },
  tool: string,
  input: JsonObject,
): Effect | null {
  const effect = Object.hasOwn(effects, tool) ? effects[tool] : undefined
  if (!effect) return null
  // What a call or a claim leaves open is not asked for.
  const filled = (value: Json): Json | undefined => {
    const argument =
      typeof value === 'string' && value.startsWith('$') ? input[value.slice(1)] : value
    return typeof argument === 'string' && argument.startsWith(`${WORKSPACE}/`)
      ? argument.slice(WORKSPACE.length + 1)
      : argument
  }
  const where: Effect['where'] = Object.fromEntries(
    Object.entries(effect.where).map(([column, value]) => [column, filled(value as Json)]),
  )
  return { ...effect, where }
}
