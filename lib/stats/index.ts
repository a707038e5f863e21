/** Statistics that hold: pure functions over plain numbers, the random source passed in. */
export { type Bootstrap, bootstrap } from './bootstrap.ts'
export { boundedMean } from './bounded.ts'
export {
  type CompareOptions,
  type Comparison,
  compare,
  type Pair,
  type Target,
  withinError,
} from './compare.ts'
export {
  compareMedians,
  type MeasureComparison,
  type MeasureFigure,
  type MeasurePair,
  meanOver,
  quantileOver,
} from './continuous.ts'
export { lookAt, looks, type Spending } from './design/looks.ts'
export { nextRun, type RunMean, runMean, runNoise } from './design/over-time.ts'
export {
  type Pilot,
  type Plan,
  type PlanOptions,
  type PlanStep,
  pilot,
  plan,
} from './design/plan.ts'
export { detectable, power } from './design/power.ts'
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
export {
  cmhExact,
  fewestMoved,
  mcnemar,
  type SignFlip,
  type Stratum,
  signFlip,
  stratifiedPermutation,
} from './exact.ts'
export {
  clopperPearson,
  type Interval,
  jeffreys,
  newcombe,
  ruleOfThree,
  wilson,
} from './interval.ts'
export { jointSignFlip, letters } from './joint.ts'
export { type MissingBounds, missingBounds } from './missing.ts'
export { holm } from './multiple.ts'
export { compareLevels, type LevelPair, type OrdinalComparison } from './ordinal.ts'
export { ecdf, median, quantile } from './quantile.ts'
export { type Rng, rng, shuffle, xoshiro128 } from './random.ts'
export { type Rate, type RateMethod, type RateOptions, rate } from './rate.ts'
export {
  type Flips,
  flips,
  passAtK,
  passHatK,
  type Reliability,
  reliability,
} from './reliability.ts'
export { compareReliability } from './reliable-pairs.ts'
export { sameCases, sameCasesDifference } from './same-cases.ts'
export { type Shift, shift } from './shift.ts'
export { singleRun, wrongWinner } from './single-run.ts'
export { clusteredError, mean, type VarianceSplit, variance, varianceSplit } from './variance.ts'
export { type Verdict, verdict } from './verdict.ts'
export { weightedMeanCdf } from './weighted.ts'
