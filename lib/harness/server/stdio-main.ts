/** The main module of a child process that serves one server description on standard input and output. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { ServerPlan } from './plan.ts'
import { Origin, serverOf } from './start.ts'

const plan = JSON.parse(process.argv[2] ?? '') as ServerPlan
const origin = new Origin(plan)
process.on('message', (what) =>
  process.send?.(what === 'start' ? origin.startDigest : origin.end()),
)
process.on('disconnect', () => process.exit(0))
await serverOf(plan.name, origin).connect(new StdioServerTransport())
