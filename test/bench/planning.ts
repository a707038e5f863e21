/**
 * Does what a plan states come true? Stated chances beside those of runs that are judged by the functions people call, in the two
 * ways that a plan simulates and in one between them. `npx tsx test/bench/planning.ts [runs per cell]` prints the table of README.md.
 */
import {
  betaQuantile,
  compare,
  plan,
  planMargin,
  planRate,
  type Rng,
  rate,
  rng,
  type Target,
} from '../../lib/stats/index.ts'

const trials = (p: number, n: number, random: Rng) =>
  Array.from({ length: n }, () => (random() < p ? 1 : 0))

/** Rates of cases whose mean is `mean`: all alike, always or never, or spread out with an intraclass correlation of 0.4. */
const SPREADS = {
  evenly: (mean: number) => () => mean,
  wholly: (mean: number) => (u: number) => (u < mean ? 1 : 0),
  between: (mean: number) => (u: number) =>
    mean >= 1
      ? 1
      : betaQuantile(Math.min(1 - 1e-9, Math.max(1e-9, u)), 1.5 * mean, 1.5 * (1 - mean)),
}
type Spread = keyof typeof SPREADS

/** Rates of the cases of one run: of these cases always the same, their mean about the one wanted; of others drawn anew. */
function ratesOf(spread: Spread, mean: number, cases: number, target: Target, random: Rng) {
  const of = SPREADS[spread](mean)
  return Array.from({ length: cases }, (_, i) =>
    of(target === 'these' ? 1 - (i + 0.5) / cases : random()),
  )
}

type Row = { what: string; stated: number; found: { [spread in Spread]?: number } }

function rateRow(
  cases: number,
  repeats: number,
  line: number,
  truth: number,
  target: Target,
  runs: number,
): Row {
  const found: Row['found'] = {}
  for (const spread of Object.keys(SPREADS) as Spread[]) {
    const random = rng(`planning ${cases} ${repeats} ${line} ${target} ${spread}`)
    let met = 0
    for (let run = 0; run < runs; run++) {
      const rates = ratesOf(spread, truth, cases, target, random)
      if (
        rate(
          rates.map((p) => trials(p, repeats, random)),
          { target },
        ).low >= line
      )
        met++
    }
    // Of few cases some cannot have that mean and always pass or never.
    if (spread !== 'wholly' || target !== 'these') found[spread] = met / runs
  }
  return {
    what: `rate ${truth}, line ${line}, ${cases} x ${repeats}, ${target}`,
    stated: planRate({ line, rate: truth, cases, repeats, target }).met.share,
    found,
  }
}

function marginRow(cases: number, repeats: number, truth: number, fall: number, runs: number): Row {
  const found: Row['found'] = {}
  for (const spread of ['evenly', 'between'] as const) {
    const random = rng(`planning margin ${cases} ${repeats} ${spread}`)
    let held = 0
    for (let run = 0; run < runs; run++) {
      const before = ratesOf(spread, truth, cases, 'these', random)
      const pairs = before.map((p) => ({
        a: trials(p, repeats, random),
        b: trials(p * (1 - fall / truth), repeats, random),
      }))
      if (compare(pairs, { target: 'these' }).low >= -0.1) held++
    }
    found[spread] = held / runs
  }
  return {
    what: `rate ${truth}, fall ${fall}, margin 0.1, ${cases} x ${repeats}, these`,
    stated: planMargin({ rate: truth, fall, cases, repeats }).holds.share,
    found,
  }
}

function planRows(cases: number, repeats: number, target: Target, runs: number): Row[] {
  const stated = plan({ cases, repeats, rate: 0.9, between: 0, within: 0.09, target })
  return (['evenly', 'wholly'] as const).map((way) => {
    const { difference, found } = stated.ways[way]
    const random = rng(`planning difference ${cases} ${repeats} ${target} ${way}`)
    const loss = difference / 0.9
    let hits = 0
    for (let run = 0; run < runs; run++) {
      const pairs = Array.from({ length: cases }, (_, i) => {
        const broken = target === 'these' ? i < Math.round(loss * cases) : random() < loss
        const b = way === 'evenly' ? 0.9 - difference : broken ? 0 : 0.9
        return { a: trials(0.9, repeats, random), b: trials(b, repeats, random) }
      })
      if (compare(pairs, { target }).verdict === 'worse') hits++
    }
    return {
      what: `${(100 * difference).toFixed(1)} points, ${way}, ${cases} x ${repeats}, ${target}`,
      stated: found.share,
      found: { [way]: hits / runs },
    }
  })
}

/** The tables of README.md. */
export function full(runs = 1000): void {
  const rows = [
    ...planRows(8, 5, 'like these', runs),
    ...planRows(20, 5, 'like these', runs),
    ...planRows(50, 3, 'like these', runs),
    ...planRows(20, 5, 'these', runs),
    rateRow(8, 10, 0.9, 0.98, 'these', runs),
    rateRow(20, 5, 0.9, 0.97, 'these', runs),
    rateRow(20, 5, 0.7, 0.9, 'like these', runs),
    rateRow(83, 5, 0.9, 0.97, 'like these', runs),
    marginRow(8, 20, 0.9, 0, runs),
    marginRow(20, 10, 0.95, 0.02, runs),
  ]
  const three = (value: number | undefined) => (value === undefined ? '' : value.toFixed(3))
  console.log(
    [
      '| planned | stated | evenly | wholly | between |',
      '|---|---|---|---|---|',
      ...rows.map(
        ({ what, stated, found }) =>
          `| ${what} | ${three(stated)} | ${three(found.evenly)} | ${three(found.wholly)} | ${three(found.between)} |`,
      ),
    ].join('\n'),
  )
}

if (process.argv[1] === import.meta.filename) full(Number(process.argv[2] ?? 1000))
