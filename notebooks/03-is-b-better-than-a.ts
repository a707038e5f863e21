// %% [markdown]
// # Is B better than A?
//
// You changed the prompt, the model or the temperature, and want to know whether the agent got better. Ten cases, five trials
// each, two configurations: a hundred trials. The tempting answer is to count passes out of fifty on each side. This notebook
// shows why that answer is to another question, and what `run.compare` says instead.
//
// A and B here are **simulated**: `sim/naive` and `sim/careful` follow each case's solution and stray from it at declared
// rates. They are no language models, and their numbers say nothing about any. For real ones:
// `touchstone notebook notebooks/03-is-b-better-than-a.ts --set model=groq/openai/gpt-oss-20b`. The prose below speaks of the
// simulated pair.

// %% tags=["parameters"]
const baseline: string = 'sim/naive'
const model: string = 'sim/careful'

// %%
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { cases, harness, stats } from 'touchstone'

// %% [markdown]
// ## Five trials of ten cases
//
// Each case asks for one small change at a simulated GitHub and misbehaves in its own way: a tool that lies, a reply that gets
// lost, an error after the deed was done. They stand in `data/ten-changes.yaml`. Whether a trial met its goal is read off the
// end state of that GitHub, never off what the agent says. Every trial has a fresh world, and A and B take turns within a case.

// %%
const ten = await cases.load(fileURLToPath(new URL('data/ten-changes.yaml', import.meta.url)))
const plan = harness.run(ten).config('A', { model: baseline }).config('B', { model })
const run = await plan.repeat(5).out(null).quiet()
await run.plot('heat')

// %% [markdown]
// Look at this before any number. Six cases are alike for both, give or take a trial. B wins three, 5 to 0, and loses one, 1
// to 4: the service that fails every other call. There A simply tries again, while B looks first, meets an error there too, and
// honestly reports that the change is not made.

// %%
run.compare('A', 'B')

// %% [markdown]
// Two questions, two answers. About *other* cases it is "cannot tell", which is a verdict: the interval is wide because the
// *cases* disagree.
//
// ## More trials, then?
//
// The usual move is to buy repeats. Here are twenty of each, four hundred trials in all.

// %%
const long = await plan.repeat(20).out(null).quiet()
const passed = (name: string) =>
  long.trials.filter((row) => row.configuration === name && row.goal).length
const trials = ten.length * 20
const pooled = stats.newcombe({ a: passed('A'), aTrials: trials, b: passed('B'), bTrials: trials })
const points = (low: number, high: number) =>
  `[${(100 * low).toFixed(0)}, ${(100 * high).toFixed(0)}]`
console.log(`A ${passed('A')} of ${trials}, B ${passed('B')} of ${trials}`)
console.log(
  `pooled, as if all trials were independent: 95% interval of the difference ${points(pooled.low, pooled.high)} points`,
)

// %% [markdown]
// The pooled interval leaves out 0, by a wide margin: ship B. Now the same four hundred trials, paired by case, asked two ways.

// %%
const like = long.compare('A', 'B').primary
const these = long.compare('A', 'B', { target: 'these' }).primary
for (const { target, verdict, low, high } of [like, these])
  console.log(
    `${target === 'these' ? 'on these ten cases  ' : 'for cases like these'}  ${verdict.padEnd(11)}  ${points(low, high)} points`,
  )

// %% [markdown]
// Both are right, because they are answers to different questions.
//
// *On these ten cases* B is better, and repeats do settle that: they show ever more exactly how each configuration fares on the
// ten. *For cases like these*, which is what you want to know before you ship, ten cases are ten facts, however often each is
// repeated: four times the trials took little off the width of the interval. The forest shows what it is made of.

// %%
await long.plot('forest')

// %% [markdown]
// Four cases carry everything, and they do not all point the same way. Which way will the eleventh point?
//
// ## How often pooling is wrong
//
// Not a matter of taste: here are a thousand experiments of twelve cases by five trials in which B is *exactly as good as A on
// average*, better by 40 points on some cases and worse by 40 on others, at random. Every "better" or "worse" is a false alarm.

// %%
const draw = stats.rng('a thousand experiments')
const five = (rate: number) => Array.from({ length: 5 }, () => (draw() < rate ? 1 : 0))
const sum = (scores: number[][]) => scores.flat().reduce<number>((total, score) => total + score, 0)
const alarms = { pooled: 0, paired: 0 }
for (let i = 0; i < 1000; i++) {
  const pairs = Array.from({ length: 12 }, () => {
    const [middle, shift] = [0.2 + 0.6 * draw(), draw() < 0.5 ? 0.2 : -0.2]
    return { a: five(middle - shift), b: five(middle + shift) }
  })
  const { low, high } = stats.newcombe({
    a: sum(pairs.map(({ a }) => a)),
    aTrials: 60,
    b: sum(pairs.map(({ b }) => b)),
    bTrials: 60,
  })
  if (low > 0 || high < 0) alarms.pooled++
  if (stats.compare(pairs).verdict !== 'cannot tell') alarms.paired++
}
alarms

// %% [markdown]
// Out of a thousand, at a nominal 5%: one false alarm in five. Pooling is not always too bold, either: where the two configurations rise and fall with
// the cases *together*, it throws the pairing away and is too timid. Ten cases, successes of five:

// %%
const ones = (n: number) => Array.from({ length: 5 }, (_, i) => (i < n ? 1 : 0))
const [a, b] = [
  [5, 4, 3, 5, 2, 0, 5, 4, 1, 3],
  [5, 5, 4, 5, 4, 2, 5, 3, 3, 4],
]
const paired = stats.compare(a.map((n, i) => ({ a: ones(n), b: ones(b[i] ?? 0) })))
const flat = stats.newcombe({ a: 32, aTrials: 50, b: 40, bTrials: 50 })
console.log(`pooled  ${points(flat.low, flat.high)} points`)
console.log(
  `paired  ${points(paired.low, paired.high)} points, p = ${paired.p.t.toFixed(3)} (t), ${paired.p.midP.toFixed(3)} (sign-flip)`,
)
console.log([paired.verdict, ...paired.reasons].join('\n- '))

// %% [markdown]
// The test over pairs finds it: in seven of ten cases that moved, six moved the same way. It assumes that other cases differ as
// these do. The paired interval assumes nothing, allows for cases that ten did not show, and so still holds 0. Both are said.
//
// ## What this shows, and what it does not
//
// It shows how a comparison is read: cases first, then the paired interval, then whose question it answers. It shows nothing about
// a language model: A and B are scripts. "Cases like these" means drawn like these ten; whether yours are, only you can say. What
// size of run *would* tell is the next notebook.

// %%
if (baseline === 'sim/naive' && model === 'sim/careful') {
  assert.equal(run.compare('A', 'B').verdict, 'cannot tell')
  assert.ok(pooled.low > 0)
  assert.deepEqual([like.verdict, these.verdict], ['cannot tell', 'better'])
}
assert.deepEqual(alarms, { pooled: 205, paired: 51 })
assert.equal(paired.verdict, 'better')
assert.ok(paired.low < 0 && flat.low < 0)
