/** A trial's time: what of it counts. */
import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { describe, it } from 'node:test'
import { Deadline } from '../../../lib/harness/model/trial-clock.ts'

describe('a deadline', () => {
  it('stands still until the last of overlapping waits is over', (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const deadline = new Deadline(1000)
    let ended = false
    deadline.start(() => {
      ended = true
    })
    deadline.waiting(true)
    deadline.waiting(true)
    deadline.waiting(false)
    context.mock.timers.tick(1_000_000)
    assert.equal(ended, false)
    deadline.waiting(false)
    context.mock.timers.tick(1001)
    assert.equal(ended, true)
  })
  it('counts overlapping waits once, from the first to the last', (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    let now = 0
    context.mock.method(performance, 'now', () => now)
    const deadline = new Deadline(1000)
    let ended = false
    deadline.start(() => {
      ended = true
    })
    for (const [at, waits] of [
      [100, true],
      [200, true],
      [500, false],
      [600, false],
    ] as const) {
      now = at
      deadline.waiting(waits)
    }
    assert.equal(deadline.waitedMs, 500)
    context.mock.timers.tick(899)
    assert.equal(ended, false)
    context.mock.timers.tick(1)
    assert.equal(ended, true)
  })
})
