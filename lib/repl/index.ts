/** The prompt, scripts, the live notebook page and the Jupyter kernel: one evaluator behind all four. */
export type { Example } from './commands.ts'
export {
  COMPLETE_STRING,
  type Completion,
  type Names,
  RETURNS,
  type StringContext,
} from './complete.ts'
export { createEvaluator, type Evaluation, type Evaluator, SIGNAL } from './evaluate.ts'
export { runKernel } from './kernel.ts'
export { type InstallOptions, installKernel } from './kernel-install.ts'
export { type Watching, type WatchOptions, watchNotebook } from './live.ts'
export { type ReplOptions, startRepl } from './prompt.ts'
export { runScript, type ScriptOptions } from './script.ts'
