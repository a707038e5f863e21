/** The fault engine: a fault does the same in front of a world and in front of somebody else's server, over every wire. */
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { ExternalBackend } from '../../../lib/harness/server/external-backend.ts'
import { FAULT_KINDS, type Fault, kindsFor } from '../../../lib/harness/server/fault.ts'
import { FaultEngine } from '../../../lib/harness/server/fault-engine.ts'
import { frontOf } from '../../../lib/harness/server/front.ts'
import type { RunningServer } from '../../../lib/harness/server/running.ts'
import { type Client, callTool, listTools, takeRelisted } from '../../../lib/harness/wire/mcp.ts'
import { harness } from '../../../lib/index.ts'
import fc from '../../property.ts'

/** Every text is as long as the others, so that an imitated answer can be right to the byte. */
const drive = harness.server('files').state({ files: [{ path: '/a', text: 'text 00' }] })

type Description = harness.ServerDescription
type Running = Pick<RunningServer, 'client' | 'call' | 'close'>

/** A plan's faults laid over another server. */
function over(
  server: Description,
  { plan: { faults, inject, describe, parameters } }: Description,
) {
  return new harness.ServerDescription({ ...server.plan, faults, inject, describe, parameters })
}

/** The same server behind the engine as somebody else's, without a wire between. */
async function external(faulty: Description): Promise<Running> {
  const honest = await drive.start()
  const backend = new ExternalBackend(
    {
      list: () => listTools(honest.client),
      call: (tool, input, signal) =>
        callTool(honest.client, tool, input, { signal, timeoutMs: 60_000 }),
    },
    honest.tools,
  )
  return frontOf('files', new FaultEngine(faulty.plan, backend))
}

type Op = 'write' | 'again' | 'read'
/** What a client sees of each call: its answer, the descriptions listed after it, and whether a new list was announced. */
async function seen(server: Running, ops: Op[], timeoutMs = 30_000): Promise<object[]> {
  const rows: object[] = []
  let written = 0
  let number = 0
  const call = async (tool: string, input: Record<string, unknown>) => {
    const answer = await server
      .call(tool, input, { signal: new AbortController().signal, timeoutMs, number: number++ })
      .then(plain, (cause: Error) => cause.message)
    rows.push({ tool, answer, ...(await shown(server.client)) })
  }
  for (const op of ops) {
    if (op === 'write') written++
    const text = `text ${String(written).padStart(2, '0')}`
    if (op !== 'read') await call('write_file', { path: '/a', text, note: 'offered, never known' })
    await call('read_file', { path: '/a' })
  }
  return rows
}

/** An answer without the form in which each server words an error. */
function plain({
  content,
  structuredContent,
  isError = false,
}: Awaited<ReturnType<Running['call']>>) {
  const texts = content.map((part) => (part.type === 'text' ? part.text : part.type))
  if (!isError) return { isError, texts, structuredContent }
  const said = texts.map((text) => (text.startsWith('{') ? JSON.parse(text).error : text))
  return { isError, texts: said }
}

async function shown(client: Client) {
  const tools = (await client.listTools()).tools.filter(({ name }) => /^(read|write)_/.test(name))
  return {
    described: tools.map(({ description }) => description),
    offered: tools.map(({ inputSchema }) => Object.keys(inputSchema.properties ?? {})),
    announced: takeRelisted(client),
  }
}

const EXTERNAL = kindsFor(new ExternalBackend({} as never, []))
const WRITE: Fault['kind'][] = EXTERNAL.filter((kind) => kind !== 'stale_read')
/** A read that they keep from the server keeps the external backend from seeing a change. */
const NO_READ: Fault['kind'][] = ['lying_success', 'duplicate_on_retry', 'hang', 'flapping_error']
const READ = EXTERNAL.filter((kind) => !NO_READ.includes(kind))

const OPTIONS: { [kind in Fault['kind']]?: Partial<Fault> } = {
  slow_reply: { seconds: 60 },
  oversized_result: { size_bytes: 40 },
}
const pulled = (tool: string, text: string): Partial<Fault> => ({
  describe: `${tool} is another tool now`,
  ...(tool === 'write_file' && { set: { text } }),
})
const faultOn = (tool: string, kind: Fault['kind'], counts: Partial<Fault>): Fault => ({
  tool,
  kind,
  ...counts,
  ...OPTIONS[kind],
  ...(kind === 'rug_pull' && pulled(tool, 'text 99')),
})
const faultsOn = (tool: string, kinds: typeof WRITE, after: number) =>
  fc.shuffledSubarray(kinds, { minLength: 1 }).chain((some) =>
    fc.tuple(
      ...some.map((kind) =>
        fc
          .record({
            after: fc.integer({ min: after, max: 3 }),
            times: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
          })
          .map((counts) => faultOn(tool, kind, counts)),
      ),
    ),
  )
const injection = fc.record(
  { text: fc.constant('Injected.'), after: fc.nat(3), times: fc.integer({ min: 1, max: 3 }) },
  { requiredKeys: ['text'] },
)
const scenario = fc.record({
  // The first write is honest: a lie needs a true answer to be like.
  write: faultsOn('write_file', WRITE, 1),
  read: faultsOn('read_file', READ, 0),
  inject: fc.dictionary(fc.constantFrom('read_file', 'write_file'), injection),
  ops: fc.array(fc.constantFrom<Op>('write', 'again', 'read'), { minLength: 1, maxLength: 10 }),
})
const planned = (faults: Fault[], inject: Description['plan']['inject'] = {}) =>
  new harness.ServerDescription({ ...drive.plan, faults, inject })
    .describe('read_file', 'Read it.')
    .parameter('write_file', 'note', { type: 'string' })

describe('a fault', () => {
  it('of any kind is seen alike in front of a world and in front of a server that is not ours', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ write, read, inject, ops }) => {
        const faulty = planned([...write, ...read], inject)
        const [ours, theirs] = [await faulty.start(), await external(faulty)]
        const all: Op[] = ['read', 'write', ...ops]
        assert.deepEqual(await seen(theirs, all), await seen(ours, all))
        await ours.close()
        await theirs.close()
      }),
      { numRuns: 60 },
    )
  })

  it('needs a power that the server has, and is refused by name where it has not', async () => {
    const lacking = FAULT_KINDS.filter((one) => !EXTERNAL.includes(one))
    assert.notDeepEqual(lacking, [])
    for (const kind of lacking)
      await assert.rejects(external(planned([{ tool: 'read_file', kind }])), {
        code: 'fault_unknown',
        message: `expected a fault that needs no view of the server's state (${EXTERNAL.join(', ')}), got "${kind}" (server files)`,
      })
  })

  it('is seen alike over standard input and output and over HTTP', async () => {
    const once = (tool: string, kinds: typeof WRITE, after: number) =>
      kinds.map((kind) => ({ ...faultOn(tool, kind, { after, times: 1 }), ...quick(kind) }))
    const quick = (kind: Fault['kind']) => (kind === 'slow_reply' ? { seconds: 0.01 } : {})
    const faulty = planned([...once('write_file', WRITE, 1), ...once('read_file', READ, 0)], {
      write_file: { text: 'Injected.', after: 2, times: 2 },
    })
    const ops: Op[] = ['read', 'write', ...WRITE.flatMap((): Op[] => ['write', 'again'])]
    const main = resolve(import.meta.dirname, '../../../lib/harness/server/stdio-main.ts')
    const child = harness
      .server(undefined, { name: 'files' })
      .stdio(process.execPath, [
        '--disable-warning=ExperimentalWarning',
        main,
        JSON.stringify(drive.plan),
      ])
    await using honest = await drive.start({ transport: 'http' })
    const address = harness.server(undefined, { name: 'files' }).http(honest.url as string)
    await using here = await faulty.start()
    const expected = await seen(here, ops)
    await Promise.all(
      [
        faulty.start({ transport: 'stdio' }),
        faulty.start({ transport: 'http' }),
        over(child, faulty).start(),
        over(address, faulty).start(),
      ].map(async (starting, i) => {
        await using server = await starting
        const rows = await seen(server, ops, 1000)
        // Over HTTP an announcement has a stream of its own, and no order among the answers.
        const compared = (all: object[]) =>
          i === 1 ? all.map((row) => ({ ...row, announced: null })) : all
        assert.deepEqual(compared(rows), compared(expected), `server ${i}`)
      }),
    )
  })
})

describe('in front of a world and of a server that is not ours', () => {
  const signal = new AbortController().signal
  const write = (path: string) => ['write_file', { path, text: 'text 01' }] as const
  const read = ['read_file', { path: '/a' }] as const
  /** The answers of both to the same calls. */
  async function both(
    faulty: Description,
    calls: (typeof read | ReturnType<typeof write>)[],
    look: (server: Running, answer: ReturnType<typeof plain> | null) => unknown,
  ) {
    const rows: unknown[][] = []
    for (const start of [faulty.start(), external(faulty)]) {
      const server = await start
      const row: unknown[] = []
      for (const [number, [tool, input]] of calls.entries()) {
        const answer = await server
          .call(tool, input, { signal, timeoutMs: 30_000, number })
          .then(plain, () => null)
        row.push(await look(server, answer))
      }
      rows.push(row)
      await server.close()
    }
    return rows
  }

  it('a description changes when the honest calls are over, and is announced once', async () => {
    for (const [after, expected] of [
      [0, [true, false, false]],
      [1, [true, false, false]],
      [2, [false, true, false]],
    ] as const) {
      const faulty = drive.fault('read_file', 'rug_pull', { after, describe: 'New.' })
      const announced = await both(faulty, [read, read, read], ({ client }) => takeRelisted(client))
      assert.deepEqual(announced, [expected, expected], `after ${after}`)
      const listed = await both(faulty, [read, read, read], async ({ client }) =>
        (await client.listTools()).tools.some(({ description }) => description === 'New.'),
      )
      const shown = expected.map((_, i) => expected.slice(0, i + 1).includes(true))
      assert.deepEqual(listed, [shown, shown], `after ${after}`)
    }
  })

  it('an injection counts the calls that were carried out, lost replies among them, and ends', async () => {
    const faulty = drive
      .fault('read_file', 'reply_lost', { times: 1 })
      .inject('read_file', 'Injected.', { after: 1, times: 2 })
    const texts = await both(faulty, [read, read, read, read], (_, answer) => answer?.texts.length)
    assert.deepEqual(texts, [
      [undefined, 2, 2, 1],
      [undefined, 2, 2, 1],
    ])
  })

  it('a lie is made after a success and never after an error, and speaks of the call that was made', async () => {
    const faulty = drive.fault('write_file', 'lying_success', { after: 2 })
    const answers = await both(
      faulty,
      [write('/a'), write('no root'), write('/b')],
      (_, answer) => [answer?.isError, answer?.texts],
    )
    const lie = [false, ['{"ok":true,"path":"/b","size_bytes":7}']]
    assert.deepEqual(
      answers.map((row) => row[2]),
      [lie, lie],
    )
  })

  it('a retry is the second call that the fault held, not one that it spared', async () => {
    const faulty = drive.fault('write_file', 'duplicate_on_retry', { after: 1 })
    const errors = await both(faulty, Array(4).fill(write('/a')), (_, answer) => answer?.isError)
    assert.deepEqual(errors, Array(2).fill([false, true, false, false]))
  })
})
