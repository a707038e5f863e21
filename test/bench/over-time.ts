/**
 * One configuration run on many days: how often the next run lands where it was expected, how often a run is called worse or better
 * although nothing changed, and how often a fall is found. `npx tsx test/bench/over-time.ts [runs per cell]` prints the tables of
 * README.md. The rule is that of `harness.history`: a run is held against those before it that are not worse, and against their noise.
 */
import { nextRun, normalQuantile, type Rng, type RunScores, rng } from '../../lib/stats/index.ts'
import { average, runAll, runParts, share, table, trials } from './questions.ts'

const cut = (p: number) => Math.min(1, Math.max(0, p))
const normal = (random: Rng) => normalQuantile(Math.max(1e-12, random()))
const meanOf = (run: RunScores) => average(run.map(average))
const runOf = (rates: readonly number[], moved: number, repeats: number, random: Rng) =>
  rates.map((p) => trials(cut(p + moved), repeats, random))

/** How much a day moves all rates (standard deviation), and the share of cases that hardly ever pass. */
const DAYS: [name: string, day: number, broken: number][] = [
  ['days are alike', 0, 0],
  ['days are alike, a fifth of the cases is broken', 0, 0.2],
  ['days differ by 5 points', 0.05, 0],
  ['days differ by 5 points, a fifth of the cases is broken', 0.05, 0.2],
  ['days differ by 10 points', 0.1, 0],
]

function expectedRuns(runs: number): void {
  const cells = DAYS.flatMap(([name, day, broken]) =>
    [1, 2, 3, 5, 20].map((before) => {
      const seen = [0.05, 0.5, 0.8, 0.95, 1].flatMap((p) =>
        [5, 20].flatMap((repeats) =>
          [3, 10, 40].map((cases) => {
            const random = rng(`expected ${name} ${before} ${p} ${repeats} ${cases}`)
            let [held, width] = [0, 0]
            for (let run = 0; run < runs; run++) {
              const rates = Array.from({ length: cases }, () => (random() < broken ? 0.02 : p))
              const one = () => runOf(rates, day * normal(random), repeats, random)
              const past = Array.from({ length: before }, one)
              const next = one()
              const { low, high } = nextRun(
                past,
                next.map(({ length }) => length),
              )
              const mean = meanOf(next)
              if (low - 1e-12 <= mean && mean <= high + 1e-12) held++
              width += high - low
            }
            return { held: held / runs, width: width / runs, cell: `${p}, ${cases} x ${repeats}` }
          }),
        ),
      )
      const [worst] = seen.toSorted((x, y) => x.held - y.held)
      const points = Math.round(100 * average(seen.map(({ width }) => width)))
      const all = average(seen.map(({ held }) => held))
      return { name, before, worst: worst?.held ?? 0, at: worst?.cell ?? '', all, points }
    }),
  )
  table(
    'How often the next run lands in its interval at level .95, over rates of .05, .5, .8, .95 and 1, 3, 10 and 40 cases, 5 and 20 repeats.',
    ['days', 'runs before', 'worst', 'at rate, cases x repeats', 'all 30', 'width, points'],
    cells
      .toSorted((x, y) => x.worst - y.worst)
      .map(({ name, before, worst, at, all, points }) => [
        ...[name, before, worst.toFixed(3), at, all.toFixed(3), points],
      ]),
  )
}

/** Cases, repeats, how rates are drawn, and how much a day moves all of them (standard deviation). */
const WORLDS: [
  name: string,
  cases: number,
  repeats: number,
  draw: (r: Rng) => number,
  day: number,
][] = [
  ['from .6 to 1', 20, 5, (random) => 0.6 + 0.4 * random(), 0],
  ['all .9', 20, 5, () => 0.9, 0],
  ['all .98', 20, 5, () => 0.98, 0],
  ['half .95, half .3', 10, 3, (random) => (random() < 0.5 ? 0.95 : 0.3), 0],
  ['half 1, half .5', 40, 5, (random) => (random() < 0.5 ? 1 : 0.5), 0],
  ['all .5', 8, 3, () => 0.5, 0],
  ['from .5 to .9, days differ by 5 points', 20, 5, (random) => 0.5 + 0.4 * random(), 0.05],
]

/** What each run but the first is, on a page that shows them all. */
function page(runs: readonly RunScores[]): ('worse' | 'better' | 'as before')[] {
  const level = 1 - 0.05 / Math.max(1, runs.length - 1)
  const is: ('worse' | 'better' | 'as before')[] = []
  for (const [i, now] of runs.entries()) {
    const before = runs.slice(0, i).filter((_, j) => j === 0 || is[j - 1] !== 'worse')
    if (i === 0) continue
    const counts = now.map(({ length }) => length)
    const { low, high } = nextRun(before, counts, { level })
    const mean = meanOf(now)
    is.push(mean < low ? 'worse' : mean > high ? 'better' : 'as before')
  }
  return is
}

function overTime(runs: number): void {
  const rows = WORLDS.flatMap(([name, cases, repeats, draw, day]) =>
    [2, 5, 10, 20].map((days) => {
      const random = rng(`over time ${name} ${days}`)
      let alarms = 0
      const found = [0, 0, 0]
      for (let run = 0; run < runs; run++) {
        const rates = Array.from({ length: cases }, () => draw(random))
        const one = (fall: number) => runOf(rates, day * normal(random) - fall, repeats, random)
        const past = Array.from({ length: days }, () => one(0))
        if (page(past).some((word) => word !== 'as before')) alarms++
        for (const [i, fall] of [0.15, 0.3, 0.5].entries())
          if (page([...past, one(fall)]).at(-1) === 'worse') found[i] = (found[i] ?? 0) + 1
      }
      return [name, `${cases} x ${repeats}`, days, ...[alarms, ...found].map((n) => share(n, runs))]
    }),
  )
  table(
    'A configuration that does not change, run on so many days: a false word on the page, and a fall of 15, 30 and 50 points found on the next day.',
    ['rates', 'cases x repeats', 'days', 'false word', '15 found', '30 found', '50 found'],
    rows.toSorted((x, y) => Number(y[3]) - Number(x[3])),
  )
}

const PARTS = { expectedRuns, overTime }

/** All tables. */
export const full = (runs = 300): void => runAll(PARTS, runs)

if (process.argv[1] === import.meta.filename) runParts(PARTS)
