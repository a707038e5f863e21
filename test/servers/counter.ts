/**
 * A server that is not Touchstone's, on standard input and output: a counter in memory, and a file when one is named.
 *
 * COUNTER_DIES_AT: the process ends in the middle of every call whose number, over all processes that share COUNTER_FILE, is a
 * multiple of it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const file = process.env['COUNTER_FILE']
const diesAt = Number(process.env['COUNTER_DIES_AT'] ?? 0)
let value = 0

/** The number of this call over all processes. */
function counted(): number {
  if (!file) return 0
  const calls = (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0) + 1
  writeFileSync(file, String(calls))
  return calls
}

const server = new McpServer({ name: 'counter', version: '1.0.0' })
server.registerTool(
  'add',
  {
    description: 'Add to the counter.',
    inputSchema: { n: z.number() },
    outputSchema: { value: z.number(), note: z.string() },
  },
  ({ n }) => {
    const calls = counted()
    if (diesAt > 0 && calls % diesAt === 0) process.exit(1)
    value += n
    const structuredContent = { value, note: 'added' }
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    }
  },
)
server.registerTool('read', { description: 'Read the counter.' }, () => ({
  content: [{ type: 'text', text: String(value) }],
}))
server.registerTool('environment', { description: 'What it was started with.' }, () => ({
  content: [
    {
      type: 'text',
      text: JSON.stringify({ cwd: process.cwd(), pid: process.pid, env: process.env }),
    },
  ],
}))
await server.connect(new StdioServerTransport())
