// %% [markdown]
// # How many repeats do I need?
//
// Five, says the default. But five of *how many cases*, to see a difference of *what size*? The question has an answer only once
// you know how much your cases disagree and how much a single case flickers, and a small pilot run tells you both.
//
// The pilot here compares two **simulated** configurations, `sim/naive` and `sim/careful`. For a real model:
// `--set model=groq/openai/gpt-oss-20b`; the prose below speaks of the simulated pair.

// %% tags=["parameters"]
const baseline: string = 'sim/naive'
const model: string = 'sim/careful'
const difference: number = 0.1

// %%
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { cases, chart, harness, stats } from 'touchstone'

// %% [markdown]
// ## A pilot
//
// Ten cases, three trials each: sixty trials. Not to find out who is better, only how the scores scatter.

// %%
const ten = await cases.load(fileURLToPath(new URL('data/ten-changes.yaml', import.meta.url)))
const run = await harness
  .run(ten)
  .config('A', { model: baseline })
  .config('B', { model })
  .repeat(3)
  .out(null)
  .quiet()
const pilot = run.plan({ difference })
console.log(pilot.text.replaceAll('. ', '.\n'))

// %% [markdown]
// Two variances stand behind that. `between`: how much the *true* difference between A and B changes from case to case. `within`:
// how much one trial scatters round its own case. Repeats average the second away and cannot touch the first.
//
// A plan simulates runs from them, judged by the verdict's own rule, and in two ways: the difference may come from every case a
// little, or from a few cases that fail for good. The second is harder to see, since a sign-flip test needs five cases that moved.

// %%
const { rate, between, within } = pilot
/** What every plan below has in common. Fewer simulated runs than usual, since there are many plans. */
const spread = { rate, between, within, runs: 400 }
console.log({ between: Number(between.toFixed(3)), within: Number(within.toFixed(3)) })

// %% [markdown]
// ## What each size of run can see
//
// The smallest true difference that a run finds four times in five, with these two variances, in the worse of both ways. Below five
// cases there is nothing to draw: the test cannot reach 0.05 then, however large the difference. (The chart begins at eight.)

// %%
const sizes = [8, 12, 20, 30, 50, 100, 200]
const steps = [1, 3, 5, 20].flatMap((repeats) =>
  sizes.map((n) => ({
    cases: n,
    repeats,
    seen: stats.plan({ cases: n, repeats, ...spread }).detectable,
  })),
)
chart.own(
  steps,
  {
    mark: { type: 'line', point: true },
    encoding: {
      x: {
        field: 'cases',
        type: 'quantitative',
        scale: { type: 'log', domain: [8, 200], nice: false },
        axis: { values: sizes },
        title: 'cases (log scale)',
      },
      y: {
        field: 'seen',
        type: 'quantitative',
        axis: { format: '%' },
        title: 'smallest difference found 4 times in 5, the worse way',
      },
      color: { field: 'repeats', type: 'nominal', title: 'repeats' },
    },
  },
  {
    title: 'Cases move the curve; repeats beyond a few hardly do',
    notes: [
      'For cases like these, 95% level, 80% power.',
      'Variances from a pilot of 10 cases x 3 trials. How sure they are stands below; no interval here.',
    ],
  },
)

// %% [markdown]
// From one trial to three there is something to gain, from three to five a little, from five to twenty next to nothing, at four
// times the bill. To the right everything falls. That is the shape whenever cases disagree about which configuration is better.
//
// ## The same money, spent differently
//
// A budget of 400 trials (both configurations together):

// %%
for (const repeats of [1, 2, 5, 10, 20, 50]) {
  const one = stats.plan({ cases: 200 / repeats, repeats, ...spread })
  const seen = Number.isNaN(one.detectable)
    ? `nothing: ${one.reason}`
    : `${(100 * one.detectable).toFixed(0)} points`
  console.log(`${String(one.cases).padStart(3)} cases x ${String(repeats).padStart(2)}  ${seen}`)
}

// %% [markdown]
// So why not 200 cases with one trial each? Because one trial tells nothing about *reliability*: whether a case passes always or
// half the time, which is what your users meet (notebook 07). And because a trial costs cents and a good case costs an
// afternoon. Five repeats are the compromise: most of what repeats can give, and flicker shows.
//
// ## If the cases agreed
//
// Were B better by the same amount everywhere (`between` 0), repeats would be worth as much as cases. What twenty cases see of a
// difference that comes from all of them:

// %%
for (const differ of [0, 0.02, between]) {
  const seen = [1, 5, 20].map(
    (repeats) =>
      stats.plan({ cases: 20, repeats, ...spread, between: differ }).ways.evenly.difference,
  )
  console.log(
    `between ${differ.toFixed(2)}:`,
    seen.map((value) => `${(100 * value).toFixed(0)} points`.padStart(9)).join('  '),
  )
}

// %% [markdown]
// (With 1, 5 and 20 trials of each case.)
//
// ## How much the pilot knows
//
// A plan rests on variances that were themselves estimated, from ten cases. So `pilot.text` also says what is seen if the cases
// differ as much as the pilot allows (its upper 90 % limit). What would be needed then:

// %%
const wide = stats.pilot(
  ten.map(({ id }) => {
    const scores = (name: string) =>
      run.trials
        .filter((row) => row.case === id && row.configuration === name)
        .map((row) => (row.goal ? 1 : 0))
    return { a: scores('A'), b: scores('B') }
  }),
)
const [told, most] = [between, wide.betweenHigh].map(
  (differ) =>
    stats.plan({ cases: 10, repeats: 5, ...spread, between: differ, difference }).casesNeeded,
)
console.log(
  `cases needed with five trials each: ${told}, and up to ${most} if the cases differ more`,
)

// %% [markdown]
// A pilot gives the order of magnitude and no more. Plan for the upper end, or write the first fifty cases and look again.
//
// ## What this shows, and what it does not
//
// It shows which knob to turn for *this* set: write more cases. It does not show that your set is like it; run your own
// pilot. And a plan is for one primary metric, named before the run: every further metric that you look at costs level, which
// `run.compare` charges by Holm's rule.

// %%
assert.ok(
  [1, 2, 4].every((n) =>
    stats.plan({ cases: n, repeats: 100, ...spread }).reason?.includes('sign-flip'),
  ),
)
if (baseline === 'sim/naive' && model === 'sim/careful' && difference === 0.1) {
  assert.equal(pilot.cheaper, 'case')
  assert.ok((told ?? 0) > 100 && (most ?? 0) > (told ?? 0))
}
