/** `harness`: MCP servers under test, cases, and runs of agents against them. */

export { world } from '../world/own.ts'
export type { WorldDefinition } from '../world/world.ts'
export type { Case, CaseDefinition } from './case.ts'
export type { Prices } from './cost.ts'
export { define as case } from './define.ts'
export type { FaultKind } from './fault.ts'
export type { Forecast } from './forecast.ts'
export {
  against,
  type BaselineResult,
  type Gate,
  type GateResult,
  gate,
  parseGate,
} from './gate.ts'
export type { End, Ending, GoalFunction } from './goal.ts'
export { type JunitOptions, junit } from './junit.ts'
export type { Configuration } from './model.ts'
export { writeReport } from './report.ts'
export { open, type PlotKind, Run, RunComparison } from './result.ts'
export { type Limits, RunBuilder, type RunPlan, run } from './run.ts'
export { sarif } from './sarif.ts'
export type { RunningServer, ServerEnd } from './serve.ts'
export { ServerDescription, server } from './server.ts'
export { type Held, standing, stepSummary } from './step-summary.ts'
