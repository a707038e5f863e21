/** The simulated providers, by name. Loaded on first use, because zod is. */
import { gotWord } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import { files } from './files.ts'
import { github } from './github.ts'
import { mail } from './mail.ts'
import { ownWorlds, type SHIPPED } from './own.ts'
import { payments } from './payments.ts'
import { slack } from './slack.ts'
import { workspace } from './workspace.ts'
import type { WorldDefinition } from './world.ts'

export * from './world.ts'

const WORLDS = { files, github, mail, payments, slack, workspace } as unknown as {
  [name in (typeof SHIPPED)[number]]: WorldDefinition
} & { [name: string]: WorldDefinition }

/** Names of the simulated providers, those defined in this process included. */
export function worldNames(): string[] {
  return [...Object.keys(WORLDS), ...ownWorlds().keys()].sort()
}

/**
 * The definition of a simulated provider. @throws TouchstoneError `world_unknown`, naming those
 * there are.
 */
export function worldNamed(name: string): WorldDefinition {
  const found = Object.hasOwn(WORLDS, name) ? WORLDS[name] : ownWorlds().get(name)
  if (found) return found
  throw new TouchstoneError(
    'world_unknown',
    `expected one of ${worldNames().join(', ')}, ${gotWord(name, worldNames())}`,
    { where: 'world' },
  )
}
