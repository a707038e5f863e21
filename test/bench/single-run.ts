/**
 * These cases run again: how often the intervals hold, for one fixed set of cases at a time; how often a single run lands where
 * `singleRun` says; and what `wrongWinner` says of two single runs against what is true.
 * `npx tsx test/bench/single-run.ts [runs per cell]` prints the tables of README.md.
 */
import {
  rng,
  sameCases,
  sameCasesDifference,
  singleRun,
  wrongWinner,
} from '../../lib/stats/index.ts'
import { average, runAll, runParts, share, table, trials } from './questions.ts'

/** The true rates of the cases. */
const RATES: [string, (i: number, cases: number) => number][] = [
  ['all .5', () => 0.5],
  ['all .9', () => 0.9],
  ['all .98', () => 0.98],
  ['all .995', () => 0.995],
  ['half 1, half .5', (i) => (i % 2 ? 1 : 0.5)],
  ['one .5, the others 1', (i) => (i === 0 ? 0.5 : 1)],
  ['half .9, half .1', (i) => (i % 2 ? 0.9 : 0.1)],
  ['a tenth .5, the others 0', (i) => (i % 10 === 0 ? 0.5 : 0)],
  ['even from 0 to 1', (i, cases) => (i + 0.5) / cases],
  ['a quarter .05, the others 1', (i) => (i % 4 === 0 ? 0.05 : 1)],
]

/** For each fixed set of rates on its own: on average over sets that were drawn, as in coverage.ts, one could hide another. */
function fixedCases(runs: number): void {
  const cells = RATES.flatMap(([name, rateOf]) =>
    [1, 3, 8, 20, 50].flatMap((cases) =>
      [1, 2, 3, 5, 10, 20].map((repeats) => {
        const random = rng(`fixed ${name} ${cases} ${repeats}`)
        const rates = Array.from({ length: cases }, (_, i) => rateOf(i, cases))
        const truth = average(rates)
        let [rate, difference] = [0, 0]
        for (let run = 0; run < runs; run++) {
          const [a, b] = [0, 1].map(() => rates.map((p) => trials(p, repeats, random))) as [
            number[][],
            number[][],
          ]
          const one = sameCases(a)
          if (one.low <= truth + 1e-9 && truth <= one.high + 1e-9) rate++
          const two = sameCasesDifference(a.map((side, i) => ({ a: side, b: b[i] as number[] })))
          if (two.low <= 1e-9 && two.high >= -1e-9) difference++
        }
        return { name, size: `${cases} x ${repeats}`, rate, difference }
      }),
    ),
  )
  const worst = (of: 'rate' | 'difference') =>
    cells
      .toSorted((x, y) => x[of] - y[of])
      .slice(0, 5)
      .map((cell) => [of, cell.name, cell.size, share(cell[of], runs)])
  table(
    `Run again, on cases whose rates are fixed: ${cells.length} cells, the worst 5 of each first.`,
    ['interval of the', 'rates', 'cases x repeats', 'covered'],
    [...worst('rate'), ...worst('difference')],
  )
}

function landings(runs: number): void {
  const cells = RATES.flatMap(([name, rateOf]) =>
    [3, 8, 20, 50].flatMap((cases) =>
      [2, 3, 5, 10, 20].map((repeats) => {
        const random = rng(`single ${name} ${cases} ${repeats}`)
        const rates = Array.from({ length: cases }, (_, i) => rateOf(i, cases))
        let [held, width] = [0, 0]
        for (let run = 0; run < runs; run++) {
          const { low, high } = singleRun(rates.map((p) => trials(p, repeats, random)))
          const next = average(rates.flatMap((p) => trials(p, 1, random)))
          if (low <= next + 1e-9 && next <= high + 1e-9) held++
          width += (high - low) / runs
        }
        return { name, size: `${cases} x ${repeats}`, held, width }
      }),
    ),
  )
  table(
    `A single run of these cases lands where it is said to, "19 times in 20": ${cells.length} cells, the worst 8 first.`,
    ['rates', 'cases x repeats', 'lands there', 'mean width'],
    cells
      .sort((x, y) => x.held - y.held)
      .slice(0, 8)
      .map(({ name, size, held, width }) => [name, size, share(held, runs), width.toFixed(3)]),
  )
}

function winners(runs: number): void {
  const rows = (
    [
      [0.9, 0.98],
      [0.98, 0.995],
      [0.97, 1],
      [0.5, 0.6],
    ] as const
  ).flatMap(([a, b]) =>
    (
      [
        [8, 5],
        [20, 5],
        [20, 20],
      ] as const
    ).map(([cases, repeats]) => {
      const random = rng(`winner ${a} ${b} ${cases} ${repeats}`)
      const said: number[] = []
      let wrong = 0
      for (let run = 0; run < runs; run++) {
        const pairs = Array.from({ length: cases }, () => ({
          a: trials(a, repeats, random),
          b: trials(b, repeats, random),
        }))
        const found = wrongWinner(pairs).wrong
        if (Number.isFinite(found)) said.push(found)
        const single = (p: number) =>
          average(Array.from({ length: cases }, () => trials(p, 1, random)).flat())
        for (let more = 0; more < 10; more++) if (single(a) > single(b)) wrong++
      }
      return [
        `${a} and ${b}`,
        `${cases} x ${repeats}`,
        share(wrong, 10 * runs),
        average(said).toFixed(3),
        share(said.filter((one) => one < 5e-6).length, said.length),
      ]
    }),
  )
  table(
    'Two single runs in the wrong order: how often they are, what is said of it on average, and how often "never" is said.',
    ['rates', 'cases x repeats', 'true', 'said', 'said never'],
    rows,
  )
}

const PARTS = { fixedCases, landings, winners }

/** All tables. */
export const full = (runs = 500): void => runAll(PARTS, runs)

if (process.argv[1] === import.meta.filename) runParts(PARTS)
