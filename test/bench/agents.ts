/** What agents of one's own cost: in this process beside a bare loop, and the recorder for each call over loopback HTTP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { generateText, hasToolCall, isStepCount } from 'ai'
import { SIMULATED, simulatedModel } from '../../lib/harness/agent/simulated.ts'
import { cases, harness, stats } from '../../lib/index.ts'

const TRIALS = 200
const ROUNDS = 5
const CALLS = 300

type Row = { label: string; value: number; unit: string; budget?: string; ok?: boolean }

export async function bench(): Promise<{ name: string; rows: Row[] }> {
  globalThis.AI_SDK_LOG_WARNINGS = false
  const [test] = (await cases.load()).filter(({ id }) => id === 'lying_success/deploy-key.benign')
  if (!test) throw new Error('expected the case lying_success/deploy-key.benign')
  const model = (seed: number) =>
    simulatedModel('sim/perfect', SIMULATED['sim/perfect'] as never, {
      case: test,
      seed: String(seed),
      changes: (_, tool) => tool.startsWith('add'),
    })
  /** The same loop as ours, as an agent of its own would write it. */
  const own: harness.AgentFunction = async ({ task, tools, seed }) => {
    const { text } = await generateText({
      model: model(seed),
      tools,
      prompt: task,
      stopWhen: [isStepCount(24), hasToolCall('report')],
    })
    return { text }
  }
  const timed = async (configuration: harness.Configuration) => {
    const started = performance.now()
    await harness
      .run(test)
      .config('one', configuration)
      .repeat(TRIALS)
      .concurrency(1)
      .out(null)
      .quiet()
    return (performance.now() - started) / TRIALS
  }
  const times = { ours: [] as number[], own: [] as number[] }
  for (let round = -1; round < ROUNDS; round++) {
    const ours = await timed({ model: 'sim/perfect' })
    const theirs = await timed({ agent: own })
    // The first round warms up.
    if (round < 0) continue
    times.ours.push(ours)
    times.own.push(theirs)
  }

  const perCall: number[] = []
  await harness
    .run(test)
    .config('http', {
      agent: async ({ servers }) => {
        const url = new URL(servers['github']?.url as string)
        const client = new Client({ name: 'bench', version: '1' })
        await client.connect(new StreamableHTTPClientTransport(url) as Transport)
        const input = { owner: 'acme', repo: 'payments' }
        for (let i = 0; i < CALLS; i++) {
          const started = performance.now()
          await client.callTool({ name: 'list_deploy_keys', arguments: input })
          perCall.push(performance.now() - started)
        }
        await client.close()
        return 'Looked.'
      },
    })
    .limits({ calls: CALLS })
    .repeat(1)
    .out(null)
    .quiet()
  const [ours, theirs] = [stats.median(times.ours), stats.median(times.own)]
  const call = stats.median(perCall)
  return {
    name: 'agents of one’s own',
    rows: [
      {
        label: 'the same trial with an own agent in this process / with our loop',
        value: theirs / ours,
        unit: 'x',
      },
      {
        label: 'a call through the recorder over loopback HTTP, with the client’s own time',
        value: call,
        unit: 'ms',
        budget: '<= 3',
        ok: call <= 3,
      },
    ],
  }
}
