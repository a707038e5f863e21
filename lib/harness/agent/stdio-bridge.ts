/**
 * The main module of a program that hands MCP messages from standard input on to an address, and
 * its messages back: how a client that only starts programs reaches a trial's server. It carries
 * both eras of the protocol.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

/**
 * Over HTTP a request of revision 2026-07-28 names its revision, method and tool in headers too,
 * and an error comes with a status. Over standard input and output there is neither.
 */
const inHeaders: typeof fetch = async (url, init = {}) => {
  const message = typeof init.body === 'string' ? JSON.parse(init.body) : {}
  const version = message.params?._meta?.['io.modelcontextprotocol/protocolVersion']
  if (typeof version !== 'string') return fetch(url, init)
  const headers = new Headers(init.headers)
  headers.set('mcp-protocol-version', version)
  headers.set('mcp-method', message.method)
  if (typeof message.params.name === 'string') headers.set('mcp-name', message.params.name)
  const reply = await fetch(url, { ...init, headers })
  const isJson = reply.headers.get('content-type')?.startsWith('application/json')
  return reply.ok || !isJson
    ? reply
    : new Response(reply.body, { status: 200, headers: reply.headers })
}

const client = new StdioServerTransport()
const server = new StreamableHTTPClientTransport(new URL(process.env['TOUCHSTONE_MCP_URL'] ?? ''), {
  fetch: inHeaders,
})
const fail = (error: Error) => {
  process.stderr.write(`${error.message}\n`)
}
/** What comes before the answer to `initialize` would be of no session. */
let begun: Promise<void> = Promise.resolve()
client.onmessage = (message) => {
  const asked = 'method' in message && 'id' in message ? message : null
  const sent = begun.then(() => server.send(message))
  if (asked?.method === 'initialize') begun = sent.catch(() => {})
  sent.catch((error: Error) => {
    fail(error)
    // A request that cannot be handed on is answered all the same, or its client waits for it.
    const told = { code: -32000, message: error.message }
    if (asked) client.send({ jsonrpc: '2.0', id: asked.id, error: told }).catch(fail)
  })
}
server.onmessage = (message) => {
  if ('result' in message) {
    // As the SDK's own client does once the version is settled: later requests name it.
    const version = (message.result as { protocolVersion?: unknown }).protocolVersion
    if (typeof version === 'string') server.setProtocolVersion(version)
  }
  client.send(message).catch(fail)
}
server.onerror = fail
process.stdin.once('end', () => {
  server
    .terminateSession()
    .catch(() => {})
    .finally(() => process.exit(0))
})
await server.start()
await client.start()
