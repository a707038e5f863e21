/** All servers of a trial as one, on this process's standard input and output. */
import { type Client, callTool, listTools, onRelisted, type Tool } from '../wire/mcp.ts'
import { serveOnStdio } from '../wire/modern.ts'
import type { AgentTask } from './agent.ts'
import { offeredName, REPORT } from './recorder.ts'

/**
 * Serve until the client has gone or the signal aborts. Faults and refusals reach the client as the
 * servers give them.
 *
 * @returns why it was ended before the client had gone, or null
 */
export async function serveStdio(
  { servers }: Pick<AgentTask, 'servers'>,
  signal: AbortSignal,
): Promise<string | null> {
  const all = Object.entries(servers)
  // The server of the report is ours; its tool is `report`, whatever it is called beside a server
  // of that name.
  const [own] = all.at(-1) ?? ['']
  const named = (server: string, tool: string) =>
    server === own ? REPORT : offeredName(server, tool, all.length - 1)
  let behind = new Map<string, { client: Client; tool: string }>()
  const list = async (): Promise<Tool[]> => {
    const found = new Map<string, { client: Client; tool: string }>()
    const tools: Tool[] = []
    for (const [server, { client }] of all)
      for (const tool of await listTools(client)) {
        const name = named(server, tool.name)
        found.set(name, { client, tool: tool.name })
        tools.push({ ...tool, name })
      }
    behind = found
    return tools
  }
  await list()
  const { promise: over, resolve } = Promise.withResolvers<void>()
  let problem: string | null = null
  const server = await serveOnStdio(
    'touchstone',
    list,
    (name, input, signal) => {
      const to = behind.get(name) ?? { client: all[0]?.[1].client as Client, tool: name }
      return callTool(to.client, to.tool, input, { signal, timeoutMs: DAY_MS }).catch(told)
    },
    ({ message }) => {
      // The rest of a message that is too long cannot be told from the next one.
      if (!/exceeded maximum size/.test(message)) return
      problem = 'expected messages of at most 10 MiB on standard input, got a longer one'
      resolve()
    },
  )
  for (const [, { client }] of all) onRelisted(client, () => server.relisted())
  process.stdin.once('end', resolve)
  // Clients end a program by closing its input, and by a signal when it is slow.
  process.once('SIGTERM', resolve)
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (!signal.aborted) await over
  await server.close()
  return problem
}

/** An error of a client, as the next one shall have it: the code is told once. */
function told(cause: unknown): never {
  const { code, data } = cause as { code?: unknown; data?: unknown }
  const text = (cause as Error).message.replace(/^(MCP error -?\d+: )+/, '')
  throw Object.assign(new Error(text), { code, data })
}

/** The agent's client says how long it waits. */
const DAY_MS = 86_400_000
