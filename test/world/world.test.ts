/** What every world keeps to: pure tools, a log made from differences alone, and the same end from the same start. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { cases } from '../../lib/index.ts'
import { importAudit } from '../../lib/receipt/audit/import.ts'
import {
  changesBetween,
  digestOfState,
  matches,
  type Row,
  type State,
  simulatedClock,
  World,
  worldNamed,
  worldNames,
} from '../../lib/world/index.ts'
import { SHIPPED } from '../../lib/world/own.ts'
import fc from '../property.ts'

type Call = { tool: string; input: unknown }

/** For each server of a shipped case: its world, its start, and every call that the case speaks of. */
let scenes: { id: string; world: string; state: object; calls: Call[] }[]
before(async () => {
  scenes = (await cases.load()).flatMap((test) =>
    test.servers.flatMap((server, i) => {
      if (server.world === undefined) return []
      const mine = (name: string | undefined) =>
        name === undefined ? i === 0 : name === server.name
      const calls = [...test.solution, ...(test.attack?.calls ?? [])].flatMap((step): Call[] => {
        if (!mine(step.server)) return []
        const check = (step as (typeof test.solution)[number]).check
        return [
          { tool: step.call, input: step.with },
          ...(check ? [{ tool: check.call, input: check.with }] : []),
        ]
      })
      return [{ id: test.id, world: server.world, state: server.state ?? {}, calls }]
    }),
  )
})

function frozen<T>(value: T): T {
  if (value !== null && typeof value === 'object') {
    Object.freeze(value)
    for (const item of Object.values(value)) frozen(item)
  }
  return value
}

describe('every world', () => {
  it('is known by its name, and every one is played in a shipped case', () => {
    assert.deepEqual(worldNames(), [...SHIPPED])
    for (const name of SHIPPED) assert.equal(worldNamed(name).name, name)
    assert.deepEqual([...new Set(scenes.map(({ world }) => world))].sort(), [...SHIPPED])
    assert.throws(() => worldNamed('toString'), { code: 'world_unknown' })
  })

  it('changes no state in place', () => {
    for (const { world, state, calls } of scenes) {
      const it = new World(worldNamed(world), structuredClone(state))
      for (const { tool, input } of calls) {
        frozen(it.state)
        it.call(tool, frozen(structuredClone(input)))
      }
    }
  })

  it('ends the same from the same start and calls, to the byte of its log', () => {
    for (const { id, world, state, calls } of scenes) {
      const [a, b] = [1, 2].map(() => {
        const one = new World(worldNamed(world), state)
        const replies = calls.map(({ tool, input }) => one.call(tool, input).reply)
        return { digest: one.digest(), audit: one.audit(), replies }
      })
      assert.deepEqual(a, b, id)
    }
  })

  it('has tools that say what they do exactly when they can change something', () => {
    for (const { world, state, calls } of scenes) {
      const one = new World(worldNamed(world), state)
      for (const { tool, input } of calls) {
        const { made } = one.call(tool, input)
        const effect = one.definition.tools[tool]?.effect
        if (made !== null) assert.ok(effect, `${world}.${tool} changes something and has no effect`)
      }
    }
    for (const name of SHIPPED)
      for (const [tool, { effect }] of Object.entries(worldNamed(name).tools))
        assert.equal(effect === undefined, /^(get|list|read|is)_/.test(tool), `${name}.${tool}`)
  })

  it('answers a call of an unknown tool, and of wrong arguments, with an error and no change', () => {
    for (const name of SHIPPED) {
      const one = new World(worldNamed(name))
      assert.equal(one.call('nothing', {}).isError, true)
      for (const tool of Object.keys(one.definition.tools)) {
        const { isError, reply } = one.call(tool, { colour: 'red' })
        assert.equal(isError, true, `${name}.${tool}`)
        assert.match(String((reply as { error?: unknown }).error), /^invalid arguments: /)
      }
      assert.equal(one.changes.length, 0)
    }
  })

  it('whose log an importer reads is read back without a skipped entry', () => {
    for (const { id, world, state, calls } of scenes) {
      const one = new World(worldNamed(world), state)
      if (one.definition.provider === null) continue
      for (const { tool, input } of calls) one.call(tool, input)
      const { counts, skipped } = importAudit(one.definition.provider, one.audit())
      assert.deepEqual(skipped, [], id)
      const unmapped = Object.values(counts.unmapped).reduce((sum, n) => sum + n, 0)
      assert.equal(counts.records + unmapped, counts.entries, id)
    }
  })
})

describe('a world at work', () => {
  const key = { owner: 'acme', repo: 'api', title: 'ci', key: 'k' }
  const acme = { repos: [{ owner: 'acme', name: 'api' }] }

  it('gives rows without an id one, and refuses tables, columns and types that are not its own', () => {
    const one = new World(worldNamed('github'), acme)
    assert.deepEqual(
      one.state['repos']?.map((row) => row.id),
      [1001],
    )
    for (const [state, where] of [
      [{ shops: [] }, 'state.shops'],
      [{ repos: [{ owner: 'acme', name: 'api', stars: 1 }] }, 'state.repos.0.stars'],
      [{ repos: [{ owner: 'acme' }] }, 'state.repos.0.name'],
      [{ repos: 3 }, 'state.repos'],
      ['acme', 'state'],
    ] as const) {
      assert.throws(() => new World(worldNamed('github'), state), { code: 'case_invalid', where })
    }
  })

  it('keeps the start, the changes in order and the states before', () => {
    const one = new World(worldNamed('github'), acme)
    one.call('add_deploy_key', key)
    one.call('list_deploy_keys', { owner: 'acme', repo: 'api' })
    one.call('add_collaborator', { owner: 'acme', repo: 'api', username: 'dana' })
    assert.deepEqual(
      one.changes.map(({ op, table }) => [op, table]),
      [
        ['create', 'deploy_keys'],
        ['create', 'collaborators'],
      ],
    )
    assert.equal(one.start['deploy_keys']?.length, 0)
    assert.deepEqual(
      one.history.map((state) => (state['deploy_keys'] ?? []).length),
      [0, 1],
    )
  })

  it('keeps the state that it is told to keep, and logs that one', () => {
    const one = new World(worldNamed('github'), acme)
    const { made } = one.call('add_deploy_key', key, { keep: (present) => present })
    assert.equal(made?.['deploy_keys']?.length, 1)
    assert.equal(one.digest(), digestOfState(one.start))
    assert.equal(one.audit(), '[]\n')
  })

  it('has a clock that moves a second per look, and ids that never come twice', () => {
    const clock = simulatedClock()
    assert.equal(clock.now().toISOString(), '2026-01-05T09:00:00.000Z')
    assert.equal(clock.now().toISOString(), '2026-01-05T09:00:01.000Z')
    assert.deepEqual([clock.nextId(), clock.nextId()], [1001, 1002])
  })
})

describe('changesBetween', () => {
  const rows = fc.uniqueArray(
    fc.record(
      { id: fc.integer({ min: 0, max: 9 }), v: fc.integer({ min: 0, max: 3 }) },
      { noNullPrototype: true },
    ),
    {
      selector: (row) => row.id,
    },
  )
  const states = fc.record({ a: rows, b: rows }, { noNullPrototype: true })

  it('gives changes that lead from the one state to the other', () => {
    fc.assert(
      fc.property(states, states, (before, after) => {
        const tables = new Map<string, Map<Row['id'], Row>>()
        for (const [table, list] of Object.entries(before))
          tables.set(table, new Map(list.map((row) => [row.id, row])))
        for (const { op, table, before: was, after: is } of changesBetween(before, after)) {
          if (op === 'delete') tables.get(table)?.delete((was as Row).id)
          else tables.get(table)?.set((is as Row).id, is as Row)
        }
        const sorted = (list: Iterable<Row>) =>
          [...list].sort((x, y) => Number(x.id) - Number(y.id))
        for (const table of ['a', 'b'] as const)
          assert.deepEqual(sorted(tables.get(table)?.values() ?? []), sorted(after[table]))
      }),
    )
  })

  it('gives none between a state and its copy', () => {
    fc.assert(
      fc.property(states, (state) => {
        assert.deepEqual(changesBetween(state, structuredClone(state)), [])
      }),
    )
  })

  it('takes a table that is missing for an empty one', () => {
    const row = { id: 1 }
    assert.deepEqual(changesBetween({} as State, { a: [row] }), [
      { op: 'create', table: 'a', before: null, after: row },
    ])
    assert.deepEqual(changesBetween({ a: [row] }, {} as State), [
      { op: 'delete', table: 'a', before: row, after: null },
    ])
  })
})

describe('matches', () => {
  const row = {
    id: 1,
    name: 'ci-2026',
    tags: ['a', 'b'],
    open: false,
    note: null,
    meta: { x: 1, y: 2 },
  }
  for (const [rule, where, expected] of [
    ['nothing asked for is there', {}, true],
    ['a value is itself', { name: 'ci-2026' }, true],
    ['a value is no part of itself', { name: 'ci' }, false],
    ['false and null are values', { open: false, note: null }, true],
    ['a column that is missing is not null', { other: null }, false],
    ['a text contains a part', { name: { contains: '2026' } }, true],
    ['a list contains an item, whole', { tags: { contains: 'a' } }, true],
    ['a list does not contain a part of an item', { tags: { contains: '' } }, false],
    ['not is the other way round', { name: { not: 'x' } }, true],
    ['not holds for a column that is missing', { other: { not: 'x' } }, true],
    ['oneOf is any of them', { id: { oneOf: [3, 1] } }, true],
    ['oneOf nothing is nothing', { id: { oneOf: [] } }, false],
    ['the order of members does not matter', { meta: { y: 2, x: 1 } }, true],
    ['the order of a list does', { tags: ['b', 'a'] }, false],
    ['a number is not its text', { id: '1' }, false],
    ['all columns have to hold', { name: 'ci-2026', id: 2 }, false],
  ] as const) {
    it(rule, () => assert.equal(matches(row, where as never), expected))
  }
})
