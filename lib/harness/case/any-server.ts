/** `harness.server()`: a server to describe step by step, from a world's name or from a case. */
import { onlyMembers, requireObject } from '../../arguments.ts'
import type { WorldDefinition } from '../../world/world.ts'
import { describedServer, ServerDescription } from '../server/description.ts'
import type { Case } from './case.ts'
import { planOf } from './planned-servers.ts'

/**
 * Describe an MCP server under test.
 *
 * @param world a simulated provider's name, one made with `harness.world`, a server of a case
 *   (`test.servers[0]`), or nothing for a server that is not ours
 * @param options.name default: that of the world or of the case's server
 * @throws TouchstoneError `argument_invalid`
 * @example
 * const github = server('github').fault('add_deploy_key', 'lying_success')
 * github.plan.faults // [{ tool: 'add_deploy_key', kind: 'lying_success' }]
 */
export function server(
  world?: string | WorldDefinition | Case['servers'][number],
  options: { name?: string } = {},
): ServerDescription {
  onlyMembers(options, ['name'], 'options')
  if (world !== undefined && typeof world !== 'string')
    requireObject(world, "a world's name, a world or a server of a case", 'world')
  if (typeof world !== 'object' || world === null || !('effects' in world && 'inject' in world))
    return describedServer(world, options)
  return new ServerDescription({ ...planOf(world), ...options })
}
