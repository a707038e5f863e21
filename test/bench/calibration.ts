/**
 * Do the intervals hold what they promise? Simulated runs whose true rates are known, judged by the functions people call.
 *
 * `npx tsx test/bench/calibration.ts [runs per cell]` prints the tables of README.md (4,000 runs: some minutes);
 * test/stats/calibration.test.ts runs a small part of it.
 *
 * The model: a case's true rate is drawn from a beta distribution with the wanted mean and an intraclass correlation of
 * 0.4 (tau-bench's tables give .40 to .53). Each configuration moves it by its own normal deviation (the interaction of case
 * and configuration) and it is cut to [0, 1]. Both distributions are laid out as equally likely points, so that the true
 * mean is a plain sum and not itself an estimate.
 */
import {
  betaQuantile,
  compare,
  newcombe,
  normalQuantile,
  plan,
  type Rng,
  rate,
  rng,
  type Target,
  wilson,
} from '../../lib/stats/index.ts'

export type Setting = {
  cases: number
  repeats: number
  mean: number
  interaction: number
  icc?: number
}

/** Shares of simulated runs, each in [0, 1]. */
export type Calibration = Setting & {
  runs: number
  /** One configuration: the interval holds the true mean. */
  covered: { default: number; t: number; pooled: number }
  /** Two configurations without a true difference: a difference is announced. */
  alarms: { verdict: number; t: number; pooled: number }
}

const POINTS = 1024
const STEPS = 128
const cut = (x: number) => Math.min(1, Math.max(0, x))
const deviations = Array.from({ length: STEPS }, (_, i) => normalQuantile((i + 0.5) / STEPS))

/** The cases' true rates, equally likely. */
function ratesOf({ mean, icc = 0.4 }: Setting): number[] {
  const weight = 1 / icc - 1
  return Array.from({ length: POINTS }, (_, i) =>
    betaQuantile((i + 0.5) / POINTS, mean * weight, (1 - mean) * weight),
  )
}

/** Mean over all cases there could be, after the interaction and the cut. */
function truthOf(rates: number[], interaction: number, shift = 0): number {
  let sum = 0
  for (const p of rates) for (const z of deviations) sum += cut(p + shift + interaction * z)
  return sum / (rates.length * STEPS)
}

const pick = (items: number[], random: Rng) => items[Math.floor(random() * items.length)] as number
const trialsOf = (p: number, n: number, random: Rng) =>
  Array.from({ length: n }, () => (random() < p ? 1 : 0))
const total = (cases: number[][]) =>
  cases.reduce((sum, trials) => sum + trials.reduce((x, y) => x + y, 0), 0)

/** Simulate one setting. */
export function calibrate(setting: Setting, runs: number, seed: string): Calibration {
  const { cases, repeats, interaction } = setting
  const rates = ratesOf(setting)
  const truth = truthOf(rates, interaction)
  const random = rng(seed)
  const covered = { default: 0, t: 0, pooled: 0 }
  const alarms = { verdict: 0, t: 0, pooled: 0 }
  const holds = ({ low, high }: { low: number; high: number }) =>
    low <= truth && truth <= high ? 1 : 0
  for (let run = 0; run < runs; run++) {
    const pairs = Array.from({ length: cases }, () => {
      const p = pick(rates, random)
      const side = () => trialsOf(cut(p + interaction * pick(deviations, random)), repeats, random)
      return { a: side(), b: side() }
    })
    const a = pairs.map((pair) => pair.a)
    const [passedA, passedB] = [total(a), total(pairs.map((pair) => pair.b))]
    covered.default += holds(rate(a))
    covered.t += holds(rate(a, { method: 't' }))
    covered.pooled += holds(wilson(passedA, cases * repeats))
    const found = compare(pairs)
    if (found.verdict !== 'cannot tell') alarms.verdict++
    if (found.p.t <= 0.05) alarms.t++
    const loose = newcombe({
      a: passedA,
      aTrials: cases * repeats,
      b: passedB,
      bTrials: cases * repeats,
    })
    if (loose.low > 0 || loose.high < 0) alarms.pooled++
  }
  for (const counts of [covered, alarms] as Record<string, number>[])
    for (const name in counts) counts[name]! /= runs
  return { ...setting, runs, covered, alarms }
}

/** Share of runs that find the difference that a plan says is found where every case moves: should be 0.8. */
export function found(
  cases: number,
  repeats: number,
  interaction: number,
  runs: number,
  seed: string,
): { difference: number; found: number } {
  // Rates in the middle, so that the shift is not cut off: the plan's variances are then the true ones.
  const centers = Array.from({ length: POINTS }, (_, i) => 0.35 + (0.3 * (i + 0.5)) / POINTS)
  const within = centers.reduce((sum, p) => sum + p * (1 - p), 0) / POINTS
  const between = (2 * interaction ** 2 * deviations.reduce((sum, z) => sum + z * z, 0)) / STEPS
  const spread = { rate: 0.5, between, within: within - between / 2 }
  const { difference } = plan({ cases, repeats, ...spread }).ways.evenly
  const random = rng(seed)
  let hits = 0
  for (let run = 0; run < runs; run++) {
    const pairs = Array.from({ length: cases }, () => {
      const p = pick(centers, random)
      const side = (shift: number) =>
        trialsOf(cut(p + shift + interaction * pick(deviations, random)), repeats, random)
      return { a: side(-difference / 2), b: side(difference / 2) }
    })
    if (compare(pairs).verdict === 'better') hits++
  }
  return { difference, found: hits / runs }
}

/** The difference on one fixed set of cases: is it covered, and are alarms rare, when only the trials are drawn anew? */
export function fixedCases(
  setting: Setting,
  target: Target,
  runs: number,
  seed: string,
): { covered: number; alarms: number } {
  const random = rng(seed)
  const rates = ratesOf(setting)
  let covered = 0
  let alarms = 0
  for (let run = 0; run < runs; run++) {
    const fixed = Array.from({ length: setting.cases }, () => {
      const p = pick(rates, random)
      return [0, 1].map(() => cut(p + setting.interaction * pick(deviations, random)))
    }) as [number, number][]
    const truth = fixed.reduce((sum, [a, b]) => sum + b - a, 0) / fixed.length
    const moved = compare(
      fixed.map(([a, b]) => ({
        a: trialsOf(a, setting.repeats, random),
        b: trialsOf(b, setting.repeats, random),
      })),
      { target },
    )
    if (moved.low <= truth && truth <= moved.high) covered++
    const same = compare(
      fixed.map(([a]) => ({
        a: trialsOf(a, setting.repeats, random),
        b: trialsOf(a, setting.repeats, random),
      })),
      { target },
    )
    if (same.verdict !== 'cannot tell') alarms++
  }
  return { covered: covered / runs, alarms: alarms / runs }
}

export const GRID = {
  cases: [8, 12, 20, 50],
  repeats: [3, 5, 10],
  means: [0.5, 0.9],
  interactions: [0, 0.15, 0.25],
}

/** Where the default interval was found weakest when looking outside the grid. */
const WEAK = [
  { icc: 0.4, cases: 9, repeats: 10 },
  { icc: 0.4, cases: 10, repeats: 10 },
  { icc: 0.5, cases: 9, repeats: 10 },
  { icc: 0.5, cases: 14, repeats: 10 },
  { icc: 0.5, cases: 16, repeats: 10 },
]

const three = (values: number[]) => values.map((x) => x.toFixed(3).replace(/^0/, '')).join(' ')

/** The tables of README.md. */
export function full(runs = 4000): void {
  const all: Calibration[] = []
  const lines = [
    '| mean | interaction | cases | default covers | t covers | pooled covers | verdict alarms | t alarms | pooled alarms |',
    '|---|---|---|---|---|---|---|---|---|',
  ]
  for (const mean of GRID.means) {
    for (const interaction of GRID.interactions) {
      for (const cases of GRID.cases) {
        const row = GRID.repeats.map((repeats) => {
          const setting = { cases, repeats, mean, interaction }
          return calibrate(setting, runs, JSON.stringify(setting))
        })
        all.push(...row)
        const cells = [
          row.map((r) => r.covered.default),
          row.map((r) => r.covered.t),
          row.map((r) => r.covered.pooled),
          row.map((r) => r.alarms.verdict),
          row.map((r) => r.alarms.t),
          row.map((r) => r.alarms.pooled),
        ]
        lines.push(`| ${mean} | ${interaction} | ${cases} | ${cells.map(three).join(' | ')} |`)
      }
    }
  }
  const range = (values: number[]) =>
    three([Math.min(...values), Math.max(...values)]).replace(' ', ' to ')
  for (const mean of GRID.means) {
    const at = all.filter((r) => r.mean === mean)
    lines.push(
      `mean ${mean}: default covers ${range(at.map((r) => r.covered.default))}, t ${range(at.map((r) => r.covered.t))}, pooled ${range(at.map((r) => r.covered.pooled))}`,
    )
    lines.push(
      `mean ${mean}: verdict alarms ${range(at.map((r) => r.alarms.verdict))}, t ${range(at.map((r) => r.alarms.t))}, pooled ${range(at.map((r) => r.alarms.pooled))}`,
    )
  }
  lines.push(
    '',
    '| cases | repeats | interaction | smallest detectable | found |',
    '|---|---|---|---|---|',
  )
  for (const [cases, repeats, interaction] of [
    [8, 5, 0],
    [12, 5, 0.1],
    [20, 3, 0.1],
    [20, 5, 0],
    [20, 5, 0.1],
    [50, 5, 0.1],
  ] as const) {
    const seen = found(
      cases,
      repeats,
      interaction,
      runs,
      `found ${cases} ${repeats} ${interaction}`,
    )
    lines.push(
      `| ${cases} | ${repeats} | ${interaction} | ${seen.difference.toFixed(3)} | ${seen.found.toFixed(3)} |`,
    )
  }
  lines.push(
    '',
    '| mean | interaction | cases | "these" covers | alarms | "like these" covers | alarms |',
    '|---|---|---|---|---|---|---|',
  )
  for (const mean of GRID.means) {
    for (const interaction of [0, 0.25]) {
      for (const cases of [8, 20]) {
        const setting = { mean, interaction, cases, repeats: 5 }
        const of = (target: Target) =>
          fixedCases(setting, target, runs, `fixed ${JSON.stringify(setting)}`)
        const [these, like] = [of('these'), of('like these')]
        lines.push(
          `| ${mean} | ${interaction} | ${cases} | ${three([these.covered])} | ${three([these.alarms])} | ${three([like.covered])} | ${three([like.alarms])} |`,
        )
      }
    }
  }
  lines.push('', '| mean | icc | cases | repeats | default covers |', '|---|---|---|---|---|')
  for (const setting of WEAK) {
    const { covered } = calibrate(
      { ...setting, mean: 0.9, interaction: 0 },
      runs,
      `weak ${JSON.stringify(setting)}`,
    )
    lines.push(
      `| 0.9 | ${setting.icc} | ${setting.cases} | ${setting.repeats} | ${three([covered.default])} |`,
    )
  }
  console.log(lines.join('\n'))
}

if (process.argv[1] === import.meta.filename) full(Number(process.argv[2] ?? 4000))
