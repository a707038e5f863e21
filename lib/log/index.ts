/**
 * The run log: what a trial's record is, the folder of a run, and the numbers that are computed
 * from it.
 */

export {
  type Absent,
  absentIn,
  absentText,
  changedWorld,
} from './attempts.ts'
export { Columns, columnsOf } from './columns.ts'
export { groups, type Kind } from './evidence.ts'
export { BROKE_OFF, ENDED, matchedBy } from './finding-words.ts'
export {
  BREATH_LINES,
  breathe,
  digestOfExports,
  digestOfLines,
  FILES,
  linesOf,
  type ReadRecord,
  type RunFolder,
  RunWriter,
  readManifest,
  requirePlainFiles,
  type TrialExport,
  type TrialParts,
} from './folder.ts'
export { METHODS, methodsIn } from './methods.ts'
export type { Adjusted, MetricComparison } from './numbers/among.ts'
export {
  COMPARED,
  type CompareChoice,
  type Comparisons,
  compareAll,
  compareMetric,
  pairsOf,
} from './numbers/comparison.ts'
export {
  type Among,
  type Coverage,
  coverageOf,
  MARKS,
  type Mark,
  type Spent,
} from './numbers/coverage.ts'
export {
  identicalRepeats,
  independentRows,
  repeatsOf,
  summariseIndependent,
} from './numbers/identical.ts'
export { errorOver, heldOver } from './numbers/look-level.ts'
export { compareMeasure, type Measure, measureNamed } from './numbers/measure.ts'
export {
  type ComparedMetric,
  familyOfCases,
  METRICS,
  type Metric,
  metricNamed,
  scoresByCase,
} from './numbers/metrics.ts'
export { type Ranking, ranking } from './numbers/ranking.ts'
export {
  type ConfigurationSummary,
  type Ends,
  filledScores,
  type MetricSummary,
  summarise,
} from './numbers/summary.ts'
export type { StatedClaim } from './prose/clause.ts'
export { LineFile, LogReader } from './read.ts'
export type { Manifest, TrialRecord } from './records.ts'
export { type Inspected, inspectRun, requireTrialLog, setAside } from './recover.ts'
export { type Cells, type Rows, rowsOf, type StatRow } from './rows.ts'
export { namesOfFolder, RUNS, runFoldersIn } from './run-folders.ts'
export { RunIndex } from './run-index.ts'
export { lock } from './run-lock.ts'
export {
  type Changing,
  claimsBeside,
  claimsSaid,
  type SaidParts,
  sourced,
  textOfClaims,
} from './stated.ts'
export {
  type Entry,
  type OfferedTools,
  orderOf,
  requireTranscript,
  type Transcript,
  type TranscriptCall,
  type TranscriptLine,
  type TranscriptTime,
  transcriptOf,
} from './transcript.ts'
export {
  type Claim,
  type ClaimSource,
  type Met,
  type MetFault,
  MOST_REPEATS,
  type Outcome,
  type Reason,
  runIdOf,
  trialKey,
  trialSeed,
} from './trial.ts'
export { nameOfAttempt, waitsIn } from './waits.ts'
