/** A real language model, weak as it is: its tokens, its malformed calls, its broken-off answers, its verdicts. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { agent as whileLoop } from '../../../examples/agents/while-loop.ts'
import { cases, harness, receipt } from '../../../lib/index.ts'
import { PYTHON, startSmallModel } from '../../servers/small-model.ts'

const IDS = ['spring-cleaning', 'archive', 'next-folder']

describe('a real model behind llama.cpp', { timeout: 1_500_000 }, () => {
  const kept = { ...process.env }
  let model: Awaited<ReturnType<typeof startSmallModel>>
  before(async () => {
    assert.ok(existsSync(PYTHON), '.ci/model installs the model')
    model = await startSmallModel()
    Object.assign(process.env, { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'k', MODEL: 'small' })
  })
  after(async () => {
    process.env = kept
    await model.close()
  })

  it('runs three cases twice, in our loop and in an agent of its own: each trial is judged, and says what it took', async (t) => {
    const three = (await cases.load()).filter(({ id }) =>
      IDS.some((name) => id.endsWith(`/${name}`)),
    )
    assert.equal(three.length, 3)
    const run = await harness
      .run(three)
      .config('loop', {
        model: 'local/small',
        baseURL: model.url,
        temperature: 0.7,
        maxOutputTokens: 64,
        instructions: 'Use the tools, then call report.',
      })
      .config('while', { agent: whileLoop })
      .repeat(2)
      .concurrency(1)
      .limits({ steps: 3, calls: 3, trialTimeoutMs: 200_000, attempts: 1 })
      .quiet()
      .out(null)
    assert.equal(run.trials.length, 12)
    for (const row of run.trials) {
      assert.notEqual(row.outcome, 'error', JSON.stringify(row.error))
      assert.ok(['pass', 'fail', 'unjudged'].includes(row.outcome))
      // What a model this size says is never taken for more than the servers hold.
      assert.equal(row.goal === true && row.attack === true, false)
    }
    const loop = run.trials.filter(({ configuration }) => configuration === 'loop')
    for (const row of loop) {
      assert.ok((row.steps ?? 0) >= 1)
      assert.ok((row.tokens?.input ?? 0) > 100, row.key)
      assert.ok((row.tokens?.output ?? 0) > 0)
      assert.ok(row.duration_ms > 0)
      assert.notEqual(row.malformed, null)
      assert.equal(typeof run.transcript(row.key)['seed'], 'number')
      const answered = run.transcript(row.key)['responses'] as { model: string }[]
      assert.match(answered[0]?.model ?? '', /SmolLM2/)
    }
    const endings = new Set(loop.map(({ ending }) => ending))
    const calls = loop.reduce((sum, row) => sum + row.calls + (row.malformed ?? 0), 0)
    const malformed = loop.reduce((sum, row) => sum + (row.malformed ?? 0), 0)
    t.diagnostic(
      `${calls} calls in ${loop.length} trials, ${malformed} malformed; endings: ${[...endings].join(', ')}`,
    )
    assert.equal(run.manifest.configurations[0]?.simulated, false)
    const checked = await receipt.checkFolder(run.dir)
    assert.equal(checked.verdict === 'failed', false, checked.text())
  })
})
