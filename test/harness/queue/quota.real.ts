/** Eight processes under one quota, which is a true bucket: with the limits told in each provider's form and without, and with what goes wrong in between. Takes about five minutes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ENGINES, missing } from '../../servers/queue-server.ts'
import { CALLS, PROCESSES, quota, underQuota } from '../../servers/quota-callers.ts'

/** Refused per answered call, at most. */
const MOST = 0.05

describe('eight processes under one quota', { concurrency: 2 }, () => {
  for (const engine of ENGINES)
    for (const form of engine === 'redis'
      ? (['openai', 'anthropic', 'ietf', 'silent'] as const)
      : (['openai', 'silent'] as const))
      it(`over ${engine}, ${form}: all are answered, few are refused, and a call is two round trips`, {
        skip: missing(engine),
      }, async (t) => {
        const { told, answered, ratio, rounds } = await underQuota(engine, quota(form))
        t.diagnostic(told)
        assert.equal(answered, CALLS)
        assert.ok(ratio <= MOST, `${ratio}`)
        assert.ok(rounds <= 2.2, `${rounds}`)
      })

  for (const engine of ENGINES) {
    it(`over ${engine}: what a killed process had been granted holds nobody up`, {
      skip: missing(engine),
    }, async (t) => {
      const { told, answered, ratio, callers } = await underQuota(
        engine,
        quota('gemini'),
        async (_, [first]) => {
          first?.process.kill('SIGKILL')
        },
      )
      t.diagnostic(told)
      assert.deepEqual(
        callers.slice(1).map((one) => one.answered),
        Array.from({ length: PROCESSES - 1 }, () => CALLS / PROCESSES),
      )
      assert.ok(ratio <= MOST, `${ratio} of ${answered}`)
    })

    it(`over ${engine}: while the server is gone all go on, say so, and share again when it is back`, {
      skip: missing(engine),
    }, async (t) => {
      const { told, answered, callers } = await underQuota(
        engine,
        quota('openai'),
        async (server, all) => {
          await server.kill()
          const before = all.map((one) => one.answered)
          const goes = (one: (typeof all)[number], i: number) =>
            one.process.exitCode !== null ||
            (one.said.length > 0 && one.answered > (before[i] as number))
          while (!all.every(goes)) await new Promise((look) => setTimeout(look, 50))
          await server.start()
        },
      )
      t.diagnostic(told)
      assert.equal(answered, CALLS)
      for (const { said } of callers)
        if (said.length > 0) assert.match(said[0] as string, /pace of this process alone/)
      assert.ok(callers.some(({ said }) => said.includes('again')))
    })
  }
  it('over redis: a server that was emptied learns anew', {
    skip: missing('redis'),
  }, async (t) => {
    const { told, answered, ratio } = await underQuota(
      'redis',
      quota('retry-after'),
      async (server) => server.wipe(),
    )
    t.diagnostic(told)
    assert.equal(answered, CALLS)
    assert.ok(ratio <= MOST, `${ratio}`)
  })
})
