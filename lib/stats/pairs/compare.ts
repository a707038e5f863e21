/**
 * Two configurations over the same cases: the paired difference b - a, its interval, and a verdict
 * that may be "cannot tell".
 *
 * Two questions. "Run again" (`these`) asks about exactly these cases: chance lies in the trials
 * only. "Other cases like these" (`like these`) asks whether b would win on others of the kind:
 * chance lies in which cases were drawn as well.
 */
import { boundedMean } from '../bounded.ts'
import { tCdf } from '../distribution.ts'
import { inside, optionsOf, positive, scores, share, sides, whole, word } from '../domain.ts'
import { cmhExact, signFlip, stratifiedPermutation } from '../exact.ts'
import { clustered, familiesOf, type Target } from '../families.ts'
import type { Rng } from '../random.ts'
import { sameCasesDifference } from '../same-cases.ts'
import { mean, variance } from '../variance.ts'
import { judge, sentence, withhold } from './judgement.ts'
import type { Verdict } from './verdict.ts'

/** One case's scores under both configurations. */
export type Pair = {
  id?: string
  /**
   * Cases of one family are variants of one task, and count as one draw. Default: each case is a
   * family of its own.
   */
  family?: string
  a: readonly number[]
  b: readonly number[]
  /** Trials that ended without a score, of each configuration. Default none. */
  lost?: { a: number; b: number }
  /** Of the scores of each configuration, those that may be any other. Default none. */
  shaken?: { a: readonly number[]; b: readonly number[] }
}

export type CompareOptions = {
  target?: Target
  better?: 'higher' | 'lower'
  level?: number
  equivalence?: number
  names?: readonly [string, string]
  rng?: Rng
}

/** The members of `CompareOptions`. */
export const COMPARE_OPTIONS = [
  'target',
  'better',
  'level',
  'equivalence',
  'names',
  'rng',
] as const satisfies readonly (keyof CompareOptions)[]

export type Comparison = {
  /**
   * Mean over cases of (mean of b - mean of a), in [-1, 1]; NaN without a case that has trials of
   * both.
   */
  difference: number
  low: number
  high: number
  level: number
  target: Target
  /** How the interval was made. */
  method: 'bounded' | 'within cases' | 'undefined'
  /**
   * Standard error of the difference for the target, and its degrees of freedom; NaN when
   * undefined.
   */
  standardError: number
  df: number
  /**
   * Two-sided p values for "no difference"; NaN when undefined. `midP` is the sign-flip test's, and
   * decides about other cases; `cmh` decides about these, for 0/1 scores; `permutation`, sampled,
   * in its place for other scores.
   */
  p: { t: number; signFlip: number; midP: number; cmh?: number; permutation?: number }
  /** The p value that the verdict rests on. */
  pDecisive: number
  /** Cases with usable trials of both configurations, and the families that they make. */
  cases: number
  families: number
  /** Cases left out for want of a usable trial of one configuration. */
  missing: number
  /** Cases whose means differ. */
  moved: number
  /**
   * What trials without a score, or with one that is shaken, could make of the difference: all of
   * them lowering it (`worst`, with its interval's lower end `low`), and all raising it (`best`,
   * with the upper end `high`). Null where there are none.
   */
  bounds: { worst: number; best: number; low: number; high: number } | null
  /** Is b better than a? */
  verdict: Verdict
  equivalence?: number
  /** What stands behind the verdict or limits it, in plain words. */
  reasons: string[]
  /** The comparison as one sentence. */
  text: string
}

/**
 * Standard error of the mean difference when only the trials vary, with its degrees of freedom
 * (Welch & Satterthwaite).
 *
 * The divisor within a case is trials - 1: dividing by the number of trials makes the interval too
 * narrow.
 *
 * @param pairs     as for `compare`, two trials or more of each configuration in every case
 * @param smoothed  as if one more trial had passed and one failed in every case: above 0 for 0/5
 *   and 5/5 as well
 * @see             Miller 2024 (arXiv 2411.00640), the within-case part; known answers:
 *   fixtures/stats/compare.json
 * @example
 * withinError([{ a: [1, 0, 1, 1], b: [1, 1, 0, 0] }]).error // 0.3819
 */
export function withinError(
  pairs: readonly Pair[],
  smoothed = false,
): { error: number; df: number } {
  let sum = 0
  let spread = 0
  const all = sides(pairs).flatMap((pair, i) => [
    scores(pair.a, `pairs[${i}].a`),
    scores(pair.b, `pairs[${i}].b`),
  ])
  for (const side of all) {
    const trials = side.length
    const center = (side.reduce((total, score) => total + score, 0) + 1) / (trials + 2)
    const part = (smoothed ? center * (1 - center) : variance(side)) / trials
    sum += part
    spread += (part * part) / Math.max(1, trials - 1)
  }
  return { error: Math.sqrt(sum) / pairs.length, df: sum === 0 ? NaN : (sum * sum) / spread }
}

const whole01 = (side: readonly number[]) => side.every((score) => score === 0 || score === 1)

/**
 * The largest step of which every case mean is a whole multiple, for 0/1 scores with few different
 * numbers of trials.
 */
function unitOf(pairs: readonly Pair[]): number | undefined {
  if (!pairs.every((pair) => whole01(pair.a) && whole01(pair.b))) return undefined
  const gcd = (x: number, y: number): number => (y === 0 ? x : gcd(y, x % y))
  let multiple = 1
  for (const trials of new Set(pairs.flatMap((pair) => [pair.a.length, pair.b.length]))) {
    multiple = (multiple / gcd(multiple, trials)) * trials
    if (multiple > 100_000) return undefined
  }
  return 1 / multiple
}

/**
 * Is b better than a? Paired by case, with an interval, a test and a verdict for a stated target.
 *
 * For these cases the verdict is `better` or `worse` if the interval leaves out 0 and the exact
 * test within cases agrees (Cochran-Mantel-Haenszel). For other cases the sign-flip test decides,
 * with mid-p. It assumes that without a difference each case is as likely to differ by d as by -d:
 * where b breaks a few cases wholly and is a little better in all others, it raises more false
 * alarms than its level. The interval assumes no shape, allows for cases that were not drawn, and
 * so may hold 0 beside a verdict; a reason then says so. `same within d` is said only if the whole
 * interval lies inside the region. A verdict that trials without a score could turn is withheld:
 * with all of them against it, it must be said as well.
 *
 * @param pairs                one entry per case: scores in [0, 1] of the usable trials of a and of
 *   b
 * @param options.target       `like these` (default) or `these`
 * @param options.better       `higher` (default) or `lower`: which scores are good
 * @param options.level        confidence in (0, 1), default 0.95
 * @param options.equivalence  half-width d in (0, 1] of the differences that do not matter; default
 *   none
 * @param options.names        what to call a and b in `text`
 * @param options.rng          seeded source where a test must sample
 * @throws                     `argument_invalid` for a score outside [0, 1] or a bad option
 * @see                        Fisher 1935 and Lancaster 1961 (sign-flip, mid-p); Agresti 2013,
 *   6.4.2; `boundedMean` and `sameCases` for the intervals; size, power and coverage:
 *   test/bench/README.md
 * @example
 * const one = (n) => Array.from({ length: 5 }, (_, i) => (i < n ? 1 : 0))
 * const a = [5, 4, 3, 5, 2, 0, 5, 4, 1, 3]
 * const b = [5, 5, 4, 5, 4, 2, 5, 2, 3, 4]
 * const c = compare(a.map((n, i) => ({ a: one(n), b: one(b[i]) })))
 * c.difference // 0.14
 * c.p // { t: 0.11076, signFlip: 0.171875, midP: 0.1171875, cmh: 0.12328 }
 * c.verdict // 'cannot tell'
 */
export function compare(pairs: readonly Pair[], options: CompareOptions = {}): Comparison {
  sides(pairs)
  optionsOf(options, COMPARE_OPTIONS)
  const target = word(
    options.target ?? 'like these',
    ['like these', 'these'] as const,
    'options.target',
  )
  const better = word(options.better ?? 'higher', ['higher', 'lower'] as const, 'options.better')
  const level = inside(options.level ?? 0.95, 'options.level')
  const equivalence = options.equivalence
  if (equivalence !== undefined)
    share(positive(equivalence, 'options.equivalence'), 'options.equivalence')
  const used = pairs.filter((pair, i) => {
    scores(pair.a, `pairs[${i}].a`)
    scores(pair.b, `pairs[${i}].b`)
    return pair.a.length > 0 && pair.b.length > 0
  })
  const differences = used.map((pair) => mean(pair.b) - mean(pair.a))
  // Means of equal shares may differ in the last bit.
  for (const [i, d] of differences.entries()) if (Math.abs(d) < 1e-12) differences[i] = 0
  const binary = used.every((pair) => whole01(pair.a) && whole01(pair.b))
  const families = familiesOf(used, differences)
  const flips = signFlip(
    families.map(({ sum }) => sum),
    { unit: unitOf(used), rng: options.rng },
  )
  const result: Comparison = {
    difference: mean(differences),
    low: NaN,
    high: NaN,
    level,
    target,
    method: 'undefined',
    standardError: NaN,
    df: NaN,
    p: {
      t: NaN,
      signFlip: used.length === 0 ? NaN : flips.p,
      midP: used.length === 0 ? NaN : flips.midP,
    },
    pDecisive: NaN,
    cases: used.length,
    families: families.length,
    missing: pairs.length - used.length,
    moved: differences.filter((d) => d !== 0).length,
    bounds: null,
    verdict: 'cannot tell',
    ...(equivalence !== undefined && { equivalence }),
    reasons: [],
    text: '',
  }
  const { error, df } = clustered(families)
  if (error > 1e-12) result.p.t = 2 * tCdf(-Math.abs(result.difference) / error, df)
  if (binary && used.length > 0) {
    const sum = (side: readonly number[]) => side.reduce((total, score) => total + score, 0)
    result.p.cmh = cmhExact(
      used.map(({ a, b }) => ({ a: sum(a), aTrials: a.length, b: sum(b), bTrials: b.length })),
    )
  }
  if (!binary && target === 'these')
    result.p.permutation = stratifiedPermutation(used, { rng: options.rng }).p
  if (target === 'these' && used.length > 0) {
    const plain = used.every((pair) => pair.a.length > 1 && pair.b.length > 1)
    Object.assign(result, sameCasesDifference(used, level), {
      method: 'within cases',
      standardError: plain ? withinError(used).error : NaN,
      df: plain ? withinError(used).df : NaN,
      pDecisive: result.p.cmh ?? result.p.permutation ?? NaN,
    })
  }
  if (target === 'like these' && families.length > 1) {
    const interval = boundedMean(
      families.map(({ sum, cases }) => sum / cases),
      { weights: families.map(({ cases }) => cases), range: [-1, 1], level },
    )
    Object.assign(result, interval, {
      method: 'bounded',
      standardError: error > 1e-12 ? error : 0,
      df,
      pDecisive: flips.midP,
    })
  }
  judge(result, flips, better)
  if (hasLost(pairs)) withhold(result, ...extremesOf(pairs, (filled) => compare(filled, options)))
  result.text = sentence(result, options.names ?? ['a', 'b'])
  return result
}

/**
 * The pairs with a score for every trial that has none, or one that is shaken: b's, and the
 * opposite for a's.
 */
function filled(pairs: readonly Pair[], score: number): Pair[] {
  const more = (side: readonly number[], count: number, value: number) => [
    ...side,
    ...Array.from({ length: count }, () => value),
  ]
  return pairs.map((pair) => {
    const { shaken: _, lost, ...open } = opened(pair)
    return { ...open, a: more(open.a, lost.a, 1 - score), b: more(open.b, lost.b, score) }
  })
}

/** A pair whose shaken scores are lost ones. */
function opened(pair: Pair): Pair & { lost: { a: number; b: number } } {
  const { lost = { a: 0, b: 0 }, shaken = { a: [], b: [] } } = pair
  const firm = (side: readonly number[], gone: readonly number[]) => {
    const left = [...side]
    for (const score of gone) {
      const at = left.indexOf(score)
      if (at >= 0) left.splice(at, 1)
    }
    return left
  }
  return {
    ...pair,
    a: firm(pair.a, shaken.a),
    b: firm(pair.b, shaken.b),
    lost: { a: lost.a + shaken.a.length, b: lost.b + shaken.b.length },
  }
}

/** Whether a trial of some pair has no score, or one that is shaken. */
export function hasLost(pairs: readonly Pair[]): boolean {
  for (const [i, { lost }] of pairs.entries())
    for (const side of ['a', 'b'] as const)
      whole(lost?.[side] ?? 0, 0, Number.MAX_SAFE_INTEGER, `pairs[${i}].lost.${side}`)
  return pairs.map(opened).some(({ lost }) => lost.a + lost.b > 0)
}

/** What is seen if every trial without a score lowered the difference, and if each raised it. */
export function extremesOf<T>(
  pairs: readonly Pair[],
  compared: (filled: Pair[]) => T,
): [worst: T, best: T] {
  return [compared(filled(pairs, 0)), compared(filled(pairs, 1))]
}
