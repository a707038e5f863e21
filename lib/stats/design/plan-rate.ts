/**
 * One rate against a line: how likely a run of some size shows that the line is held, if the true
 * rate is what it is hoped to be, and how much would be enough.
 */
import { endBeyond } from '../bounded.ts'
import { inside, optionsOf, share, whole, word } from '../domain.ts'
import type { Target } from '../families.ts'
import { type Rng, rng as seeded } from '../random.ts'
import { sameCases } from '../same-cases.ts'
import { type Cost, type CostOptions, costInText, costOf, costsOf, trialsFor } from './cost.ts'
import {
  binomialDraw,
  type Chance,
  chanceOf,
  chanceText,
  leastSize,
  RUNS,
  SEARCH_RUNS,
  scoresBy,
  WAYS,
  type Way,
  worse,
} from './simulate.ts'

export type RatePlanOptions = CostOptions & {
  line: number
  rate: number
  cases: number
  repeats: number
  side?: 'at least' | 'at most'
  target?: Target
  families?: number
  held?: 'interval' | 'estimate'
  level?: number
  power?: number
  runs?: number
}

/** How likely a run shows on which side of a line a rate lies. */
export type RatePlan = {
  line: number
  rate: number
  side: 'at least' | 'at most'
  target: Target
  held: 'interval' | 'estimate'
  level: number
  power: number
  cases: number
  families: number
  repeats: number
  /** Trials of one configuration. */
  trials: number
  /** Chances of the two sure answers, the worse of both ways; the rest is undecided. */
  met: Chance
  missed: Chance
  /** The chance of the answer that is right, for each way. */
  ways: { [way in Way]: Chance }
  /**
   * The fewest repeats (target `these`) or cases (`like these`) with which the right answer comes
   * with the power that is asked for, and its trials; NaN where no number up to a limit is enough.
   */
  needed: number
  neededTrials: number
  /** The chance with so many; null where no number is enough. */
  neededRight: Chance | null
  /** What the planned and the needed trials take; without members where it is not known. */
  cost: Cost
  neededCost: Cost
  /** The repeats or cases that the budget pays for, and the chance with them; null without one. */
  affordable: { size: number; trials: number; right: Chance } | null
  text: string
}

const MOST = { these: 1000, 'like these': 2000 } as const

/**
 * How likely a run of some size shows that a rate holds a line (or misses it), if it is truly so
 * high: simulated, with the interval that `rate` and gates use.
 *
 * A rate can be what it is in two ways: every case has it (`evenly`), or some cases always fail
 * and the others always pass (`wholly`). Both are simulated, and the worse is given.
 *
 * @param options.line      the line, in [0, 1]
 * @param options.rate      the true rate that is supposed, in [0, 1]: for `these` that of exactly
 *   these cases, for `like these` the mean over all there could be
 * @param options.cases     whole, >= 1; at least 2 for `like these`
 * @param options.repeats   trials of each case, whole, >= 1
 * @param options.side      `at least` (default): the rate should lie at or above the line; `at
 *   most`: at or below
 * @param options.target    `these` (default) or `like these`
 * @param options.families  families that the cases make, for `like these`: a family falls as a
 *   whole. Default: each case is one
 * @param options.held      `interval` (default): the cautious end is held against the line;
 *   `estimate`: the rate itself
 * @param options.level     confidence in (0, 1), default 0.95
 * @param options.power     the chance that is wanted, in (0, 1), default 0.8
 * @param options.perTrial, options.budget  `{ usd, minutes }` of one trial, and at most
 * @param options.runs      simulated runs, whole, 100 to 100,000; default 1,000
 * @throws                  `argument_invalid` when a number is outside its domain
 * @see                     stated chances against simulated worlds: test/bench/README.md; the exact
 *   ones for one case: fixtures/stats/plan-rate.json
 * @example
 * const p = planRate({ line: 0.9, rate: 0.98, cases: 8, repeats: 5 })
 * p.met.share // 0.434
 * p.needed // 11
 */
export function planRate(options: RatePlanOptions): RatePlan {
  optionsOf(options, [
    'line',
    'rate',
    'cases',
    'repeats',
    'side',
    'target',
    'families',
    'held',
    'level',
    'power',
    'runs',
    'perTrial',
    'budget',
  ])
  const line = share(options.line, 'options.line')
  const rate = share(options.rate, 'options.rate')
  const target = word(options.target ?? 'these', ['these', 'like these'] as const, 'options.target')
  const side = word(options.side ?? 'at least', ['at least', 'at most'] as const, 'options.side')
  const held = word(options.held ?? 'interval', ['interval', 'estimate'] as const, 'options.held')
  const cases = whole(options.cases, target === 'these' ? 1 : 2, 100_000, 'options.cases')
  const repeats = whole(options.repeats, 1, 100_000, 'options.repeats')
  const families = whole(options.families ?? cases, 1, cases, 'options.families')
  const level = inside(options.level ?? 0.95, 'options.level')
  const power = inside(options.power ?? 0.8, 'options.power')
  const runs = whole(options.runs ?? RUNS, 100, 100_000, 'options.runs')
  const costs = costsOf(options)
  // What should lie below a line is the mirror of what should lie above one.
  const up = side === 'at least'
  const world = {
    line: up ? line : 1 - line,
    rate: up ? rate : 1 - rate,
    target,
    held,
    level,
    runs,
  }
  const perFamily = cases / families
  const ends = (cases: number, repeats: number, runs: number) =>
    answers({
      ...world,
      runs,
      cases,
      repeats,
      families: Math.max(1, Math.round(cases / perFamily)),
    })
  const now = ends(cases, repeats, runs)
  const rightly = world.rate >= world.line ? 'met' : 'missed'
  const bySize = (size: number, of = runs) =>
    target === 'these' ? ends(cases, size, of) : ends(size, repeats, of)
  const right = ({ evenly, wholly }: ReturnType<typeof answers>) =>
    worse(evenly[rightly], wholly[rightly])
  const possible = rate !== line || held === 'estimate'
  const enough = (size: number) =>
    (target === 'these' || size > 1) &&
    right(bySize(size, Math.min(runs, SEARCH_RUNS))).share >= power
  const needed = possible ? leastSize(enough, MOST[target]) : Number.NaN
  const trialsOf = (size: number) => size * (target === 'these' ? cases : repeats)
  const paid = trialsFor(costs)
  const size = Math.floor(paid / (target === 'these' ? cases : repeats))
  const result: RatePlan = {
    line,
    rate,
    side,
    target,
    held,
    level,
    power,
    cases,
    families,
    repeats,
    trials: cases * repeats,
    met: worse(now.evenly.met, now.wholly.met),
    missed: worse(now.evenly.missed, now.wholly.missed),
    ways: { evenly: now.evenly[rightly], wholly: now.wholly[rightly] },
    needed,
    neededTrials: trialsOf(needed),
    neededRight: Number.isNaN(needed) ? null : right(bySize(needed)),
    cost: costOf(cases * repeats, costs.perTrial),
    neededCost: Number.isNaN(needed) ? {} : costOf(trialsOf(needed), costs.perTrial),
    affordable:
      Number.isNaN(paid) || size < 1 || (target === 'like these' && size < 2)
        ? null
        : { size, trials: trialsOf(size), right: right(bySize(Math.min(size, 100_000))) },
    text: '',
  }
  result.text = textOf(result, rightly, paid)
  return result
}

type World = {
  line: number
  rate: number
  target: Target
  held: 'interval' | 'estimate'
  level: number
  runs: number
  cases: number
  families: number
  repeats: number
}

/** How often a run of this size says that a rate is at or above its line, and that it is below. */
function answers(world: World): { [way in Way]: { met: Chance; missed: Chance } } {
  const { cases, repeats, runs } = world
  const one = (way: Way) => {
    const random = seeded(`plan-rate ${way}`)
    const known = new Map<string, Said>()
    const scored = scoresBy(repeats)
    const said = { met: 0, missed: 0, open: 0 }
    const counts = new Uint32Array(cases)
    for (let run = 0; run < runs; run++) {
      draw(counts, way, world, random)
      const key = keyOf(counts, world)
      let answer = known.get(key)
      if (answer === undefined) known.set(key, (answer = answerTo(counts, world, scored)))
      said[answer]++
    }
    return { met: chanceOf(said.met, runs), missed: chanceOf(said.missed, runs) }
  }
  return Object.fromEntries(WAYS.map((way) => [way, one(way)])) as ReturnType<typeof answers>
}

/** Passes of each case in one run. Cases of a family stand beside each other. */
function draw(
  counts: Uint32Array,
  way: Way,
  { cases, families, repeats, rate, target }: World,
  random: Rng,
): void {
  const passing = cases * rate
  let family = -1
  let passes = false
  for (let i = 0; i < cases; i++) {
    const own = Math.floor((i * families) / cases)
    if (target === 'like these' && own !== family) passes = random() < rate
    family = own
    let p = rate
    // Of these cases so many pass that their mean is the rate; one of them passes at times.
    if (way === 'wholly')
      p = target === 'these' ? Math.min(1, Math.max(0, passing - i)) : passes ? 1 : 0
    counts[i] = binomialDraw(random(), repeats, p)
  }
}

/** What an answer depends on: not on the order of the cases, but for families. */
function keyOf(counts: Uint32Array, { cases, families }: World): string {
  return (families === cases ? counts.toSorted() : counts).join()
}

type Said = 'met' | 'missed' | 'open'

function answerTo(
  counts: Uint32Array,
  world: World,
  scored: (passes: number) => readonly number[],
): Said {
  const { cases, families, repeats, line, level, target, held } = world
  const total = counts.reduce((sum, passes) => sum + passes, 0)
  const mean = total / (cases * repeats)
  if (held === 'estimate') return mean >= line - 1e-12 ? 'met' : 'missed'
  if (target === 'these') {
    const { low, high } = sameCases(Array.from(counts, scored), level)
    return low >= line ? 'met' : high < line ? 'missed' : 'open'
  }
  const sums = new Float64Array(families)
  const sizes = new Uint32Array(families)
  for (let i = 0; i < cases; i++) {
    const family = Math.floor((i * families) / cases)
    sums[family] = (sums[family] as number) + (counts[i] as number) / repeats
    sizes[family] = (sizes[family] as number) + 1
  }
  const values = Array.from(sums, (sum, f) => sum / (sizes[f] as number))
  const options = { weights: [...sizes], level }
  if (mean >= line) return endBeyond(values, line, 'low', options) ? 'met' : 'open'
  return endBeyond(values, line, 'high', options) ? 'missed' : 'open'
}

const percent = (x: number) => `${Number((x * 100).toFixed(1))}%`

function textOf(plan: RatePlan, rightly: 'met' | 'missed', paid: number): string {
  const { cases, repeats, families, line, rate, side, target, held, power, needed } = plan
  const where = target === 'these' ? 'these cases, run again' : 'other cases like these'
  const kin = families < cases ? ` of ${families} families` : ''
  const end =
    held === 'estimate' ? 'the rate' : side === 'at least' ? 'the lower end' : 'the upper end'
  const { evenly, wholly } = plan.ways
  const way = wholly.share < evenly.share ? 'wholly in few cases' : 'evenly in all cases'
  const said =
    rightly === 'met'
      ? `${end} holds ${side} ${percent(line)}`
      : `it is shown that the rate is not ${side} ${percent(line)}`
  const what = target === 'these' ? 'repeats' : 'cases'
  const lines = [
    `${cases} cases${kin} x ${repeats} repeats, ${where}: if the true rate is ${percent(rate)}, ${said} in ${chanceText(plan[rightly])}; failures ${way} are the worse way.`,
    Number.isNaN(needed)
      ? rate === line
        ? 'At the line itself no number of trials decides.'
        : `No number of ${what} up to ${MOST[target]} makes that ${percent(power)}.`
      : `${needed} ${what} make that ${chanceText(plan.neededRight as Chance)}: ${plan.neededTrials} trials of each configuration${costInText(plan.neededCost)}.`,
  ]
  if (plan.affordable)
    lines.push(
      `The budget pays for ${plan.affordable.size} ${what}: ${chanceText(plan.affordable.right)}.`,
    )
  else if (!Number.isNaN(paid)) lines.push(`The budget pays for too few ${what}.`)
  return lines.join(' ')
}
