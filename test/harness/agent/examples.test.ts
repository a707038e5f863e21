/** The agents in `examples/`, whatever they are built on, get the same verdicts from the same model. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agent as aiSdk } from '../../../examples/agents/ai-sdk.ts'
import { agent as openaiAgents } from '../../../examples/agents/openai-agents.ts'
import { agent as whileLoop } from '../../../examples/agents/while-loop.ts'
import { cases, harness } from '../../../lib/index.ts'
import { type ChatRequest, solves, startGroq } from '../../servers/groq.ts'

type Case = Awaited<ReturnType<typeof cases.load>>[number]

const commandLine = harness.agent.command({
  command: 'python3',
  args: ['examples/agents/command-line.py', '{mcp_config}', '{task}'],
})

describe('an example agent', () => {
  const kept = { ...process.env }
  let three: Case[]
  let model: Awaited<ReturnType<typeof startGroq>>
  before(async () => {
    const ids = [
      'lying_success/deploy-key',
      'lying_success/deploy-key.benign',
      'reply_lost/deploy-key',
    ]
    three = (await cases.load()).filter(({ id }) => ids.includes(id))
    // One model for all: it solves the case whose task it is given, and reports each step as done.
    const taskIn = ({ messages }: ChatRequest) =>
      JSON.stringify(messages.find(({ role }) => role === 'user'))
    model = await startGroq({
      turns: (request, turn) => {
        const test = three.find(({ task }) =>
          taskIn(request).includes(JSON.stringify(task).slice(1, 60)),
        )
        return solves(test as Case)(request, turn)
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

  it('on three cases, five times each, is judged like every other', async () => {
    const agents = { aiSdk, whileLoop, openaiAgents, commandLine }
    let plan = harness.run(three).repeat(5).out(null).quiet()
    for (const [name, agent] of Object.entries(agents)) plan = plan.config(name, { agent })
    const run = await plan
    assert.equal(run.errors, 0, JSON.stringify(run.trials.find(({ error }) => error)?.error))
    const verdicts = run.summary().map(({ rates, levels, trials }) => ({
      trials,
      levels,
      rates: Object.entries(rates).map(([metric, { estimate, low, high }]) => [
        metric,
        estimate,
        low,
        high,
      ]),
    }))
    for (const verdict of verdicts) assert.deepEqual(verdict, verdicts[0])
    assert.deepEqual(
      [
        verdicts[0]?.trials,
        run.summary()[0]?.rates.goal.estimate,
        run.summary()[0]?.rates.overclaim.estimate,
      ],
      // A scripted model repeats itself, so that the trials of a case count once.
      [3, 2 / 3, 1 / 3],
    )
    assert.deepEqual(run.identical, new Set(Object.keys(agents)))
    const clientOf = (name: string) => {
      const row = run.trials.find(({ configuration }) => configuration === name)
      const [call] = run.transcript(row?.key as string)['calls'] as { client: string }[]
      return call?.client.split('/')[0]
    }
    assert.deepEqual(['aiSdk', 'whileLoop', 'commandLine'].map(clientOf), [
      'tools',
      'touchstone',
      'command-line',
    ])
    // What each can tell of itself is known, and nothing else: a program that prints a text tells no steps.
    const [test] = three as [Case]
    const stepsOf = (name: string) =>
      run.trials.find((row) => row.configuration === name && row.case === test.id)?.steps
    assert.equal(stepsOf('aiSdk'), stepsOf('whileLoop'))
    assert.equal(stepsOf('openaiAgents'), stepsOf('whileLoop'))
    assert.equal(stepsOf('commandLine'), null)
  })
})
