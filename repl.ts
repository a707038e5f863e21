#!/usr/bin/env node
/** Touchstone's program: the prompt, scripts, and the verbs for CI. */
import { setFlagsFromString } from 'node:v8'
import { useCompileCache } from './lib/compile-cache.ts'

// Left alone, the heap of a long run grows to several times what is alive in it, and nothing is faster for it.
for (const flag of ['--max-semi-space-size=8', '--heap-growing-percent=20'])
  setFlagsFromString(flag)
// The prompt is there in a third of the time.
useCompileCache()
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  const { main } = await import('./lib/cli/main.ts')
  process.exitCode = await main(process.argv.slice(2))
} else {
  process.stderr.write(
    `usage: expected Node 22.19 or later, got ${process.versions.node} (${process.execPath})\n`,
  )
  process.exitCode = 2
}
