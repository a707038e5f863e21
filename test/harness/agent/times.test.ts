/** When the parts of a trial began and ended. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { Times } from '../../../lib/harness/agent/times.ts'
import { tookText } from '../../../lib/harness/page/took.ts'
import { trialText } from '../../../lib/harness/report/trial-text.ts'
import { cases, harness } from '../../../lib/index.ts'
import { requireTranscript, type TranscriptTime } from '../../../lib/log/index.ts'

let test: harness.Case
before(async () => {
  const [first] = await cases.load('cases/lying_success/deploy-key.yaml')
  test = first as harness.Case
})

/** A model that calls a tool twice at once, and then reports. */
const twice: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'test',
  modelId: 'twice',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const second = prompt.some(({ role }) => role === 'assistant')
    const [toolName, input] = second
      ? ['report', '{"summary":"nothing","claims":[]}']
      : ['list_deploy_keys', '{"owner":"acme","repo":"shop"}']
    const call = { type: 'tool-call', toolName, input } as const
    return {
      content: (second ? ['a'] : ['b', 'c']).map((toolCallId) => ({ ...call, toolCallId })),
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 30, noCache: 30, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 4, text: 4, reasoning: 0 },
      },
      warnings: [],
    }
  },
  doStream: () => Promise.reject(new Error('not asked for')),
}

const once = async (settings: harness.Configuration) => {
  const run = await harness.run(test).config('one', settings).repeat(1).quiet().out(null)
  const [row] = run.trials
  assert.ok(row)
  return { row, transcript: run.transcript(row.key) }
}

describe('the times of a trial', () => {
  it('name each call of the model and of tools in the order in which they began, within the trial', async () => {
    const { row, transcript } = await once({ model: twice })
    const { times = [] } = transcript
    assert.deepEqual(
      times.map(({ what, call }) => [what, call]),
      [
        ['model', undefined],
        ['call', 0],
        ['call', 1],
        ['model', undefined],
      ],
    )
    for (const { from_ms: from, to_ms: to } of times) assert.ok(0 <= from && from <= to)
    const used = { input: 30, output: 4 }
    assert.deepEqual(
      times.map(({ tokens }) => tokens),
      [used, undefined, undefined, used],
    )
    assert.deepEqual(row.tokens, { input: 60, output: 8 })
    const [asked, first, second, again] = times as [TranscriptTime, ...TranscriptTime[]]
    for (const one of [first, second]) {
      assert.ok((one?.from_ms ?? 0) >= asked.to_ms)
      assert.ok((one?.to_ms ?? 0) <= (again?.from_ms ?? 0))
    }
    assert.ok((again?.to_ms ?? 0) <= row.duration_ms + 1)
    assert.match(trialText(row, transcript), /· model \d+ ms in 2 calls, tools \d+ ms in 2\s+calls/)
  })

  it('are those of tools alone where the agent is one of its own, and none where it is simulated', async () => {
    const { transcript } = await once({
      agent: async ({ servers }) => {
        const { client } = servers['github'] as harness.AgentServer
        await client.callTool({
          name: 'list_deploy_keys',
          arguments: { owner: 'acme', repo: 'shop' },
        })
        return 'nothing'
      },
    })
    assert.deepEqual(
      transcript.times?.map(({ what, call }) => [what, call]),
      [['call', 0]],
    )
    const simulated = await once({ model: 'sim/naive' })
    assert.equal(simulated.transcript.times, undefined)
  })

  it('of a part that never ended end with the trial, and nothing later is in them', () => {
    const times = new Times(performance.now() - 100, { waitedMs: 0 })
    const ended = times.begin('model')
    times.begin('call', 0)()
    const [silent, call] = structuredClone(times.all)
    assert.ok(silent && call && silent.to_ms >= call.to_ms && silent.from_ms >= 100)
    ended()
    times.begin('call', 1)()
    assert.deepEqual(times.all, [silent, call])
  })

  it('tell waiting for a limit from the call, and count what ran at once once', () => {
    const deadline = { waitedMs: 5 }
    const times = new Times(performance.now(), deadline)
    const ended = times.begin('model')
    deadline.waitedMs = 2005
    ended()
    assert.equal(times.all[0]?.waited_ms, 2000)
    const call = (seq: number, from_ms: number, to_ms: number): TranscriptTime => ({
      what: 'call',
      call: seq,
      from_ms,
      to_ms,
    })
    assert.equal(
      tookText([
        { what: 'model', from_ms: 0, to_ms: 3000, waited_ms: 1000 },
        call(0, 3000, 3400),
        call(1, 3200, 3600),
        call(2, 3300, 3500),
      ]),
      'model 2.0 s in 1 call, and 1.0 s of waiting for a limit, tools 600 ms in 3 calls',
    )
    assert.equal(tookText([]), null)
  })

  it('of another shape are a damaged line', () => {
    const line = { key: 'a|b|0', attempt: 0, calls: [] }
    requireTranscript({ ...line, times: [{ what: 'model', from_ms: 0, to_ms: 1.5 }] }, () => 'x')
    for (const wrong of [
      { what: 'other', from_ms: 0, to_ms: 1 },
      { what: 'model', from_ms: 2, to_ms: 1 },
      { what: 'model', from_ms: -1, to_ms: 1 },
      { what: 'model', from_ms: 0 },
      { what: 'call', call: 0.5, from_ms: 0, to_ms: 1 },
      { what: 'model', from_ms: 0, to_ms: 1, tokens: { input: 1 } },
    ])
      assert.throws(() => requireTranscript({ ...line, times: [wrong] }, () => 'x'), {
        code: 'run_damaged',
        message: /got times of another shape/,
      })
  })
})
