/** The limiter: who may call when, what it learns, and that nobody is forgotten. On a clock whose sleeps take no time. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Limiter, Limiters } from '../../../lib/harness/model/limiter.ts'
import {
  durationMs,
  RunHalted,
  refusalOf,
  waitOf,
} from '../../../lib/harness/model/provider-refusal.ts'
import { execute } from '../../../lib/harness/run/execute.ts'
import { cases, harness } from '../../../lib/index.ts'
import fc from '../../property.ts'
import { jumpingClock, solves, startGroq } from '../../servers/groq.ts'

const error = (
  statusCode: number,
  headers: { [name: string]: string } = {},
  message = 'no',
  code = 'rate_limit_exceeded',
) =>
  Object.assign(new Error(message), {
    statusCode,
    responseHeaders: headers,
    responseBody: JSON.stringify({ error: { message, code } }),
  })
const nothing = () => ({ headers: {}, tokens: null })

describe('refusals', () => {
  for (const [text, ms] of [
    ['7.66s', 7660],
    ['2m59.56s', 179_560],
    ['120ms', 120],
    ['1h2m', 3_720_000],
    ['5.289s.', 5289],
    ['', null],
    ['soon', null],
  ] as const) {
    it(`"${text}" is ${ms === null ? 'no duration' : `${ms} ms`}`, () =>
      assert.equal(durationMs(text), ms))
  }

  it('Retry-After is read as milliseconds, seconds and a date, of any length', () => {
    const now = Date.UTC(2026, 0, 1)
    assert.equal(waitOf({ 'retry-after-ms': '15' }, '', now), 15)
    assert.equal(waitOf({ 'retry-after': '86400' }, '', now), 86_400_000)
    assert.equal(waitOf({ 'retry-after': new Date(now + 5000).toUTCString() }, '', now), 5000)
    assert.equal(waitOf({ 'retry-after': new Date(now - 5000).toUTCString() }, '', now), 0)
    assert.equal(waitOf({}, 'Please try again in 5.289s. Visit', now), 5289)
    assert.equal(waitOf({}, 'no word of it', now), null)
  })

  it('a limit per minute is waited for and one per day is not', () => {
    assert.equal(refusalOf(error(429, {}, 'on tokens per minute (TPM)')).kind, 'limit')
    assert.equal(refusalOf(error(429, {}, 'on requests per day (RPD)')).kind, 'halt')
    assert.equal(refusalOf(error(429, {}, 'on tokens per day (TPD)')).kind, 'halt')
  })

  it('an error that is no answer of a provider is final', () => {
    assert.deepEqual(refusalOf(new TypeError('x is not a function')).kind, 'final')
    assert.equal(refusalOf(undefined).kind, 'final')
  })
})

describe('the limiter', () => {
  it('waits as long as Retry-After says, beyond a minute too', async () => {
    const clock = jumpingClock()
    const limiter = new Limiter({ clock, random: () => 0 })
    let calls = 0
    await limiter.call(
      { tokens: 1 },
      async () => {
        if (calls++ === 0) throw error(429, { 'retry-after': '3600' })
      },
      nothing,
    )
    assert.equal(calls, 2)
    assert.equal(clock.now(), 3_600_000)
  })

  it('a refused call keeps its place: those behind it wait for it', async () => {
    const limiter = new Limiter({ clock: jumpingClock(), most: 1 })
    const order: string[] = []
    let refused = false
    const call = (name: string) =>
      limiter.call(
        { tokens: 1 },
        async () => {
          if (name === 'a' && !refused) {
            refused = true
            throw error(429, { 'retry-after': '1' })
          }
          order.push(name)
        },
        nothing,
      )
    await Promise.all(['a', 'b', 'c'].map(call))
    assert.deepEqual(order, ['a', 'b', 'c'])
  })

  it('asks half as many at once after a refusal, and slowly more again', async () => {
    const limiter = new Limiter({ clock: jumpingClock(), most: 16 })
    let first = true
    let running = 0
    await Promise.all(
      Array.from({ length: 16 }, () =>
        limiter.call(
          { tokens: 1 },
          async () => {
            running++
            await new Promise(setImmediate)
            running--
            if (first) {
              first = false
              throw error(429, { 'retry-after': '1' })
            }
          },
          nothing,
        ),
      ),
    )
    assert.equal(running, 0)
    assert.ok(limiter.concurrency >= 8 && limiter.concurrency < 16, String(limiter.concurrency))
    for (let i = 0; i < 400; i++) await limiter.call({ tokens: 1 }, async () => {}, nothing)
    assert.equal(limiter.concurrency, 16)
  })

  it('is as wide as the widest run asks for, before and after it is made; what was refused stays narrow', async () => {
    const limiters = new Limiters({ clock: jumpingClock(), random: () => 0.5 })
    const before = limiters.of('before')
    assert.equal(before.concurrency, 256)
    limiters.widen(1000)
    limiters.widen(10)
    assert.deepEqual([before.concurrency, limiters.of('after').concurrency], [1000, 1000])
    let refused = false
    await before.call(
      { tokens: 1 },
      async () => {
        if (refused) return
        refused = true
        throw error(429, { 'retry-after': '1' })
      },
      nothing,
    )
    limiters.widen(2000)
    assert.equal(before.concurrency, 2)
    assert.equal(limiters.of('new').concurrency, 2000)
    let running = 0
    let peak = 0
    await Promise.all(
      Array.from({ length: 1500 }, () =>
        limiters.of('new').call(
          { tokens: 1 },
          async () => {
            peak = Math.max(peak, ++running)
            await new Promise(setImmediate)
            running--
          },
          nothing,
        ),
      ),
    )
    assert.equal(peak, 1500)
  })

  it('paces by the tokens that the headers say are left: 1,000 a minute take 9 minutes for 10,000', async () => {
    const clock = jumpingClock()
    const limiter = new Limiter({ clock, random: () => 0 })
    let level = 1000
    let at = 0
    const answer = async () => {
      level = Math.min(1000, level + ((clock.now() - at) * 1000) / 60_000)
      at = clock.now()
      if (level < 250) throw error(429, { 'retry-after': '1' })
      level -= 250
      return {
        'x-ratelimit-limit-tokens': '1000',
        'x-ratelimit-remaining-tokens': String(Math.floor(level)),
      }
    }
    // The first call tells the limits; the others come at once.
    const call = () =>
      limiter.call({ tokens: 250 }, answer, (headers) => ({ headers, tokens: 250 }))
    await call()
    await Promise.all(Array.from({ length: 39 }, call))
    assert.equal(limiter.refusals, 0, 'what can be known in advance is not asked')
    const minutes = clock.now() / 60_000
    assert.ok(minutes >= 9 && minutes < 9.3, `${minutes}`)
  })

  it('a call larger than the limit is still asked, so that the provider can say so', async () => {
    const limiter = new Limiter({ clock: jumpingClock() })
    const headers = { 'x-ratelimit-limit-tokens': '100', 'x-ratelimit-remaining-tokens': '100' }
    await limiter.call(
      { tokens: 1 },
      async () => {},
      () => ({ headers, tokens: 1 }),
    )
    await assert.rejects(
      limiter.call(
        { tokens: 5000 },
        () => Promise.reject(error(413, {}, 'too large', 'request_too_large')),
        nothing,
      ),
      { statusCode: 413 },
    )
  })

  it('an aborted call leaves the queue at once, and those behind it go on', async () => {
    const limiter = new Limiter({ clock: jumpingClock(), most: 1 })
    let finish = () => {}
    const held = limiter.call(
      { tokens: 1 },
      () => new Promise<void>((resolve) => (finish = resolve)),
      nothing,
    )
    const stop = new AbortController()
    const waits: boolean[] = []
    const given = limiter.call(
      { tokens: 1, signal: stop.signal, waiting: (on) => waits.push(on) },
      () => assert.fail('it was given up'),
      nothing,
    )
    const behind = limiter.call({ tokens: 1 }, async () => 'there', nothing)
    stop.abort(new Error('enough'))
    await assert.rejects(given, /enough/)
    finish()
    await held
    assert.equal(await behind, 'there')
    assert.deepEqual(waits, [true, false])
  })

  it('an abort ends a wait of hours', async () => {
    const limiter = new Limiter({
      clock: {
        now: () => 0,
        sleep: (_, signal) => new Promise((end) => signal.addEventListener('abort', () => end())),
      },
    })
    const stop = new AbortController()
    let refused = 0
    const call = limiter.call(
      {
        tokens: 1,
        signal: stop.signal,
        refused: () => {
          refused++
          setImmediate(() => stop.abort(new Error('enough')))
        },
      },
      () => Promise.reject(error(429, { 'retry-after': '7200' })),
      nothing,
    )
    await assert.rejects(call, /enough/)
    assert.equal(refused, 1)
  })

  it('a limit per day is thrown as what stops a run', async () => {
    const limiter = new Limiter({ clock: jumpingClock() })
    await assert.rejects(
      limiter.call(
        { tokens: 1 },
        () => Promise.reject(error(429, {}, 'on tokens per day (TPD)')),
        nothing,
      ),
      (cause: unknown) => cause instanceof RunHalted && cause.code === 'day_limit',
    )
  })

  it('whatever is refused and however often, every call gets through once and none twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            refusals: fc.nat(4),
            after: fc.nat(300),
            tokens: fc.integer({ min: 1, max: 400 }),
          }),
          {
            minLength: 1,
            maxLength: 25,
          },
        ),
        fc.integer({ min: 1, max: 8 }),
        async (calls, most) => {
          const limiter = new Limiter({ clock: jumpingClock(), most, random: () => 0.5 })
          const done = calls.map(() => 0)
          await Promise.all(
            calls.map(({ refusals, after, tokens }, i) => {
              let left = refusals
              return limiter.call(
                { tokens },
                async () => {
                  await new Promise(setImmediate)
                  if (left-- > 0) throw error(429, { 'retry-after': String(after) })
                  done[i] = (done[i] as number) + 1
                },
                () => ({
                  headers: {
                    'x-ratelimit-limit-tokens': '500',
                    'x-ratelimit-remaining-tokens': '100',
                  },
                  tokens,
                }),
              )
            }),
          )
          assert.deepEqual(
            done,
            calls.map(() => 1),
          )
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('a storm of 429s', () => {
  it('with half of all calls refused every trial finishes, each refusal is in a transcript, and none is miscounted', async () => {
    const test = (await cases.load('cases/lying_success')).find(
      ({ id }) => id === 'lying_success/deploy-key.benign',
    )
    const clock = jumpingClock()
    const server = await startGroq({
      turns: solves(test as NonNullable<typeof test>),
      refuse: (_, call) =>
        call % 2 === 0
          ? {
              status: 429,
              ...(call % 4 === 0 && { headers: { 'retry-after': String(1 + (call % 90)) } }),
              body: {
                error: {
                  message:
                    'Rate limit reached on tokens per minute (TPM). Please try again in 2.5s.',
                  code: 'rate_limit_exceeded',
                },
              },
            }
          : null,
    })
    const limiters = new Limiters({ clock, random: () => 0.5 })
    const plan = harness
      .run(test as NonNullable<typeof test>)
      .config('a', { model: 'groq/one', apiKey: 'k', baseURL: server.url })
      .config('b', { model: 'groq/two', apiKey: 'k', baseURL: server.url })
      .repeat(20)
      .concurrency(16)
      .quiet()
      .out(null)
    const run = await execute(plan.plan, limiters)
    await server.close()
    assert.equal(run.complete, true)
    assert.equal(run.trials.length, 40)
    for (const row of run.trials) assert.deepEqual([row.outcome, row.attempt], ['pass', 0])
    assert.ok(server.counts.refused >= server.counts.answered - 1, JSON.stringify(server.counts))
    assert.equal(limiters.refusals, server.counts.refused)
    const inTranscripts = run.trials.reduce(
      (sum, row) => sum + (run.transcript(row.key)['refusals'] as unknown[]).length,
      0,
    )
    assert.equal(inTranscripts, server.counts.refused)
    assert.equal(
      run.trials.reduce((sum, row) => sum + (row.steps ?? 0), 0),
      server.counts.answered,
    )
  })
})
