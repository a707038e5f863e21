/**
 * A server that is not Touchstone's: a shop with orders in an SQLite file, over standard input and output or, when it is imported,
 * over HTTP. The file is made when the server starts, as real ones do.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

const text = (value: unknown) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
})

function openShop(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  database.exec(
    'create table if not exists orders (id integer primary key, item text, qty integer)',
  )
  return database
}

function shopServer(database: DatabaseSync): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  const reads = { readOnlyHint: true }
  server.registerTool('list_orders', { description: 'Orders.', annotations: reads }, () =>
    text({
      asked_at: new Date().toISOString(),
      orders: database.prepare('select * from orders order by id').all(),
    }),
  )
  server.registerTool(
    'place_order',
    { description: 'Order.', inputSchema: { item: z.string(), qty: z.number() } },
    ({ item, qty }) => {
      const { lastInsertRowid } = database
        .prepare('insert into orders (item, qty) values (?, ?)')
        .run(item, qty)
      return text({ ok: true, order: Number(lastInsertRowid), item, qty })
    },
  )
  server.registerTool('reset_shop', { description: 'Forget everything.' }, () => {
    database.exec('delete from orders')
    return text({ ok: true })
  })
  return server
}

/** The shop at an address. `seen` counts requests by method; `sessions` are those that nobody ended. */
export async function startShop(file = ':memory:') {
  const database = openShop(file)
  const seen: { [method: string]: number } = {}
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const http = createServer(async (request, response) => {
    const method = request.method ?? ''
    seen[method] = (seen[method] ?? 0) + 1
    const known = sessions.get(String(request.headers['mcp-session-id'] ?? ''))
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await shopServer(database).connect(transport as never)
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    seen,
    sessions,
    orders: () => database.prepare('select item, qty from orders order by id').all(),
    async close() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  process.stderr.write('the shop is open\n')
  await shopServer(openShop(process.argv[2] ?? ':memory:')).connect(new StdioServerTransport())
}
