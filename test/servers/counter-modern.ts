/**
 * A counter on standard input and output that speaks only revision 2026-07-28, made with the MCP SDK 2. Its last tool answers never.
 */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

let value = 0

serveStdio(
  () => {
    const server = new McpServer({ name: 'counter', version: '2.0.0' })
    server.registerTool(
      'add',
      {
        description: 'Add to the counter.',
        inputSchema: z.object({ n: z.number() }),
        outputSchema: z.object({ value: z.number() }),
      },
      ({ n }) => {
        value += n
        const structuredContent = { value }
        return { content: [{ type: 'text', text: JSON.stringify({ value }) }], structuredContent }
      },
    )
    server.registerTool('read', { description: 'Read the counter.' }, () => ({
      content: [{ type: 'text', text: String(value) }],
    }))
    server.registerTool('leave', { description: 'End the server.' }, () => process.exit(7))
    server.registerTool(
      'hang',
      { description: 'Never answers.' },
      () => new Promise<never>(() => {}),
    )
    return server
  },
  { legacy: 'reject' },
)
