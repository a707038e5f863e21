/** `harness`: MCP servers under test, cases, and runs of agents against them. */

export { world } from '../world/own.ts'
export type { WorldDefinition } from '../world/world.ts'
export type { Case, CaseDefinition } from './case.ts'
export { define as case } from './define.ts'
export type { FaultKind } from './fault.ts'
export type { End, Ending, GoalFunction } from './goal.ts'
export type { Configuration } from './model.ts'
export { writeReport } from './report.ts'
export { open, type PlotKind, Run, RunComparison } from './result.ts'
export { type Limits, RunBuilder, type RunPlan, run } from './run.ts'
export type { RunningServer, ServerEnd } from './serve.ts'
export { ServerDescription, server } from './server.ts'
