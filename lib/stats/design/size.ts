/**
 * The size of a plan: repeats of these cases, or cases like these. What is planned, how much is
 * needed for the power that is wanted, and how much a budget pays for.
 */
import { inside, share, whole, word } from '../domain.ts'
import type { Target } from '../families.ts'
import { type Cost, type CostOptions, costInText, costOf, costsOf, trialsFor } from './cost.ts'
import { type Chance, chanceText, leastSize, RUNS, SEARCH_RUNS } from './simulate.ts'

export type SizeOptions = CostOptions & {
  rate: number
  cases: number
  repeats: number
  target?: Target
  level?: number
  power?: number
  runs?: number
}

/** The names of `SizeOptions`. */
export const SIZE_OPTIONS = [
  ...(['rate', 'cases', 'repeats', 'target'] as const),
  ...(['level', 'power', 'runs', 'perTrial', 'budget'] as const),
] as const

const MOST = { these: 1000, 'like these': 2000 } as const

/** Check the options that every plan takes; fill in defaults. @throws `argument_invalid` */
export function sizeOptions(options: SizeOptions) {
  const target = word(options.target ?? 'these', ['these', 'like these'] as const, 'options.target')
  return {
    rate: share(options.rate, 'options.rate'),
    target,
    cases: whole(options.cases, target === 'these' ? 1 : 2, 100_000, 'options.cases'),
    repeats: whole(options.repeats, 1, 100_000, 'options.repeats'),
    level: inside(options.level ?? 0.95, 'options.level'),
    power: inside(options.power ?? 0.8, 'options.power'),
    runs: whole(options.runs ?? RUNS, 100, 100_000, 'options.runs'),
    costs: costsOf(options),
  }
}

export type Size = {
  /** Trials of one configuration. */
  trials: number
  needed: number
  neededTrials: number
  cost: Cost
  neededCost: Cost
  /** The chance with what is needed; null where no number is enough. */
  neededChance: Chance | null
  affordable: { size: number; trials: number; chance: Chance } | null
  /** What the needed size and the budget come to, in words. */
  text: { needed: string; budget: string[] }
}

/**
 * What a plan needs and what its budget pays for.
 *
 * @param chance   the chance with so many repeats of so many cases, in so many simulated runs
 * @param never    why no size is enough; null where one may be
 */
export function sizeOf(
  { target, cases, repeats, power, runs, costs }: ReturnType<typeof sizeOptions>,
  chance: (cases: number, repeats: number, runs: number) => Chance,
  never: string | null,
): Size {
  const [what, least, per] =
    target === 'these' ? (['repeats', 1, cases] as const) : (['cases', 2, repeats] as const)
  const bySize = (size: number, of = runs) =>
    target === 'these' ? chance(cases, size, of) : chance(size, repeats, of)
  const enough = (size: number) =>
    size >= least && bySize(size, Math.min(runs, SEARCH_RUNS)).share >= power
  const needed = never === null ? leastSize(enough, MOST[target]) : Number.NaN
  const neededChance = Number.isNaN(needed) ? null : bySize(needed)
  const neededTrials = needed * per
  const neededCost = neededChance ? costOf(neededTrials, costs.perTrial) : {}
  const paid = trialsFor(costs)
  const size = Math.floor(paid / per)
  const affordable =
    size >= least ? { size, trials: size * per, chance: bySize(Math.min(size, 100_000)) } : null
  return {
    trials: cases * repeats,
    needed,
    neededTrials,
    cost: costOf(cases * repeats, costs.perTrial),
    neededCost,
    neededChance,
    affordable,
    text: {
      needed: neededChance
        ? `${needed} ${what} make that ${chanceText(neededChance)}: ${neededTrials} trials of each configuration${costInText(neededCost)}.`
        : (never ?? `No number of ${what} up to ${MOST[target]} makes that ${percent(power)}.`),
      budget: affordable
        ? [`The budget pays for ${size} ${what}: ${chanceText(affordable.chance)}.`]
        : Number.isNaN(paid)
          ? []
          : [`The budget pays for too few ${what}.`],
    },
  }
}

/** A share in percent, with one decimal where it has one. */
export const percent = (x: number) => `${Number((x * 100).toFixed(1))}%`
