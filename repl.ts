#!/usr/bin/env node
/** Touchstone's program: the prompt, scripts, and the verbs for CI. */
import { main } from './lib/cli/main.ts'

process.exitCode = await main(process.argv.slice(2))
