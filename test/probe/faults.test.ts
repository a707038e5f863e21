import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { runTest } from '../../lib/probe/connect/tasks.ts'
import { connectionSet, DEFAULT_SET } from '../../lib/probe/judge/set.ts'
import { ANSWER_FAULTS } from '../servers/answer-faults.ts'
import { BODY_FAULTS } from '../servers/body-faults.ts'
import type { Fault } from '../servers/fault.ts'
import { LIST_FAULTS } from '../servers/list-faults.ts'
import { seams, stage, trust } from '../servers/stage.ts'

const { set: SET, limits: LIMITS } = connectionSet(DEFAULT_SET)

const FAULTS = [...ANSWER_FAULTS, ...BODY_FAULTS, ...LIST_FAULTS]

/** Short deadlines where a server only ends by them; the published ones elsewhere. */
const SHORT = { timeoutMs: 8_000, stepMs: 1_500, sessionCloseWaitMs: 1_500 }

before(async () => {
  trust()
  // Loading the HTTP client is not part of what a short deadline measures.
  await import('undici')
})

// Servers that only the deadline ends stand apart: those that make and pour out megabytes would keep this thread from it.
for (const slow of [true, false]) {
  const group = slow ? 'servers that let one wait' : 'servers that answer'
  describe(`streamable HTTP, ${group}: each one-fault server has the outcome of the set`, {
    concurrency: 6,
  }, () => {
    for (const fault of FAULTS.filter((each) => (each.slow ?? false) === slow)) {
      it(`${fault.id}: ${fault.outcome}${fault.toolList ? `, tool list ${fault.toolList}` : ''}`, () =>
        prove(fault))
    }
  })
}

async function prove(fault: Fault): Promise<void> {
  const server = await stage(fault.behave)
  try {
    const limits: Partial<typeof SHORT> = fault.slow
      ? fault.detail === 'timed_out'
        ? { ...SHORT, timeoutMs: 3_000 }
        : SHORT
      : {}
    const begun = performance.now()
    const found = await runTest(
      { url: server.url, transport: 'streamable-http', local: false },
      seams(limits),
    )
    const tookMs = performance.now() - begun
    // Only what waits for ever takes so much longer: a machine may be busy with other things.
    const limitMs = (limits.timeoutMs ?? LIMITS.timeoutMs) + 30_000

    assert.equal(found.outcome, fault.outcome)
    if (fault.detail) assert.equal(found.detail, fault.detail)
    assert.deepEqual(server.arrived, fault.sent, 'exactly these messages arrived')
    assert.deepEqual(found.sent, fault.sent, 'and exactly these were noted as sent')
    const [handshake, toolList] = found.tasks
    assert.equal(handshake?.passed, fault.outcome === 'answered')
    assert.ok(found.tasks.every((task) => task.attempted))
    if (fault.outcome === 'answered') assert.equal(toolList?.detail, fault.toolList ?? null)
    else assert.deepEqual([toolList?.passed, toolList?.detail], [false, 'not_reached'])
    if (fault.tools) {
      assert.equal(found.tools?.named, fault.tools.named)
      assert.equal(found.tools?.more, fault.tools.more ?? false)
      assert.equal(found.tools?.pages, fault.tools.pages ?? 1)
    }
    assert.equal(
      found.latencyMs !== null || found.latencyNote !== null,
      fault.outcome === 'answered',
      'a latency, or why there is none, only of an answered handshake',
    )
    assert.ok(tookMs <= limitMs, `took ${tookMs} ms of ${limitMs} ms`)
    // One answer is read to the limit and the chunk that crosses it; answers before and behind it are small.
    assert.ok(
      found.bytesRead <= LIMITS.maxResponseBytes + 65_536 + 4_096,
      `read ${found.bytesRead} bytes`,
    )
  } finally {
    await server.close()
  }
}

describe('what leaves is what the set lists', () => {
  it('names the client and asks for the version of the set, with no credential and no version header on initialize', async () => {
    const bodies: string[] = []
    const { well } = await import('../servers/well.ts')
    const server = await stage((x) => {
      bodies.push(JSON.stringify(x.params ?? null))
      return well(x)
    })
    const found = await runTest(
      { url: server.url, transport: 'streamable-http', local: false },
      seams(),
    )
    await server.close()
    assert.equal(found.outcome, 'answered')
    const { name, version, protocolVersion } = SET.client
    assert.deepEqual(JSON.parse(bodies[0] ?? ''), {
      protocolVersion,
      capabilities: {},
      clientInfo: { name, version },
    })
    assert.deepEqual(bodies.slice(1), ['null', 'null', 'null'], 'no parameters on anything else')
    for (const sent of server.headers) {
      assert.equal(sent.authorization, undefined)
      assert.equal(sent.cookie, undefined)
      assert.equal(sent['accept-encoding'], 'identity')
    }
    assert.deepEqual(
      server.headers.map((sent) => [sent['mcp-session-id'], sent['mcp-protocol-version']]),
      [[undefined, undefined], ...Array(3).fill(['session-1', '2025-06-18'])],
    )
    assert.equal(
      server.connections,
      1,
      'one connection is enough for a server that lets it be kept',
    )
  })

  it('keeps the limits of the published text', () => {
    assert.deepEqual(SET.limits, {
      maxResponseBytes: 1_000_000,
      sessionCloseWaitMs: 2_000,
      timeoutMs: 12_000,
      toolListPages: 3,
    })
    assert.equal(LIMITS.timeoutMs, 12_000)
  })
})
