/** Statistics that hold: pure functions over plain numbers, the random source passed in. */
export { type Bootstrap, bootstrap } from './bootstrap.ts'
export { boundedMean } from './bounded.ts'
export {
  compareMedians,
  type MeasureComparison,
  type MeasurePair,
} from './continuous.ts'
export type { Cost } from './design/cost.ts'
export { lookAt, looks, type Spending } from './design/looks.ts'
export { nextRun, type RunScores, runNoise } from './design/over-time.ts'
export { type Pilot, pilot } from './design/pilot.ts'
export { type Plan, type PlanOptions, type PlanStep, plan } from './design/plan.ts'
export { type MarginPlan, type MarginPlanOptions, planMargin } from './design/plan-margin.ts'
export { planRate, type RatePlan, type RatePlanOptions } from './design/plan-rate.ts'
export { detectable, power } from './design/power.ts'
export type { Chance } from './design/simulate.ts'
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
export type { Target } from './families.ts'
export { type MeasureFigure, meanOver, quantileOver } from './figures.ts'
export { iccInterval } from './icc.ts'
export {
  clopperPearson,
  type Interval,
  jeffreys,
  newcombe,
  ruleOfThree,
  wilson,
} from './interval.ts'
export { type ReaderMeasured, readLevel, trueShare } from './misclassified.ts'
export { type MissingBounds, missingBounds } from './missing.ts'
export {
  type CompareOptions,
  type Comparison,
  compare,
  type Pair,
  withinError,
} from './pairs/compare.ts'
export { jointSignFlip, letters } from './pairs/joint.ts'
export { holm } from './pairs/multiple.ts'
export { compareLevels, type LevelPair, type OrdinalComparison } from './pairs/ordinal.ts'
export { compareReliability } from './pairs/reliable-pairs.ts'
export { type Shift, shift } from './pairs/shift.ts'
export { type Verdict, verdict } from './pairs/verdict.ts'
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
export { sameCases, sameCasesDifference } from './same-cases.ts'
export { singleRun, wrongWinner } from './single-run.ts'
export { clusteredError, mean, type VarianceSplit, variance, varianceSplit } from './variance.ts'
export { weightedMeanCdf } from './weighted.ts'
