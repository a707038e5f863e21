/**
 * Families of cases: variants of one task resemble each other, so that what is drawn at random are
 * the families and not the cases. Every interval and test about other cases counts them.
 */
import { mean } from './variance.ts'

/** Whose answer is asked for: that of other cases like these, or that of these cases run again. */
export type Target = 'like these' | 'these'

/** The cases of one family: how many they are, and the sum of their values. */
export type Family = { cases: number; sum: number }

/**
 * Values of cases added up by family, in the order in which the families first appear.
 *
 * @param cases   each with the name of its family; a case without one is a family of its own
 * @param values  one per case
 * @example
 * familiesOf([{ family: 'x' }, {}, { family: 'x' }], [1, 0, 0.5]) // [{ cases: 2, sum: 1.5 }, { cases: 1, sum: 0 }]
 */
export function familiesOf(
  cases: readonly { family?: string | undefined }[],
  values: readonly number[],
): Family[] {
  const found = new Map<string | number, Family>()
  for (const [i, { family }] of cases.entries()) {
    const one = found.get(family ?? i) ?? { cases: 0, sum: 0 }
    one.cases++
    one.sum += values[i] as number
    found.set(family ?? i, one)
  }
  // Sums that cancel out may differ from 0 in the last bit.
  for (const one of found.values()) if (Math.abs(one.sum) < 1e-12) one.sum = 0
  return [...found.values()]
}

/**
 * Standard error of the mean over cases when whole families are drawn, with families - 1 degrees of
 * freedom. With one case per family it is that of the paired t test.
 *
 * @returns NaN for fewer than two families
 * @see     Miller 2024 (arXiv 2411.00640), clustered standard errors
 */
export function clustered(families: readonly Family[]): { error: number; df: number } {
  const count = families.length
  if (count < 2) return { error: NaN, df: NaN }
  const cases = families.reduce((sum, family) => sum + family.cases, 0)
  const center = mean(families.map(({ sum }) => sum)) / (cases / count)
  const squares = families.reduce((sum, one) => sum + (one.sum - one.cases * center) ** 2, 0)
  return { error: Math.sqrt((squares * count) / (count - 1)) / cases, df: count - 1 }
}
