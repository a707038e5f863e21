/** A server of ours on loopback, over streamable HTTP, as a real client would reach it. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { serveHttp } from '../wire/loopback.ts'
import { callTool, connectClient, listTools, type Transport } from '../wire/mcp.ts'
import { FaultEngine } from './fault-engine.ts'
import { serverOf } from './front.ts'
import { judgeOfWorld } from './judge-asks.ts'
import { type RunningServer, runningWorld } from './running.ts'
import type { ServerPlan } from './server-plan.ts'
import { WorldBackend } from './world-backend.ts'

/**
 * Start it on loopback, at a path that cannot be guessed. Any number of clients may connect; all
 * meet the same world.
 */
export async function startHttp(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  const backend = new WorldBackend(plan)
  const startDigest = backend.world.digest()
  const engine = new FaultEngine(plan, backend)
  const address = await serveHttp(plan.name, () => serverOf(plan.name, engine), {
    holds: true,
  })
  try {
    const transport = new StreamableHTTPClientTransport(new URL(address.url))
    const client = await connectClient(transport as Transport, options)
    return runningWorld(backend.world.definition, {
      name: plan.name,
      tools: await listTools(client, options.signal),
      client,
      url: address.url,
      startDigest,
      call: (tool, input, { signal, timeoutMs }) =>
        callTool(client, tool, input, { signal, timeoutMs }),
      judge: judgeOfWorld(plan.name, backend),
      end: async () => backend.end(),
      async close() {
        await client.close()
        await address.close()
      },
    })
  } catch (cause) {
    await address.close()
    throw cause
  }
}
