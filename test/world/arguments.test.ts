/** No arguments break a world that ships: whatever a model hands to a tool is an answer or a refusal. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Arbitrary } from 'fast-check'
import { z } from 'zod'
import { cases } from '../../lib/index.ts'
import { World, worldNamed, worldNames } from '../../lib/world/index.ts'
import fc from '../property.ts'

type Schema = {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: { [name: string]: Schema }
}

/** Texts that a model may write where a path, a name, an address or a time is meant. */
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'x', '/', '/a', 'a/b', '../..', '\0', '__proto__') },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('C0123456', 'U0', '2026-01-01', 'a@b.c', '1e999') },
)

function valuesOf(schema: Schema, known: readonly unknown[]): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const either = schema.anyOf ?? schema.oneOf
  if (either) return fc.oneof(...either.map((one) => valuesOf(one, known)))
  switch (schema.type) {
    case 'string': {
      const texts = known.filter((one) => typeof one === 'string')
      return texts.length ? fc.oneof(text, fc.constantFrom(...texts)) : text
    }
    case 'integer':
    case 'number':
      return fc.oneof(fc.constantFrom(0, -1, 1, 2 ** 53, 1e308), fc.integer())
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, known), { maxLength: 3 })
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, one]) => [
            name,
            valuesOf(one, known),
          ]),
        ),
        { requiredKeys: [] },
      )
    default:
      return fc.oneof(text, fc.integer(), fc.constant(null))
  }
}

/** Every value that stands in a state: ids, names and paths that a call may name. */
function leaves(value: unknown): unknown[] {
  if (value === null || typeof value !== 'object') return [value]
  return Object.values(value).flatMap(leaves)
}

const shipped = await cases.load()

describe('any calls, in any order,', () => {
  for (const name of worldNames()) {
    const definition = worldNamed(name)
    const starts = shipped.flatMap(({ servers }) =>
      servers.flatMap(({ world, state }) => (world === name && state ? [state] : [])),
    )
    const calls = (known: readonly unknown[]) =>
      fc.array(
        fc.oneof(
          ...Object.entries(definition.tools).map(([tool, { input }]) =>
            valuesOf(z.toJSONSchema(input, { io: 'input' }) as Schema, known).map(
              (given: unknown) => ({
                tool,
                given,
              }),
            ),
          ),
        ),
        { minLength: 1, maxLength: 8 },
      )
    it(`leave the world ${name} whole`, () => {
      fc.assert(
        fc.property(
          fc
            .constantFrom(...starts)
            .chain((start) => fc.tuple(fc.constant(start), calls(leaves(start)))),
          ([start, made]) => {
            const world = new World(definition, start)
            for (const { tool, given } of made) world.call(tool, given)
            world.digest()
            world.audit()
            assert.ok(world.state)
          },
        ),
        { numRuns: 400 },
      )
    })
  }
})
