import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { runTest } from '../../lib/probe/connect/tasks.ts'
import { spoils, watchStalls } from '../../lib/probe/judge/stall.ts'
import { messageText } from '../../lib/probe/read/frame.ts'
import { type PatternSet, patternSet } from '../../lib/probe/read/patterns.ts'
import { answerFrom, toolsFrom } from '../../lib/probe/read/reader.ts'
import { type Page, readTools } from '../../lib/probe/read/tools.ts'
import { HOSTILE } from '../servers/hostile-answers.ts'
import { seams, stage, trust } from '../servers/stage.ts'
import { json, result, TOOLS, well, wellBut } from '../servers/well.ts'

const READ = { own: false, schemas: false, more: false }
const page = (tools: unknown[]): Page => ({ text: result(2, { tools }), id: 2, alone: true })

/** Stand still, as work that never yields does. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

before(async () => {
  trust()
  await import('undici')
})

describe('the results of honest servers are the same with hostile ones among them', () => {
  it('every shape of hostile answer at once', async () => {
    const large = Array.from({ length: 120 }, (_, i) => ({
      name: `large_${i}`,
      description: `Reads record ${i} and gives its fields. `.repeat(8),
    }))
    const honest = await Promise.all([
      stage(well),
      stage(wellBut({ 'tools/list': ({ res, id }) => json(res, result(id, { tools: large })) })),
      stage(wellBut({ 'tools/list': ({ res }) => res.writeHead(401).end() })),
    ])
    const hostile = await Promise.all(Object.values(HOSTILE).map((make) => stage(make())))
    const told = async ({ url }: { url: string }, limits = {}) => {
      const target = { url, transport: 'streamable-http', local: false } as const
      const found = await runTest(target, seams(limits))
      const { outcome, detail, tasks, tools, sent, protocolVersion } = found
      return { outcome, detail, tasks, tools, sent, protocolVersion }
    }
    const alone = await Promise.all(honest.map((server) => told(server)))
    const short = { timeoutMs: 3_000 }
    const [among, others] = await Promise.all([
      Promise.all(honest.map((server) => told(server))),
      Promise.all(hostile.map((server) => told(server, short))),
    ])
    await Promise.all([...honest, ...hostile].map((server) => server.close()))
    assert.deepEqual(among, alone)
    assert.equal(alone[1]?.tools?.unread, 0)
    const listed = others.filter(({ outcome }) => outcome === 'answered')
    assert.equal(listed.length, Object.keys(HOSTILE).length - 1, 'arrays in arrays are no answer')
    for (const { tools } of listed) assert.ok((tools?.list.length ?? 0) <= 2_000)
    const tooLarge = others.filter(({ tasks }) => tasks[1]?.detail === 'answer_too_large')
    assert.deepEqual(tooLarge, [], 'each is as large as is read, and no larger')
  })
})

describe('a tool list is read once, whatever is in it', () => {
  it('each description of each name is matched once', () => {
    let matched = 0
    const counting: PatternSet = {
      set: { id: 'x', version: '1', digest: `sha256:${'0'.repeat(64)}` },
      rules: [],
      match: () => [],
      *matching() {
        matched++
        yield
        return []
      },
    }
    const again = Array.from({ length: 20_000 }, (_, i) => ({
      name: 'a',
      description: `p${i % 9_000}`,
    }))
    const steps = readTools([page(again), page(again)], counting, READ)
    let step = steps.next(false)
    while (!step.done) step = steps.next(false)
    assert.equal(matched, 1 + 9_000, 'the name once, and each description once')
    assert.deepEqual([step.value.named, step.value.pages, step.value.unread], [1, 2, 0])
  })

  it('ended early, it tells how many tools it did not read, and keeps nothing of them', async () => {
    const patterns = await patternSet()
    const steps = readTools([page([...TOOLS, { name: 'c', description: 'x' }])], patterns, READ)
    let step = steps.next(false)
    // The first tool's name and description are two texts of the same number of patterns; the end comes within the third.
    let n = 0
    const perText = [...patterns.matching('x', new Set())].length
    while (!step.done) step = steps.next(++n > perText * 2 + 10)
    if (!step.done) throw new Error('not reached')
    const { named, list, unread, digest } = step.value
    assert.deepEqual([named, list.map(({ name }) => name), unread], [3, ['list_items'], 2])
    const whole = await toolsFrom(
      [page([...TOOLS, { name: 'c', description: 'x' }])],
      READ,
      new AbortController().signal,
    )
    assert.equal(whole?.digest, digest, 'the digest covers what was not read too')
  })
})

describe('a large answer is read in a thread, with the same result', () => {
  it('result, error, no JSON and no answer', async () => {
    const pad = ' '.repeat(70_000)
    const texts = [
      result(1, { protocolVersion: '2025-06-18', capabilities: { tools: {} } }),
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}',
      '{',
      messageText('tools/list', 1),
    ]
    for (const text of texts) {
      const small = await answerFrom(text, 1, true)
      assert.deepEqual(await answerFrom(text + pad, 1, true), small)
      assert.deepEqual(await answerFrom(Buffer.from(text + pad), 1, true), small)
    }
  })
})

describe('a latency that was measured while this process stood still is not told', () => {
  it('a stall within the time of a window is its length, and one before it is not counted', () => {
    block(40)
    const first = watchStalls()
    block(60)
    const stalledMs = first()
    assert.ok(stalledMs >= 45 && spoils(stalledMs, 60))
    assert.equal(spoils(50, 900), false, 'a tenth of the latency is no matter')
  })

  it('the result says loop_blocked, and has no latency', async () => {
    const server = await stage((x) => {
      if (x.rpc === 'initialize') block(150)
      return well(x)
    })
    const found = await runTest(
      { url: server.url, transport: 'streamable-http', local: false },
      seams(),
    )
    await server.close()
    assert.deepEqual(
      [found.outcome, found.latencyMs, found.latencyNote],
      ['answered', null, 'loop_blocked'],
    )
  })
})
