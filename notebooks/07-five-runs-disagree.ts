// %% [markdown]
// # Five runs disagree: which one is right?
//
// The same agent, the same tasks, the same settings, and each run prints another score. None of them is wrong, and none is the
// answer. This notebook takes published figures of a language model apart, then measures the noise floor of a run of our own.
//
// The figures: tau-bench (Yao et al. 2024, arXiv 2406.12045), gpt-4o with tool calling in the airline domain, 50 tasks of 4 trials
// each, counted from the published trajectories. Five numbers hold all that is used here: how many tasks had 0, 1, 2, 3 and 4
// successes.

// %% tags=["parameters"]
const model: string = 'sim/naive'
const other: string = 'sim/careful'

// %%
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { cases, chart, harness, stats } from 'touchstone'

// %%
const histogram = [14, 12, 10, 4, 10]
const tasks = histogram.flatMap((n, successes) =>
  Array.from({ length: n }, () => [0, 1, 2, 3].map((trial) => (trial < successes ? 1 : 0))),
)
const flips = stats.flips(tasks)
console.log(
  `${tasks.length} tasks, ${tasks.flat().length} trials, ${Math.round(100 * flips.share)}% of the tasks flip`,
)

// %% [markdown]
// A task *flips* when some of its trials pass and some fail. More than half of them do: on those, one run tells you a coin's
// last throw. (Which trial of a task failed is not in the five numbers; nothing below depends on it.)
//
// ## Five runs
//
// Take one of the four published trials of each task at random and you have a run as it might have been. Five of them:

// %%
const draw = stats.rng('five runs')
const runs = Array.from({ length: 5 }, () =>
  stats.mean(tasks.map((trials) => trials[Math.floor(draw() * 4)] as number)),
)
console.log(runs.map((score) => `${Math.round(100 * score)}%`).join('  '))

// %%
const overall = stats.rate(tasks)
chart.strip(
  [{ configuration: 'gpt-4o, airline', ...overall, runs: runs.map((value) => ({ value, n: 50 })) }],
  {
    metric: 'tasks solved',
    cases: 50,
    repeats: 4,
    title: 'Five runs redrawn from published trials, and what all trials say',
  },
)

// %% [markdown]
// The bar is the interval for *tasks like these*. It is wider than 200 trials would suggest, because 200 trials of 50 tasks
// are not 200 independent facts:

// %%
const { icc, designEffect, effectiveN, meanSquareWithin } = stats.varianceSplit(tasks)
const pooled = stats.wilson(84, 200)
const percent = ({ low, high }: stats.Interval) =>
  `[${(100 * low).toFixed(0)}, ${(100 * high).toFixed(0)}]`
console.log(`share of the spread that lies between tasks (ICC)  ${icc.toFixed(3)}`)
console.log(
  `200 trials are worth                               ${effectiveN.toFixed(0)} (design effect ${designEffect.toFixed(2)})`,
)
console.log(`42%, as if all trials were independent             ${percent(pooled)}`)
console.log(`42%, over tasks                                    ${percent(overall)}`)

// %% [markdown]
// And the flicker alone, on the *same* fifty tasks, sets what two single runs may differ by without any cause:

// %%
const apart = stats.normalQuantile(0.975) * Math.sqrt((2 * meanSquareWithin) / 50)
console.log(
  `two single runs of this agent differ by up to ${(100 * apart).toFixed(0)} points, 19 times in 20`,
)

// %% [markdown]
// ## Would it happen again?
//
// A user meets one task, again and again, and wants it to work every time. That is pass^k: the chance that all of k trials
// pass. The unbiased estimate for a task with c successes of n is C(c, k) / C(n, k). A common shortcut puts the pass rate to
// the power of k, task by task, and comes out too high: with four trials a task that passed twice is not known to pass half the time.

// %%
const reliability = [1, 2, 3, 4].flatMap((k) => {
  const each = tasks.map((trials) => stats.passHatK(trials.filter(Boolean).length, 4, k))
  const { estimate, low, high } = stats.rate(
    each.map((value) => [value]),
    { method: 't' },
  )
  const plugIn = stats.mean(tasks.map((trials) => stats.mean(trials) ** k))
  return [
    { configuration: 'unbiased', k, estimate, low, high },
    { configuration: 'plug-in: (c/n)^k', k, estimate: plugIn },
  ]
})
chart.reliability(reliability, { cases: 50, repeats: 4, target: 'tasks like these' })

// %%
const at = (configuration: string) =>
  reliability.filter((row) => row.configuration === configuration).map((row) => row.estimate)
const three = (values: number[]) => values.map((value) => value.toFixed(3)).join('  ')
console.log('k                    1      2      3      4')
console.log('unbiased         ', three(at('unbiased')))
console.log('plug-in          ', three(at('plug-in: (c/n)^k')))

// %% [markdown]
// The first line is the row that the paper prints: .420 .273 .220 .200. An agent that solves 42% of the tasks solves
// one in five of them four times out of four. The shortcut is off by 13 to 19 per cent of the value, always in the flattering direction.
//
// ## The noise floor of your own run
//
// Before believing a difference between A and B, look at the difference between A and A. `.placebo()` runs one configuration
// against itself, interleaved like any two; whatever shows is chance. The agents here are **simulated** (`sim/naive`,
// `sim/careful`; `--set model=groq/openai/gpt-oss-20b` for a real one), on the ten cases of notebook 03.

// %%
const ten = await cases.load(fileURLToPath(new URL('data/ten-changes.yaml', import.meta.url)))
const metric = { metric: 'overclaim' } as const
const twice = []
for (const seed of [1, 2, 3, 4, 5]) {
  const run = await harness
    .run(ten)
    .config('A', { model })
    .placebo()
    .repeat(5)
    .seed(seed)
    .out(null)
    .quiet()
  twice.push(run.compare('A', 'A-again', metric).primary)
}
const two = await harness
  .run(ten)
  .config('A', { model })
  .config('B', { model: other })
  .repeat(5)
  .out(null)
  .quiet()
const ab = two.compare('A', 'B', metric).primary
chart.noise(
  [
    ...twice.map(({ difference, low, high }, i) => ({
      label: `A/A, run ${i + 1}`,
      difference,
      low,
      high,
    })),
    { label: 'A/B', difference: ab.difference, low: ab.low, high: ab.high },
  ],
  { cases: 10, repeats: 5, metric: 'share with an overclaim' },
)

// %%
const points = (value: number) => `${(100 * value).toFixed(0)} points`
console.log('A/A:', twice.map(({ difference }) => points(difference)).join(', '))
console.log('A/B:', points(ab.difference), '|', ab.verdict, '|', ab.reasons.join('; '))

// %% [markdown]
// Nothing changed between the two sides of an A/A, and still they differ. A claimed improvement of that size needs no explanation.
// The A/B difference lies outside; whether B would also overclaim less on *other* cases, ten cases of which few moved cannot tell.
//
// ## What this shows, and what it does not
//
// It shows how far apart runs of one agent lie by chance, that trials of one task are not independent, and that reliability is
// much lower than the mean. It does not say how gpt-4o does today, or on other tasks: the figures are of 2024, and the interval
// is for tasks like those fifty. The A/A above is the noise of a script; its size is a matter of cases and repeats, which
// notebook 04 plans.

// %%
const rounded = (values: number[]) => values.map((value) => Number(value.toFixed(3)))
assert.deepEqual(rounded(at('unbiased')), [0.42, 0.273, 0.22, 0.2])
assert.deepEqual(rounded(at('plug-in: (c/n)^k')), [0.42, 0.31, 0.263, 0.239])
assert.equal(flips.share, 0.52)
assert.equal(Number(icc.toFixed(4)), 0.4046)
if (model === 'sim/naive' && other === 'sim/careful')
  assert.ok(twice.every(({ verdict }) => verdict === 'cannot tell'))
