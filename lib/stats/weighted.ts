/**
 * Random weights over what was seen: how likely is it that the weighted mean of some values lies at
 * or below a point?
 *
 * The weights are Dirichlet distributed, as those of the Bayesian bootstrap (Rubin 1981). With
 * weight for one value that was not seen, at the end of the range, the mean of anything bounded
 * gets an interval that needs no shape (see `bounded.ts`).
 */
import { list, number, numbers, positive, whole } from './domain.ts'

/**
 * P(sum of w_j v_j <= x), with (w_1, w_2, ...) from a Dirichlet distribution.
 *
 * The sum is at or below x when a sum of gamma variables, each times v_j - x, is at or below 0. Its
 * distribution comes from the moment generating function, integrated along the vertical line
 * through its saddlepoint, where nothing oscillates.
 *
 * @param values  finite numbers
 * @param masses  the parameters of the Dirichlet distribution, each above 0: how many observations
 *   each value stands for
 * @see           Daniels 1987 (Tail probability approximations), the integral before any
 *   approximation
 * @example
 * weightedMeanCdf([0, 1], [3, 5], 0.5) // 0.2266
 */
export function weightedMeanCdf(
  values: readonly number[],
  masses: readonly number[],
  x: number,
): number {
  numbers(values, 'values')
  whole(
    list(masses, 'numbers above 0', 'masses').length,
    values.length,
    values.length,
    'masses.length',
  )
  for (let j = 0; j < masses.length; j++) positive(masses[j] as number, `masses[${j}]`)
  number(x, 'x')
  let lowest = 0
  let highest = 0
  let center = 0
  const gaps = new Float64Array(values.length)
  for (let j = 0; j < gaps.length; j++) {
    const gap = (values[j] as number) - x
    gaps[j] = gap
    center += gap * (masses[j] as number)
    if (gap < lowest) lowest = gap
    if (gap > highest) highest = gap
  }
  if (lowest === 0) return highest === 0 ? 1 : 0
  if (highest === 0) return 1
  return center > 0
    ? tailBelow(gaps, masses, lowest)
    : 1 -
        tailBelow(
          gaps.map((gap) => -gap),
          masses,
          -highest,
        )
}

/**
 * P(sum of gap_j gamma_j < 0) where the sum's mean is at or above 0; `lowest` is the smallest gap,
 * below 0.
 */
function tailBelow(gaps: Float64Array, masses: readonly number[], lowest: number): number {
  const n = gaps.length
  // The saddlepoint: where K(s) - ln(-s) is least between 1 / lowest and 0.
  let left = 1 / lowest
  let right = 0
  let s = left / 2
  let curve = 0
  for (let i = 0; i < 60; i++) {
    let slope = -1 / s
    curve = 1 / (s * s)
    for (let j = 0; j < n; j++) {
      const part = (gaps[j] as number) / (1 - s * (gaps[j] as number))
      slope += (masses[j] as number) * part
      curve += (masses[j] as number) * part * part
    }
    if (slope > 0) right = s
    else left = s
    let next = s - slope / curve
    if (!(next > left && next < right)) next = (left + right) / 2
    const step = Math.abs(next - s)
    s = next
    if (step <= 1e-9 * -s) break
  }
  const scale = 1 / Math.sqrt(curve)
  let sum = 0
  let peak = 0
  for (let i = 0; i < 2000; i++) {
    const u = i * STEP
    const t = scale * Math.sinh(u)
    let log = -0.5 * Math.log(s * s + t * t)
    // -1 / (s + i t) has the argument of -s + i t.
    let angle = Math.atan2(t, -s)
    for (let j = 0; j < n; j++) {
      const real = 1 - s * (gaps[j] as number)
      const imaginary = -t * (gaps[j] as number)
      const mass = masses[j] as number
      log -= 0.5 * mass * Math.log(real * real + imaginary * imaginary)
      angle -= mass * Math.atan2(imaginary, real)
    }
    const size = Math.exp(log) * Math.cosh(u)
    const part = size * Math.cos(angle)
    sum += i === 0 ? part / 2 : part
    if (i === 0) peak = size
    if (size < 1e-11 * peak) break
  }
  return Math.min(1, Math.max(0, (sum * scale * STEP) / Math.PI))
}

/**
 * The trapezoid rule's step: its error falls exponentially, and is below 1e-8 of the result here.
 */
const STEP = 0.08
