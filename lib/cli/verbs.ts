/** The verbs of the command line, loaded when they are asked for. */
import type { Verb } from './verb/verb.ts'

export const VERBS: { [name: string]: () => Promise<Verb> } = {
  start: async () => (await import('./run.ts')).start,
  init: async () => (await import('./init.ts')).init,
  run: async () => (await import('./run.ts')).run,
  worker: async () => (await import('./worker.ts')).worker,
  list: async () => (await import('./list.ts')).list,
  open: async () => (await import('./open.ts')).openPage,
  show: async () => (await import('./show.ts')).show,
  compare: async () => (await import('./compare.ts')).compare,
  cases: async () => (await import('./case-list.ts')).caseList,
  export: async () => (await import('./export.ts')).exported,
  history: async () => (await import('./history.ts')).history,
  probe: async () => (await import('./probe.ts')).probe,
  serve: async () => (await import('./serve.ts')).serve,
  sweep: async () => (await import('./sweep.ts')).sweep,
  verify: async () => (await import('./verify.ts')).verify,
  audit: async () => (await import('./verify.ts')).audit,
  classify: async () => (await import('./classify.ts')).classify,
  scenarios: async () => (await import('./scenarios.ts')).sets,
  agreement: async () => (await import('./agreement.ts')).agreementVerb,
  notebook: async () => (await import('./notebook.ts')).notebook,
  kernel: async () => (await import('./notebook.ts')).kernel,
  completion: async () => (await import('./completion.ts')).completion,
}
