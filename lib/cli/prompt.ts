/** The prompt with Touchstone in scope, and the same scope for scripts. */
import { startRepl } from '../repl/prompt.ts'

type Scope = { [name: string]: unknown }

/** What a line at the prompt, a script or a kernel's cell finds in scope. */
export async function scope(more: Scope = {}): Promise<Scope> {
  // All rooms of the library: they take longer to load than the prompt.
  const touchstone = await import('../index.ts')
  const { harness, probe, receipt, scenarios, cases, stats, chart, notebook } = touchstone
  const names = { harness, probe, receipt, scenarios, cases, stats, chart, notebook, ...more }
  return Object.assign(names, { [Symbol.for('touchstone.elsewhere')]: ELSEWHERE })
}

/** Verbs of the command line that a person types here, and what does the same. */
const ELSEWHERE = {
  show: "run.transcript('CASE|CONFIGURATION|TRIAL'), and run.trials names them",
  compare: "run.compare('A', 'B'), and harness.against(run, earlier) for two runs",
  open: "harness.open('runs/ID')",
  list: "harness.history('runs')",
  verify: "receipt.verify('runs/ID')",
}

/** What `.help` shows; run from top to bottom, each works as it is printed. */
export const EXAMPLES = [
  { code: 'const some = (await cases.load()).slice(0, 8)', says: 'of the cases that ship' },
  { code: "const plan = harness.run(some).config('a', { model: 'sim/naive' })", says: 'a plan' },
  {
    code: "const run = await plan.config('b', { model: 'sim/careful' })",
    says: 'run it; Ctrl-C stops',
  },
  { code: "run.compare('a', 'b')", says: 'is b better? paired by case' },
  { code: 'run.trials', says: 'one by one; run.transcript(KEY) is what one of them did' },
  {
    code: "await run.plot('heat')",
    says: 'a picture in text; .save(path) writes SVG, PNG or HTML',
  },
  {
    code: "await probe.connect('http://127.0.0.1:8080/mcp', { local: true })",
    says: 'is an MCP server there?',
  },
  { code: '?harness.run', says: 'what a name does; ??name shows its source' },
]

/** What is printed above the prompt that follows a run. */
export const RUN_HINTS = ["run.compare('naive', 'careful')", '.plot run heat', 'run.trials']

/** Open the prompt and wait until it is left. */
export async function openPrompt(
  more: Scope = {},
  hint = 'Touchstone. .help shows examples, Tab completes, Ctrl-D leaves.',
): Promise<void> {
  await startRepl({ scope: () => scope(more), banner: hint, examples: EXAMPLES })
}
