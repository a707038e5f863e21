/**
 * An agent on the AI SDK: its loop is its own, its tools are the case's.
 *
 *     OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=... MODEL=gpt-5-mini npx tsx examples/agents/ai-sdk.ts
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount } from 'ai'
import { cases, harness } from 'touchstone'

export const agent = harness.agent('ai-sdk', async ({ task, tools, limits, signal }) => {
  const provider = createOpenAICompatible({
    name: 'mine',
    baseURL: process.env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1',
    ...(process.env['OPENAI_API_KEY'] && { apiKey: process.env['OPENAI_API_KEY'] }),
  })
  const { text, steps, totalUsage } = await generateText({
    model: provider(process.env['MODEL'] ?? 'gpt-5-mini'),
    instructions: 'Carry out the task. Then say what you did with the tool "report".',
    prompt: task,
    tools,
    stopWhen: isStepCount(limits.steps),
    abortSignal: signal,
  })
  const { inputTokens = 0, outputTokens = 0 } = totalUsage
  return { text, steps: steps.length, usage: { inputTokens, outputTokens } }
})

if (import.meta.main) {
  const run = await harness.run(await cases.load()).config('ai-sdk', { agent })
  console.log(run.text())
}
