#!/usr/bin/env node
/** Touchstone's program: the prompt, scripts, and the verbs for CI. */
import * as modules from 'node:module'
import { setFlagsFromString } from 'node:v8'

// Left alone, the space for what is young grows by 100 MB over a long run, and nothing is faster for it.
setFlagsFromString('--max-semi-space-size=8')
// Types are stripped and modules compiled once, not at every start: the prompt is there in a third of the time.
modules.enableCompileCache?.()
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  const { main } = await import('./lib/cli/main.ts')
  process.exitCode = await main(process.argv.slice(2))
} else {
  process.stderr.write(`usage: expected Node 22.19 or later, got ${process.versions.node} (${process.execPath})\n`)
  process.exitCode = 2
}
