// %% [markdown]
// # Which run is the first that is worse?
//
// The same cases run every morning. Rates go up and down by a few points each day, and somewhere on the way a prompt was
// changed. Looking back: on which day did it get worse, and which of the dips before it were only noise?
//
// The agent is **simulated**. On the first four mornings it follows each case's solution with the care of `sim/careful`. On the
// fifth somebody "tidied up the prompt", and it believes three of four answers without a look. Its name stays the same.

// %%
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cases, harness } from 'touchstone'

const folder = mkdtempSync(join(tmpdir(), 'history-'))
const ten = await cases.load(fileURLToPath(new URL('data/ten-changes.yaml', import.meta.url)))
const careful = { model: 'sim/careful' }
const tidied = { model: 'sim/careful', deviations: { claimsUnchecked: 0.75, skipsReadBack: 0.75 } }

// %% [markdown]
// ## Six mornings
//
// Each run takes fresh draws. All six are made here within a few seconds, so each gets the date of its morning, and a name that
// says it, written into its manifest: history puts runs in the order of their dates.

// %%
for (const day of [1, 2, 3, 4, 5, 6]) {
  const dir = join(folder, `may-${day}`)
  const plan = harness.run(ten).config('agent', day < 5 ? careful : tidied)
  await plan
    .repeat(5)
    .seed(100 + day)
    .out(dir)
    .quiet()
  const path = join(dir, 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  const dated = { ...manifest, id: `may-${day}`, created_at: `2026-05-0${day}T06:00:00.000Z` }
  writeFileSync(path, JSON.stringify(dated))
}
const past = await harness.history(folder)
await past.plot()

// %% [markdown]
// The dots are single repeats, the bars what these cases would give if the same agent ran them again. Before the fifth of May
// the bars overlap each other all the way. A rule such as "alarm when it falls by five points" rings on the third of May:

// %%
const rates = past.series[0]?.points.map(({ estimate }) => estimate) ?? []
const falls = rates.slice(1).map((rate, i) => Math.round(100 * (rate - (rates[i] ?? rate))))
console.log('from morning to morning, in points:', falls.join(', '))

// %% [markdown]
// ## What each run is held against
//
// A run is expected where the runs before it landed, over the cases that they share. How wide that expectation is comes from
// two sides: how much trials of a case vary, and how much unchanged runs differ beyond that, which is the noise from day to
// day. One or two runs show nothing of that noise, so that days are at first taken to differ by about six points, and the
// expectation narrows as runs come in that are alike. All runs of the history share one error: of a hundred histories without
// a change, at most about five call any run better or worse.

// %%
past

// %% [markdown]
// A star stands where the configuration changed: its settings have another digest. History compares by *name*, so that a
// changed prompt is held against the old one. Had it compared only what is unchanged, the fifth of May would be a first run,
// and no run could be worse than it.
//
// The run of the sixth is held against the runs *before the fall*: a run that was worse is no measure for the next.

// %%
for (const { run, estimate, is } of past.series[0]?.points ?? [])
  console.log(run, `${Math.round(100 * estimate)}%`, is)

// %% [markdown]
// ## What this does not show
//
// It does **not** say what caused the fall: the star says that the settings changed, not that they are to blame. It does not
// speak of other cases: the intervals are for these ten, run again. And a fall that is smaller than the noise is not found, however
// long it lasts; more repeats each morning make the noise smaller.
//
// The same in a shell, for the runs of a project: `touchstone history runs`.

// %%
assert.equal(past.firstWorse?.run, 'may-5')
assert.deepEqual(
  past.series[0]?.points.slice(0, 4).map(({ is }) => is),
  ['first', 'as before', 'as before', 'as before'],
)
