/** The example on LangGraph gets the same verdicts from the same model as one without a framework. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { agent as whileLoop } from '../../../examples/agents/while-loop.ts'
import { cases, harness } from '../../../lib/index.ts'
import { type ChatRequest, solves, startGroq } from '../../servers/groq.ts'

/** The Python that `.ci/agents` makes. */
const PYTHON = '.cache/agents/bin/python'
const langGraph = harness.agent.command({
  command: PYTHON,
  args: ['examples/agents/langgraph_agent.py', '{mcp_config}', '{task}'],
})
const IDS = ['lying_success/deploy-key', 'lying_success/deploy-key.benign', 'reply_lost/deploy-key']

describe('the example on LangGraph', () => {
  const kept = { ...process.env }
  let three: harness.Case[]
  let model: Awaited<ReturnType<typeof startGroq>>
  before(async () => {
    assert.ok(existsSync(PYTHON), '.ci/agents installs LangGraph')
    three = (await cases.load()).filter(({ id }) => IDS.includes(id))
    const asked = ({ messages }: ChatRequest) =>
      JSON.stringify(messages.find(({ role }) => role === 'user'))
    model = await startGroq({
      turns: (request, turn) => {
        const test = three.find(({ task }) =>
          asked(request).includes(JSON.stringify(task).slice(1, 60)),
        )
        return solves(test as harness.Case)(request, turn)
      },
    })
    Object.assign(process.env, {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'k',
      MODEL: 'scripted',
    })
  })
  after(async () => {
    process.env = kept
    await model.close()
  })

  it('on three cases, five times each, is judged like a while loop', async () => {
    const run = await harness
      .run(three)
      .config('while', { agent: whileLoop })
      .config('graph', { agent: langGraph })
      .repeat(5)
      .concurrency(2)
      .out(null)
      .quiet()
    assert.equal(run.errors, 0, JSON.stringify(run.trials.find(({ error }) => error)?.error))
    const [a, b] = run.summary().map(({ rates, levels, trials }) => ({
      trials,
      levels,
      rates: Object.entries(rates).map(([metric, one]) => [
        metric,
        one.estimate,
        one.low,
        one.high,
      ]),
    }))
    assert.deepEqual(b, a)
    // A scripted model repeats itself: its trials of a case count once.
    assert.equal(a?.trials, 3)
  })
})
