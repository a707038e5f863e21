/** `probe`: test an MCP server by a published set, and judge addresses the way that set does. */

export {
  compare,
  type LatencyComparison,
  type ProbeComparison,
  type ProbeComparisonData,
  type ToolChange,
  type ToolComparison,
} from './connect/compare.ts'
export { type Configured, configured } from './connect/config.ts'
export {
  type Conformance,
  type ConformanceCheck,
  type ConformanceData,
  type ConformanceOptions,
  conformance,
} from './connect/conformance.ts'
export {
  type Connection,
  type ConnectOptions,
  connect,
  type RepeatedConnection,
} from './connect/connect.ts'
export type { TaskFinding } from './connect/course-outcome.ts'
export type { StatelessFinding, StatelessMeasures } from './connect/modern-findings.ts'
export type { Greeting, Own } from './connect/own.ts'
export { type Reading, readings } from './connect/readings.ts'
export type { ProbeData, ProbeResult } from './connect/result.ts'
export type { LatencySpread, ProbeRuns, ProbeRunsData } from './connect/runs.ts'
export type { ProbeStatement } from './connect/statement.ts'
export { type AddressReason, type AddressVerdict, checkAddress } from './judge/address.ts'
export type { Detail, Outcome } from './judge/outcome.ts'
export { checkUrl, type Reason, type UrlReason, type UrlVerdict } from './judge/url.ts'
export type { Tool, ToolList } from './read/tools.ts'
export type { Skip, SkipReason } from './sweep/candidates.ts'
export {
  type Declaration,
  declaration,
  type Remote,
  type RemoteProblem,
} from './sweep/declaration.ts'
export { readSweep, type SweepLine } from './sweep/log.ts'
export { type SweepEntry, type SweepOptions, sweep } from './sweep/sweep.ts'
export type { Sweep, SweepData } from './sweep/totals.ts'
export type { Command } from './wire/command.ts'
export type { Transport } from './wire/wire.ts'
