/** A world with a mistake in it: its trials end in an error that names the tool, and judge nobody. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { harness } from '../../lib/index.ts'
import { World, type WorldDefinition } from '../../lib/world/index.ts'

type Run = (state: { jars: { id: number; tags: string[] }[] }) => unknown
const state = z.strictObject({
  jars: z.array(z.strictObject({ id: z.number(), tags: z.any() })).default([]),
})
const pantry = (run: Run) =>
  ({
    name: 'pantry',
    provider: null,
    summary: 'Jars.',
    state,
    tools: {
      fill: {
        description: 'Fill.',
        input: z.strictObject({}),
        run,
        effect: () => ({ op: 'update', table: 'jars', where: {} }),
      },
    },
    audit: () => [],
  }) as unknown as WorldDefinition
const reply = { ok: true }

const MISTAKES: [string, Run][] = [
  ['throws', () => assert.fail('a mistake')],
  ['is asynchronous', async ({ jars }) => ({ state: { jars }, reply })],
  ['gives nothing', () => undefined],
  ['gives no reply', ({ jars }) => ({ state: { jars } })],
  [
    'changes a row in place',
    ({ jars }) => ({ reply, state: { jars: jars.map((jar) => Object.assign(jar, { id: 2 })) } }),
  ],
  [
    'changes what a row holds in place',
    ({ jars }) => ({ reply: { ok: jars[0]?.tags.push('new') } }),
  ],
  [
    'adds to a table in place',
    (all) => ({ state: all, reply: { n: all.jars.push({ id: 2, tags: [] }) } }),
  ],
  ['gives a table that is none', () => ({ state: { jars: 'x' }, reply })],
  ['gives a list for tables', () => ({ state: [], reply })],
  ['gives a row without an id', () => ({ state: { jars: [{ tags: [] }] }, reply })],
  [
    'gives an id twice',
    ({ jars }) => ({ state: { jars: [...jars, { id: 1, tags: ['other'] }] }, reply }),
  ],
]

describe('a trial in a world with a tool that', () => {
  for (const [mistake, run] of MISTAKES)
    it(`${mistake} ends in the error world_broken, and meets no goal`, async () => {
      const made = harness.world(pantry(run))
      const test = await harness.case({
        id: 'pantry/fill',
        title: 'Fill it',
        kind: 'benign',
        server: { world: made.name, state: { jars: [{ id: 1, tags: ['a'] }] } },
        task: 'Fill.',
        solution: [{ call: 'fill' }],
        goal: [{ unchanged: true }],
      })
      const { trials } = await harness
        .run(test)
        .config('p', { model: 'sim/perfect' })
        .repeat(2)
        .quiet()
        .out(null)
      assert.deepEqual(
        trials.map(({ outcome, error, goal }) => [outcome, error?.code, goal]),
        [
          ['error', 'world_broken', null],
          ['error', 'world_broken', null],
        ],
      )
    })
})

describe('the state that a world starts with', () => {
  it('has each id once in a table', () => {
    const jars = [
      { id: 1, tags: [] },
      { id: 1, tags: ['b'] },
    ]
    assert.throws(
      () =>
        new World(
          pantry(() => ({ reply })),
          { jars },
        ),
      { code: 'case_invalid', where: 'state.jars' },
    )
  })

  it('is its own: nobody else’s object is frozen by it', () => {
    const tags: string[] = []
    const world = new World(
      pantry(() => ({ reply })),
      { jars: [{ id: 1, tags }] },
    )
    tags.push('mine')
    assert.deepEqual(world.start, { jars: [{ id: 1, tags: [] }] })
  })
})
