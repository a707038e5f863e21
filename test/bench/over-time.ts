/**
 * One configuration run on many days: how often a run is called worse or better although nothing changed, and how often a fall is
 * found. `npx tsx test/bench/over-time.ts [runs per cell]` prints the table of README.md. The rule is that of `harness.history`: a
 * run is held against those before it that are not worse, and against their noise.
 */
import {
  nextRun,
  normalQuantile,
  type Rng,
  type RunMean,
  rng,
  runMean,
  runNoise,
} from '../../lib/stats/index.ts'
import { runAll, runParts, share, table, trials } from './questions.ts'

const cut = (p: number) => Math.min(1, Math.max(0, p))
const FALL = 0.15
const DAYS = [2, 5, 10, 20]

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
function page(means: readonly RunMean[]): ('worse' | 'better' | 'as before')[] {
  const level = 1 - 0.05 / Math.max(1, means.length - 1)
  const is: ('worse' | 'better' | 'as before')[] = []
  for (const [i, now] of means.entries()) {
    const before = means.slice(0, i).filter((_, j) => j === 0 || is[j - 1] !== 'worse')
    if (i === 0) continue
    const { low, high } = nextRun(before, now, { noise: runNoise([before]), level })
    is.push(now.mean < low ? 'worse' : now.mean > high ? 'better' : 'as before')
  }
  return is
}

function overTime(runs: number): void {
  const rows = WORLDS.flatMap(([name, cases, repeats, draw, day]) =>
    DAYS.map((days) => {
      const random = rng(`over time ${name} ${days}`)
      let [alarms, ever, found] = [0, 0, 0]
      for (let run = 0; run < runs; run++) {
        const rates = Array.from({ length: cases }, () => draw(random))
        const one = (fall: number) => {
          const moved = day * normalQuantile(Math.max(1e-12, random())) - fall
          return runMean(rates.map((p) => trials(cut(p + moved), repeats, random)))
        }
        const means = Array.from({ length: days }, () => one(0))
        const pages = means.map((_, last) => page(means.slice(0, last + 1)))
        const isFalse = (is: string[]) => is.some((word) => word !== 'as before')
        if (isFalse(pages.at(-1) ?? [])) alarms++
        if (pages.some(isFalse)) ever++
        if (page([...means, one(FALL)]).at(-1) === 'worse') found++
      }
      return [
        name,
        `${cases} x ${repeats}`,
        days,
        ...[alarms, ever, found].map((n) => share(n, runs)),
      ]
    }),
  )
  table(
    'A configuration that does not change, run on so many days: a false word on the last page, on any page so far, and a fall of 15 points found on the next day.',
    ['rates', 'cases x repeats', 'days', 'last page', 'any page so far', 'fall found'],
    rows,
  )
}

const PARTS = { overTime }

/** All tables. */
export const full = (runs = 500): void => runAll(PARTS, runs)

if (process.argv[1] === import.meta.filename) runParts(PARTS)
