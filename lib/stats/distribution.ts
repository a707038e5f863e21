/**
 * The normal, t, beta and binomial distributions: cdf and quantile, to a relative error of 1e-10 or
 * better.
 *
 * Own code, about 300 lines with beta.ts, because the packages fall short or weigh too much:
 * jstat's t quantile is right to 1e-8 only, simple-statistics' normal quantile to two digits,
 * lib-r-math.js' to 1e-8, and @stdlib, which is right, brings 240 packages. Checked against R in
 * test/stats/distribution.test.ts.
 */
import { betaFactor, deviance, incompleteBeta, inverseBetaLogit, stirlingError } from './beta.ts'
import { number, positive, share, whole } from './domain.ts'

const MAX = Number.MAX_SAFE_INTEGER

/**
 * Density of the standard normal.
 *
 * @example
 * normalDensity(0) // 0.398942
 */
export function normalDensity(z: number): number {
  return Math.exp((-number(z, 'z') * z) / 2) * 0.3989422804014327
}

/** Phi(-z) for z >= 0. */
function normalTail(z: number): number {
  if (z > 39) return 0
  if (z < 3) {
    // Phi(z) - 1/2 = phi(z) (z + z^3/3 + z^5/15 + ...), A&S 26.2.11: only positive terms.
    let term = z
    let sum = z
    for (let k = 3; term > sum * 1e-17; k += 2) {
      term *= (z * z) / k
      sum += term
    }
    return 0.5 - normalDensity(z) * sum
  }
  // Laplace's continued fraction, A&S 26.2.14, from the far end; 200 steps are enough from z = 3
  // on.
  let h = z
  for (let k = 200; k >= 1; k--) h = z + k / h
  return normalDensity(z) / h
}

/**
 * Share of the standard normal distribution at or below z.
 *
 * @param z  any number
 * @see      Abramowitz & Stegun 26.2.11 and 26.2.14; known answers:
 *   fixtures/stats/distribution.json
 * @example
 * normalCdf(1.96) // 0.9750021
 */
export function normalCdf(z: number): number {
  return number(z, 'z') <= 0 ? normalTail(-z) : 1 - normalTail(z)
}

/**
 * The z with a share p of the standard normal distribution below it.
 *
 * @param p  in [0, 1]; 0 gives -Infinity, 1 gives Infinity
 * @throws   `argument_invalid` when p is outside [0, 1]
 * @example
 * normalQuantile(0.975) // 1.959963985
 * normalQuantile(2) // throws argument_invalid
 */
export function normalQuantile(p: number): number {
  share(p, 'p')
  if (p > 0.5) return -normalQuantile(1 - p)
  if (p === 0) return -Infinity
  if (p === 0.5) return 0
  // A first guess from the tail's leading term, then Newton on the logarithm of the tail, which is
  // concave: the steps close in from one side. The guess may be rough.
  const w = Math.sqrt(-2 * Math.log(p))
  let z = p > 0.02 ? 0 : w - Math.log(w * 2.5066282746310002) / w
  for (let i = 0; i < 100; i++) {
    const tail = normalTail(z)
    const step = (Math.log(tail / p) * tail) / normalDensity(z)
    z += step
    if (z < 0) z = 0
    if (Math.abs(step) <= 2e-16 * z) break
  }
  return -z
}

/**
 * Share of Student's t distribution at or below t.
 *
 * @param df  degrees of freedom, above 0, need not be whole; Infinity is the normal distribution
 * @throws    `argument_invalid` when df is not above 0
 * @see       DLMF 8.17; known answers: fixtures/stats/distribution.json
 * @example
 * tCdf(2.262157, 9) // 0.975
 */
export function tCdf(t: number, df: number): number {
  number(t, 't')
  positive(df, 'df')
  if (df === Infinity) return normalCdf(t)
  if (t === 0) return 0.5
  const square = t * t
  const tail = Number.isFinite(square)
    ? incompleteBeta(df / (df + square), square / (df + square), df / 2, 0.5).lower / 2
    : 0
  return t < 0 ? tail : 1 - tail
}

/**
 * The t with a share p of Student's distribution below it.
 *
 * @param p   in [0, 1]
 * @param df  degrees of freedom, above 0, need not be whole; Infinity is the normal distribution
 * @throws    `argument_invalid` when p or df is outside its domain
 * @example
 * tQuantile(0.975, 9) // 2.262157163
 * tQuantile(0.975, 0) // throws argument_invalid
 */
export function tQuantile(p: number, df: number): number {
  share(p, 'p')
  positive(df, 'df')
  if (df === Infinity) return normalQuantile(p)
  if (p > 0.5) return -tQuantile(1 - p, df)
  if (p === 0) return -Infinity
  if (p === 0.5) return 0
  // 2p = I_x(df/2, 1/2) at x = df / (df + t^2), so t^2 / df = (1 - x) / x = exp(-logit x).
  return -Math.sqrt(df) * Math.exp(-inverseBetaLogit(2 * p, 1 - 2 * p, df / 2, 0.5) / 2)
}

/**
 * Share of the beta distribution at or below x.
 *
 * @param x  in [0, 1]
 * @param a  shape, above 0
 * @param b  shape, above 0
 * @throws   `argument_invalid` when an argument is outside its domain
 * @example
 * betaCdf(0.5, 2, 3) // 0.6875
 */
export function betaCdf(x: number, a: number, b: number): number {
  return incompleteBeta(share(x, 'x'), 1 - x, positive(a, 'a'), positive(b, 'b')).lower
}

/**
 * The x with a share p of the beta distribution below it.
 *
 * @param p  in [0, 1]
 * @param a  shape, above 0
 * @param b  shape, above 0
 * @throws   `argument_invalid` when an argument is outside its domain
 * @example
 * betaQuantile(0.975, 1, 5) // 0.5218238
 */
export function betaQuantile(p: number, a: number, b: number): number {
  const u = inverseBetaLogit(share(p, 'p'), 1 - p, positive(a, 'a'), positive(b, 'b'))
  return u < 0 ? Math.exp(u) / (1 + Math.exp(u)) : 1 / (1 + Math.exp(-u))
}

/**
 * Probability of exactly k successes in n tries of probability p.
 *
 * @param k  whole, 0..n
 * @param n  whole, >= 0
 * @param p  in [0, 1]
 * @throws   `argument_invalid` when an argument is outside its domain
 * @see      Loader 2000, equation 5
 * @example
 * binomialPmf(2, 5, 0.5) // 0.3125
 */
export function binomialPmf(k: number, n: number, p: number): number {
  whole(n, 0, MAX, 'n')
  whole(k, 0, n, 'k')
  share(p, 'p')
  if (p === 0 || p === 1) return (p === 0 ? k === 0 : k === n) ? 1 : 0
  if (k === 0) return Math.exp(n * Math.log1p(-p))
  if (k === n) return Math.exp(n * Math.log(p))
  const log =
    stirlingError(n) -
    stirlingError(k) -
    stirlingError(n - k) -
    deviance(k, n * p) -
    deviance(n - k, n * (1 - p))
  return Math.exp(log) * Math.sqrt(n / (2 * Math.PI * k * (n - k)))
}

/**
 * Probability of k successes or fewer in n tries of probability p.
 *
 * @param k  whole, 0..n
 * @param n  whole, >= 0
 * @param p  in [0, 1]
 * @throws   `argument_invalid` when an argument is outside its domain
 * @see      DLMF 8.17.5
 * @example
 * binomialCdf(2, 5, 0.5) // 0.5
 */
export function binomialCdf(k: number, n: number, p: number): number {
  whole(n, 0, MAX, 'n')
  whole(k, 0, n, 'k')
  share(p, 'p')
  return k === n ? 1 : incompleteBeta(p, 1 - p, k + 1, n - k).upper
}

/**
 * The smallest k with at least a share `q` of the binomial distribution at or below it.
 *
 * A cdf that meets q to within 1e-14 counts as reaching it, so that
 * `binomialQuantile(binomialCdf(k, n, p), n, p)` is k.
 *
 * @param q  in [0, 1]
 * @param n  whole, >= 0
 * @param p  in [0, 1]
 * @throws   `argument_invalid` when an argument is outside its domain
 * @example
 * binomialQuantile(0.5, 5, 0.5) // 2
 */
export function binomialQuantile(q: number, n: number, p: number): number {
  share(q, 'q')
  whole(n, 0, MAX, 'n')
  share(p, 'p')
  let low = 0
  let high = n
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (binomialCdf(middle, n, p) >= q * (1 - 1e-14)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Density of the beta distribution.
 *
 * @param x inside (0, 1)
 * @example
 * betaDensity(0.5, 2, 2) // 1.500
 */
export function betaDensity(x: number, a: number, b: number): number {
  share(x, 'x')
  return betaFactor(x, 1 - x, positive(a, 'a'), positive(b, 'b')) / (x * (1 - x))
}
