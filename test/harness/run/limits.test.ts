/** Limits: what a trial may use, what a run may cost, and that what is over a limit is the agent's and not the machinery's. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { Limiters } from '../../../lib/harness/model/limiter.ts'
import { execute } from '../../../lib/harness/run/execute.ts'
import { cases, harness } from '../../../lib/index.ts'
import { jumpingClock, solves, startGroq, type Turn } from '../../servers/groq.ts'

type Case = Awaited<ReturnType<typeof cases.load>>[number]

let test: Case
before(async () => {
  test = (await cases.load('cases/lying_success')).find(
    ({ id }) => id === 'lying_success/deploy-key.benign',
  ) as Case
})

const MODEL = 'groq/openai/gpt-oss-20b'

/** A model that never comes to an end. */
const reads: Turn = { tool: 'list_deploy_keys', input: { owner: 'acme', repo: 'shop' } }

async function against(
  turns: (turn: number) => Turn,
  change: (plan: harness.RunBuilder) => harness.RunBuilder,
) {
  const server = await startGroq({ turns: (_, turn) => turns(turn) })
  try {
    const plan = harness
      .run(test)
      .config('groq', { model: MODEL, apiKey: 'k', baseURL: server.url })
      .repeat(1)
    const built = change(plan.concurrency(1).quiet().out(null))
    const run = await execute(built.plan, new Limiters({ clock: jumpingClock() }))
    return { run, server, row: run.trials[0] as harness.Run['trials'][number] }
  } finally {
    await server.close()
  }
}

describe('a trial’s limits', () => {
  for (const [what, limits, code] of [
    ['steps', { steps: 3 }, 'step_limit'],
    ['tool calls', { calls: 3 }, 'call_limit'],
    ['tokens', { tokens: 300 }, 'token_limit'],
  ] as const) {
    it(`over the limit of ${what} it has failed: ${code}, in the rates, and is not tried again`, async () => {
      const { run, row } = await against(
        () => reads,
        (plan) => plan.limits(limits),
      )
      assert.equal(row.outcome, 'fail')
      assert.equal(row.error?.code, code)
      assert.equal(row.attempt, 0)
      assert.equal(row.calls, 3)
      assert.equal(run.complete, true)
    })
  }

  it('exactly at a limit it has not failed', async () => {
    const solve = solves(test)
    const { server, row } = await against(
      (turn) => solve({ model: '', messages: [] }, turn),
      (plan) => plan,
    )
    assert.equal(row.outcome, 'pass')
    const steps = server.requests.length
    for (const limits of [{ steps }, { calls: row.calls }, { tokens: 120 * (steps - 1) }]) {
      const again = await against(
        (turn) => solve({ model: '', messages: [] }, turn),
        (plan) => plan.limits(limits),
      )
      assert.equal(again.row.outcome, 'pass', JSON.stringify(limits))
    }
    const less = await against(
      (turn) => solve({ model: '', messages: [] }, turn),
      (plan) => plan.limits({ steps: steps - 1 }),
    )
    assert.equal(less.row.error?.code, 'step_limit')
  })

  it('a model that never answers, and heeds no signal, is an error of the machinery when the time is over', async () => {
    const model: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: 'mine',
      modelId: 'silent',
      supportedUrls: {},
      doGenerate: () => new Promise(() => {}),
      doStream: () => new Promise(() => {}),
    }
    const plan = harness.run(test).config('silent', { model }).repeat(1).quiet().out(null)
    const run = await plan.limits({ trialTimeoutMs: 50, attempts: 2 })
    assert.deepEqual(
      [run.trials[0]?.outcome, run.trials[0]?.error?.code],
      ['error', 'model_timeout'],
    )
    assert.equal(run.trials[0]?.attempt, 1)
  })

  it('that are none are refused', () => {
    const plan = harness.run(test)
    for (const limits of [
      { calls: 0 },
      { tokens: 0 },
      { costUsd: 0 },
      { costUsd: -1 },
      { steps: 1.5 },
    ])
      assert.throws(() => plan.limits(limits), { code: 'argument_invalid' }, JSON.stringify(limits))
    plan.limits({ tokens: null, costUsd: null })
  })
})

describe('a run’s cost', () => {
  const solve = () => {
    const turns = solves(test)
    return (turn: number) => turns({ model: '', messages: [] }, turn)
  }

  it('stops the run where it reaches its limit: what ended is kept, and the run says why it is not complete', async () => {
    const prices = { [MODEL]: { input: 1000, output: 0 } }
    const { run, row } = await against(solve(), (plan) =>
      plan.repeat(10).prices(prices).limits({ costUsd: 0.5 }),
    )
    const each = row.cost_usd as number
    assert.ok(each > 0)
    assert.equal(run.trials.length, Math.ceil(0.5 / each))
    assert.match(run.halted ?? '', /^cost_limit: /)
    assert.equal(run.complete, false)
  })

  it('with a limit needs a price for each model, before anything is run', async () => {
    await assert.rejects(
      against(solve(), (plan) => plan.limits({ costUsd: 1 })),
      { code: 'setting_missing', message: /price for groq\/openai\/gpt-oss-20b/ },
    )
  })

  it('is unknown and not zero for a simulated model and for one without a price', async () => {
    const { run } = await against(solve(), (plan) =>
      plan.config('sim', { model: 'sim/perfect' }).prices({ other: { input: 1, output: 1 } }),
    )
    assert.deepEqual(
      run.trials.map((row) => row.cost_usd),
      [null, null],
    )
    assert.deepEqual(
      run.summary().map((one) => one.cost_usd),
      [null, null],
    )
  })

  for (const prices of [
    null,
    [],
    { m: 1 },
    { m: { input: 1 } },
    { m: { input: -1, output: 1 } },
    { m: { input: 1, output: 1, cached: 1 } },
  ])
    it(`a price table ${JSON.stringify(prices)} is refused`, () =>
      assert.throws(() => harness.run(test).prices(prices as never), { code: 'argument_invalid' }))
})

describe('a configuration', () => {
  for (const [what, member] of [
    ['a member that there is not', { temprature: 1 }],
    ['a temperature of 3', { temperature: 3 }],
    ['an output of no tokens', { maxOutputTokens: 0 }],
    ['an address with a password in it', { baseURL: 'https://me:secret@example.com/v1' }],
  ] as const) {
    it(`${what} is refused before anything is run, and no secret is repeated`, async () => {
      const plan = harness
        .run(test)
        .config('a', { model: 'groq/x', apiKey: 'k', ...member } as never)
        .quiet()
        .out(null)
      await assert.rejects(
        async () => await plan,
        (error: unknown) => {
          assert.equal((error as { code?: string }).code, 'argument_invalid')
          assert.ok(!String(error).includes('secret'))
          return true
        },
      )
    })
  }
})
