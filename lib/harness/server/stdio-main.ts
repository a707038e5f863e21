/** The main module of a child process that serves one server description on standard input and output. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { FaultEngine } from './engine.ts'
import { serverOf } from './front.ts'
import type { ServerPlan } from './plan.ts'
import { WorldBackend } from './world-backend.ts'

const plan = JSON.parse(process.argv[2] ?? '') as ServerPlan
const backend = new WorldBackend(plan)
const startDigest = backend.world.digest()
process.on('message', (what) => process.send?.(what === 'start' ? startDigest : backend.end()))
process.on('disconnect', () => process.exit(0))
await serverOf(plan.name, new FaultEngine(plan, backend)).connect(new StdioServerTransport())
