/** What a real server calls a success and is none, observed as a recorder does. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { harness } from '../../lib/index.ts'
import * as receipt from '../../lib/receipt/index.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder('real')

type Step = [tool: string, args: { [name: string]: unknown }]

/** The levels of the calls that claim something, in order. */
async function levels(
  described: ReturnType<typeof harness.server>,
  steps: readonly Step[],
): Promise<string[]> {
  const running = await described.start()
  const decisions: receipt.Decision[] = []
  try {
    for (const [seq, [tool, args]] of steps.entries()) {
      const signal = AbortSignal.timeout(60_000)
      const result = await running.call(tool, args, { signal, timeoutMs: 30_000, number: seq })
      const status = result.isError ? 'error' : 'success'
      decisions.push(
        receipt.observe({
          server: running.name,
          tool,
          arguments: args,
          result,
          status,
          runId: 'r',
          seq,
        }),
      )
    }
  } finally {
    await running.close()
  }
  return receipt
    .verify(decisions, {})
    .toJSON()
    .calls.flatMap(({ asserted, kind, level }) =>
      asserted && kind !== 'read' ? [level ?? ''] : [],
    )
}

describe('the official memory server', () => {
  const memory = (name: string) =>
    harness
      .server('memory')
      .stdio('mcp-server-memory', [], { env: { MEMORY_FILE_PATH: join(folder, `${name}.json`) } })
  const ann = { name: 'Ann', entityType: 'person', observations: ['likes tea'] }
  const bob = { name: 'Bob', entityType: 'person', observations: [] }
  const graph: Step = ['read_graph', {}]

  it('a removal of what was never there is not confirmed, although the server says that it succeeded', async () => {
    const steps: Step[] = [graph, ['delete_entities', { entityNames: ['Eve'] }], graph]
    assert.deepEqual(await levels(memory('c'), steps), ['asserted'])
  })

  it('an entity that was there before is not confirmed, although the server says that it succeeded', async () => {
    const steps: Step[] = [
      ['create_entities', { entities: [ann] }],
      graph,
      ['create_entities', { entities: [ann] }],
      graph,
    ]
    assert.equal((await levels(memory('d'), steps))[1], 'asserted')
  })

  it('two entities at once are asserted: the call names none of them alone', async () => {
    const steps: Step[] = [['create_entities', { entities: [ann, bob] }], graph]
    assert.deepEqual(await levels(memory('e'), steps), ['asserted'])
  })
})

describe('the official everything server', () => {
  it('its reads claim nothing', async () => {
    const every = harness.server('everything').stdio('mcp-server-everything')
    assert.deepEqual(
      await levels(every, [
        ['echo', { message: 'x' }],
        ['get-sum', { a: 1, b: 2 }],
      ]),
      [],
    )
  })
})
