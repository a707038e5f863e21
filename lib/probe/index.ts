/** `probe`: test an MCP server by a published set, and judge addresses the way that set does. */

export {
  type Connection,
  type ConnectOptions,
  connect,
  type RepeatedConnection,
} from './connect/connect.ts'
export { type Reading, readings } from './connect/readings.ts'
export type { ProbeData, ProbeResult } from './connect/result.ts'
export type { LatencySpread, ProbeRuns, ProbeRunsData } from './connect/runs.ts'
export type { ProbeStatement } from './connect/statement.ts'
export type { TaskFinding } from './connect/verdict.ts'
export { type AddressReason, type AddressVerdict, checkAddress } from './judge/address.ts'
export type { Detail, Outcome } from './judge/outcome.ts'
export { checkUrl, type Reason, type UrlReason, type UrlVerdict } from './judge/url.ts'
export type { Tool, ToolList } from './read/tools.ts'
export { type Declaration, declaration, type Remote } from './sweep/declaration.ts'
export {
  readSweep,
  type Sweep,
  type SweepData,
  type SweepEntry,
  type SweepLine,
  type SweepOptions,
  sweep,
} from './sweep/sweep.ts'
export type { Command } from './wire/process-group.ts'
export type { Transport } from './wire/wire.ts'
