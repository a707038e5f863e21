/** Statistics that hold: pure functions over plain numbers, the random source passed in. */
export { type Bootstrap, bootstrap } from './bootstrap.ts'
export { type CompareOptions, type Comparison, compare, type Pair, type Target, type Verdict } from './compare.ts'
export {
  betaCdf,
  betaDensity,
  betaQuantile,
  binomialCdf,
  binomialPmf,
  binomialQuantile,
  normalCdf,
  normalDensity,
  normalQuantile,
  tCdf,
  tQuantile,
} from './distribution.ts'
export { cmhExact, mcnemar, type SignFlip, type Stratum, signFlip } from './exact.ts'
export { clopperPearson, type Interval, jeffreys, ruleOfThree, wilson } from './interval.ts'
export { type Rng, rng, shuffle } from './random.ts'
export { type Rate, type RateMethod, rate } from './rate.ts'
export { mean, type VarianceSplit, variance, varianceSplit } from './variance.ts'
