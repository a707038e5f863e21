/** A server of ours as a child process on standard input and output, asked for its end over a second channel. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { TouchstoneError } from '../../errors.ts'
import { callTool, connectClient, listTools } from './mcp.ts'
import type { ServerPlan } from './plan.ts'
import { type RunningServer, runningWorld } from './running.ts'
import { definitionOf, type ServerEnd } from './world-backend.ts'

/** Start it. @throws TouchstoneError `argument_invalid` when it holds functions, which cannot go to another process */
export async function startChild(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  if (typeof plan.world === 'object' && plan.world !== null) functions('a world made in TypeScript')
  if (Object.keys(plan.tools).length > 0)
    functions(`the tools ${Object.keys(plan.tools).join(', ')}`)
  const definition = definitionOf(plan)
  const entry = new URL(`./stdio-main${extname(import.meta.url)}`, import.meta.url)
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', entry.pathname, JSON.stringify(plan)],
    {
      stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
    },
  )
  const transport = new ChildTransport(child)
  const ask = async (what: 'start' | 'end') => {
    const answer = once(child, 'message')
    child.send(what)
    return (await answer)[0]
  }
  const close = async () => {
    await transport.close()
  }
  try {
    const client = await connectClient(transport, { timeoutMs: 15_000, signal: options.signal })
    return runningWorld(definition, {
      name: plan.name,
      tools: await listTools(client, options.signal),
      client,
      url: null,
      startDigest: (await ask('start')) as ServerEnd['digest'],
      call: (tool, input, { signal, timeoutMs }) =>
        callTool(client, tool, input, { signal, timeoutMs }),
      end: async () => (await ask('end')) as ServerEnd,
      close,
    })
  } catch (cause) {
    await close()
    throw cause
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

/** MCP's stdio framing over a child that also has a channel of its own, which the SDK's transport has no place for. */
class ChildTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  private readonly child: ChildProcess
  private readonly buffer = new ReadBuffer()

  constructor(child: ChildProcess) {
    this.child = child
  }

  async start(): Promise<void> {
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.buffer.append(chunk)
      for (;;) {
        try {
          const message = this.buffer.readMessage()
          if (message === null) return
          this.onmessage?.(message)
        } catch (error) {
          this.onerror?.(error as Error)
        }
      }
    })
    this.child.on('error', (error) => this.onerror?.(error))
    this.child.on('exit', () => this.onclose?.())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.child.stdin?.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const gone = once(this.child, 'exit')
    this.child.stdin?.end()
    this.child.kill()
    await gone
  }
}
