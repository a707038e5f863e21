/** A trial's time: what of it counts. */
import assert from 'node:assert/strict'
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
})
