/** Models over HTTP: what is asked of a provider, what is recorded of its answers, and whose doing a missing answer is. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { Limiters } from '../../../lib/harness/model/limiter.ts'
import { execute } from '../../../lib/harness/run/execute.ts'
import { cases, harness } from '../../../lib/index.ts'
import { jumpingClock, type Refusal, solves, startGroq, type Turn } from '../../servers/groq.ts'
import { temporaryFolder } from '../../temporary.ts'

type Case = Awaited<ReturnType<typeof cases.load>>[number]

const made = temporaryFolder()

let test: Case
before(async () => {
  test = (await cases.load('cases/lying_success')).find(
    ({ id }) => id === 'lying_success/deploy-key.benign',
  ) as Case
})

/** Run one case against an endpoint, on a clock without waiting. */
async function against(
  options: {
    refuse?: (call: number) => Refusal | null
    turns?: (turn: number) => Turn
    repeats?: number
  },
  change: (plan: harness.RunBuilder) => harness.RunBuilder = (plan) => plan,
) {
  const server = await startGroq({
    turns: options.turns
      ? (_, turn) => (options.turns as (turn: number) => Turn)(turn)
      : solves(test),
    refuse: (_, call) => options.refuse?.(call) ?? null,
  })
  try {
    const plan = change(
      harness
        .run(test)
        .config('groq', {
          model: 'groq/openai/gpt-oss-20b',
          apiKey: 'gsk_test',
          baseURL: server.url,
        })
        .repeat(options.repeats ?? 1)
        .concurrency(2)
        .quiet()
        .out(null),
    )
    const run = await execute(plan.plan, new Limiters({ clock: jumpingClock(), random: () => 0.5 }))
    return { run, server, row: run.trials[0] as harness.Run['trials'][number] }
  } finally {
    await server.close()
  }
}

const groqError = (status: number, code: string, message: string, headers = {}): Refusal => ({
  status,
  body: { error: { message, type: 'invalid_request_error', code } },
  headers,
})

describe('a model of Groq’s', () => {
  it('solves a case over HTTP with tool calls and the structured report', async () => {
    const { run, row, server } = await against({ repeats: 3 })
    assert.equal(run.complete, true)
    for (const trial of run.trials) assert.equal(trial.outcome, 'pass', JSON.stringify(trial))
    assert.equal(row.reported, true)
    assert.equal(row.overclaims, 0)
    assert.equal(row.levels.verified, 1)
    const turns = server.requests.length / 3
    assert.deepEqual(row.tokens, { input: 100 * turns, output: 20 * turns })
    assert.equal(row.cost_usd, null, 'no price was given, so the cost is not known')
  })

  it('is sent seed, temperature, service tier and reasoning options, and every trial a seed of its own', async () => {
    const server = await startGroq({ turns: solves(test) })
    const plan = harness
      .run(test)
      .config('groq', {
        model: 'groq/openai/gpt-oss-20b',
        apiKey: 'gsk_test',
        baseURL: server.url,
        temperature: 0,
        maxOutputTokens: 512,
        providerOptions: { groq: { serviceTier: 'flex', reasoningEffort: 'low' } },
      })
      .repeat(2)
      .quiet()
      .out(join(made, 'options'))
    const run = await plan
    await server.close()
    const [first] = server.requests
    assert.equal(first?.['temperature'], 0)
    assert.equal(first?.['max_tokens'], 512)
    assert.equal(first?.['service_tier'], 'flex')
    assert.equal(first?.['reasoning_effort'], 'low')
    assert.ok(first?.tools?.some((tool) => tool.function.name === 'report'))
    assert.ok(server.authorizations.every((value) => value === 'Bearer gsk_test'))
    const seeds = new Set(server.requests.map((request) => request['seed']))
    assert.equal(seeds.size, 2)
    const settings = run.manifest.configurations[0]?.settings as {
      temperature: number
      providerOptions: object
    }
    assert.equal(settings.temperature, 0)
    assert.deepEqual(settings.providerOptions, {
      groq: { serviceTier: 'flex', reasoningEffort: 'low' },
    })
    for (const file of readdirSync(run.dir, { recursive: true, withFileTypes: true })) {
      if (file.isFile())
        assert.ok(
          !readFileSync(join(file.parentPath, file.name), 'utf8').includes('gsk_test'),
          file.name,
        )
    }
  })

  it('has fingerprint, tier, seed and the headers of limits recorded, and no other header', async () => {
    const limits = { 'x-ratelimit-limit-tokens': '100000', 'x-ratelimit-remaining-tokens': '99000' }
    const server = await startGroq({ turns: solves(test), headers: () => limits })
    const run = await harness
      .run(test)
      .config('groq', { model: 'groq/llama', apiKey: 'gsk_test', baseURL: server.url })
      .repeat(1)
      .quiet()
      .out(null)
    await server.close()
    const transcript = run.transcript(run.trials[0]?.key as string)
    const [response] = transcript['responses'] as { headers: object }[]
    assert.deepEqual(response, {
      id: 'chatcmpl-1',
      model: 'llama',
      finish: 'tool_calls',
      input_tokens: 100,
      output_tokens: 20,
      system_fingerprint: 'fp_test',
      service_tier: 'on_demand',
      seed: 7,
      headers: { ...limits, 'x-request-id': 'req_1' },
    })
    assert.equal(transcript['seed'], server.requests[0]?.['seed'])
  })

  it('costs what the price table says, to the token', async () => {
    const { row, server } = await against({}, (plan) =>
      plan.prices({ 'groq/openai/gpt-oss-20b': { input: 0.1, output: 0.5 } }),
    )
    const turns = server.requests.length
    assert.equal(row.cost_usd, Math.round((100 * turns * 0.1 + 20 * turns * 0.5) * 100) / 1e8)
  })
})

describe('whose doing a missing answer is', () => {
  const toolUseFailed: Refusal = {
    status: 400,
    body: {
      error: {
        message:
          "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        failed_generation: '<function=add_deploy_key{"repo": }</function>',
      },
    },
  }

  it('tool_use_failed is the model’s own: a failed trial, in the rates, not tried again', async () => {
    const { run, row, server } = await against({ refuse: () => toolUseFailed })
    assert.equal(row.outcome, 'fail')
    assert.equal(row.error?.code, 'tool_use_failed')
    assert.equal(row.goal, false)
    assert.equal(row.attempt, 0)
    assert.equal(server.requests.length, 1)
    assert.equal(run.complete, true)
    assert.equal(run.summary()[0]?.rates.goal.estimate, 0)
    assert.equal(row.tokens, null, 'what the refused generation used is not known')
  })

  it('the words tool_use_failed in another error do not make it the model’s', async () => {
    const { row } = await against({
      refuse: () => groqError(400, 'invalid', 'tool_use_failed is not a parameter'),
    })
    assert.equal(row.outcome, 'error')
    assert.equal(row.error?.code, 'request_refused')
  })

  it('a tool call with broken arguments is told to the model, which goes on', async () => {
    const solve = (turn: number) => solves(test)({ model: '', messages: [] }, turn)
    const { row } = await against({
      turns: (turn) =>
        turn === 0 ? { tool: 'add_deploy_key', raw: '{"repo": ' } : solve(turn - 1),
    })
    assert.equal(row.outcome, 'pass')
    assert.equal(row.error, null)
  })

  it('a tool that there is not is told to the model, which goes on', async () => {
    const solve = (turn: number) => solves(test)({ model: '', messages: [] }, turn)
    const { row } = await against({
      turns: (turn) => (turn === 0 ? { tool: 'rm_rf', input: {} } : solve(turn - 1)),
    })
    assert.equal(row.outcome, 'pass')
  })

  it('a model that only talks has failed, and what it says it did is held against it', async () => {
    const { row } = await against({ turns: () => ({ text: 'I added the key.' }) })
    assert.equal(row.outcome, 'fail')
    assert.equal(row.reported, false)
    assert.deepEqual(
      row.claims.map(({ quote, matched }) => [quote, matched]),
      [['I added the key.', false]],
    )
    assert.equal(row.overclaims, 1)
  })

  const wait = groqError(
    429,
    'rate_limit_exceeded',
    'Rate limit reached on tokens per minute (TPM)',
    {
      'retry-after': '120',
    },
  )
  for (const [what, refusal] of [
    ['429 with Retry-After beyond a minute', wait],
    [
      '498, flex capacity exceeded',
      groqError(498, 'capacity_exceeded', 'Flex tier capacity exceeded'),
    ],
    ['503', groqError(503, 'unavailable', 'Service unavailable')],
    ['a connection that breaks', 'drop'],
  ] as const) {
    it(`${what} is waited for inside the trial, and written into its transcript`, async () => {
      const { run, row } = await against({ refuse: (call) => (call === 1 ? refusal : null) })
      assert.equal(row.outcome, 'pass')
      assert.equal(row.attempt, 0)
      const refusals = run.transcript(row.key)['refusals'] as { wait_ms: number }[]
      assert.equal(refusals.length, 1)
      if (refusal === wait) assert.ok((refusals[0]?.wait_ms as number) >= 120_000)
    })
  }

  for (const [what, refusal, code, requests] of [
    ['413', groqError(413, 'request_too_large', 'Request too large'), 'request_too_large', 1],
    [
      'a 400 that is no tool call',
      groqError(400, 'invalid', 'no such option'),
      'request_refused',
      1,
    ],
    // Two attempts of three calls each: the call is tried three times, the trial twice.
    ['a 500 that stays', groqError(500, 'internal', 'Internal error'), 'provider_failed', 6],
    ['a provider that is not there', 'drop', 'provider_unreachable', 6],
  ] as const) {
    it(`${what} is the machinery’s: an error in no rate, after ${requests} requests`, async () => {
      const { run, row, server } = await against({ refuse: () => refusal })
      assert.equal(row.outcome, 'error')
      assert.equal(row.error?.code, code)
      assert.equal(row.goal, null)
      assert.equal(run.complete, false)
      assert.equal(run.errors, 1)
      assert.equal(server.requests.length, requests)
      assert.ok(Number.isNaN(run.summary()[0]?.rates.goal.estimate))
    })
  }

  for (const [what, refusal, code] of [
    [
      'a limit per day',
      groqError(
        429,
        'rate_limit_exceeded',
        'Rate limit reached on tokens per day (TPD): try again in 12m3s',
      ),
      'day_limit',
    ],
    [
      'a key that is refused',
      groqError(401, 'invalid_api_key', 'Invalid API Key'),
      'credentials_refused',
    ],
    [
      'a model that there is not',
      groqError(404, 'model_not_found', 'The model does not exist'),
      'model_not_found',
    ],
  ] as const) {
    it(`${what} stops the run, says why, and records nothing of the trial`, async () => {
      const { run, server } = await against({ refuse: () => refusal, repeats: 10 })
      assert.ok(run.halted?.includes(code), String(run.halted))
      assert.equal(run.trials.length, 0)
      assert.equal(run.complete, false)
      assert.ok(server.requests.length <= 2, 'trials at work at most')
    })
  }
})

describe('other models', () => {
  it('local/<model> is any server that speaks OpenAI’s API, with or without a key', async () => {
    const server = await startGroq({ turns: solves(test) })
    const run = await harness
      .run(test)
      .config('local', { model: 'local/qwen3', baseURL: server.url })
      .repeat(1)
      .quiet()
      .out(null)
    await server.close()
    assert.equal(run.trials[0]?.outcome, 'pass')
    assert.equal(server.requests[0]?.model, 'qwen3')
    assert.equal(server.authorizations[0], undefined)
  })

  it('a model object of the AI SDK runs as it is', async () => {
    const solve = solves(test)
    const model: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: 'mine',
      modelId: 'one',
      supportedUrls: {},
      async doGenerate({ prompt }) {
        const turn = prompt.filter(({ role }) => role === 'assistant').length
        const move = solve({ model: '', messages: [] }, turn) as { tool: string; input: unknown }
        return {
          content: [
            {
              type: 'tool-call',
              toolCallId: `c${turn}`,
              toolName: move.tool,
              input: JSON.stringify(move.input),
            },
          ],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage: {
            inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 5, text: 5, reasoning: 0 },
          },
          warnings: [],
        }
      },
      doStream: () => Promise.reject(new Error('not asked for')),
    }
    const run = await harness.run(test).config('mine', { model }).repeat(2).quiet().out(null)
    assert.equal(run.manifest.configurations[0]?.model, 'mine/one')
    for (const row of run.trials) assert.equal(row.outcome, 'pass')
  })
})
