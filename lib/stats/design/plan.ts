/**
 * How many cases and repeats a comparison needs: what a planned run could see, and what one more
 * case or repeat would buy.
 */

import {
  inside,
  optionsOf,
  positive,
  scores,
  share,
  sides as sidesOf,
  whole,
  word,
} from '../domain.ts'
import { fewestMoved } from '../exact.ts'
import type { Pair } from '../pairs/compare.ts'
import { mean, variance } from '../variance.ts'
import { detectable } from './power.ts'

const MAX = Number.MAX_SAFE_INTEGER

/** What a pilot run says about the spread of scores. */
export type Pilot = {
  cases: number
  /** Trials per case and configuration, the harmonic mean where they differ. */
  repeats: number
  /**
   * Variance over cases of the true difference between the configurations; an estimate below 0 is
   * given as 0.
   */
  between: number
  /** Variance of one trial around its case's mean, the mean of both configurations. */
  within: number
  reason?: string
}

/**
 * The two variances that planning needs, from a run that compared two configurations.
 *
 * The variance of the case differences holds both the true differences and the chance of the
 * trials; the second part is known from the repeats and is taken off.
 *
 * @param pairs  as for `compare`; cases with fewer than two trials of a configuration are left out
 * @returns      NaN with a reason for fewer than two usable cases
 * @throws       `argument_invalid` for a score outside [0, 1]
 * @see          Miller 2024 (arXiv 2411.00640), the section on power
 * @example
 * const p = pilot([
 *   { a: [1, 0, 1], b: [1, 1, 1] },
 *   { a: [0, 0, 1], b: [0, 1, 1] },
 *   { a: [1, 1, 1], b: [1, 1, 0] },
 * ])
 * p.within // 0.2222
 */
export function pilot(pairs: readonly Pair[]): Pilot {
  sidesOf(pairs)
  const used = pairs.filter(
    (pair, i) =>
      scores(pair.a, `pairs[${i}].a`).length > 1 && scores(pair.b, `pairs[${i}].b`).length > 1,
  )
  if (used.length < 2) {
    const reason = 'fewer than two cases with two trials of each configuration'
    return { cases: used.length, repeats: NaN, between: NaN, within: NaN, reason }
  }
  const sides = used.flatMap((pair) => [pair.a, pair.b])
  const noise = mean(
    used.map((pair) => variance(pair.a) / pair.a.length + variance(pair.b) / pair.b.length),
  )
  const between = variance(used.map((pair) => mean(pair.b) - mean(pair.a))) - noise
  return {
    cases: used.length,
    repeats: 1 / mean(sides.map((side) => 1 / side.length)),
    between: Math.max(0, between),
    within: mean(sides.map(variance)),
    ...(between < 0 && {
      reason: 'the cases differed less than their trials would make them: between is given as 0',
    }),
  }
}

export type PlanOptions = {
  cases: number
  repeats: number
  between?: number
  within?: number
  target?: 'like these' | 'these'
  level?: number
  power?: number
  difference?: number
}

/** What a run of some size could see, and what it costs. */
export type PlanStep = { cases: number; repeats: number; detectable: number; trials: number }

export type Plan = PlanStep & {
  target: 'like these' | 'these'
  level: number
  power: number
  between: number
  within: number
  /** True where `between` or `within` was not given and a typical value stands in. */
  assumed: boolean
  oneMoreCase: PlanStep
  oneMoreRepeat: PlanStep
  /** Which of the two lowers the smallest detectable difference more per trial spent. */
  cheaper: 'case' | 'repeat'
  /**
   * Cases needed to see `difference` with these repeats; NaN when not asked, or beyond a million.
   */
  casesNeeded: number
  reason?: string
  text: string
}

/**
 * What a comparison of two configurations over some cases and repeats could see.
 *
 * The smallest detectable difference is that of the paired t test, plus one step of the exact test
 * (1 / (cases * repeats)), since the verdict asks for both. With fewer than 6 cases nearly all must
 * move alike before the sign-flip test reaches 0.05, and no two rates differ by more than 1: NaN
 * with a reason.
 *
 * @param options.cases       whole, >= 1
 * @param options.repeats     trials per case and configuration, >= 1; need not be whole
 * @param options.between     variance over cases of the true difference, in [0, 1]; default 0.02
 * @param options.within      variance of one trial around its case's mean, in [0, 1]; default 0.1;
 *   both from `pilot`
 * @param options.target      `like these` (default) or `these`
 * @param options.level       confidence in (0, 1), default 0.95
 * @param options.power       in (0, 1), default 0.8
 * @param options.difference  a difference in (0, 1] that matters: asks for `casesNeeded`
 * @throws                    `argument_invalid` when a number is outside its domain
 * @see                       Miller 2024 (arXiv 2411.00640), the section on power; known answers:
 *   fixtures/stats/plan.json
 * @example
 * const p = plan({ cases: 20, repeats: 5, difference: 0.1 })
 * p.detectable // 0.1718
 * p.oneMoreCase.detectable // 0.167
 * p.casesNeeded // 53
 */
export function plan(options: PlanOptions): Plan {
  optionsOf(options, [
    'cases',
    'repeats',
    'between',
    'within',
    'target',
    'level',
    'power',
    'difference',
  ])
  const target = word(
    options.target ?? 'like these',
    ['like these', 'these'] as const,
    'options.target',
  )
  const cases = whole(options.cases, 1, MAX, 'options.cases')
  const repeats = options.repeats
  if (!(repeats >= 1 && Number.isFinite(repeats))) whole(repeats, 1, MAX, 'options.repeats')
  const between = share(options.between ?? 0.02, 'options.between')
  const within = share(options.within ?? 0.1, 'options.within')
  const level = inside(options.level ?? 0.95, 'options.level')
  const wanted = inside(options.power ?? 0.8, 'options.power')
  const step = (cases: number, repeats: number): PlanStep => ({
    cases,
    repeats,
    detectable: seen({ cases, repeats, between, within, target, level, power: wanted }),
    trials: Math.round(2 * cases * repeats),
  })
  const now = step(cases, repeats)
  const oneMoreCase = step(cases + 1, repeats)
  const oneMoreRepeat = step(cases, repeats + 1)
  const gain = (more: PlanStep) => (now.detectable - more.detectable) / (more.trials - now.trials)
  const needed = leastCases(options.difference, (count) => step(count, repeats).detectable)
  const reason = Number.isNaN(now.detectable)
    ? undefinedBecause(cases, repeats, between, within, target, level)
    : undefined
  const result: Plan = {
    ...now,
    target,
    level,
    power: wanted,
    between,
    within,
    assumed: options.between === undefined || options.within === undefined,
    oneMoreCase,
    oneMoreRepeat,
    cheaper: gain(oneMoreRepeat) > gain(oneMoreCase) ? 'repeat' : 'case',
    casesNeeded: needed,
    ...(reason && { reason }),
    text: '',
  }
  result.text = planText(result, options.difference)
  return result
}

function seen(o: {
  cases: number
  repeats: number
  between: number
  within: number
  target: Plan['target']
  level: number
  power: number
}): number {
  const chance = (2 * o.within) / o.repeats
  const like = o.target === 'like these'
  const error = Math.sqrt(((like ? o.between : 0) + chance) / o.cases)
  const df = like ? o.cases - 1 : 2 * o.cases * (o.repeats - 1)
  if (!(error > 0) || df <= 0 || (like && o.cases <= fewestMoved(o.level))) return NaN
  const found =
    detectable({ error, df, level: o.level, power: o.power }) + 1 / (o.cases * o.repeats)
  // Rates differ by 1 at most.
  return found > 1 ? NaN : found
}

function undefinedBecause(
  cases: number,
  repeats: number,
  between: number,
  within: number,
  target: Plan['target'],
  level: number,
): string {
  const fewest = fewestMoved(level) + 1
  if (target === 'like these' && cases < fewest) {
    return `with fewer than ${fewest} cases nearly all must move alike before the sign-flip test reaches ${Number((1 - level).toPrecision(2))}`
  }
  if (target === 'these' && repeats <= 1)
    return 'one trial per case shows nothing of how its trials vary'
  if ((target === 'like these' ? between : 0) + within > 0)
    return 'the scores scatter so much that not even a difference of 100 points would be found'
  return `no spread is assumed (between ${between}, within ${within}), so no difference is too small`
}

/**
 * The smallest number of cases at which `seen` is at or below a difference: doubling, then halving
 * the gap.
 */
function leastCases(difference: number | undefined, seenWith: (cases: number) => number): number {
  if (difference === undefined) return NaN
  share(positive(difference, 'options.difference'), 'options.difference')
  const enough = (cases: number) => seenWith(cases) <= difference
  let high = 2
  while (!enough(high)) if ((high *= 2) > 1_000_000) return NaN
  let low = high / 2
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (enough(middle)) high = middle
    else low = middle
  }
  return high
}

function planText(p: Plan, difference: number | undefined): string {
  const points = (value: number) => `${Number((value * 100).toFixed(1))} points`
  const often = `in ${Math.round(p.power * 100)}% of runs`
  const size = `${p.cases} cases x ${Number(p.repeats.toFixed(1))} trials`
  const lines = Number.isNaN(p.detectable)
    ? [`${size} cannot show a difference: ${p.reason}.`]
    : [
        `${size} find a true difference of ${points(p.detectable)} ${often}.`,
        `One more case (${p.oneMoreCase.trials - p.trials} trials): ${points(p.oneMoreCase.detectable)}; one more trial of every case (${p.oneMoreRepeat.trials - p.trials} trials): ${points(p.oneMoreRepeat.detectable)}; per trial, another ${p.cheaper} buys more.`,
      ]
  if (difference !== undefined) {
    lines.push(
      Number.isNaN(p.casesNeeded)
        ? `No number of cases up to a million finds ${points(difference)}.`
        : `${points(difference)} need ${p.casesNeeded} cases at this many trials.`,
    )
  }
  if (p.assumed)
    lines.push(
      `Assumed spread: between cases ${p.between}, within a case ${p.within}; a pilot run tells better.`,
    )
  return lines.join(' ')
}
