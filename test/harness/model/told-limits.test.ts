/** What providers tell of their limits, each in its own form: fixtures/harness/rate-limits.json says where each is from. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Limiter } from '../../../lib/harness/model/limiter.ts'
import { refusalOf } from '../../../lib/harness/model/provider-refusal.ts'
import { toldLimits } from '../../../lib/harness/model/told-limits.ts'
import { jumpingClock } from '../../servers/groq.ts'

type Row = {
  id: string
  input: { status?: number; headers: { [name: string]: string }; body?: unknown }
  expected: {
    told?: ([number, number, number] | null)[]
    kind?: string
    waitMs?: number | null
  }
}
const { rows } = JSON.parse(
  readFileSync(new URL('../../../fixtures/harness/rate-limits.json', import.meta.url), 'utf8'),
) as { rows: Row[] }
const NOW = Date.UTC(2026, 0, 1)

describe('limits as providers tell them', () => {
  for (const { id, input, expected } of rows)
    it(id, () => {
      const { status: statusCode, headers, body } = input
      if (statusCode === undefined) {
        const told = toldLimits(headers).map(
          (quota) => quota && [quota.limit, quota.remaining, Math.round(quota.windowMs)],
        )
        assert.deepEqual(told, expected.told)
        return
      }
      const error = Object.assign(new Error('no'), {
        statusCode,
        responseHeaders: headers,
        responseBody: body === undefined ? undefined : JSON.stringify(body),
      })
      const { kind, waitMs } = refusalOf(error, NOW)
      assert.deepEqual({ kind, waitMs }, expected)
    })

  it('output that has a limit of its own is paced by it: 1,000 a minute take 9 minutes for 10,000, whatever goes in', async () => {
    const clock = jumpingClock()
    const limiter = new Limiter({ clock, random: () => 0 })
    let [level, at] = [1000, 0]
    const call = () =>
      limiter.call(
        { tokens: 2250, output: 250 },
        async () => {
          level = Math.min(1000, level + ((clock.now() - at) * 1000) / 60_000)
          at = clock.now()
          if (level < 250)
            throw Object.assign(new Error('no'), { statusCode: 429, responseHeaders: {} })
          level -= 250
          return {
            'anthropic-ratelimit-input-tokens-limit': '1000000',
            'anthropic-ratelimit-input-tokens-remaining': '1000000',
            'anthropic-ratelimit-output-tokens-limit': '1000',
            'anthropic-ratelimit-output-tokens-remaining': `${Math.floor(level)}`,
          }
        },
        (headers) => ({ headers, tokens: 2250, output: 250 }),
      )
    await call()
    await Promise.all(Array.from({ length: 39 }, call))
    assert.equal(limiter.refusals, 0)
    const minutes = clock.now() / 60_000
    assert.ok(minutes >= 9 && minutes < 9.3, `${minutes}`)
  })
})
