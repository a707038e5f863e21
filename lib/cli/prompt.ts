/** The prompt with Touchstone in scope, and the same scope for scripts. */
import * as touchstone from '../index.ts'
import { startRepl } from '../repl/prompt.ts'

const { harness, probe, receipt, scenarios, cases, stats, chart, notebook } = touchstone

/** What a line at the prompt, a script or a kernel's cell finds in scope. */
export function scope(more: { [name: string]: unknown } = {}): { [name: string]: unknown } {
  return { harness, probe, receipt, scenarios, cases, stats, chart, notebook, ...more }
}

const EXAMPLES = [
  { code: 'const all = await cases.load()', says: 'the cases that come with Touchstone' },
  {
    code: "const run = await harness.run(all.slice(0, 4)).config('naive', { model: 'sim/naive' }).config('careful', { model: 'sim/careful' }).repeat(5)",
    says: 'run them; Ctrl-C stops',
  },
  { code: "run.compare('naive', 'careful')", says: 'is the second better? paired by case' },
  { code: "(await run.plot('heat')).text()", says: 'a picture in text; .save(path) writes SVG, PNG or HTML' },
  { code: 'receipt.verify(run.decisions)', says: 'what the calls alone can show' },
  { code: "probe.checkUrl('https://localhost/mcp')", says: 'would the published test refuse this address?' },
  { code: '?harness.run', says: 'what a name does, with an example; ??name shows its source' },
]

/** Open the prompt and wait until it is left. */
export async function openPrompt(
  more: { [name: string]: unknown } = {},
  hint = 'Touchstone. .help shows examples, Tab completes, Ctrl-D leaves.',
): Promise<void> {
  await startRepl({ scope: scope(more), banner: hint, examples: EXAMPLES })
}
