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
    assert.equal(
      said[0],
      '10 of 100 trials, errors: 1, 1.0/s, after 10.0 s, about 1 min 30 s left\n',
    )
    assert.equal(said[9], '100 of 100 trials, errors: 1, 1.0/s, after 1 min 40 s\n')
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

  it('tells rate and time left of what this work has done, and the cost with its limit', () => {
    const bar = progress(1000, 'trials', { stream, before: 900 })
    wait(5000)
    bar.spent(0.034567, 4)
    for (let i = 0; i < 10; i++) bar.tick()
    assert.deepEqual(said, [])
    wait(25_000)
    bar.label('3 workers, 12 at work')
    assert.deepEqual(said, [
      '910 of 1000 trials, 20/min, $0.035 of $4, after 30.0 s, about 4 min 30 s left\n',
    ])
    bar.spent(12.3456, null)
    wait(30_000)
    assert.equal(
      said[1],
      '910 of 1000 trials, 10/min, $12.35, after 1 min 0 s, about 9 min 0 s left, 3 workers, 12 at work\n',
    )
    wait(24 * 3_600_000)
    assert.match(said.at(-1) ?? '', /^910 of 1000 trials, 0\.4\/h, /)
    bar.stop()
  })
})

describe('progress on a terminal', () => {
  it('is one line as wide as the terminal, what matters most first', () => {
    const drawn: string[] = []
    const at = (columns: number) => {
      drawn.length = 0
      mock.timers.enable({ apis: ['Date'] })
      const stream = { isTTY: true, columns, write: (text: string) => drawn.push(text) }
      const bar = progress(4, 'trials', { stream, failures: 'errors' })
      mock.timers.tick(2000)
      bar.label('3 workers, 12 at work, refused: 5')
      bar.spent(0.5, 4)
      for (let i = 0; i < 3; i++) bar.tick(i === 0)
      bar.tick()
      bar.stop()
      mock.timers.reset()
      return drawn.at(-2)?.replace('\r\x1b[2K', '')
    }
    assert.equal(
      at(140),
      ` ${'█'.repeat(24)} 4/4 trials, errors: 1, 2.0/s, $0.50 of $4, 3 workers, 12 at work, refused: 5`,
    )
    const narrow = at(60) ?? ''
    assert.match(narrow, /^ █{12} 4\/4 trials, errors: 1, 2\.0\/s, \$0\.50 of \$4, 3…$/)
    assert.ok(narrow.length <= 59)
  })
})
