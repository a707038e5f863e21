import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { progress } from '../lib/progress.ts'

describe('progress off a terminal', () => {
  let said: string[] = []
  const stream = { isTTY: false, write: (text: string) => said.push(text) }
  const wait = (ms: number) => {
    for (let at = 0; at < ms; at += 200) mock.timers.tick(200)
  }
  beforeEach(() => {
    said = []
    mock.timers.enable({ apis: ['setInterval', 'Date'] })
  })
  afterEach(() => mock.timers.reset())

  it('is silent in work of less than 5 s', () => {
    const bar = progress(20, 'trials', { stream })
    for (let i = 0; i < 20; i++) bar.tick()
    bar.stop()
    assert.deepEqual(said, [])
  })

  it('is a line per tenth of the work, and no two within 5 s', () => {
    const bar = progress(100, 'trials', { stream, failures: 'errors' })
    for (let i = 0; i < 100; i++) {
      wait(1000)
      bar.tick(i === 3)
    }
    bar.stop()
    assert.equal(said.length, 10)
    assert.equal(said[0], '10 of 100 trials, errors: 1, after 10.0 s, about 1 min 30 s left\n')
    assert.equal(said[9], '100 of 100 trials, errors: 1, after 1 min 40 s\n')
    said = []
    const quick = progress(100, 'trials', { stream })
    for (let i = 0; i < 100; i++) {
      wait(200)
      quick.tick()
    }
    quick.stop()
    assert.deepEqual(
      said.map((line) => line.split(' ')[0]),
      ['25', '50', '75', '100'],
    )
  })

  it('is a line after 30 s without one, with what it is at', () => {
    const bar = progress(2, 'trials', { stream })
    bar.label('lying_success/deploy-key naive')
    wait(29_000)
    assert.deepEqual(said, [])
    wait(31_000)
    assert.deepEqual(said, [
      '0 of 2 trials, after 30.0 s, lying_success/deploy-key naive\n',
      '0 of 2 trials, after 1 min 0 s, lying_success/deploy-key naive\n',
    ])
    bar.stop()
    wait(100_000)
    assert.equal(said.length, 2)
  })

  it('says each wait of 10 s or more, and a shorter one in the next line', () => {
    const bar = progress(2, 'trials', { stream })
    bar.waits('openai/gpt-5 rate_limited, waits 9.9 s', 9_900)
    assert.deepEqual(said, [])
    bar.waits('openai/gpt-5 rate_limited, waits 20.0 s', 20_000)
    assert.deepEqual(said, ['openai/gpt-5 rate_limited, waits 20.0 s\n'])
    bar.waits('openai/gpt-5 rate_limited, waits 1.0 s', 1_000)
    wait(30_000)
    assert.match(said[1] ?? '', /^0 of 2 trials, after 30\.0 s, .*waits 1\.0 s\n$/)
    bar.stop()
  })
})
