/** What the statistics cost: a bootstrap, and every summary of a large run. Budgets are the design's. */
import {
  bootstrap,
  compare,
  compareLevels,
  compareMedians,
  flips,
  pilot,
  plan,
  rate,
  reliability,
  rng,
  varianceSplit,
} from '../../lib/stats/index.ts'

type Row = { label: string; value: number; unit: string; budget?: string; ok?: boolean }

/** Least time of some goes, in milliseconds: other work on the machine can only make it more. */
function timed(label: string, goes: number, work: () => unknown, budget?: number): Row {
  const times = Array.from({ length: goes }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  const value = Math.min(...times)
  return {
    label,
    value,
    unit: 'ms',
    ...(budget !== undefined && { budget: `<= ${budget}`, ok: value <= budget }),
  }
}

export async function bench(): Promise<{ name: string; rows: Row[] }> {
  const random = rng('bench')
  const trials = (n: number, p: number) => Array.from({ length: n }, () => (random() < p ? 1 : 0))
  const hundred = Array.from({ length: 100 }, () => trials(5, random()))
  // 1,000 cases x 2 configurations x 50 trials = 100,000 trials.
  const pairs = Array.from({ length: 1000 }, () => {
    const p = random()
    return { a: trials(50, p), b: trials(50, p) }
  })
  const latency = pairs.map(({ a, b }) => ({
    a: a.map(() => 1000 * random()),
    b: b.map(() => 900 * random()),
  }))
  const levels = pairs.map(() => ({ a: [20, 20, 10], b: [Math.floor(20 * random()), 20, 10] }))
  const sides = [pairs.map((pair) => pair.a), pairs.map((pair) => pair.b)]
  const rates = () => {
    for (const side of sides) {
      rate(side)
      varianceSplit(side)
      flips(side)
      for (const k of [1, 2, 5, 10]) reliability(side, k)
    }
  }
  const comparisons = () => {
    compare(pairs)
    compare(pairs, { target: 'these' })
    compareLevels(levels)
  }
  const medians = () => compareMedians(latency)
  const all = () => {
    rates()
    comparisons()
    medians()
  }
  return {
    name: 'stats',
    rows: [
      timed('10,000 bootstrap draws over 100 cases x 5', 5, () => bootstrap(hundred), 300),
      timed('rates, variance and reliability of 100,000 trials', 5, rates),
      timed('comparisons of 100,000 trials', 5, comparisons),
      timed('all summaries of 100,000 trials', 5, all, 1000),
      timed('a plan of as many, simulated', 3, () => plan(pilot(pairs))),
      timed('median latency of 100,000 trials', 5, medians),
      timed('one comparison of 20 cases x 5', 20, () =>
        compare(pairs.slice(0, 20).map(({ a, b }) => ({ a: a.slice(0, 5), b: b.slice(0, 5) }))),
      ),
    ],
  }
}

if (process.argv[1] === import.meta.filename) {
  const { rows } = await bench()
  for (const { label, value, unit, budget } of rows)
    console.log(`${label}: ${value.toFixed(1)} ${unit}${budget ? ` (budget ${budget} ms)` : ''}`)
}
