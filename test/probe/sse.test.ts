import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { runTest } from '../../lib/probe/connect/tasks.ts'
import { SSE_FAULTS } from '../servers/sse-faults.ts'
import { seams, stage, trust } from '../servers/stage.ts'

describe('server-sent events: each one-fault server has the outcome of the set', {
  concurrency: 6,
}, () => {
  before(async () => {
    trust()
    await import('undici')
  })
  for (const fault of SSE_FAULTS) {
    it(`${fault.id}: ${fault.outcome}, ${fault.detail}`, async () => {
      const server = await stage(fault.behave)
      try {
        const limits = fault.slow
          ? { timeoutMs: fault.detail === 'timed_out' ? 3_000 : 8_000, stepMs: 1_500 }
          : {}
        const found = await runTest(
          { url: server.url, transport: 'sse', local: false },
          seams(limits),
        )
        assert.deepEqual(
          [found.outcome, found.detail, found.reason],
          [fault.outcome, fault.detail, fault.reason ?? null],
        )
        assert.deepEqual(server.arrived, fault.sent, 'exactly these messages arrived')
        assert.deepEqual(found.sent, fault.sent, 'and exactly these were noted as sent')
        const [handshake, toolList] = found.tasks
        assert.equal(handshake?.passed, fault.outcome === 'answered')
        assert.equal(
          handshake?.attempted,
          fault.outcome !== 'refused',
          'a refused test attempts nothing',
        )
        if (fault.outcome === 'answered') {
          assert.equal(toolList?.detail, fault.toolList ?? null)
          assert.equal(found.tools?.named, fault.named)
          assert.ok((found.latencyMs ?? -1) >= 0 || found.latencyNote === 'loop_blocked')
        } else assert.equal(found.latencyMs, null)
        assert.ok(found.bytesRead <= 1_000_000 + 262_144, `read ${found.bytesRead} bytes`)
      } finally {
        await server.close()
      }
    })
  }
})
