/** `harness`: MCP servers under test, cases, and runs of agents against them. */

export type { Entry, Reason, Transcript, TrialRecord } from '../log/index.ts'
export { world } from '../world/own.ts'
export type { End, WorldDefinition } from '../world/world.ts'
export {
  type Agent,
  type AgentAnswer,
  type AgentClaim,
  type AgentFunction,
  type AgentServer,
  type AgentTask,
  agent,
  type HttpAgent,
} from './agent/agent.ts'
export type { Configuration } from './agent/model.ts'
export type { AnswerPaths, CommandAgent } from './agent/program/command.ts'
export { KNOWN_AGENTS, type KnownAgent, type KnownOptions } from './agent/program/known-agents.ts'
export type { Recorder } from './agent/recorder.ts'
export { server } from './case/any-server.ts'
export type { Case, CaseDefinition } from './case/case.ts'
export { define as case } from './case/define-case.ts'
export type { Ending, GoalEnding, GoalFunction } from './case/goal/goal.ts'
export type { UserAnswer } from './case/user.ts'
export { Agreement, agreement, type JudgeSettings } from './judge/measured-reader.ts'
export type { Prices } from './model/cost.ts'
export { why } from './page/why.ts'
export { against, type BaselineResult } from './report/ci/baseline.ts'
export { type Gate, type GateResult, gate, parseGate } from './report/ci/gate.ts'
export { type JunitOptions, junit } from './report/ci/junit.ts'
export { type SarifOptions, sarif } from './report/ci/sarif.ts'
export { type Held, standing, stepSummary } from './report/ci/step-summary.ts'
export { RunComparison } from './report/compared/run-comparison.ts'
export { History, type HistoryPoint, type HistorySeries, history } from './report/history.ts'
export { writeReport } from './report/markdown.ts'
export { open } from './report/open.ts'
export type { PlotKind } from './report/plot-kinds.ts'
export { Run } from './report/result.ts'
export { trialText } from './report/trial-text.ts'
export type { Forecast } from './run/forecast.ts'
export { type Brought, type BroughtCall, judge, recorder } from './run/judge.ts'
export { RunBuilder, run } from './run/run.ts'
export { Judgement, type ServedCase, type ServeOptions, serve } from './run/serve.ts'
export { ServerDescription } from './server/description.ts'
export type { FaultKind } from './server/fault.ts'
export type { RunningServer } from './server/running.ts'
export type { ServerEnd } from './server/world-backend.ts'
export type { Limits } from './trial/limits.ts'
export type { RunPlan } from './trial/planned-run.ts'
