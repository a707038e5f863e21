#!/usr/bin/env node
/** Touchstone's program: the prompt, scripts, and the verbs for CI. */
import { enableCompileCache } from 'node:module'

// Types are stripped and modules compiled once, not at every start: the prompt is there in a third of the time.
enableCompileCache()
const { main } = await import('./lib/cli/main.ts')
process.exitCode = await main(process.argv.slice(2))
