/** Is it there? Addresses that the published test refuses, and its tasks against a server of one's own. */
import { harness, probe } from 'touchstone'

for (const url of ['https://10.0.0.1/mcp', 'https://[::1]/mcp', 'https://mcp.example.com/mcp'])
  console.log(url, probe.checkUrl(url).allowed ? 'may be tested' : 'is refused')

const server = await harness.server('github').start({ transport: 'http' })
const result = await probe.connect(String(server.url), { local: true })
console.log(`${result.outcome}: ${result.passed} of ${result.attempted} tasks`)
console.log(`tools: ${result.tools?.named}, published test: ${result.set !== null}`)
await server.close()

// Prints:
// https://10.0.0.1/mcp is refused
// https://[::1]/mcp is refused
// https://mcp.example.com/mcp may be tested
// answered: 2 of 2 tasks
// tools: 10, published test: false
