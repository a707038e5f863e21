/** A run over a queue whose workers, server and coordinator are killed again and again, on both engines. Takes about two minutes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ENGINES, missing } from '../../servers/queue-server.ts'
import { chaos } from './queue-chaos.ts'

describe('kill -9 of workers, server and coordinator, again and again', () => {
  for (const engine of ENGINES)
    it(`over ${engine}: no row differs, none is counted twice, each lost start is a line, nothing hangs`, {
      skip: missing(engine),
    }, async (t) => {
      const result = await chaos({
        engine,
        repeats: 40,
        workers: 3,
        kills: { workers: 6, servers: 2, coordinators: 2 },
        leaseMs: 2000,
      })
      t.diagnostic(JSON.stringify(result))
      const { killed, keys, planned, differ, twice, errors, unaccounted, verdict, lost } = result
      assert.deepEqual(killed, { workers: 6, servers: 2, coordinators: 2 })
      assert.deepEqual(
        { keys, differ, twice, errors, unaccounted, verdict },
        { keys: planned, differ: 0, twice: 0, errors: 0, unaccounted: 0, verdict: 'verified' },
      )
      assert.ok(lost > 0, 'somebody was at work when it was killed')
    })
})
