/**
 * The main module of a child process that serves one server description on standard input and
 * output.
 */
import { once } from 'node:events'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { JsonObject } from '../../json.ts'
import { FaultEngine } from './fault-engine.ts'
import { serverOf } from './front.ts'
import type { ServerPlan } from './server-plan.ts'
import { WorldBackend } from './world-backend.ts'

/** What the parent asks on the channel beside the wire. */
export type Asked = { what: 'start' | 'end' } | { what: 'call'; tool: string; input: JsonObject }
/** The answer, under the question's number. */
export type Told = { number: number; value?: unknown; error?: string }

// A plan may be longer than a word of a command line.
const word = process.argv[2]
const [plan] = (word === undefined ? await once(process, 'message') : [JSON.parse(word)]) as [
  ServerPlan,
]
const backend = new WorldBackend(plan)
const startDigest = backend.world.digest()

function answer(asked: Asked): unknown {
  if (asked.what === 'call') return backend.call(asked.tool, asked.input)
  return asked.what === 'end' ? backend.end() : startDigest
}

process.on('message', ({ number, asked }: { number: number; asked: Asked }) => {
  let told: Told
  try {
    told = { number, value: answer(asked) }
  } catch (cause) {
    told = { number, error: (cause as Error).message }
  }
  process.send?.(told)
})
process.on('disconnect', () => process.exit(0))
process.stdin.once('end', () => process.exit(0))
await serverOf(plan.name, new FaultEngine(plan, backend)).connect(new StdioServerTransport())
