/** The pool: what it starts, in which order, and what it starts no more. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pool } from '../../../lib/harness/run/pool.ts'

describe('a pool', () => {
  it('starts nothing once its signal has aborted, not even what it was about to take', async () => {
    const controller = new AbortController()
    const started: number[] = []
    const done = pool([0, 1, 2], 2, async (item) => void started.push(item), controller.signal)
    controller.abort()
    await done
    assert.deepEqual(started, [])
  })

  it('lets what runs come to its end when its signal aborts', async () => {
    const controller = new AbortController()
    const started: number[] = []
    const ended: number[] = []
    await pool(
      [0, 1, 2, 3, 4],
      2,
      async (item) => {
        started.push(item)
        if (item === 1) controller.abort()
        await Promise.resolve()
        ended.push(item)
      },
      controller.signal,
    )
    assert.deepEqual(
      [started, ended],
      [
        [0, 1],
        [0, 1],
      ],
    )
  })
})
