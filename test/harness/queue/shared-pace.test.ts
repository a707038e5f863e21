/** A pace that processes share: what the server keeps, alike in both languages; who hears of what; and what happens when it is away. Real servers. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { Limiters } from '../../../lib/harness/model/limiter.ts'
import { type Change, LUA, type PaceServer, SQL } from '../../../lib/harness/queue/pace-rules.ts'
import { paceServer } from '../../../lib/harness/queue/pace-server.ts'
import { PaceOverServer } from '../../../lib/harness/queue/shared-pace.ts'
import fc from '../../property.ts'
import { ENGINES, missing, type QueueServer, startQueueServer } from '../../servers/queue-server.ts'

const require = createRequire(import.meta.url)
const LIMITS = Array.from({ length: 12 }, () => 0)
/** A step as `a` of the rules: what a call counts, what came of it. */
type Leave = { waitMs: number; generation: number; granted: number[]; n: number[] }
const acquire = async (ask: PaceServer['ask'], account: string, tokens: number): Promise<Leave> => {
  const n = [1, tokens, tokens * 0.75, tokens / 4]
  const [waitMs = 0, generation = 0, ...granted] = await ask(account, [0, ...n])
  return { waitMs, generation, granted: granted.slice(0, 4), n }
}
const ended = (
  op: 1 | 2,
  { n, granted, generation }: Leave,
  { used = n, ageMs = 0, limits = LIMITS, waitMs = 0 } = {},
) => [
  op,
  ...n,
  ...(op === 2 ? [0, 0, 0, 0] : used),
  ...granted,
  generation,
  ageMs,
  ...limits,
  waitMs,
]
const limitsOf = (requests: [number, number]) => [...requests, 60_000, ...LIMITS.slice(3)]

describe('the step, in Lua and in SQL', { skip: missing('redis') || missing('postgres') }, () => {
  const servers: QueueServer[] = []
  const asks: ((account: string, now: number, numbers: number[]) => Promise<number[]>)[] = []
  const closing: (() => Promise<unknown>)[] = []

  before(async () => {
    // The same text, but for the clock, which is asked with.
    const { Redis } = require('ioredis') as typeof import('ioredis')
    const { Client } = require('pg')
    const redis = await startQueueServer('redis', { durable: false })
    const postgres = await startQueueServer('postgres', { durable: false })
    servers.push(redis, postgres)
    const lua = LUA.replace('time[1] * 1000 + time[2] / 1000', 'tonumber(table.remove(ARGV))')
    const sql = SQL.replace('extract(epoch FROM clock_timestamp()) * 1000', 'a[cardinality(a)]')
    assert.notEqual(lua, LUA)
    assert.notEqual(sql, SQL)
    const client = new Redis(redis.url)
    asks.push(async (account, now, numbers) =>
      ((await client.eval(lua, 1, account, ...numbers, now)) as string[]).map(Number),
    )
    const database = new Client({ connectionString: postgres.url })
    await database.connect()
    await database.query(
      `CREATE SCHEMA touchstone; CREATE TABLE touchstone.pace (account text PRIMARY KEY, numbers float8[], at timestamptz); ${sql}`,
    )
    asks.push(async (account, now, numbers) => {
      const values = [account, [...numbers, now]]
      return (await database.query('SELECT pg_temp.touchstone_pace($1, $2) AS r', values)).rows[0].r
    })
    closing.push(
      async () => client.disconnect(),
      async () => database.end(),
    )
  })
  after(async () => {
    for (const close of closing) await close()
    for (const server of servers) await server.close()
  })

  it('gives the same to any calls, answers, refusals and limits at the same times', async () => {
    let accounts = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            passedMs: fc.integer({ min: 0, max: 70_000 }),
            op: fc.constantFrom(0, 0, 0, 1, 1, 2),
            tokens: fc.integer({ min: 1, max: 4000 }),
            used: fc.integer({ min: 0, max: 4000 }),
            which: fc.nat(20),
            ageMs: fc.nat(5000),
            waitMs: fc.nat(5000),
            told: fc.option(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5000 }), fc.nat(5000)), {
              nil: undefined,
            }),
          }),
          { minLength: 1, maxLength: 60 },
        ),
        async (steps) => {
          const account = `a${accounts++}`
          let now = 1_767_225_600_000
          const leaves: Leave[] = []
          for (const { passedMs, op, tokens, used, which, ageMs, waitMs, told } of steps) {
            now += passedMs
            const limits = [...LIMITS]
            if (told) limits.splice(3 * told[0], 3, told[1], Math.min(told[1], told[2]), 60_000)
            const [leave] = op === 0 ? [] : leaves.splice(which % Math.max(1, leaves.length), 1)
            const n = [1, tokens, tokens * 0.75, tokens / 4]
            const spent = [1, used, used * 0.75, used / 4]
            const numbers = leave
              ? ended(op as 1 | 2, leave, { used: spent, ageMs, limits, waitMs })
              : [0, ...n]
            const [one = [], other] = await Promise.all(
              asks.map((ask) => ask(account, now, numbers)),
            )
            assert.deepEqual(one, other)
            assert.ok(one.every(Number.isFinite) && (one[0] as number) >= 0, `${one}`)
            if (!leave)
              leaves.push({
                ...{ waitMs: one[0] as number, generation: one[1] as number },
                ...{ granted: one.slice(2, 6), n },
              })
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  it('leave of what headers tell of is given one after the other, and what is left is given at once', async () => {
    for (const [i, ask] of asks.entries()) {
      const at = (now: number) => (account: string, numbers: readonly number[]) =>
        ask(account, now, [...numbers])
      const account = `fed${i}`
      const first = await acquire(at(1000), account, 10)
      // 60 in a minute: 3 are left, of which a hundredth of 60 is left alone.
      await at(1000)(account, ended(1, first, { limits: limitsOf([60, 3]) }))
      const waits: number[] = []
      for (let n = 0; n < 5; n++) waits.push((await acquire(at(1000), account, 10)).waitMs)
      assert.deepEqual(waits.map(Math.round), [0, 0, 600, 1600, 2600])
    }
  })

  it('at a refusal the pace is what was let through since the one before, and nobody starts before its end', async () => {
    for (const [i, ask] of asks.entries()) {
      const at = (now: number) => (account: string, numbers: readonly number[]) =>
        ask(account, now, [...numbers])
      const account = `learned${i}`
      const call = async (now: number) => acquire(at(now), account, 10)
      for (let n = 0; n < 40; n++) await call(0)
      const first = await call(1000)
      await at(1000)(account, ended(2, first, { waitMs: 1000 }))
      // From the first refusal, at 1 s, to the next, at 11 s, 40 calls are let through.
      for (let n = 0; n < 40; n++) await at(2000)(account, ended(1, await call(2000)))
      const last = await call(11_000)
      const [, generation = 0] = await at(11_000)(account, ended(2, last, { waitMs: 2000 }))
      assert.ok(generation > last.generation)
      const waits: number[] = []
      for (let n = 0; n < 3; n++) waits.push((await call(11_000)).waitMs)
      // 40 and a half in 10 s, a twentieth less: one in 260 ms.
      assert.deepEqual(
        waits.map((wait) => Math.round(wait - 2000)),
        [260, 520, 780],
      )
    }
  })
})

for (const engine of ENGINES)
  describe(`a pace that processes share over ${engine}`, { skip: missing(engine) }, () => {
    let server: QueueServer
    before(async () => {
      server = await startQueueServer(engine, { durable: false })
    })
    after(() => server?.close())

    /** A part in the pace, and what it hears. */
    const part = () => {
      const changes: Change[] = []
      const said: (string | null)[] = []
      const hears = Promise.withResolvers<void>()
      let asked: PaceServer | undefined
      const pace = new PaceOverServer(
        (changed) => {
          asked = paceServer(server.url, (change) => {
            changed(change)
            changes.push(change)
            hears.resolve()
          })
          return asked
        },
        (text) => {
          if (said.at(-1) !== text) said.push(text)
        },
      )
      return { pace, changes, said, hears: hears.promise, ask: asked as PaceServer }
    }
    const account = (model: string) => ({ baseURL: 'http://127.0.0.1/', key: 'k', model })
    const asking = (model: string) => ({
      ...{ account: account(model), counts: [1, 10, 8, 2] as const, ticket: 0, signal: undefined },
    })
    const refusal = {
      ...{ kind: 'limit' as const, code: 'rate_limited', status: 429, message: 'no' },
      ...{ waitMs: null, headers: {} },
    }
    const answers = async (ask: PaceServer['ask']) => {
      for (;;) {
        try {
          return await ask('any', [0, 1, 1, 1, 0])
        } catch {
          await new Promise(setImmediate)
        }
      }
    }

    it('a refusal at one process is heard by the others, and none of them starts before its end', async () => {
      const [one, other] = [part(), part()]
      await Promise.all([
        answers(one.ask.ask.bind(one.ask)),
        answers(other.ask.ask.bind(other.ask)),
      ])
      const permit = await one.pace.acquire(asking('heard'))
      assert.notEqual(typeof permit, 'number')
      if (typeof permit === 'number') return
      one.pace.refuse(permit, refusal, 300)
      await other.hears
      assert.equal(other.changes[0]?.laterMs, 300)
      const began = performance.now()
      await other.pace.acquire(asking('heard'))
      assert.ok(performance.now() - began > 100, 'it does not start before the end of the block')
      await one.pace.close()
      await other.pace.close()
    })

    it('a call that is given up leaves its place to the next, and whoever is alone gives leave back', async () => {
      const { pace, ask } = part()
      await answers(ask.ask.bind(ask))
      const first = await pace.acquire(asking('given-up'))
      if (typeof first !== 'number') pace.refuse(first, refusal, 400)
      const stop = new AbortController()
      const given = pace.acquire({ ...asking('given-up'), signal: stop.signal })
      const next = pace.acquire({ ...asking('given-up'), ticket: 1 })
      stop.abort(new Error('enough'))
      await assert.rejects(given, /enough/)
      assert.notEqual(typeof (await next), 'number')
      const alone = new AbortController()
      const last = pace.acquire({ ...asking('given-up'), signal: alone.signal })
      alone.abort(new Error('enough'))
      await assert.rejects(last, /enough/)
      await pace.close()
    })

    it('without its server calls go on at the own pace, which is said once, and at the shared one when it is back', async () => {
      const { pace, ask, said } = part()
      await answers(ask.ask.bind(ask))
      const limiters = new Limiters()
      limiters.share(pace)
      const limiter = limiters.of('a', account('away'))
      const call = () =>
        limiter.call(
          { tokens: 1 },
          () => new Promise(setImmediate),
          () => ({ headers: {}, tokens: 1 }),
        )
      await call()
      await server.kill()
      await call()
      await call()
      assert.equal(said.filter((text) => text !== null).length, 1)
      await server.start()
      while (said.at(-1) !== null) await call()
      assert.equal(limiters.answers > 3, true)
      await pace.close()
    })

    it('a server that was emptied begins anew, and leave from before it does no harm', async () => {
      const { pace, ask } = part()
      await answers(ask.ask.bind(ask))
      const before = await pace.acquire(asking('emptied'))
      server.wipe()
      if (typeof before !== 'number') pace.settle(before, [1, 10, 8, 2], {})
      const after = await pace.acquire(asking('emptied'))
      assert.notEqual(typeof after, 'number')
      await pace.close()
    })
  })
