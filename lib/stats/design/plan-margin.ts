/**
 * No worse than before, by more than a margin (non-inferiority): how likely two runs of some size
 * show it, if nothing changed or only so much, and how much would be enough.
 */
import { endBeyond } from '../bounded.ts'
import { optionsOf, positive, share, whole } from '../domain.ts'
import type { Target } from '../families.ts'
import { rng as seeded } from '../random.ts'
import { lowestDifference } from '../same-cases.ts'
import type { Cost } from './cost.ts'
import { type Chance, chanceOf, chanceText, scoresBy, WAYS, type Way, worse } from './simulate.ts'
import { percent, SIZE_OPTIONS, type Size, type SizeOptions, sizeOf, sizeOptions } from './size.ts'
import { pairsIn } from './worlds.ts'

export type MarginPlanOptions = SizeOptions & {
  margin?: number
  fall?: number
  repeatsBefore?: number
  between?: number
}

/** How likely two runs show that one is no worse than the other by more than a margin. */
export type MarginPlan = {
  margin: number
  rate: number
  fall: number
  target: Target
  level: number
  power: number
  cases: number
  repeats: number
  /** Repeats of the earlier run; null where they are those of the later one. */
  repeatsBefore: number | null
  /** Trials of one configuration in the later run. */
  trials: number
  /** The chance that a fall by more than the margin is ruled out, the worse of both ways. */
  holds: Chance
  ways: { [way in Way]: Chance }
  /**
   * The fewest repeats (target `these`) or cases (`like these`) with which it is ruled out with the
   * power that is asked for; in both runs, but for repeats of an earlier one that is there already.
   * NaN where no number up to a limit is enough.
   */
  needed: number
  neededTrials: number
  /** The chance with so many; null where no number is enough. */
  neededHolds: Chance | null
  /** What the planned and the needed trials of the later run take; empty where it is not known. */
  cost: Cost
  neededCost: Cost
  /** The repeats or cases that the budget pays for, and the chance with them; null without one. */
  affordable: { size: number; trials: number; holds: Chance } | null
  text: string
}

/**
 * How likely a comparison of two runs of the same cases rules out a fall by more than a margin:
 * simulated, with the interval that `compare` and the baseline gate use.
 *
 * A fall can come in two ways: every case loses in proportion (`evenly`), or some cases fail for
 * good (`wholly`). Both are simulated, and the worse is given.
 *
 * @param options.margin   the largest fall that is taken, in (0, 1]; default 0.1
 * @param options.rate     the true share of good outcomes before, in (0, 1]
 * @param options.fall     how much of it is lost truly, in [0, rate]; default 0: nothing changed
 * @param options.cases    whole, >= 1; at least 2 for `like these`
 * @param options.repeats  trials of each case in each run, whole, >= 1
 * @param options.repeatsBefore  those of the earlier run, where it is there already and stays as it
 *   is; default: as many as in the later one
 * @param options.target   `these` (default) or `like these`
 * @param options.between  for `like these`: variance over cases of the true difference, in [0, 1];
 *   default 0.02
 * @param options.level    confidence in (0, 1), default 0.95
 * @param options.power    the chance that is wanted, in (0, 1), default 0.8
 * @param options.perTrial, options.budget  `{ usd, minutes }` of one trial, and of one run at most
 * @param options.runs     simulated runs, whole, 100 to 100,000; default 1,000
 * @throws                 `argument_invalid` when a number is outside its domain
 * @see                    Piaggio et al. 2012 (CONSORT, non-inferiority); the exact chances for one
 *   repeat: fixtures/stats/plan-margin.json
 * @example
 * const p = planMargin({ rate: 0.9, cases: 8, repeats: 5 })
 * p.holds.share // 0.249
 * p.needed // 22
 */
export function planMargin(options: MarginPlanOptions): MarginPlan {
  optionsOf(options, [...SIZE_OPTIONS, 'margin', 'fall', 'repeatsBefore', 'between'])
  const margin = share(positive(options.margin ?? 0.1, 'options.margin'), 'options.margin')
  positive(options.rate, 'options.rate')
  const sized = sizeOptions(options)
  const { rate, target, level, power, cases, repeats, runs } = sized
  const fall = share(options.fall ?? 0, 'options.fall')
  share(rate - fall, 'options.rate - options.fall')
  const before = options.repeatsBefore
  if (before !== undefined) whole(before, 1, 100_000, 'options.repeatsBefore')
  const between = share(options.between ?? 0.02, 'options.between')
  const world = { target, rate, within: rate * (1 - rate), between, loss: fall / rate }
  const waysOf = (cases: number, repeats: number, runs: number) => {
    const one = (way: Way) =>
      ruledOut(
        { ...world, way, cases, repeats: [before ?? repeats, repeats] },
        { margin, level, runs },
      )
    return Object.fromEntries(WAYS.map((way) => [way, one(way)])) as MarginPlan['ways']
  }
  const worst = ({ evenly, wholly }: MarginPlan['ways']) => worse(evenly, wholly)
  const ways = waysOf(cases, repeats, runs)
  const never =
    fall < margin ? null : 'The fall is not smaller than the margin, so it should not be ruled out.'
  const { neededChance, affordable, text, ...size } = sizeOf(
    sized,
    (...of) => worst(waysOf(...of)),
    never,
  )
  const plan = {
    ...{ margin, rate, fall, target, level, power, cases, repeats },
    repeatsBefore: before ?? null,
    holds: worst(ways),
    ways,
    ...size,
    neededHolds: neededChance,
    affordable: affordable && {
      size: affordable.size,
      trials: affordable.trials,
      holds: affordable.chance,
    },
  }
  return { ...plan, text: textOf(plan, text) }
}

/** How often a fall by more than the margin is ruled out in runs of one world. */
function ruledOut(
  world: Parameters<typeof pairsIn>[0],
  { margin, level, runs }: { margin: number; level: number; runs: number },
): Chance {
  const { cases, repeats, target } = world
  const { draw } = pairsIn(world)
  const random = seeded(`plan-margin ${world.way}`)
  const [a, b] = [new Uint32Array(cases), new Uint32Array(cases)]
  const [scoredA, scoredB] = [scoresBy(repeats[0]), scoresBy(repeats[1])]
  let hits = 0
  for (let run = 0; run < runs; run++) {
    draw(random, a, b)
    if (target === 'these') {
      const low = lowestDifference(Array.from(a, scoredA), Array.from(b, scoredB), level)
      if (Math.max(-1, low) >= -margin) hits++
    } else {
      const differences = Array.from(
        a,
        (passes, i) => (b[i] as number) / repeats[1] - passes / repeats[0],
      )
      if (endBeyond(differences, -margin, 'low', { range: [-1, 1], level })) hits++
    }
  }
  return chanceOf(hits, runs)
}

const points = (x: number) => `${Number((x * 100).toFixed(1))} points`

function textOf(plan: Omit<MarginPlan, 'text'>, { needed, budget }: Size['text']): string {
  const { cases, repeats, margin, rate, fall, target, ways } = plan
  const before = plan.repeatsBefore
  const where = target === 'these' ? 'run again' : 'other cases'
  const truth =
    fall === 0
      ? `if the true rate is ${percent(rate)} in both`
      : `if ${points(fall)} of ${percent(rate)} are lost`
  const way =
    fall === 0 || ways.wholly.share === ways.evenly.share
      ? ''
      : `, ${ways.wholly.share < ways.evenly.share ? 'as a few cases fail for good' : 'as every case loses a little'} (the worse way)`
  return [
    `${cases} cases x ${repeats} repeats ${before === null ? 'in both runs' : `after a run of ${before}`}, ${where}: ${truth}${way}, a fall by more than ${points(margin)} is ruled out in ${chanceText(plan.holds)}.`,
    needed,
    ...budget,
  ].join(' ')
}
