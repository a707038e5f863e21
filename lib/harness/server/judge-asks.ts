/**
 * What the judge asks of a server: a call on a connection of its own, a query, a command. It stands
 * behind the faults.
 *
 * Its answers decide goals, effects and claims. They are no calls of the agent, so no decision
 * records them and no level rests on them.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { endChild, startChild } from '../../process/child.ts'
import { environmentOf } from '../../process/environment.ts'
import { type CallToolResult, type Client, callTool, reasonOf } from '../wire/mcp.ts'
import type { Backend } from './fault.ts'
import { FaultEngine } from './fault-engine.ts'
import { type Front, frontOf } from './front.ts'

/** How long the judge waits for an answer. */
const PATIENCE_MS = 30_000
/** How long a program may take to end on a signal, and its output to end after it. */
const GRACE_MS = 1000

export type Judge = {
  /**
   * The server's own answer to a call. @throws TouchstoneError `state_unreadable` when it gives
   * none
   */
  ask(tool: string, input: JsonObject): Promise<CallToolResult>
  /** A client of the judge's own. */
  client(): Promise<Client>
  /** Rows of the server's database. @throws TouchstoneError `state_unreadable` */
  query(text: string): Promise<JsonObject[]>
  /**
   * Run a program in the server's folder. @throws TouchstoneError `state_unreadable` when it cannot
   * be started
   */
  run(command: string, args: readonly string[]): Promise<{ exit: number | null; output: string }>
  close(): Promise<void>
}

/** The error for what the judge could not read. */
export function unread(expected: string, cause: unknown, where: string): TouchstoneError {
  return new TouchstoneError('state_unreadable', `expected ${expected}, got ${reasonOf(cause)}`, {
    where,
    cause,
  })
}

/** A call by a client of the judge's. */
export async function asking(
  server: string,
  client: Client,
  tool: string,
  input: JsonObject,
): Promise<CallToolResult> {
  try {
    return await callTool(client, tool, input, {
      signal: AbortSignal.timeout(PATIENCE_MS),
      timeoutMs: PATIENCE_MS,
    })
  } catch (cause) {
    throw unread(`an answer of ${tool} to the judge`, cause, `server ${server}`)
  }
}

/**
 * Run a program to its end. Its output is what it writes to both of its streams, the first million
 * characters.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { cwd?: string | undefined; env?: { [name: string]: string }; where: string },
): Promise<{ exit: number | null; output: string }> {
  const child = startChild(command, args, {
    env: options.env ?? environmentOf(),
    stdio: ['ignore', 'pipe', 'pipe'],
    where: options.where,
    lasting: true,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < 1_000_000) output += text
    })
  const late = setTimeout(() => void endChild(child, { graceMs: GRACE_MS }), PATIENCE_MS)
  try {
    await once(child, 'exit')
    // What it left running may hold its pipes open for as long as it likes.
    await Promise.race([once(child, 'close'), sleep(GRACE_MS, null, { ref: false })])
  } catch (cause) {
    throw unread(`${command} to run`, cause, options.where)
  } finally {
    clearTimeout(late)
    child.stdout?.destroy()
    child.stderr?.destroy()
    await endChild(child, { graceMs: GRACE_MS })
  }
  return { exit: child.exitCode, output }
}

/** The judge of a simulated world: the world's honest server, in front of which no fault stands. */
export function judgeOfWorld(
  name: string,
  backend: Pick<Backend, 'list' | 'tool' | 'call' | 'error'>,
): Judge {
  let front: Promise<Front> | null = null
  const honest = { name, faults: [], describe: {}, parameters: {}, inject: {} }
  const client = async () => {
    front ??= frontOf(name, new FaultEngine(honest, backend))
    return (await front).client
  }
  return {
    client,
    ask: async (tool, input) => asking(name, await client(), tool, input),
    query: async () => {
      throw unread('a server with a database', 'a simulated world', `server ${name}`)
    },
    run: (command, args) => runProgram(command, args, { where: `server ${name}` }),
    async close() {
      await (await front)?.close()
    },
  }
}
