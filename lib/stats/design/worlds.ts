/**
 * Worlds that a planned comparison is simulated in: cases with true rates under a and b, b lower by
 * a known difference that comes `evenly` or `wholly`.
 */
import { betaQuantile, normalQuantile } from '../distribution.ts'
import type { Rng } from '../random.ts'
import { binomialDraw, type Way } from './simulate.ts'

export type PairWorld = {
  way: Way
  /** `these`: the same rates in each run; `like these`: cases are drawn anew. */
  target: 'these' | 'like these'
  cases: number
  /** Trials of each case under a and under b. */
  repeats: readonly [a: number, b: number]
  /** Mean rate of a over cases. */
  rate: number
  /** Variance of one trial around its case's rate, mean over cases. */
  within: number
  /** Variance over cases of the true difference, apart from what the way itself brings. */
  between: number
  /** How much of b's mean rate is lost, from 0 (nothing) to 1 (all). */
  loss: number
}

const POINTS = 64
const points = Array.from({ length: POINTS }, (_, i) => (i + 0.5) / POINTS)
const normals = points.map(normalQuantile)
const cut = (p: number) => Math.min(1, Math.max(0, p))
const average = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * The quantiles of the cases' rates: a beta distribution whose mean and variance leave the trials
 * the spread that they have.
 */
function quantilesOf(rate: number, within: number, at: readonly number[]): number[] {
  const most = rate * (1 - rate)
  const icc = most > 0 ? cut(1 - within / most) : 0
  if (icc < 0.005) return at.map(() => rate)
  if (icc > 0.98) return at.map((u) => (u < 1 - rate ? 0 : 1))
  const weight = 1 / icc - 1
  return at.map((u) => betaQuantile(u, rate * weight, (1 - rate) * weight))
}

/**
 * The rates of a and b of exactly these cases. Those that fail wholly are spread over all rates.
 */
function fixedRates({ way, cases, rate, within, loss }: PairWorld): { a: number[]; b: number[] } {
  const a = quantilesOf(
    rate,
    within,
    Array.from({ length: cases }, (_, i) => (i + 0.5) / cases),
  )
  if (way === 'evenly') return { a, b: a.map((p) => p * (1 - loss)) }
  const whole = Math.floor(loss * cases + 1e-9)
  const failed = new Set(
    Array.from({ length: whole }, (_, j) => Math.floor(((j + 0.5) * cases) / whole)),
  )
  // What is left of the loss falls on one more case, which fails at times.
  const partly = a.findLastIndex((_, i) => !failed.has(i))
  const rest = loss * cases - whole
  return { a, b: a.map((p, i) => (failed.has(i) ? 0 : i === partly ? p * (1 - rest) : p)) }
}

/**
 * How far both rates of a case are moved on their own, so that their difference has a variance over
 * cases, although no rate leaves [0, 1].
 */
function deviationFor(rates: readonly number[], between: number): number {
  if (between === 0) return 0
  const varianceAt = (deviation: number) =>
    2 *
    average(
      rates.map((p) => {
        const moved = normals.map((z) => cut(p + deviation * z))
        const center = average(moved)
        return average(moved.map((one) => (one - center) ** 2))
      }),
    )
  let [low, high] = [0, 4]
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2
    if (varianceAt(middle) < between) low = middle
    else high = middle
  }
  return high
}

type Spread = { rates: readonly number[]; deviation: number; mean: number }
let latest: { of: string; spread: Spread } | undefined

/**
 * How cases that are drawn anew scatter: the same for each loss that a search tries, so the latest
 * is kept.
 */
function spreadOf({ rate, within, between }: PairWorld): Spread {
  const of = `${rate} ${within} ${between}`
  if (latest?.of === of) return latest.spread
  // The moves of both sides take their part of the spread that the trials leave.
  const rates = quantilesOf(rate, within + between / 2, points)
  const deviation = deviationFor(rates, between)
  const mean = average(rates.map((p) => average(normals.map((z) => cut(p + deviation * z)))))
  latest = { of, spread: { rates, deviation, mean } }
  return latest.spread
}

/**
 * One world: the true mean difference b - a in it, and its runs one after the other, as passes of
 * each case.
 */
export function pairsIn(world: PairWorld): {
  difference: number
  draw(random: Rng, a: Uint32Array, b: Uint32Array): void
} {
  const { way, target, cases, loss } = world
  const [triedA, triedB] = world.repeats
  const evenly = way === 'evenly'
  if (target === 'these') {
    const rates = fixedRates(world)
    return {
      difference: average(rates.b) - average(rates.a),
      draw(random, a, b) {
        for (let i = 0; i < cases; i++) {
          a[i] = binomialDraw(random(), triedA, rates.a[i] as number)
          b[i] = binomialDraw(random(), triedB, rates.b[i] as number)
        }
      },
    }
  }
  const { rates, deviation, mean } = spreadOf(world)
  const pick = (items: readonly number[], random: Rng) =>
    items[Math.floor(random() * POINTS)] as number
  return {
    difference: -loss * mean,
    draw(random, a, b) {
      for (let i = 0; i < cases; i++) {
        const p = pick(rates, random)
        const fails = random() < loss && !evenly
        const [za, zb] = [deviation * pick(normals, random), deviation * pick(normals, random)]
        a[i] = binomialDraw(random(), triedA, cut(p + za))
        const left = evenly ? 1 - loss : fails ? 0 : 1
        b[i] = binomialDraw(random(), triedB, left * cut(p + zb))
      }
    },
  }
}
