/**
 * A server of ours as a child process on standard input and output, asked for its end over a second
 * channel.
 */
import type { ChildProcess } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TouchstoneError } from '../../errors.ts'
import { startChild } from '../../process/child.ts'
import { ChildTransport } from '../wire/child-transport.ts'
import { type CallToolResult, callTool, connectClient, listTools } from '../wire/mcp.ts'
import { judgeOfWorld } from './judge-asks.ts'
import { type RunningServer, runningWorld } from './running.ts'
import type { ServerPlan } from './server-plan.ts'
import type { Asked, Told } from './stdio-main.ts'
import { definitionOf, type ServerEnd } from './world-backend.ts'

/**
 * Start it. @throws TouchstoneError `argument_invalid` when it holds functions, which cannot go to
 * another process
 */
export async function startOverStdio(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  if (typeof plan.world === 'object' && plan.world !== null) functions('a world made in TypeScript')
  if (Object.keys(plan.tools).length > 0)
    functions(`the tools ${Object.keys(plan.tools).join(', ')}`)
  const definition = definitionOf(plan)
  const entry = new URL(`./stdio-main${extname(import.meta.url)}`, import.meta.url)
  const words = ['--disable-warning=ExperimentalWarning', fileURLToPath(entry)]
  const child = startChild(process.execPath, words, {
    env: process.env,
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
    where: `server ${plan.name}`,
  })
  child.send(plan)
  const transport = new ChildTransport(child)
  const ask = askerOf(child)
  // Node tells of the end of a child whose channel this side has closed by no `close`.
  const close = () => transport.close()
  try {
    const client = await connectClient(transport, { timeoutMs: 15_000, signal: options.signal })
    const tools = await listTools(client, options.signal)
    return runningWorld(definition, {
      name: plan.name,
      tools,
      client,
      url: null,
      startDigest: (await ask({ what: 'start' })) as ServerEnd['digest'],
      call: (tool, input, { signal, timeoutMs }) =>
        callTool(client, tool, input, { signal, timeoutMs }),
      judge: judgeOfWorld(plan.name, {
        list: () => tools,
        tool: (name) => tools.find((tool) => tool.name === name),
        call: async (tool, input) => (await ask({ what: 'call', tool, input })) as CallToolResult,
        error: (text) => ({ content: [{ type: 'text', text }], isError: true }),
      }),
      end: async () => (await ask({ what: 'end' })) as ServerEnd,
      close,
    })
  } catch (cause) {
    await close()
    throw cause
  }
}

/**
 * Asks the child on the channel beside the wire. A child that ends with a question open rejects it.
 */
function askerOf(child: ChildProcess): (asked: Asked) => Promise<unknown> {
  const open = new Map<number, PromiseWithResolvers<unknown>>()
  let next = 0
  child.on('message', ({ number, value, error }: Told) => {
    if (error === undefined) open.get(number)?.resolve(value)
    else open.get(number)?.reject(new TouchstoneError('world_broken', error))
    open.delete(number)
  })
  child.on('exit', () => {
    for (const { reject } of open.values()) reject(new Error('the server has ended'))
    open.clear()
  })
  return (asked) => {
    const answer = Promise.withResolvers<unknown>()
    const number = next++
    open.set(number, answer)
    child.send({ number, asked })
    return answer.promise
  }
}

function functions(what: string): never {
  throw new TouchstoneError(
    'argument_invalid',
    `expected plain data for a child process, got ${what}`,
    {
      where: 'transport: stdio',
    },
  )
}
