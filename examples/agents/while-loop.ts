/**
 * An agent without a framework: a while loop over fetch, with the MCP clients that it is handed.
 *
 *     OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=... MODEL=gpt-5-mini npx tsx examples/agents/while-loop.ts
 */
import { cases, harness } from 'touchstone'

type Call = { id: string; function: { name: string; arguments: string } }
type Message = { role: string; content: string | null; tool_calls?: Call[]; tool_call_id?: string }

async function ask(messages: Message[], tools: object[], signal: AbortSignal): Promise<Message> {
  const response = await fetch(`${process.env['OPENAI_BASE_URL']}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env['OPENAI_API_KEY']}`,
    },
    body: JSON.stringify({ model: process.env['MODEL'] ?? 'gpt-5-mini', messages, tools }),
    signal,
  })
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`)
  const { choices } = (await response.json()) as { choices: { message: Message }[] }
  return choices[0]?.message as Message
}

export const agent = harness.agent('while-loop', async ({ task, servers, limits, signal }) => {
  const clients = new Map<string, harness.AgentServer['client']>()
  const tools: object[] = []
  for (const { client } of Object.values(servers)) {
    for (const { name, description, inputSchema } of (await client.listTools()).tools) {
      clients.set(name, client)
      tools.push({ type: 'function', function: { name, description, parameters: inputSchema } })
    }
  }
  const messages: Message[] = [{ role: 'user', content: task }]
  let steps = 0
  while (steps < limits.steps) {
    const answer = await ask(messages, tools, signal)
    steps++
    messages.push(answer)
    if (!answer.tool_calls?.length) return { text: answer.content ?? '', steps }
    for (const { id, function: call } of answer.tool_calls) {
      const result = await clients
        .get(call.name)
        ?.callTool({ name: call.name, arguments: JSON.parse(call.arguments) })
        .catch((error: Error) => ({ content: [{ type: 'text', text: error.message }] }))
      messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result?.content) })
    }
  }
  return { text: '', steps }
})

if (import.meta.main) {
  const run = await harness.run(await cases.load()).config('while-loop', { agent })
  console.log(run.text())
}
