/**
 * The main module of a program that hands MCP messages from standard input on to an address, and its messages back: how a client that
 * only starts programs reaches a trial's server.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

const client = new StdioServerTransport()
const server = new StreamableHTTPClientTransport(new URL(process.env['TOUCHSTONE_MCP_URL'] ?? ''))
const fail = (error: Error) => {
  process.stderr.write(`${error.message}\n`)
}
client.onmessage = (message) => {
  server.send(message).catch(fail)
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
