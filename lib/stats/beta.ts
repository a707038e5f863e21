/**
 * The regularised incomplete beta function and its inverse: what the t, beta and binomial
 * distributions are made of.
 *
 * Both x and y = 1 - x are carried everywhere, and the inverse is found in the logit u = ln(x / y),
 * so that neither end of [0, 1] loses digits. Sources: NIST DLMF 8.17 (continued fraction 8.17.22),
 * Loader 2000 "Fast and accurate computation of binomial probabilities" (deviance form of the
 * leading factor), DLMF 5.11.1 (Stirling series).
 */

const HALF_LOG_2PI = 0.9189385332046727

/**
 * ln Gamma(x + 1) minus Stirling's (x + 1/2) ln x - x + ln(2 pi)/2: the small part that is lost
 * when large log-gammas are subtracted from each other.
 */
export function stirlingError(x: number): number {
  let sum = 0
  // The series below is good to 1e-17 from 16 on; smaller arguments climb there one step at a time.
  while (x < 16) {
    sum += (x + 0.5) * Math.log1p(1 / x) - 1
    x++
  }
  const q = 1 / (x * x)
  return (
    sum +
    (1 / 12 -
      q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188 - (q * 691) / 360360))))) /
      x
  )
}

/** x ln(x / m) + m - x without cancellation where x is near m. */
export function deviance(x: number, m: number): number {
  if (x === 0) return m
  const v = (x - m) / (x + m)
  if (Math.abs(v) >= 0.1) return x * Math.log(x / m) + m - x
  // ln(x/m) = 2 atanh(v); the first term of its series is taken together with m - x.
  let term = 2 * x * v
  let sum = (x - m) * v
  for (let k = 3; ; k += 2) {
    term *= v * v
    const next = sum + term / k
    if (next === sum) return sum
    sum = next
  }
}

/** ln of x^a y^b / B(a, b), y = 1 - x. */
function logFactor(x: number, y: number, a: number, b: number): number {
  const n = a + b
  const stirling = stirlingError(n) - stirlingError(a) - stirlingError(b) - HALF_LOG_2PI
  return stirling - deviance(a, n * x) - deviance(b, n * y) + 0.5 * Math.log(a * (b / n))
}

/**
 * x^a y^b / B(a, b), y = 1 - x: the derivative of the incomplete beta function by the logit of x.
 */
export function betaFactor(x: number, y: number, a: number, b: number): number {
  return x <= 0 || y <= 0 ? 0 : Math.exp(logFactor(x, y, a, b))
}

/** The continued fraction of I_x(a, b), for x below the mean. Modified Lentz. */
function fraction(x: number, a: number, b: number): number {
  const tiny = 1e-300
  let c = 1
  let d = 1 - ((a + b) * x) / (a + 1)
  if (Math.abs(d) < tiny) d = tiny
  d = 1 / d
  let h = d
  for (let m = 1; m < 100_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 + even * d
    c = 1 + even / c
    if (Math.abs(d) < tiny) d = tiny
    if (Math.abs(c) < tiny) c = tiny
    d = 1 / d
    h *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 + odd * d
    c = 1 + odd / c
    if (Math.abs(d) < tiny) d = tiny
    if (Math.abs(c) < tiny) c = tiny
    d = 1 / d
    const step = d * c
    h *= step
    if (Math.abs(step - 1) < 3e-16) break
  }
  return h
}

/**
 * I_x(a, b) and its complement, each to its own relative precision.
 *
 * @param y  1 - x, given apart so that an x near 1 keeps its digits
 */
export function incompleteBeta(
  x: number,
  y: number,
  a: number,
  b: number,
): { lower: number; upper: number } {
  if (x <= 0) return { lower: 0, upper: 1 }
  if (y <= 0) return { lower: 1, upper: 0 }
  const factor = betaFactor(x, y, a, b)
  if (x * (a + b + 2) < a + 1) {
    const lower = (factor * fraction(x, a, b)) / a
    return { lower, upper: 1 - lower }
  }
  const upper = (factor * fraction(y, b, a)) / b
  return { lower: 1 - upper, upper }
}

/**
 * ln I_x(a, b) and I over its derivative by the logit, neither of which underflows in the far lower
 * tail.
 */
function lowerTail(x: number, y: number, a: number, b: number): { log: number; ratio: number } {
  const log = logFactor(x, y, a, b)
  if (x * (a + b + 2) < a + 1) {
    const ratio = fraction(x, a, b) / a
    return { log: log + Math.log(ratio), ratio }
  }
  const factor = Math.exp(log)
  const upper = (factor * fraction(y, b, a)) / b
  return { log: Math.log1p(-upper), ratio: (1 - upper) / factor }
}

/** Below this logit x is so small that ln I is a straight line of slope a in the logit. */
const STRAIGHT = -600

/**
 * The logit of x at which I_x(a, b) = p.
 *
 * In the logit both tails are log-concave: Newton's steps on the logarithm of the smaller tail
 * overshoot at most once and then close in from one side, so they need no bracket.
 *
 * @param q  1 - p, given apart so that a p near 1 keeps its digits
 */
export function inverseBetaLogit(p: number, q: number, a: number, b: number): number {
  if (p <= 0) return -Infinity
  if (q <= 0) return Infinity
  // From the upper side it is the same question with x and y, a and b, p and q changed over.
  const middle = incompleteBeta(a / (a + b), b / (a + b), a, b).lower
  return p <= middle ? lowerLogit(p, a, b) : -lowerLogit(q, b, a)
}

/** As `inverseBetaLogit`, for a p at or below that of the mean. */
function lowerLogit(p: number, a: number, b: number): number {
  let u = Math.log(a / b)
  for (let i = 0; i < 200; i++) {
    const x = u < 0 ? Math.exp(u) / (1 + Math.exp(u)) : 1 / (1 + Math.exp(-u))
    const y = u < 0 ? 1 / (1 + Math.exp(u)) : Math.exp(-u) / (1 + Math.exp(-u))
    const { log, ratio } = lowerTail(x, y, a, b)
    const over = log - Math.log(p)
    if (u === STRAIGHT && over >= 0) return u - over / a
    const step = over * ratio
    u = Math.max(STRAIGHT, u - step)
    // Quadratic convergence: after a step of 1e-9 the next would be below the last digit.
    if (!(Math.abs(step) > 1e-9 * Math.max(1, Math.abs(u)))) break
  }
  return u
}
