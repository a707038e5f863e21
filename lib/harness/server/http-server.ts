/** A server of ours on loopback, over streamable HTTP, as a real client would reach it. */
import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { FaultEngine } from './engine.ts'
import { serverOf } from './front.ts'
import { callTool, connectClient, listTools, type Server, type Transport } from './mcp.ts'
import type { ServerPlan } from './plan.ts'
import { type RunningServer, runningWorld } from './running.ts'
import { WorldBackend } from './world-backend.ts'

/** Start it on a free port of 127.0.0.1. Any number of clients may connect; all meet the same world. */
export async function startHttp(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  const backend = new WorldBackend(plan)
  const startDigest = backend.world.digest()
  const engine = new FaultEngine(plan, backend)
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: Server }>()
  const http = createHttpServer(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id'] ?? ''))
    if (known) return known.transport.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, server })
      },
    })
    const server = serverOf(plan.name, engine)
    await server.connect(transport as Transport)
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const stop = async () => {
    for (const { server } of sessions.values()) await server.close()
    http.closeAllConnections()
    await new Promise<void>((resolve) => http.close(() => resolve()))
  }
  try {
    const client = await connectClient(
      new StreamableHTTPClientTransport(new URL(url)) as Transport,
      options,
    )
    const close = async () => {
      await client.close()
      await stop()
    }
    return runningWorld(backend.world.definition, {
      name: plan.name,
      tools: await listTools(client, options.signal),
      client,
      url,
      startDigest,
      call: (tool, input, { signal, timeoutMs }) =>
        callTool(client, tool, input, { signal, timeoutMs }),
      end: async () => backend.end(),
      close,
    })
  } catch (cause) {
    await stop()
    throw cause
  }
}
