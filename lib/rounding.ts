/** The one rule by which shares, differences of shares and p values are rounded for people. */

/** So many digits are enough for every number that a person compares. */
const MOST = 5

/**
 * What is nearer to 0 or to 1 than this part of the interval is written as `<1` or `>99`: the
 * decimals that it would take say nothing beside ends that lie so far apart.
 */
const PART = 1e-3

/**
 * How many decimals some shares want, as percentages: whole points, and one decimal more for each
 * tenth that the interval is narrower than 2 points. A share that is not 0 or 1 must not come out
 * as 0 or 100, unless it is next to it as the interval goes.
 *
 * @param width  width of the interval, in [0, 2]; NaN where there is none
 * @param values the shares or differences that stand side by side; those that are not finite do not
 *   count
 * @example
 * digitsFor(0.2, 0.625) // 0
 * digitsFor(0.015, 0.625) // 1
 * digitsFor(0.2, 0.9996) // 2
 * digitsFor(0.9, 0.9999999) // 0
 */
export function digitsFor(width: number, ...values: number[]): number {
  let digits = width > 0 && width < 0.02 ? Math.ceil(-Math.log10(width * 50)) : 0
  const least = width > 0 ? width * PART : 0
  const loses = (value: number) => {
    const size = Math.abs(value)
    const rounded = Number((size * 100).toFixed(digits))
    return (rounded === 0 && size > least) || (rounded === 100 && size !== 1 && 1 - size >= least)
  }
  while (digits < MOST && values.some((value) => Number.isFinite(value) && loses(value))) digits++
  return Math.min(MOST, digits)
}

/** Closer to a line than this, a share lies on it: sums of shares are off by about so much. */
const SAME = 1e-9

/**
 * So many decimals, or more, that rounding moves a share onto no line that it is held against, nor
 * over one.
 *
 * @example
 * digitsApart(0, 0.796, [0.8]) // 1
 * digitsApart(0, 0.9, [0.8]) // 0
 */
export function digitsApart(digits: number, value: number, lines: readonly number[]): number {
  const turned = (at: number) =>
    lines.some(
      (line) =>
        Math.abs(value - line) > SAME && (value * 100).toFixed(at) === (line * 100).toFixed(at),
    )
  let enough = digits
  while (enough < MOST && turned(enough)) enough++
  return enough
}

/**
 * A share as a percentage without its sign. What is closer to 0 than the last digit stays apart
 * from 0.
 *
 * @example
 * percentage(0.625, 0) // '63'
 * percentage(1, 2) // '100'
 * percentage(0.00000001, 5) // '<0.00001'
 */
export function percentage(share: number, digits: number): string {
  if (!Number.isFinite(share)) return '-'
  if (share === 0 || share === 1) return String(share * 100)
  const text = (share * 100).toFixed(digits)
  if (Number(text) === 0) return `<${(10 ** -digits).toFixed(digits)}`
  if (Number(text) === 100) return `>${(100 - 10 ** -digits).toFixed(digits)}`
  return text
}

/**
 * A rate with its interval: `62% [40, 80]`; `[unknown]` where it has none, and a dash where the
 * rate is undefined. No end is rounded to 0, to 100 or over a line.
 *
 * @param lines what the rate is held against, such as a gate's threshold
 * @example
 * rateText(0.625, 0.4, 0.8) // '63% [40, 80]'
 * rateText(0.9995, 0.9975, 0.99999) // '99.950% [99.750, 99.999]'
 * rateText(0.875, 0.1004726, 0.9999999) // '88% [10, >99]'
 * rateText(0.5, NaN, NaN) // '50% [unknown]'
 */
export function rateText(
  estimate: number,
  low: number,
  high: number,
  ...lines: readonly number[]
): string {
  if (!Number.isFinite(estimate)) return '-'
  const digits = digitsFor(high - low, estimate, low, high)
  const text = (share: number) => percentage(share, digitsApart(digits, share, lines))
  const ends = Number.isFinite(low) ? `[${text(low)}, ${text(high)}]` : '[unknown]'
  return `${text(estimate)}% ${ends}`
}

/**
 * A difference of shares in percentage points, with its sign.
 *
 * @param digits decimals, from `digitsFor`
 * @example
 * pointsText(0.081, 0) // '+8'
 * pointsText(0, 1) // '0'
 * pointsText(-0.0005, 2) // '-0.05'
 */
export function pointsText(difference: number, digits: number): string {
  if (!Number.isFinite(difference)) return '-'
  const sign = difference > 0 ? '+' : difference < 0 ? '-' : ''
  return sign + percentage(Math.abs(difference), digits)
}

/**
 * A difference of shares with its interval, in percentage points: `+8 [+2, +13]`. No end is rounded
 * to 0, to 100 or over a line.
 *
 * @param lines what the difference is held against, such as a margin
 * @example
 * differenceText(0.081, 0.02, 0.13) // '+8 [+2, +13]'
 * differenceText(0.1, NaN, NaN) // '+10 [unknown]'
 */
export function differenceText(
  difference: number,
  low: number,
  high: number,
  ...lines: readonly number[]
): string {
  if (!Number.isFinite(difference)) return '-'
  const digits = digitsFor(high - low, difference, low, high)
  const text = (points: number) => pointsText(points, digitsApart(digits, points, lines))
  const ends = Number.isFinite(low) ? `[${text(low)}, ${text(high)}]` : '[unknown]'
  return `${text(difference)} ${ends}`
}

/**
 * A p value: three decimals, `<0.001` below that, and one more where rounding would put it on the
 * other side of the line.
 *
 * @param line the value that it is held against, default 0.05
 * @example
 * pText(0.0314) // '0.031'
 * pText(1e-40) // '<0.001'
 * pText(0.0501) // '0.0501'
 * pText(NaN) // '-'
 */
export function pText(p: number, line = 0.05): string {
  if (!Number.isFinite(p)) return '-'
  if (p < 0.001) return '<0.001'
  const text = p.toFixed(3)
  return p <= line === Number(text) <= line ? text : p.toFixed(4)
}
