/**
 * One offline trial, fresh world and everything recorded, beside a bare `generateText` loop over an in-memory MCP server that
 * stores nothing. Same model object, same task, same tools, same calls; rounds of the two in turn, ratio of the medians.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { dynamicTool, generateText, hasToolCall, isStepCount, jsonSchema, type ToolSet } from 'ai'
import type { z } from 'zod'
import { SIMULATED, simulatedModel } from '../../lib/harness/agent/simulated.ts'
import { cases, harness, stats } from '../../lib/index.ts'
import { worldNamed } from '../../lib/world/index.ts'

const TRIALS = 300
const ROUNDS = 5

type Row = { label: string; value: number; unit: string; budget?: string; ok?: boolean }

/** A server as one writes it by hand: tools over an array. */
function bareServer(): McpServer {
  const keys: { title: string; read_only: boolean }[] = []
  const server = new McpServer({ name: 'bare', version: '1' })
  const says = (reply: object) => ({
    content: [{ type: 'text' as const, text: JSON.stringify(reply) }],
  })
  // The same tools are offered, with the same descriptions and schemas: they are in every prompt.
  for (const [name, { description, input }] of Object.entries(worldNamed('github').tools)) {
    server.registerTool(
      name,
      { description, inputSchema: input as z.ZodObject },
      (given: { [name: string]: unknown }) => {
        if (name === 'list_deploy_keys') return says({ ok: true, deploy_keys: keys })
        if (name === 'add_deploy_key')
          keys.push({ title: String(given['title']), read_only: given['read_only'] === true })
        return says({ ok: true })
      },
    )
  }
  return server
}

async function connected(): Promise<{ client: Client; close(): Promise<void> }> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const server = bareServer()
  const client = new Client({ name: 'bare', version: '1' })
  await Promise.all([server.connect(theirs), client.connect(ours)])
  return { client, close: () => client.close() }
}

export async function bench(): Promise<{ name: string; rows: Row[] }> {
  globalThis.AI_SDK_LOG_WARNINGS = false
  const [test] = (await cases.load()).filter(({ id }) => id === 'lying_success/deploy-key.benign')
  if (!test) throw new Error('expected the case lying_success/deploy-key.benign')
  const model = (seed: string) =>
    simulatedModel('sim/perfect', SIMULATED['sim/perfect'] as never, {
      case: test,
      seed,
      changes: (_, tool) => tool.startsWith('add'),
    })

  const loop = async (client: Client, seed: string) => {
    const tools: ToolSet = {}
    for (const tool of (await client.listTools()).tools) {
      tools[tool.name] = dynamicTool({
        description: tool.description ?? '',
        inputSchema: jsonSchema(tool.inputSchema as never),
        execute: (input) =>
          client.callTool({ name: tool.name, arguments: input as Record<string, unknown> }),
        toModelOutput: ({ output }) => ({
          type: 'text',
          value: (output as { content: { text: string }[] }).content[0]?.text ?? '',
        }),
      })
    }
    tools['report'] = dynamicTool({
      description: 'End.',
      inputSchema: jsonSchema({ type: 'object' }),
      execute: async () => 'received',
    })
    await generateText({
      model: model(seed),
      tools,
      prompt: test.task,
      stopWhen: [isStepCount(24), hasToolCall('report')],
    })
  }
  const bareFresh = async () => {
    for (let i = 0; i < TRIALS; i++) {
      const { client, close } = await connected()
      await loop(client, `bare|${i}`)
      await close()
    }
  }
  const shared = await connected()
  const bareShared = async () => {
    for (let i = 0; i < TRIALS; i++) await loop(shared.client, `shared|${i}`)
  }
  const ours = async () => {
    await harness
      .run(test)
      .config('perfect', { model: 'sim/perfect' })
      .repeat(TRIALS)
      .concurrency(1)
      .out(null)
      .quiet()
  }

  const timed = async (work: () => Promise<void>) => {
    const started = performance.now()
    await work()
    return (performance.now() - started) / TRIALS
  }
  for (const work of [bareFresh, bareShared, ours]) await work()
  const times = { bareFresh: [] as number[], bareShared: [] as number[], ours: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    times.bareFresh.push(await timed(bareFresh))
    times.ours.push(await timed(ours))
    times.bareShared.push(await timed(bareShared))
  }
  await shared.close()
  const fresh = stats.median(times.bareFresh)
  const kept = stats.median(times.bareShared)
  const own = stats.median(times.ours)
  return {
    name: 'offline trial: deploy key added, looked up and reported (4 model steps)',
    rows: [
      {
        label: 'touchstone, fresh world, everything recorded',
        value: 1000 / own,
        unit: 'trials/s',
      },
      {
        label: 'bare loop, fresh in-memory server and client per trial, stores nothing',
        value: 1000 / fresh,
        unit: 'trials/s',
      },
      {
        label: 'bare loop, one connection kept for all trials, stores nothing',
        value: 1000 / kept,
        unit: 'trials/s',
      },
      {
        label: 'time of ours / bare with the same isolation',
        value: own / fresh,
        unit: 'x',
        budget: '<= 1.5',
        ok: own / fresh <= 1.5,
      },
      { label: 'time of ours / bare without isolation', value: own / kept, unit: 'x' },
    ],
  }
}
