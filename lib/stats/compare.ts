/**
 * Two configurations over the same cases: the paired difference b - a, its interval, and a verdict that may be "cannot tell".
 *
 * Two targets. "Cases like these" asks whether b would win on other cases of the kind: chance lies in which cases were
 * drawn and in the trials. "These" asks about exactly these cases: chance lies in the trials only.
 */
import { tCdf, tQuantile } from './distribution.ts'
import { inside, named, positive, scores, share, sides, word } from './domain.ts'
import { cmhExact, fewestMoved, type SignFlip, signFlip, stratifiedPermutation } from './exact.ts'
import { detectable } from './power.ts'
import type { Rng } from './random.ts'
import { mean, variance } from './variance.ts'
import { brief, percent, type Verdict, verdict } from './verdict.ts'

export type Target = 'like these' | 'these'

/** One case's scores under both configurations. */
export type Pair = { id?: string; a: readonly number[]; b: readonly number[] }

export type CompareOptions = {
  target?: Target
  better?: 'higher' | 'lower'
  level?: number
  equivalence?: number
  names?: readonly [string, string]
  rng?: Rng
}

export type Comparison = {
  /** Mean over cases of (mean of b - mean of a), in [-1, 1]; NaN without a case that has trials of both. */
  difference: number
  low: number
  high: number
  level: number
  target: Target
  /** How the interval was made. */
  method: 'paired t' | 'within cases' | 'within cases, smoothed' | 'undefined'
  standardError: number
  df: number
  /**
   * Two-sided p values for "no difference"; NaN when undefined. `cmh` for 0/1 scores only; `permutation`, sampled, in its
   * place for other scores when the target is `these`.
   */
  p: { t: number; signFlip: number; cmh?: number; permutation?: number }
  /** Cases with usable trials of both configurations. */
  cases: number
  /** Cases left out for want of a usable trial of one configuration. */
  missing: number
  /** Cases whose means differ. */
  moved: number
  /** Is b better than a? */
  verdict: Verdict
  /** The smallest true difference that such a run finds 4 times in 5 (80 % power); NaN when it finds none, not even one of 1. */
  smallestDetectable: number
  equivalence?: number
  /** What stands behind the verdict or limits it, in plain words. */
  reasons: string[]
  /** The comparison as one sentence. */
  text: string
}

/** A difference of rates as signed percentage points. */
function points(difference: number): string {
  const value = Math.round(difference * 1000) / 10
  return `${value > 0 ? '+' : value < 0 ? '-' : ''}${Math.abs(value)}`
}

/**
 * Standard error of the mean difference when only the trials vary, with its degrees of freedom (Welch & Satterthwaite).
 *
 * The divisor within a case is trials - 1: dividing by the number of trials makes the interval too narrow.
 *
 * @param pairs     as for `compare`, two trials or more of each configuration in every case
 * @param smoothed  as if one more trial had passed and one failed in every case: above 0 for 0/5 and 5/5 as well
 * @see             Miller 2024 (arXiv 2411.00640), the within-case part; known answers: fixtures/stats/compare.json
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

/** The largest step of which every case mean is a whole multiple, for 0/1 scores with few different numbers of trials. */
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
 * Is b better than a? Paired by case, with an interval, exact tests and a verdict for a stated target.
 *
 * The verdict is `better` or `worse` only if the interval leaves out 0 and the exact test agrees at the same level
 * (sign-flip for cases like these, Cochran-Mantel-Haenszel for these cases); `same within d` only if the whole interval
 * lies inside the region of practical equivalence, and still does with one pass and one fail added to every case; else
 * `cannot tell`.
 *
 * @param pairs                one entry per case: scores in [0, 1] of the usable trials of a and of b
 * @param options.target       `like these` (default) or `these`
 * @param options.better       `higher` (default) or `lower`: which scores are good
 * @param options.level        confidence in (0, 1), default 0.95
 * @param options.equivalence  half-width d in (0, 1] of the differences that do not matter; default none
 * @param options.names        what to call a and b in `text`
 * @param options.rng          seeded source where a test must sample
 * @throws                     `argument_invalid` for a score outside [0, 1] or a bad option
 * @see                        Miller 2024 (arXiv 2411.00640), paired differences; Fisher 1935; Agresti 2013, 6.4.2
 * @example
 * const one = (n) => Array.from({ length: 5 }, (_, i) => (i < n ? 1 : 0))
 * const a = [5, 4, 3, 5, 2, 0, 5, 4, 1, 3]
 * const b = [5, 5, 4, 5, 4, 2, 5, 3, 3, 4]
 * const c = compare(a.map((n, i) => ({ a: one(n), b: one(b[i]) })))
 * c.difference // 0.16
 * c.p // { t: 0.03679, signFlip: 0.078125, cmh: 0.06841 }
 * c.verdict // 'cannot tell'
 */
export function compare(pairs: readonly Pair[], options: CompareOptions = {}): Comparison {
  sides(pairs)
  named(options, 'options')
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
  const difference = mean(differences)
  const binary = used.every((pair) => whole01(pair.a) && whole01(pair.b))
  const flips = signFlip(differences, { unit: unitOf(used), rng: options.rng })
  const spread = paired(used, differences, target)
  const critical = Number.isNaN(spread.df) ? NaN : tQuantile((1 + level) / 2, spread.df)
  const result: Comparison = {
    difference,
    low: Math.max(-1, difference - critical * spread.error),
    high: Math.min(1, difference + critical * spread.error),
    level,
    target,
    method: spread.method,
    standardError: spread.error,
    df: spread.df,
    p: { t: pairedP(differences), signFlip: used.length === 0 ? NaN : flips.p },
    cases: used.length,
    missing: pairs.length - used.length,
    moved: flips.moved,
    verdict: 'cannot tell',
    smallestDetectable: NaN,
    ...(equivalence !== undefined && { equivalence }),
    reasons: [],
    text: '',
  }
  if (binary && used.length > 0) {
    const sum = (side: readonly number[]) => side.reduce((total, score) => total + score, 0)
    result.p.cmh = cmhExact(
      used.map(({ a, b }) => ({ a: sum(a), aTrials: a.length, b: sum(b), bTrials: b.length })),
    )
  }
  if (!binary && target === 'these' && used.length > 0) {
    result.p.permutation = stratifiedPermutation(used, { rng: options.rng }).p
  }
  const enough = target === 'these' || used.length >= fewestMoved(level)
  if (result.method !== 'undefined' && enough) {
    // The verdict asks the exact test too, which moves in steps of one trial: half a step either way.
    const trials = used.reduce((sum, pair) => sum + (pair.a.length + pair.b.length) / 2, 0)
    const found =
      detectable({ error: spread.error, df: spread.df, level }) + (binary ? 1 / trials : 0)
    if (found <= 1) result.smallestDetectable = found
  }
  // A handful of cases near 0 or 1 can differ by little and hardly vary: sameness must hold with the smoothed error too.
  const careful =
    used.length > 0 ? critical * Math.max(spread.error, withinError(used, true).error) : NaN
  judge(result, flips, better, Math.abs(difference) + careful <= (equivalence ?? NaN))
  result.text = sentence(result, options.names ?? ['a', 'b'])
  return result
}

/** The standard error that belongs to a target, and its degrees of freedom; smoothed where the plain one would be 0. */
function paired(
  used: readonly Pair[],
  differences: readonly number[],
  target: Target,
): { error: number; df: number; method: Comparison['method'] } {
  const cases = used.length
  const unknown = { error: NaN, df: NaN, method: 'undefined' as const }
  if (cases === 0 || (target === 'like these' && cases < 2)) return unknown
  const once = used.some((pair) => pair.a.length < 2 || pair.b.length < 2)
  if (target === 'these') {
    if (once) return unknown
    const plain = withinError(used, false)
    if (plain.error > 0) return { ...plain, method: 'within cases' }
    return { ...withinError(used, true), method: 'within cases, smoothed' }
  }
  const error = Math.sqrt(variance(differences) / cases)
  if (error > 1e-12) return { error, df: cases - 1, method: 'paired t' }
  return { error: withinError(used, true).error, df: cases - 1, method: 'within cases, smoothed' }
}

/** Two-sided p value of the paired t test; NaN for fewer than two cases or without spread. */
function pairedP(differences: readonly number[]): number {
  const error = Math.sqrt(variance(differences) / differences.length)
  if (!(error > 1e-12)) return NaN
  return 2 * tCdf(-Math.abs(mean(differences)) / error, differences.length - 1)
}

/** Fill in the verdict and what stands behind it or limits it. */
function judge(
  result: Comparison,
  flips: SignFlip,
  better: 'higher' | 'lower',
  sameHolds: boolean,
): void {
  const { low, high, level, target, method, equivalence, p, reasons } = result
  if (result.missing > 0)
    reasons.push(`${cases(result.missing)} left out: no usable trial of one configuration`)
  if (method === 'undefined') {
    reasons.push(
      result.cases === 0
        ? 'no case has usable trials of both configurations'
        : target === 'these'
          ? 'a case with one trial of a configuration shows nothing of how its trials vary'
          : 'one case says nothing about other cases',
    )
    return
  }
  const exact = target === 'these' ? (p.cmh ?? p.permutation ?? NaN) : p.signFlip
  if (equivalence !== undefined && !sameHolds && low >= -equivalence && high <= equivalence) {
    reasons.push(
      'the interval lies within the region, but so few trials would look alike even if the rates were not',
    )
  }
  const judged = verdict({
    low,
    high,
    exact,
    level,
    better,
    equivalence: sameHolds ? equivalence : undefined,
  })
  result.verdict = judged.verdict
  reasons.push(judged.reason)
  const fewest = fewestMoved(level)
  if (target === 'like these' && result.moved < fewest) {
    const moved = result.moved === 0 ? 'no case' : `only ${cases(result.moved)}`
    reasons.push(
      `${moved} moved: with fewer than ${fewest} the sign-flip test cannot reach ${brief(1 - level)}`,
    )
  }
  if (method === 'within cases, smoothed') {
    reasons.push(
      'no spread to see: the interval takes that of the trials, with one pass and one fail added to each case',
    )
  }
  if (flips.method === 'sampled' && target === 'like these') {
    reasons.push(
      `the sign-flip p is from ${flips.draws} random patterns, give or take ${brief(2 * (flips.standardError ?? NaN))}`,
    )
  }
}

/** The comparison as one sentence. */
function sentence(result: Comparison, [a, b]: readonly [string, string]): string {
  const n = result.cases
  const where =
    result.target === 'these' ? `on these ${cases(n)}` : `for cases like these (${cases(n)})`
  if (result.method === 'undefined')
    return `Cannot tell ${b} from ${a} ${where}: ${result.reasons.at(-1)}.`
  const figures = `${points(result.difference)} points, ${percent(result.level)}% interval ${points(result.low)} to ${points(result.high)}`
  const seen = Number.isNaN(result.smallestDetectable)
    ? 'such a run finds no difference 4 times in 5, however large'
    : `such a run finds a true difference of ${points(result.smallestDetectable).slice(1)} points 4 times in 5`
  const said =
    result.verdict === 'cannot tell'
      ? `Cannot tell whether ${b} is better than ${a} ${where}`
      : result.verdict === 'same within d'
        ? `${b} is the same as ${a} within ${percent(result.equivalence ?? NaN)} points ${where}`
        : `${b} is ${result.verdict} than ${a} ${where}`
  return `${said}: ${figures}; ${seen}.`
}

const cases = (n: number) => `${n} case${n === 1 ? '' : 's'}`
