/**
 * Looking at results while they come in: the more often one looks, the likelier chance is taken for
 * a finding. The error is held over all looks by spending it bit by bit.
 */
import { normalCdf, normalQuantile } from '../distribution.ts'
import { inside, list, optionsOf, positive, share, whole, word } from '../domain.ts'

/**
 * `late`: little at first, nearly all at the end (O'Brien and Fleming). `even`: about the same at
 * each look (Pocock).
 */
const SPENDING = ['late', 'even'] as const
export type Spending = (typeof SPENDING)[number]

/**
 * A look at a tenth of the information or less may err so seldom that its level would round to 1,
 * which is no level: an interval of it would hold whatever is true.
 */
const MOST_SURE = 1 - 1e-14

/**
 * How much of the error may be spent by a share of the planned information (Lan and DeMets 1983).
 */
function spent(at: number, alpha: number, spending: Spending): number {
  return spending === 'late'
    ? 4 * normalCdf(normalQuantile(alpha / 4) / Math.sqrt(at))
    : alpha * Math.log(1 + (Math.E - 1) * at)
}

/**
 * The level at which each of several looks is taken, so that all of them together keep the level:
 * an interval of that level at each look holds at all looks at once, and so it holds at the one
 * where the run stops.
 *
 * A look's level depends on the looks before it only, so that a plan that ends early has spent
 * less.
 *
 * @param shares           the share of the planned information at each look, ascending, in (0, 1]
 * @param options.level    confidence over all looks, in (0, 1), default 0.95
 * @param options.spending `late` (default): for verdicts; `even`: for widths
 * @returns                one level per look, each at least `level` and below 1
 * @throws                 `argument_invalid` for shares that do not ascend
 * @see                    Lan & DeMets 1983; Armitage, McPherson & Rowe 1969 for the recursion;
 *   Jennison & Turnbull 1989 for the repeated intervals; known answers: fixtures/stats/looks.json
 * @example
 * looks([0.5, 1]) // [0.99695, 0.951]
 * looks([0.5, 1], { spending: 'even' }) // [0.969, 0.97226]
 */
export function looks(
  shares: readonly number[],
  options: { level?: number; spending?: Spending } = {},
): number[] {
  optionsOf(options, ['level', 'spending'])
  const level = inside(options.level ?? 0.95, 'options.level')
  const spending = word(options.spending ?? 'late', SPENDING, 'options.spending')
  for (const [i, at] of list(shares, 'shares of the information', 'shares').entries()) {
    share(at, `shares[${i}]`)
    positive(at - (i === 0 ? 0 : (shares[i - 1] as number)), `shares[${i}] - shares[${i - 1}]`)
  }
  const alpha = 1 - level
  const levels: number[] = []
  /**
   * The density of the sum so far, where no look has ended it: at `points`, each with its weight.
   */
  let density: Density | null = null
  for (const [i, at] of shares.entries()) {
    const before = i === 0 ? 0 : (shares[i - 1] as number)
    const ends = spent(at, alpha, spending) - (i === 0 ? 0 : spent(before, alpha, spending))
    const step = Math.sqrt(at - before)
    /** The chance that this look is the first beyond z. */
    const beyond = (z: number) => {
      const limit = z * Math.sqrt(at)
      if (density === null) return 2 * normalCdf(-z)
      return density.points.reduce((sum, point, k) => {
        const weight = density?.weights[k] as number
        return (
          sum + weight * (normalCdf((point - limit) / step) + normalCdf((-point - limit) / step))
        )
      }, 0)
    }
    let [low, high] = [0, 9]
    for (let k = 0; k < 60; k++) {
      const middle = (low + high) / 2
      if (beyond(middle) > ends) low = middle
      else high = middle
    }
    levels.push(Math.min(MOST_SURE, 1 - 2 * normalCdf(-high)))
    const limit = high * Math.sqrt(at)
    const { points, weights } = grid(limit)
    const held: Density | null = density
    density = {
      points,
      weights: weights.map((weight, k) => {
        const x = points[k] as number
        const here: number =
          held === null
            ? bell(x / step) / step
            : held.points.reduce(
                (sum, point, j) =>
                  sum + ((held.weights[j] as number) * bell((x - point) / step)) / step,
                0,
              )
        return weight * here
      }),
    }
  }
  return levels
}

type Density = { points: number[]; weights: number[] }

const bell = (x: number) => Math.exp(-(x * x) / 2) / Math.sqrt(2 * Math.PI)

/** Simpson's rule between -limit and limit. */
function grid(limit: number): Density {
  const steps = 100
  const width = (2 * limit) / steps
  const at = Array.from({ length: steps + 1 }, (_, i) => i)
  return {
    points: at.map((i) => -limit + i * width),
    weights: at.map((i) => ((i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2) * width) / 3),
  }
}

/**
 * The numbers of repeats at which a run is looked at: each look half as many again, up to the most.
 *
 * @param first whole, >= 1
 * @param most  whole, >= first
 * @example
 * lookAt(5, 20) // [5, 8, 12, 18, 20]
 * lookAt(5, 5) // [5]
 */
export function lookAt(first: number, most: number): number[] {
  whole(first, 1, Number.MAX_SAFE_INTEGER, 'first')
  whole(most, first, Number.MAX_SAFE_INTEGER, 'most')
  const at = [first]
  for (let next = first; next < most; ) {
    next = Math.min(most, Math.ceil(next * 1.5))
    at.push(next)
  }
  return at
}
