/**
 * Touchstone: test MCP servers and the agents that use them.
 *
 * Four calls: `probe.connect()`, `harness.server()`, `harness.run()`, `receipt.verify()`. Heavy
 * packages are loaded on first use.
 */

import './node-version.ts'

export * as chart from './chart/index.ts'
export { type ErrorCode, TouchstoneError } from './errors.ts'
export * as cases from './harness/case/cases.ts'
export * as harness from './harness/index.ts'
export * as notebook from './notebook/index.ts'
export * as probe from './probe/index.ts'
export * as receipt from './receipt/index.ts'
export * as scenarios from './scenario/index.ts'
export * as stats from './stats/index.ts'
