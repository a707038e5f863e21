/** What the coordinator shows of its workers: who is at work, who waits for a provider, what was refused. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Box } from '../../../lib/harness/queue/engine.ts'
import { identity } from '../../../lib/harness/queue/identity.ts'
import { pack } from '../../../lib/harness/queue/messages.ts'
import { Presence } from '../../../lib/harness/queue/presence.ts'

it('calls that wait and calls that were refused are those of all workers; what is no count is none', async () => {
  const notes = new Map<string, unknown>()
  const hello = pack({ ...identity({}), concurrency: 4, refused: [], beat: 0 })
  const box = {
    ids: async () => [...notes.keys()],
    read: async (id: string) => ({ data: hello, note: notes.get(id) }),
  }
  const labels: string[] = []
  const presence = new Presence(box as unknown as Box, {
    ...{ written: () => {}, late: () => {} },
    bar: { label: (text: string) => labels.push(text) } as never,
  })
  const beats = async (beat: number, ...calls: unknown[]) => {
    for (const [i, one] of calls.entries()) notes.set(`worker-${i}`, { beat, calls: one })
    await presence.look()
    presence.say(7)
  }
  await beats(1, undefined, undefined)
  await beats(2, { waits: 3, refused: 2, answered: 40 }, { waits: 1, refused: 5, answered: 50 })
  await beats(3, { waits: 0, refused: 2, answered: 41 }, { waits: -1, refused: 'many' })
  assert.deepEqual(labels, [
    '2 workers, 7 at work',
    '2 workers, 7 at work, 4 wait for a provider, refused: 7',
    '2 workers, 7 at work, refused: 2',
  ])
})
