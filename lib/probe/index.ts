/** `probe`: test an MCP server by a published set, and judge addresses the way that set does. */
export { type AddressReason, type AddressVerdict, checkAddress } from './address.ts'
export {
  type Connection,
  type ConnectOptions,
  connect,
  type RepeatedConnection,
} from './connect.ts'
export { type Declaration, declaration, type Remote } from './declaration.ts'
export type { Detail, Outcome } from './outcome.ts'
export { type Reading, readings } from './readings.ts'
export type { ProbeData, ProbeResult } from './result.ts'
export type { LatencySpread, ProbeRuns, ProbeRunsData } from './runs.ts'
export type { ProbeStatement } from './statement.ts'
export type { Command } from './stdio.ts'
export {
  readSweep,
  type Sweep,
  type SweepData,
  type SweepEntry,
  type SweepLine,
  type SweepOptions,
  sweep,
} from './sweep.ts'
export type { TaskFinding } from './tasks.ts'
export type { Tool, ToolList } from './tools.ts'
export { checkUrl, type Reason, type UrlReason, type UrlVerdict } from './url.ts'
export type { Transport } from './wire.ts'
