/** `harness.world`: a simulated provider of one's own, known by its name from then on. */
import { TouchstoneError } from '../errors.ts'
import type { State, WorldDefinition } from './world.ts'

/** Names of the worlds that ship. They are loaded on first use, so the names stand here. */
export const SHIPPED = ['files', 'github', 'mail', 'payments', 'slack', 'workspace'] as const

const own = new Map<string, WorldDefinition>()

/** Worlds defined in this process, by name. */
export function ownWorlds(): ReadonlyMap<string, WorldDefinition> {
  return own
}

/**
 * Define a simulated provider. Cases name it as their `world`, in YAML too; `harness.server` takes
 * it as it is.
 *
 * Defining a name again replaces it, so that a notebook cell can be run twice.
 * `test/world/custom.test.ts` is one in whole.
 *
 * @param definition tables as a zod object, pure tools, and the audit log as made from changes
 * @throws TouchstoneError `argument_invalid` for a name that is not lower-case words, or that a
 *   shipped world has
 * @example
 * const { z } = await import('zod')
 * const counters = world({
 *   name: 'counters', provider: null, summary: 'Named counters.',
 *   state: z.strictObject({ counters: z.array(z.strictObject({ id: z.string(), value: z.number() })).default([]) }),
 *   tools: {
 *     bump: {
 *       description: 'Add one to a counter.',
 *       input: z.strictObject({ name: z.string() }),
 *       run: (state, { name }) => ({
 *         state: { counters: state.counters.map((row) => (row.id === name ? { ...row, value: row.value + 1 } : row)) },
 *         reply: { ok: true },
 *       }),
 *       effect: ({ name }) => ({ op: 'update', table: 'counters', where: { id: name } }),
 *     },
 *   },
 *   audit: () => [],
 * })
 * counters.name // 'counters'
 */
export function world<S extends State>(definition: WorldDefinition<S>): WorldDefinition<S> {
  const { name } = definition
  const wrong = (expected: string) => {
    throw new TouchstoneError(
      'argument_invalid',
      `expected ${expected}, got ${JSON.stringify(name)}`,
      { where: 'world name' },
    )
  }
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9_-]*$/.test(name))
    wrong('lower-case words with - and _')
  if ((SHIPPED as readonly string[]).includes(name))
    wrong(`a name that no shipped world has (${SHIPPED.join(', ')})`)
  own.set(name, definition as unknown as WorldDefinition)
  return definition
}
