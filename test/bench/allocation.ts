/**
 * Where the next trial pays: repeats of the cases that vary most (Neyman), against the same number for each. What it saves, what it
 * breaks, and what holds. `npx tsx test/bench/allocation.ts [runs per cell]` prints the tables of README.md.
 */
import {
  clopperPearson,
  compare,
  lookAt,
  looks,
  type Rng,
  rng,
  sameCases,
} from '../../lib/stats/index.ts'

const trials = (p: number, n: number, random: Rng) =>
  Array.from({ length: n }, () => (random() < p ? 1 : 0))
const sum = (values: readonly number[]) => values.reduce((x, y) => x + y, 0)
const mean = (values: readonly number[]) => sum(values) / values.length

/** True rates of twenty cases. */
const WORLDS: { [name: string]: number[] } = {
  'half flicker': Array.from({ length: 20 }, (_, i) => (i < 10 ? 0.5 : 0.98)),
  'all at .9': Array.from({ length: 20 }, () => 0.9),
  'spread from .6 to 1': Array.from({ length: 20 }, (_, i) => 0.6 + (0.4 * i) / 19),
}

/** Standard deviation of a trial, as if one more had passed and one more had failed. */
const deviation = (scores: readonly number[]) => {
  const p = (sum(scores) + 1) / (scores.length + 2)
  return Math.sqrt(p * (1 - p))
}

/** Shares of some trials among cases, by their deviations; whole numbers, each at least `least`. */
function neyman(deviations: readonly number[], total: number, least: number): number[] {
  const room = total - least * deviations.length
  const all = sum(deviations)
  const exact = deviations.map((one) => (room * one) / all)
  const whole = exact.map(Math.floor)
  const order = exact
    .map((one, i) => [one - (whole[i] as number), i] as const)
    .sort((x, y) => y[0] - x[0])
  for (let left = room - sum(whole), k = 0; left > 0; left--, k++) whole[order[k]?.[1] as number]!++
  return whole.map((n) => n + least)
}

const FIRST = 5
const EACH = 20

type Design = (rates: readonly number[], random: Rng) => number[][]

const DESIGNS: { [name: string]: Design } = {
  'the same for each': (rates, random) => rates.map((p) => trials(p, EACH, random)),
  'by the first 5, all trials count': (rates, random) => {
    const scores = rates.map((p) => trials(p, FIRST, random))
    const more = neyman(scores.map(deviation), (EACH - FIRST) * rates.length, 0)
    return scores.map((own, i) => [
      ...own,
      ...trials(rates[i] as number, more[i] as number, random),
    ])
  },
  'at every look, all trials count': (rates, random) => {
    const scores = rates.map((p) => trials(p, FIRST, random))
    let before = FIRST
    for (const at of lookAt(FIRST, EACH).slice(1)) {
      const more = neyman(scores.map(deviation), (at - before) * rates.length, 0)
      for (const [i, own] of scores.entries())
        own.push(...trials(rates[i] as number, more[i] as number, random))
      before = at
    }
    return scores
  },
  'by the first 5, which then do not count': (rates, random) => {
    const pilot = rates.map((p) => trials(p, FIRST, random))
    const more = neyman(pilot.map(deviation), (EACH - FIRST) * rates.length, 3)
    return rates.map((p, i) => trials(p, more[i] as number, random))
  },
}

function rates(runs: number): void {
  console.log(
    '\n**The rate of twenty cases, run again, 400 trials in all.**\n\n| rates | repeats | bias, points | covered, with its 95 % interval | mean width |\n|---|---|---|---|---|',
  )
  for (const [world, truths] of Object.entries(WORLDS)) {
    for (const [design, draw] of Object.entries(DESIGNS)) {
      const random = rng(`allocation ${world} ${design}`)
      const truth = mean(truths)
      let [covered, bias, width] = [0, 0, 0]
      for (let run = 0; run < runs; run++) {
        const scores = draw(truths, random)
        const { low, high } = sameCases(scores)
        if (low <= truth && truth <= high) covered++
        bias += (mean(scores.map(mean)) - truth) / runs
        width += (high - low) / runs
      }
      const ends = clopperPearson(covered, runs)
      console.log(
        `| ${world} | ${design} | ${(100 * bias).toFixed(2)} | ${(covered / runs).toFixed(3)} [${ends.low.toFixed(3)}, ${ends.high.toFixed(3)}] | ${width.toFixed(3)} |`,
      )
    }
  }
}

/** Two that are the same, looked at until a verdict, with repeats added where both together vary most. */
function verdicts(runs: number): void {
  console.log(
    '\n**Two that are the same (and b 8 points lower), repeats added at looks of 5, 8, 12, 18, 20 until a verdict, run again.**\n\n| rates | repeats | false verdicts | covered | found, 8 points lower | trials to the end |\n|---|---|---|---|---|---|',
  )
  const at = lookAt(FIRST, EACH)
  const levels = looks(at.map((n) => n / EACH))
  for (const [world, truths] of Object.entries(WORLDS)) {
    for (const adaptive of [false, true]) {
      const figures = [0, 0.08].map((fall) => {
        const random = rng(`verdicts ${world} ${adaptive} ${fall}`)
        let [decided, covered, spent] = [0, 0, 0]
        for (let run = 0; run < runs; run++) {
          const pairs = truths.map((p) => ({
            a: trials(p, FIRST, random),
            b: trials(p - fall, FIRST, random),
          }))
          let before = FIRST
          for (const [look, repeats] of at.entries()) {
            if (look > 0) {
              const more = adaptive
                ? neyman(
                    pairs.map(({ a, b }) => Math.hypot(deviation(a), deviation(b))),
                    (repeats - before) * pairs.length,
                    0,
                  )
                : pairs.map(() => repeats - before)
              for (const [i, { a, b }] of pairs.entries()) {
                const p = truths[i] as number
                a.push(...trials(p, more[i] as number, random))
                b.push(...trials(p - fall, more[i] as number, random))
              }
              before = repeats
            }
            const found = compare(pairs, { target: 'these', level: levels[look] as number })
            const over = found.verdict !== 'cannot tell'
            if (over || look === at.length - 1) {
              if (over) decided++
              if (found.low <= -fall && -fall <= found.high) covered++
              spent += sum(pairs.map(({ a, b }) => a.length + b.length)) / runs
              break
            }
          }
        }
        return { decided: decided / runs, covered: covered / runs, spent }
      })
      const [same, lower] = figures
      console.log(
        `| ${world} | ${adaptive ? 'where they vary most' : 'the same for each'} | ${same?.decided.toFixed(3)} | ${same?.covered.toFixed(3)} | ${lower?.decided.toFixed(3)} | ${lower?.spent.toFixed(0)} |`,
      )
    }
  }
}

/** Both tables. */
export function full(runs = 1000): void {
  rates(runs)
  verdicts(runs)
}

if (process.argv[1] === import.meta.filename) full(Number(process.argv[2] ?? 1000))
