/**
 * One rate against a line: how likely a run of some size shows that the line is held, if the true
 * rate is what it is hoped to be, and how much would be enough.
 */
import { endBeyond } from '../bounded.ts'
import { optionsOf, share, whole, word } from '../domain.ts'
import type { Target } from '../families.ts'
import { type Rng, rng as seeded } from '../random.ts'
import { sameCases } from '../same-cases.ts'
import type { Cost } from './cost.ts'
import {
  binomialDraw,
  type Chance,
  chanceOf,
  chanceText,
  scoresBy,
  WAYS,
  type Way,
  worse,
} from './simulate.ts'
import { percent, SIZE_OPTIONS, type Size, type SizeOptions, sizeOf, sizeOptions } from './size.ts'

export type RatePlanOptions = SizeOptions & {
  line: number
  side?: 'at least' | 'at most'
  families?: number
  held?: 'interval' | 'estimate'
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
  optionsOf(options, [...SIZE_OPTIONS, 'line', 'side', 'families', 'held'])
  const line = share(options.line, 'options.line')
  const sized = sizeOptions(options)
  const { rate, target, level, power, cases, repeats, runs } = sized
  const side = word(options.side ?? 'at least', ['at least', 'at most'] as const, 'options.side')
  const held = word(options.held ?? 'interval', ['interval', 'estimate'] as const, 'options.held')
  const families = whole(options.families ?? cases, 1, cases, 'options.families')
  // What should lie below a line is the mirror of what should lie above one.
  const up = side === 'at least'
  const world = { line: up ? line : 1 - line, rate: up ? rate : 1 - rate, target, held, level }
  const perFamily = cases / families
  const ends = (cases: number, repeats: number, runs: number) => {
    const families = Math.max(1, Math.round(cases / perFamily))
    return answers({ ...world, runs, cases, repeats, families })
  }
  const now = ends(cases, repeats, runs)
  const rightly = world.rate >= world.line ? 'met' : 'missed'
  const right = ({ evenly, wholly }: ReturnType<typeof answers>) =>
    worse(evenly[rightly], wholly[rightly])
  const never =
    rate !== line || held === 'estimate' ? null : 'At the line itself no number of trials decides.'
  const { neededChance, affordable, text, ...size } = sizeOf(
    sized,
    (...of) => right(ends(...of)),
    never,
  )
  const plan = {
    ...{ line, rate, side, target, held, level, power, cases, families, repeats },
    met: worse(now.evenly.met, now.wholly.met),
    missed: worse(now.evenly.missed, now.wholly.missed),
    ways: { evenly: now.evenly[rightly], wholly: now.wholly[rightly] },
    ...size,
    neededRight: neededChance,
    affordable: affordable && {
      size: affordable.size,
      trials: affordable.trials,
      right: affordable.chance,
    },
  }
  return { ...plan, text: textOf(plan, rightly, text) }
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

function textOf(
  plan: Omit<RatePlan, 'text'>,
  rightly: 'met' | 'missed',
  { needed, budget }: Size['text'],
): string {
  const { cases, repeats, families, line, rate, side, target, held } = plan
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
  return [
    `${cases} cases${kin} x ${repeats} repeats, ${where}: if the true rate is ${percent(rate)}, ${said} in ${chanceText(plan[rightly])}; failures ${way} are the worse way.`,
    needed,
    ...budget,
  ].join(' ')
}
