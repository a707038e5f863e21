/** A probe's deadline and the signal of whoever asked for it. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { deadline } from '../../lib/probe/judge/deadline.ts'

describe('a deadline', () => {
  it('ends with its caller’s signal, and leaves no listener on it when it is stopped', () => {
    const caller = new AbortController()
    const stopped = deadline(60_000, caller.signal)
    assert.equal(getEventListeners(caller.signal, 'abort').length, 1)
    stopped.stop()
    assert.equal(getEventListeners(caller.signal, 'abort').length, 0)
    const running = deadline(60_000, caller.signal)
    caller.abort(new Error('enough'))
    running.stop()
    assert.equal(running.signal.reason.message, 'enough')
    assert.equal(stopped.signal.aborted, false)
  })
})
