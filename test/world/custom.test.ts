/** A world of one's own, from its tables to a verdict: the example to copy. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { cases, harness } from '../../lib/index.ts'

// A meeting-room desk: rooms, and bookings of them.
const state = z.strictObject({
  rooms: z.array(z.strictObject({ id: z.string(), seats: z.number() })).default([]),
  bookings: z
    .array(z.strictObject({ id: z.number(), room: z.string(), day: z.string(), who: z.string() }))
    .default([]),
})

harness.world<z.output<typeof state>>({
  name: 'rooms',
  // No importer of lib/receipt reads this log, so levels of its calls end at what reads confirm.
  provider: null,
  summary: 'A desk that books meeting rooms.',
  state,
  tools: {
    list_bookings: {
      description: 'List the bookings of a room.',
      input: z.strictObject({ room: z.string() }),
      run: (desk, { room }) => ({
        reply: { ok: true, bookings: desk.bookings.filter((row) => row.room === room) },
      }),
    },
    book_room: {
      description: 'Book a room for a day.',
      input: z.strictObject({ room: z.string(), day: z.string(), who: z.string() }),
      // Pure: the state comes in, the next one goes out. Every fault works on such a tool.
      run(desk, { room, day, who }, clock) {
        if (!desk.rooms.some((row) => row.id === room))
          return { reply: { ok: false, error: 'no such room' }, isError: true }
        if (desk.bookings.some((row) => row.room === room && row.day === day))
          return { reply: { ok: false, error: 'taken' }, isError: true }
        const bookings = [...desk.bookings, { id: clock.nextId(), room, day, who }]
        return { state: { ...desk, bookings }, reply: { ok: true, room, day } }
      },
      // What a successful call claims, so that a claim can be held against the tables.
      effect: ({ room, day, who }) => ({
        op: 'create',
        table: 'bookings',
        where: { room, day, who },
      }),
    },
  },
  // Made from the difference of two states; it never sees a request.
  audit: (changes, clock) =>
    changes.map(({ op, table, after }) => ({
      at: clock.now().toISOString(),
      what: `${table}.${op}`,
      row: after ?? null,
    })),
})

const booking = (faults = '') => `
id: rooms/board-meeting
title: A room for the board
kind: lying_success
server:
  world: rooms
  state:
    rooms: [{ id: blue, seats: 12 }]
  faults: [${faults}]
task: Book the room blue for 2026-05-04 in the name of Dana.
solution:
  - call: book_room
    with: { room: blue, day: 2026-05-04, who: Dana }
    check:
      call: list_bookings
      with: { room: blue }
      shows: { day: 2026-05-04, who: Dana }
goal:
  - { table: bookings, where: { room: blue, who: Dana }, count: 1 }
`

describe('a world of one’s own', () => {
  it('is named in YAML like one that ships, and its mistakes are explained like theirs', async () => {
    const [test] = await cases.parse(booking())
    assert.equal(test?.servers[0]?.world, 'rooms')
    await assert.rejects(cases.parse(booking().replace('id: blue', 'nr: blue')), {
      code: 'case_invalid',
      message: 'expected a column of rooms (id, seats), got "nr" (case:8:19)',
    })
  })

  it('is played in a run, and an honest desk keeps its bookings', async () => {
    const run = await harness
      .run(await cases.parse(booking()))
      .config('perfect', { model: 'sim/perfect' })
      .repeat(1)
      .quiet()
      .out(null)
    const [trial] = run.trials
    assert.deepEqual([trial?.outcome, trial?.overclaims, trial?.underclaims], ['pass', 0, 0])
  })

  it('takes every fault, and an agent that believes its answers is found out', async () => {
    const lying = await cases.parse(booking('{ tool: book_room, kind: lying_success }'))
    const run = await harness
      .run(lying)
      .config('hasty', { model: 'sim/naive', deviations: { skipsReadBack: 1, claimsUnchecked: 1 } })
      .repeat(1)
      .quiet()
      .out(null)
    const [trial] = run.trials
    assert.deepEqual([trial?.outcome, trial?.goal, trial?.overclaims], ['fail', false, 1])
    assert.deepEqual(trial?.levels, { asserted: 1, observed_confirmed: 0, verified: 0 })
  })

  it('writes a log of its own', async () => {
    const { World } = await import('../../lib/world/world.ts')
    const { worldNamed } = await import('../../lib/world/index.ts')
    const desk = new World(worldNamed('rooms'), { rooms: [{ id: 'blue', seats: 4 }] })
    desk.call('book_room', { room: 'blue', day: '2026-05-04', who: 'Dana' })
    assert.deepEqual(
      JSON.parse(desk.audit()).map(({ what }: { what: string }) => what),
      ['bookings.create'],
    )
  })

  it('cannot have the name of one that ships, or a name that is none', () => {
    for (const name of ['github', 'My World', '']) {
      assert.throws(() => harness.world({ name } as never), { code: 'argument_invalid' })
    }
  })
})
