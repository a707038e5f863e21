/** Requests to an MCP server, and what it is told when their signal aborts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  callTool,
  connectClient,
  createServer,
  listTools,
  memoryPair,
} from '../../../lib/harness/wire/mcp.ts'

it('a request that was answered is not cancelled when its signal aborts later; one at work is, once', async () => {
  const [ours, theirs] = memoryPair()
  const waits = Promise.withResolvers<void>()
  const tool = { name: 'look', inputSchema: { type: 'object' as const } }
  const server = createServer(
    's',
    async () => [tool],
    async ({ arguments: { wait } }) => {
      if (wait) await new Promise(() => waits.resolve())
      return { content: [{ type: 'text', text: 'seen' }] }
    },
  )
  await server.connect(theirs)
  const told: unknown[] = []
  const hear = theirs.onmessage
  theirs.onmessage = (message, extra) => {
    if ('method' in message && message.method === 'notifications/cancelled')
      told.push(message.params)
    hear?.(message, extra)
  }
  const stop = new AbortController()
  const { signal } = stop
  const client = await connectClient(ours, { signal })
  await listTools(client, signal)
  await callTool(client, 'look', {}, { signal, timeoutMs: 60_000 })
  const open = callTool(client, 'look', { wait: true }, { signal, timeoutMs: 60_000 })
  await waits.promise
  stop.abort(new Error('over'))
  await assert.rejects(open, /over/)
  assert.equal(told.length, 1)
  assert.match(String((told[0] as { reason: unknown }).reason), /over/)
  await assert.rejects(callTool(client, 'look', {}, { signal, timeoutMs: 60_000 }), /over/)
  await client.close()
  await server.close()
})
