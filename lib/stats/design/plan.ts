/**
 * How many cases and repeats a comparison needs: what a planned run could see, and what one more
 * case or repeat would buy.
 */
import { inside, optionsOf, positive, share, whole, word } from '../domain.ts'
import { fewestMoved } from '../exact.ts'
import { type Cost, type CostOptions, costInText, costOf, costsOf, trialsFor } from './cost.ts'
import { detectable } from './power.ts'
import {
  type Chance,
  chanceText,
  leastSize,
  RUNS,
  SEARCH_RUNS,
  WAYS,
  type Way,
  worse,
} from './simulate.ts'
import { foundIn, smallestFound } from './simulated-power.ts'
import { type PairWorld, pairsIn } from './worlds.ts'

export type PlanOptions = CostOptions & {
  cases: number
  repeats: number
  rate?: number
  between?: number
  betweenHigh?: number
  within?: number
  target?: 'like these' | 'these'
  level?: number
  power?: number
  difference?: number
  runs?: number
  /** As `pilot` may give it, so that a pilot can be planned from as it is. */
  reason?: string
}

/** What a run of some size could see, and what it costs: trials of both configurations. */
export type PlanStep = { cases: number; repeats: number; detectable: number; trials: number }

export type Plan = PlanStep & {
  target: 'like these' | 'these'
  level: number
  power: number
  rate: number
  between: number
  within: number
  /** True where `between` or `within` was not given and a typical value stands in. */
  assumed: boolean
  /**
   * The smallest difference that is found with this power, by the way in which it comes, and how
   * often that one was found in simulated runs. `detectable` is the larger.
   */
  ways: { [way in Way]: { difference: number; found: Chance } }
  /** `detectable` with `betweenHigh` in the place of `between`; NaN where that was not given. */
  detectableAtMost: number
  /** What one more case, and one more trial of every case, would make of it: by formula. */
  oneMoreCase: PlanStep
  oneMoreRepeat: PlanStep
  /** Which of the two lowers the smallest detectable difference more per trial spent. */
  cheaper: 'case' | 'repeat'
  /**
   * Cases needed to see `difference` with these repeats, either way it comes; NaN when not asked,
   * or beyond a million.
   */
  casesNeeded: number
  /** How often `difference` is found, the worse of both ways; null when not asked. */
  found: Chance | null
  /** What the planned trials take; empty where it is not known. */
  cost: Cost
  /** The repeats that the budget pays for, and what they could see; null without one. */
  affordable: PlanStep | null
  reason?: string
  text: string
}

/**
 * What a comparison of two configurations over some cases and repeats could see: the smallest true
 * difference that its verdict finds with some power.
 *
 * Simulated with the verdict's own rule, for both ways in which a difference can come: every case
 * a little (`evenly`), or some cases for good (`wholly`). The larger is given. Beyond 300 cases
 * the spread of simulated differences stands in for the test. What one more case or repeat buys is
 * the same formula's ratio.
 *
 * @param options.cases       whole, >= 1
 * @param options.repeats     trials per case and configuration, >= 1; rounded where not whole
 * @param options.rate        mean rate of the better one, in [0, 1]; default: that of cases which
 *   are all alike and vary `within`. Below one half the mirror is simulated: a rise
 * @param options.between     variance over cases of the true difference, in [0, 1], apart from the
 *   difference that is looked for; default 0.02
 * @param options.betweenHigh the most that it may be, for `detectableAtMost`; default none
 * @param options.within      variance of one trial around its case's mean, in [0, 1]; default 0.1;
 *   these four from `pilot`
 * @param options.target      `like these` (default) or `these`
 * @param options.level       confidence in (0, 1), default 0.95
 * @param options.power       in (0, 1), default 0.8
 * @param options.difference  a difference in (0, 1] that matters: asks for `casesNeeded`, `found`
 * @param options.perTrial, options.budget  `{ usd, minutes }` of one trial, and at most
 * @param options.runs        simulated runs, whole, 100 to 100,000; default 1,000
 * @throws                    `argument_invalid` when a number is outside its domain
 * @see                       Miller 2024 (arXiv 2411.00640), the section on power; stated against
 *   simulated power: test/bench/README.md
 * @example
 * const p = plan({ cases: 20, repeats: 5, difference: 0.2 })
 * p.detectable // 0.29117
 * p.ways.evenly.difference // 0.19298
 * p.casesNeeded // 35
 */
export function plan(options: PlanOptions): Plan {
  optionsOf(options, [
    'cases',
    'repeats',
    'rate',
    'between',
    'betweenHigh',
    'within',
    'reason',
    'target',
    'level',
    'power',
    'difference',
    'runs',
    'perTrial',
    'budget',
  ])
  const target = word(
    options.target ?? 'like these',
    ['like these', 'these'] as const,
    'options.target',
  )
  const cases = whole(options.cases, 1, Number.MAX_SAFE_INTEGER, 'options.cases')
  const { repeats } = options
  if (!(Number.isFinite(repeats) && repeats >= 1))
    whole(repeats, 1, Number.MAX_SAFE_INTEGER, 'options.repeats')
  const between = share(options.between ?? 0.02, 'options.between')
  const within = share(options.within ?? 0.1, 'options.within')
  const alike = 0.5 + Math.sqrt(Math.max(0, 0.25 - within - (target === 'these' ? 0 : between / 2)))
  const rate = share(options.rate ?? alike, 'options.rate')
  if (options.betweenHigh !== undefined) share(options.betweenHigh, 'options.betweenHigh')
  const level = inside(options.level ?? 0.95, 'options.level')
  const power = inside(options.power ?? 0.8, 'options.power')
  const runs = whole(options.runs ?? RUNS, 100, 100_000, 'options.runs')
  const { difference } = options
  if (difference !== undefined)
    share(positive(difference, 'options.difference'), 'options.difference')
  const costs = costsOf(options)
  const search = Math.min(runs, SEARCH_RUNS)
  const asked = { level, power, runs, search }
  const worldOf = (way: Way, cases: number, spread = between) => {
    const whole = Math.max(1, Math.round(repeats))
    // A rise of a low rate is the mirror of a fall of a high one.
    const high = Math.max(rate, 1 - rate)
    return {
      way,
      target,
      cases,
      repeats: [whole, whole],
      rate: high,
      within,
      between: spread,
    } as const
  }
  const smallest = (spread: number) =>
    Object.fromEntries(
      WAYS.map((way) => {
        const { fall, found } = smallestFound(worldOf(way, cases, spread), asked)
        return [way, { difference: fall, found }]
      }),
    ) as Plan['ways']
  const larger = ({ evenly, wholly }: Plan['ways']) => {
    const [x, y] = [evenly.difference, wholly.difference]
    return Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : Math.max(x, y)
  }
  const ways = smallest(between)
  const here = larger(ways)
  // The formula knows nothing of the two ways, but what one more of anything changes.
  const formula = (cases: number, repeats: number) =>
    byFormula({ cases, repeats, between, within, target, level, power })
  const step = (m: number, k: number): PlanStep => {
    const ratio = m === cases && k === repeats ? 1 : formula(m, k) / formula(cases, repeats)
    const trials = Math.round(2 * m * k)
    return { cases: m, repeats: k, detectable: Math.min(1, here * ratio), trials }
  }
  const now = step(cases, repeats)
  const [oneMoreCase, oneMoreRepeat] = [step(cases + 1, repeats), step(cases, repeats + 1)]
  const gain = (more: PlanStep) => (now.detectable - more.detectable) / (more.trials - now.trials)
  /** How often the difference is found with so many cases, the worse of both ways. */
  const foundWith = (size: number, wanted: number, runs: number): Chance => {
    const [x, y] = WAYS.map((way) => foundAt(worldOf(way, size), wanted, { level, runs }))
    return worse(x as Chance, y as Chance)
  }
  const paid = trialsFor(costs)
  const repeatsPaid = Math.floor(paid / (2 * cases))
  const result: Plan = {
    ...now,
    target,
    level,
    power,
    rate,
    between,
    within,
    assumed: options.between === undefined || options.within === undefined,
    ways,
    detectableAtMost:
      options.betweenHigh === undefined || target === 'these'
        ? Number.NaN
        : larger(smallest(Math.max(between, options.betweenHigh))),
    oneMoreCase,
    oneMoreRepeat,
    cheaper: gain(oneMoreRepeat) > gain(oneMoreCase) ? 'repeat' : 'case',
    casesNeeded:
      difference === undefined
        ? Number.NaN
        : leastSize((n) => foundWith(n, difference, search).share >= power, 1_000_000),
    found: difference === undefined ? null : foundWith(cases, difference, runs),
    cost: costOf(now.trials, costs.perTrial),
    affordable: repeatsPaid >= 1 ? step(cases, repeatsPaid) : null,
    ...(Number.isNaN(here) && { reason: unseenBecause(cases, target, level) }),
    text: '',
  }
  result.text = planText(result, difference)
  return result
}

/** How often a fall of some size is found; never where there is not so much to lose. */
function foundAt(
  world: Omit<PairWorld, 'loss'>,
  difference: number,
  asked: { level: number; runs: number },
): Chance {
  // Rates that are cut at 0 and 1 have another mean than before.
  const all = -pairsIn({ ...world, cases: Math.min(world.cases, 1000), loss: 1 }).difference
  return foundIn({ ...world, loss: Math.min(1, difference / all) }, asked).found
}

/** The paired t test's smallest difference: for what one more case or repeat changes. */
function byFormula(o: {
  cases: number
  repeats: number
  between: number
  within: number
  target: Plan['target']
  level: number
  power: number
}): number {
  const like = o.target === 'like these'
  const error = Math.sqrt(((like ? o.between : 0) + (2 * o.within) / o.repeats) / o.cases)
  const df = like ? Math.max(1, o.cases - 1) : Math.max(1, 2 * o.cases * (o.repeats - 1))
  if (!(error > 0)) return 1 / o.cases
  return detectable({ error, df, level: o.level, power: o.power })
}

function unseenBecause(cases: number, target: Plan['target'], level: number): string {
  const fewest = fewestMoved(level)
  if (target === 'like these' && cases < fewest)
    return `with fewer than ${fewest} cases the sign-flip test cannot reach ${Number((1 - level).toPrecision(2))}`
  return 'not even the loss of everything is found so often, if it comes in this way'
}

const points = (value: number) => `${Number((value * 100).toFixed(1))} points`

function planText(p: Plan, difference: number | undefined): string {
  const often = `${Math.round(p.power * 100)}%`
  const size = `${p.cases} cases x ${Number(p.repeats.toFixed(1))} trials`
  const { evenly, wholly } = p.ways
  const way = ({ difference, found }: Plan['ways'][Way], comes: string) =>
    Number.isNaN(difference)
      ? `no difference ${comes} (that of everything in ${chanceText(found)})`
      : `${points(difference)} ${comes} (in ${chanceText(found)})`
  const lines = [
    `${size} find ${way(evenly, 'where every case moves a little')}, and ${way(wholly, 'where a few cases move wholly')}.`,
    Number.isNaN(p.detectable)
      ? `So nothing is sure to be seen: ${p.reason}.`
      : `Count on ${points(p.detectable)}${Number.isNaN(p.detectableAtMost) ? '' : `, or ${points(p.detectableAtMost)} if the cases differ as much as the pilot allows`}. One more case (${p.oneMoreCase.trials - p.trials} trials): ${points(p.oneMoreCase.detectable)}; one more trial of every case (${p.oneMoreRepeat.trials - p.trials} trials): ${points(p.oneMoreRepeat.detectable)}; per trial, another ${p.cheaper} buys more.`,
  ]
  if (difference !== undefined) {
    lines.push(
      `${points(difference)} are found in ${chanceText(p.found as Chance)}.`,
      Number.isNaN(p.casesNeeded)
        ? `No number of cases up to a million finds ${points(difference)} in ${often}.`
        : `${points(difference)} need ${p.casesNeeded} cases at this many trials.`,
    )
  }
  if (p.cost.usd !== undefined || p.affordable)
    lines.push(`These are ${p.trials} trials${costInText(p.cost)}.`)
  if (p.affordable)
    lines.push(
      `The budget pays for ${p.affordable.repeats} trials of every case: about ${points(p.affordable.detectable)}.`,
    )
  if (p.assumed)
    lines.push(
      `Assumed spread: between cases ${p.between}, within a case ${p.within}; a pilot run tells better.`,
    )
  return lines.join(' ')
}
