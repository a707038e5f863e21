/**
 * Starting a server description: in this process, as a child process, on loopback HTTP, or somebody
 * else's server.
 */
import { TouchstoneError } from '../../errors.ts'
import { startExternal } from './external.ts'
import { FaultEngine } from './fault-engine.ts'
import { frontOf } from './front.ts'
import { judgeOfWorld } from './judge-asks.ts'
import { behindPolicy } from './policy.ts'
import { type RunningServer, runningWorld } from './running.ts'
import type { ServerPlan } from './server-plan.ts'
import { WorldBackend } from './world-backend.ts'

export type Transport = 'memory' | 'stdio' | 'http'

/** Start what a plan describes. See `ServerDescription.start`. */
export async function startServer(
  plan: ServerPlan,
  options: { transport?: Transport | undefined; signal?: AbortSignal | undefined } = {},
): Promise<RunningServer> {
  const server = await startPlain(plan, options)
  if (!plan.policy) return server
  try {
    return behindPolicy(server, plan.policy)
  } catch (cause) {
    await server.close()
    throw cause
  }
}

async function startPlain(
  plan: ServerPlan,
  options: { transport?: Transport | undefined; signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  if (plan.stdio || plan.http) return startExternal(plan, options)
  const transport = options.transport ?? 'memory'
  if (transport === 'stdio') {
    const { startOverStdio } = await import('./stdio-server.ts')
    return startOverStdio(plan, options)
  }
  if (transport === 'http') {
    const { startHttp } = await import('./http-server.ts')
    return startHttp(plan, options)
  }
  if (transport !== 'memory') {
    throw new TouchstoneError(
      'transport_unknown',
      `expected memory, stdio or http, got "${String(transport)}"`,
      { where: 'transport' },
    )
  }
  return startInMemory(plan, options)
}

async function startInMemory(
  plan: ServerPlan,
  options: { signal?: AbortSignal | undefined },
): Promise<RunningServer> {
  const backend = new WorldBackend(plan)
  const startDigest = backend.world.digest()
  const { client, tools, call, met, close } = await frontOf(
    plan.name,
    new FaultEngine(plan, backend),
    options,
  )
  return runningWorld(backend.world.definition, {
    name: plan.name,
    tools,
    client,
    url: null,
    startDigest,
    call,
    judge: judgeOfWorld(plan.name, backend),
    met,
    end: async () => backend.end(),
    close,
  })
}
