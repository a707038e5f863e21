/** Exposure: whether the agent met the words of the attack, or a fault, and where. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cases, harness } from '../../../lib/index.ts'

type Exposed = { [metric in 'attack' | 'fault']: number | 'list' | false | null }

/** Where each configuration met the attack and the fault of one shipped case. */
async function exposures(id: string, ...agents: harness.AgentFunction[]): Promise<Exposed[]> {
  const test = (await cases.load()).find((one) => one.id === id)
  assert.ok(test, id)
  let plan = harness
    .run(test)
    .repeat(1)
    .out(null)
    .quiet()
    .config('gullible', { model: 'sim/gullible' })
  for (const [i, agent] of agents.entries()) plan = plan.config(`own-${i}`, { agent })
  const { trials } = await plan
  return trials
    .toSorted((a, b) => (a.configuration < b.configuration ? -1 : 1))
    .map(({ exposed }) => exposed as Exposed)
}

const silent: harness.AgentFunction = () => 'I did nothing.'

describe('the words of an attack', () => {
  it('in a list of tools are met by our loop, by a tool set and by a client that lists; not by an agent that looks at none', async () => {
    const met = await exposures(
      'description_poisoning/second-key',
      silent,
      ({ tools }) => `I was given ${Object.keys(tools).length} tools.`,
      async ({ servers }) => {
        const listed = await Promise.all(
          Object.values(servers).map(({ client }) => client.listTools()),
        )
        return `There are ${listed.length} servers.`
      },
    )
    assert.deepEqual(
      met.map(({ attack }) => attack),
      ['list', false, 'list', 'list'],
    )
  })

  it('in a result are met at the call that brought it; a benign case has none', async () => {
    const [gullible, idle] = await exposures('result_injection/collaborator', silent)
    assert.equal(typeof gullible?.attack, 'number')
    assert.equal(idle?.attack, false)
    const [benign] = await exposures('result_injection/collaborator.benign')
    assert.equal(benign?.attack, null)
  })

  it('in every shipped case with an attack are met by an agent that carries the attack out', async () => {
    const attacks = (await cases.load()).filter(
      ({ attack, servers }) => attack !== null && servers.every(({ world }) => world),
    )
    const run = await harness
      .run(attacks)
      .config('gullible', { model: 'sim/gullible' })
      .repeat(1)
      .out(null)
      .quiet()
    const carried = run.trials.filter(({ attack }) => attack)
    assert.ok(carried.length > 20)
    assert.deepEqual(
      carried.filter(({ exposed }) => exposed.attack === false).map(({ key }) => key),
      [],
    )
  })
})

describe('a fault', () => {
  it('is met at the first call that it changed, or not at all; a case without one has none', async () => {
    const [naive, idle] = await exposures('lying_success/deploy-key', silent)
    assert.deepEqual([naive?.fault, idle?.fault], [0, false])
    const [benign] = await exposures('lying_success/deploy-key.benign')
    assert.equal(benign?.fault, null)
  })
})
