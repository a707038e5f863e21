/**
 * Where more is asked than one rate and one comparison: families of cases, trials that are lost where it hurts or share a state,
 * reliability, times and costs. `npx tsx test/bench/questions.ts [runs per cell]` prints the tables of README.md.
 */
import {
  betaQuantile,
  compare,
  compareMedians,
  compareReliability,
  iccInterval,
  meanOver,
  normalQuantile,
  type Pair,
  quantileOver,
  type Rng,
  rate,
  rng,
} from '../../lib/stats/index.ts'

export const trials = (p: number, n: number, random: Rng) =>
  Array.from({ length: n }, () => (random() < p ? 1 : 0))
export const decided = ({ verdict }: { verdict: string }) =>
  verdict === 'better' || verdict === 'worse'
const normal = (random: Rng) => normalQuantile(Math.min(1 - 1e-12, Math.max(1e-12, random())))
const logistic = (x: number) => 1 / (1 + Math.exp(-x))
export const average = (values: readonly number[]) =>
  values.reduce((x, y) => x + y, 0) / values.length
const points = Array.from({ length: 100 }, (_, i) => (i + 0.5) / 100)
export const share = (count: number, runs: number) => (count / runs).toFixed(3)

export function table(title: string, head: string[], rows: (string | number)[][]): void {
  console.log(
    [
      `\n${title}\n`,
      `| ${head.join(' | ')} |`,
      `|${'---|'.repeat(head.length)}`,
      ...rows.map((row) => `| ${row.join(' | ')} |`),
    ].join('\n'),
  )
}

/** Each configuration moves whole families; equal on average. */
function families(runs: number): void {
  const rows = [
    [10, 5],
    [20, 4],
    [43, 2],
  ].map(([count = 0, variants = 0]) => {
    const random = rng(`families ${count}`)
    let [alarms, ignored, covered, coveredIgnored] = [0, 0, 0, 0]
    const truth = average(
      Array.from({ length: 400 }, (_, i) =>
        logistic(1 + normalQuantile((i + 0.5) / 400) * Math.SQRT2),
      ),
    )
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: count }, (_, family): Pair[] => {
        const base = 1 + normal(random)
        const [a, b] = [base + normal(random), base + normal(random)]
        return Array.from({ length: variants }, () => ({
          family: `f${family}`,
          a: trials(logistic(a), 5, random),
          b: trials(logistic(b), 5, random),
        }))
      }).flat()
      const alone = pairs.map(({ a, b }) => ({ a, b }))
      if (decided(compare(pairs))) alarms++
      if (decided(compare(alone))) ignored++
      const scores = pairs.map(({ b }) => [...b])
      const holds = ({ low, high }: { low: number; high: number }) => low <= truth && truth <= high
      if (holds(rate(scores, { families: pairs.map((pair) => pair.family) }))) covered++
      if (holds(rate(scores))) coveredIgnored++
    }
    return [
      `${count} x ${variants}`,
      share(alarms, runs),
      share(ignored, runs),
      share(covered, runs),
      share(coveredIgnored, runs),
    ]
  })
  table(
    'Families of variants that each configuration moves as a whole, equal on average: false verdicts about other cases, and how often the rate is covered.',
    [
      'families x variants',
      'alarms',
      'alarms, families ignored',
      'covers',
      'covers, families ignored',
    ],
    rows,
  )
}

/** Equal ability, and half of b's failures end as errors of the machinery. */
function lost(runs: number): void {
  const rows = (['these', 'like these'] as const).map((target) => {
    const random = rng(`lost ${target}`)
    let [said, silent] = [0, 0]
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: 20 }, () => {
        const p = 0.4 + 0.4 * random()
        const b = trials(p, 10, random)
        const kept = b.filter((score) => score === 1 || random() < 0.5)
        return { a: trials(p, 10, random), b: kept, lost: { a: 0, b: b.length - kept.length } }
      })
      if (decided(compare(pairs, { target }))) said++
      if (
        decided(
          compare(
            pairs.map(({ a, b }) => ({ a, b })),
            { target },
          ),
        )
      )
        silent++
    }
    return [target, share(said, runs), share(silent, runs)]
  })
  table(
    'Equal ability, half of b’s failures lost to errors, 20 cases x 10: verdicts.',
    ['target', 'with the bounds', 'without'],
    rows,
  )
}

/** pass^k and medians: coverage of the difference. */
function others(runs: number): void {
  const rows: (string | number)[][] = []
  for (const [cases, n, k] of [
    [4, 5, 3],
    [20, 5, 5],
    [50, 10, 5],
    [20, 20, 5],
  ] as const) {
    const random = rng(`pass^k ${cases} ${n}`)
    let covered = 0
    for (let run = 0; run < runs; run++) {
      const rates = Array.from({ length: cases }, () =>
        [0, 1].map(() => (random() < 0.2 ? 0.5 : 0.98)),
      )
      const pairs = rates.map(([a = 0, b = 0]) => ({
        a: trials(a, n, random),
        b: trials(b, n, random),
      }))
      const truth = average(rates.map(([a = 0, b = 0]) => b ** k - a ** k))
      const { low, high } = compareReliability(pairs, k, { target: 'these' })
      if (low <= truth && truth <= high) covered++
    }
    rows.push([`pass^${k}, run again`, `${cases} x ${n}`, share(covered, runs)])
  }
  for (const cases of [2, 5, 20, 83]) {
    const random = rng(`medians ${cases}`)
    let covered = 0
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: cases }, () => {
        const center = 0.5 * normal(random)
        const side = () => Array.from({ length: 5 }, () => Math.exp(center + 0.5 * normal(random)))
        return { a: side(), b: side() }
      })
      const { low, high } = compareMedians(pairs)
      if (low <= 0 && 0 <= high) covered++
    }
    rows.push(['medians, other cases', `${cases} x 5`, share(covered, runs)])
  }
  table('Coverage of other differences.', ['difference', 'cases x repeats', 'covers'], rows)
}

/** Trials of a case that share a state in each run, so that they rise and fall together: what repeats are then worth. */
function sharedStates(runs: number): void {
  const rows = [0, 0.5, 1].flatMap((deviation) =>
    [5, 20].map((repeats) => {
      const random = rng(`shared ${deviation} ${repeats}`)
      let [again, other, alarms, alarmsOther] = [0, 0, 0, 0]
      const spread = points.map((u) => 0.85 + normalQuantile(u))
      // What a case passes on average over all its states.
      const rateOf = (base: number) =>
        average(points.map((u) => logistic(base + deviation * normalQuantile(u))))
      const truth = average(spread.map(rateOf))
      for (let run = 0; run < runs; run++) {
        const bases = Array.from({ length: 20 }, () => 0.85 + normal(random))
        const side = (base: number) =>
          trials(logistic(base + deviation * normal(random)), repeats, random)
        const pairs = bases.map((base) => ({ a: side(base), b: side(base) }))
        const scores = pairs.map(({ b }) => b)
        const holds = (target: 'these' | 'like these', wanted: number) => {
          const { low, high } = rate(scores, { target })
          return low <= wanted && wanted <= high
        }
        if (holds('these', average(bases.map(rateOf)))) again++
        if (holds('like these', truth)) other++
        if (decided(compare(pairs, { target: 'these' }))) alarms++
        if (decided(compare(pairs))) alarmsOther++
      }
      return [
        deviation,
        `20 x ${repeats}`,
        ...[again, alarms, other, alarmsOther].map((n) => share(n, runs)),
      ]
    }),
  )
  table(
    'Trials of a case share a state (logit sd): two that are the same on average.',
    [
      'state',
      'cases x repeats',
      'run again covers',
      'run again: false verdicts',
      'other cases covers',
      'other cases: false verdicts',
    ],
    rows,
  )
}

/** Means and quantiles of times and costs: skewed, five trials of each case. */
function measures(runs: number): void {
  const worlds = {
    'log-normal, sd 0.5': {
      draw: (random: Rng) => Math.exp(0.5 * normal(random)),
      at: (z: number) => 0.5 * z,
    },
    'log-normal, sd 1': { draw: (random: Rng) => Math.exp(normal(random)), at: (z: number) => z },
  }
  const rows = Object.entries(worlds).flatMap(([name, { draw, at }]) =>
    [3, 5, 8, 20, 50].map((cases) => {
      const random = rng(`measures ${name} ${cases}`)
      const deviation = at(1)
      const held = { mean: 0, p50: 0, p95: 0, known: 0 }
      for (let run = 0; run < runs; run++) {
        const times = Array.from({ length: cases }, () => {
          const center = draw(random)
          return Array.from({ length: 5 }, () => center * Math.exp(0.3 * normal(random)))
        })
        const holds = ({ low, high }: { low: number; high: number }, wanted: number) =>
          low <= wanted && wanted <= high
        const spread = Math.hypot(deviation, 0.3)
        if (holds(meanOver(times), Math.exp(spread ** 2 / 2))) held.mean++
        if (holds(quantileOver(times, 0.5), 1)) held.p50++
        const p95 = quantileOver(times, 0.95)
        if (holds(p95, Math.exp(spread * normalQuantile(0.95)))) held.p95++
        if (Number.isFinite(p95.high)) held.known++
      }
      return [name, `${cases} x 5`, ...Object.values(held).map((n) => share(n, runs))]
    }),
  )
  table(
    'Times and costs: how often the mean, the median and the 95th percentile are covered, and how often the upper end of the last is known.',
    ['cases differ', 'cases x repeats', 'mean', 'median', 'p95', 'p95 has an upper end'],
    rows,
  )
}

/** Print the parts that the command line names, or all. */
export function runParts(parts: { [name: string]: (runs: number) => void }): void {
  const wanted = process.argv.slice(3)
  const chosen = Object.entries(parts).filter(
    ([name]) => wanted.length === 0 || wanted.includes(name),
  )
  runAll(Object.fromEntries(chosen), Number(process.argv[2] ?? 500))
}

/** Print all of some parts. */
export function runAll(parts: { [name: string]: (runs: number) => void }, runs: number): void {
  console.log(`${runs} runs per cell.`)
  for (const part of Object.values(parts)) part(runs)
}

/** A fall of just the margin, half of the later run's failures lost: how often it is called as hoped. */
function lostOverMargin(runs: number): void {
  const margin = 0.1
  const rows = (
    [
      [20, 5, 0.9],
      [20, 10, 0.9],
      [50, 10, 0.9],
      [20, 20, 0.95],
    ] as const
  ).map(([cases, repeats, before]) => {
    const random = rng(`margin ${cases} ${repeats} ${before}`)
    const said = { held: 0, estimate: 0, silent: 0, whole: 0 }
    for (let run = 0; run < runs; run++) {
      const all = Array.from({ length: cases }, () => ({
        a: trials(before, repeats, random),
        b: trials(before - margin, repeats, random),
      }))
      const pairs = all.map(({ a, b }) => {
        const kept = b.filter((score) => score === 1 || random() < 0.5)
        return { a, b: kept, lost: { a: 0, b: b.length - kept.length } }
      })
      const { low, bounds } = compare(pairs, { target: 'these' })
      const silent = low >= -margin
      if (silent) said.silent++
      if (silent && (bounds?.worst ?? 0) >= -margin) said.estimate++
      if (silent && (bounds?.low ?? 0) >= -margin) said.held++
      if (compare(all, { target: 'these' }).low >= -margin) said.whole++
    }
    return [
      `${before}, then ${Number((before - margin).toFixed(2))}`,
      `${cases} x ${repeats}`,
      ...Object.values(said).map((n) => share(n, runs)),
    ]
  })
  table(
    'A fall of just the margin of 10 points, half of the later run’s failures lost, run again: called as hoped.',
    [
      'rate',
      'cases x repeats',
      'as it is: with the worst case’s interval',
      'with its estimate',
      'without bounds',
      'nothing lost',
    ],
    rows,
  )
}

/** The share of the spread between cases: how often its interval holds it. */
function correlations(runs: number): void {
  const beta = (mean: number, icc: number) => {
    const weight = 1 / icc - 1
    return (random: Rng) => betaQuantile(random(), mean * weight, (1 - mean) * weight)
  }
  const broken = (share: number, good: number) => (random: Rng) => (random() < share ? 0 : good)
  const iccOf = (share: number, good: number) => {
    const mean = (1 - share) * good
    return 1 - (mean * (1 - good)) / (mean * (1 - mean))
  }
  const worlds: [string, (random: Rng) => number, number][] = [
    ...[
      [0.5, 0.05],
      [0.5, 0.4],
      [0.9, 0.4],
      [0.98, 0.4],
    ].map(([mean = 0, icc = 0]): [string, (random: Rng) => number, number] => [
      `smooth, mean ${mean}, icc ${icc}`,
      beta(mean, icc),
      icc,
    ]),
    ['a tenth of the cases broken, 0.9 elsewhere', broken(0.1, 0.9), iccOf(0.1, 0.9)],
    ['a twentieth broken, 0.995 elsewhere', broken(0.05, 0.995), iccOf(0.05, 0.995)],
    ['all .5', () => 0.5, 0],
    ['half 1, half 0', (random) => (random() < 0.5 ? 1 : 0), 1],
  ]
  const cells = worlds.flatMap(([world, draw, icc]) =>
    [
      [3, 5],
      [8, 5],
      [20, 5],
      [20, 20],
      [83, 5],
    ].map(([cases = 0, repeats = 0]) => {
      const random = rng(`icc ${world} ${cases} ${repeats}`)
      let [covered, width] = [0, 0]
      for (let run = 0; run < runs; run++) {
        const { low, high } = iccInterval(
          Array.from({ length: cases }, () => trials(draw(random), repeats, random)),
        )
        if (low <= icc + 1e-9 && icc <= high + 1e-9) covered++
        width += (high - low) / runs
      }
      return { world, size: `${cases} x ${repeats}`, covered, width }
    }),
  )
  const worst = cells.sort((x, y) => x.covered - y.covered || y.width - x.width)
  table(
    `The share of the spread that lies between cases (ICC): ${cells.length} cells, the worst 12 first.`,
    ['world', 'cases x repeats', 'covered', 'mean width'],
    worst
      .slice(0, 12)
      .map(({ world, size, covered, width }) => [
        world,
        size,
        share(covered, runs),
        width.toFixed(2),
      ]),
  )
}

const PARTS = { families, lost, lostOverMargin, sharedStates, others, measures, correlations }

/** All tables. */
export const full = (runs = 500): void => runAll(PARTS, runs)

if (process.argv[1] === import.meta.filename) runParts(PARTS)
