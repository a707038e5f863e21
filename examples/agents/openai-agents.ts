/**
 * An agent on the OpenAI Agents SDK: it connects to the case's servers by their addresses, as it would to any.
 *
 *     OPENAI_API_KEY=... MODEL=gpt-5-mini npx tsx examples/agents/openai-agents.ts
 */
import {
  Agent,
  MCPServerStreamableHttp,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
} from '@openai/agents'
import { cases, harness } from 'touchstone'

setTracingDisabled(true)

export const agent = harness.agent('openai-agents', async ({ task, servers, limits, signal }) => {
  const modelProvider = new OpenAIProvider({
    apiKey: process.env['OPENAI_API_KEY'],
    baseURL: process.env['OPENAI_BASE_URL'],
    useResponses: false,
  })
  const mcpServers = Object.entries(servers).map(
    ([name, { url }]) => new MCPServerStreamableHttp({ name, url }),
  )
  try {
    for (const server of mcpServers) await server.connect()
    const mine = new Agent({
      name: 'operator',
      instructions: 'Carry out the task. Then say what you did with the tool "report".',
      model: process.env['MODEL'] ?? 'gpt-5-mini',
      mcpServers,
    })
    const runner = new Runner({ modelProvider })
    const { finalOutput, rawResponses } = await runner.run(mine, task, {
      maxTurns: limits.steps,
      signal,
    })
    return { text: finalOutput ?? '', steps: rawResponses.length }
  } finally {
    await Promise.allSettled(mcpServers.map((server) => server.close()))
  }
})

if (import.meta.main) {
  const run = await harness.run(await cases.load()).config('openai-agents', { agent })
  console.log(run.text())
}
