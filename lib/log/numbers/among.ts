/**
 * Several comparisons of one run, adjusted for each other: which belong together, and what is left
 * of a verdict.
 */
import { TouchstoneError } from '../../errors.ts'
import { type Comparison, mean, passHatK } from '../../stats/index.ts'
import { sentence } from '../../stats/pairs/judgement.ts'
import type { Manifest } from '../records.ts'
import type { Cells } from '../rows.ts'
import { type ComparedMetric, familyOfCases, powerOf, scoresByCase } from './metrics.ts'

/**
 * `pair`: this one alone, named before the run. `first`: each other configuration against the
 * first. `all`: every pair. `page`: every pair, and the metric that is asked about in one family
 * with the others. Default: `first` where a is the run's first configuration, else `all`.
 */
const AMONG = ['pair', 'first', 'all', 'page'] as const
export type Among = (typeof AMONG)[number]

/** One metric of two configurations. `verdict` says whether b is better than a. */
export type MetricComparison = Comparison & { metric: ComparedMetric; a: string; b: string }

/**
 * A comparison among others: its interval holds together with theirs, and its p is adjusted for
 * them.
 */
export type Adjusted = MetricComparison & {
  /** p after the adjustment; NaN where it is undefined. The verdict rests on it. */
  pAdjusted: number
  /** How many comparisons were adjusted together. */
  among: number
  /** The interval of this one alone, unadjusted. */
  alone: { low: number; high: number }
}

/** The pairs that a comparison of b with a is one of. */
export function pairsAmong(
  names: readonly string[],
  a: string,
  b: string,
  among: Among = a === names[0] ? 'first' : 'all',
): (readonly [string, string])[] {
  if (!AMONG.includes(among))
    throw new TouchstoneError(
      'argument_invalid',
      `expected one of ${AMONG.join(', ')}, got "${String(among)}"`,
      { where: 'among' },
    )
  if (among === 'pair') return [[a, b]]
  if (among === 'first') return names.filter((name) => name !== a).map((name) => [a, name] as const)
  // The pair itself as it was asked for, every other one once.
  return names.flatMap((x, i) =>
    names
      .slice(i + 1)
      .map((y) => (x === b && y === a ? [a, b] : [x, y]) as readonly [string, string]),
  )
}

/** The verdict on one of several comparisons: its own, if it survives the adjustment. */
export function adjusted(
  alone: MetricComparison,
  together: MetricComparison,
  p: number,
  among: number,
): Adjusted {
  const { low, high, equivalence } = together
  // About these cases the interval has a say.
  const leaves = alone.target === 'like these' || low > 0 || high < 0
  const survives = p <= 1 - alone.level + 1e-12 && leaves
  const decided = alone.verdict === 'better' || alone.verdict === 'worse'
  const reasons = [...alone.reasons]
  let said: MetricComparison['verdict'] = 'cannot tell'
  if (together.verdict === 'same within d') said = together.verdict
  // What trials without a score could be is not in p: with all of them against it, a verdict has to
  // be said at the level of one of so many.
  else if (decided && survives && (alone.bounds === null || together.verdict === alone.verdict))
    said = alone.verdict
  if (said !== alone.verdict)
    reasons.push(`"${alone.verdict}" does not survive the adjustment for ${among} comparisons`)
  const result = {
    ...alone,
    low,
    high,
    verdict: said,
    reasons,
    pAdjusted: p,
    among,
    alone: { low: alone.low, high: alone.high },
  }
  const text = sentence({ ...result, pDecisive: p, ...(equivalence && { equivalence }) }, [
    alone.a,
    alone.b,
  ])
  return { ...result, text }
}

/** The mean of each case under each configuration, looked up by metric, and added up by family. */
export function meansTable(manifest: Manifest, rows: Cells) {
  const held = new Map<string, Map<string, number>>()
  const meansOf = (name: string, metric: ComparedMetric) => {
    const key = `${metric} ${name}`
    let means = held.get(key)
    if (!means) {
      const { base, k } = powerOf(metric)
      const scored = scoresByCase(rows, manifest, name, base)
      const value = (scores: number[]) =>
        k > 1
          ? passHatK(scores.filter((score) => score === 1).length, scores.length, k)
          : mean(scores)
      means = new Map(
        scored.flatMap(({ case: id, scores }) => (scores.length >= k ? [[id, value(scores)]] : [])),
      )
      held.set(key, means)
    }
    return means
  }
  const families = familyOfCases(manifest)
  const names = [...new Set(families.values())]
  const place = manifest.cases.map(({ id }) => names.indexOf(families.get(id) as string))
  return {
    /** b - a of each case of the manifest; null where one of them has no trial that counts. */
    differences: (a: string, b: string, metric: ComparedMetric): (number | null)[] => {
      const [left, right] = [meansOf(a, metric), meansOf(b, metric)]
      return manifest.cases.map(({ id }) => {
        const [x, y] = [left.get(id), right.get(id)]
        if (x === undefined || y === undefined) return null
        // Means of equal shares may differ in the last bit.
        return Math.abs(y - x) < 1e-12 ? 0 : y - x
      })
    },
    byFamily: (values: readonly (number | null)[]): number[] => {
      const sums = names.map(() => 0)
      for (const [i, value] of values.entries()) {
        const at = place[i] as number
        sums[at] = (sums[at] as number) + (value ?? 0)
      }
      return sums.map((sum) => (Math.abs(sum) < 1e-12 ? 0 : sum))
    },
  }
}
