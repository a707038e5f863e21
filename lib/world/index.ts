/** The simulated providers, by name. Loaded on first use, because zod is. */
import { TouchstoneError } from '../errors.ts'
import { github } from './github.ts'
import type { WorldDefinition } from './world.ts'

export * from './world.ts'

const WORLDS: { [name: string]: WorldDefinition } = { github: github as unknown as WorldDefinition }

/** Names of the simulated providers. */
export function worldNames(): string[] {
  return Object.keys(WORLDS).sort()
}

/** The definition of a simulated provider. @throws TouchstoneError `world_unknown`, naming those there are. */
export function worldNamed(name: string): WorldDefinition {
  const found = Object.hasOwn(WORLDS, name) ? WORLDS[name] : undefined
  if (found) return found
  throw new TouchstoneError('world_unknown', `expected one of ${worldNames().join(', ')}, got "${name}"`, {
    where: 'world',
  })
}
