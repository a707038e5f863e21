/** Side-effect receipts: what an agent's tool calls really did, as far as bytes at hand can show. */
export { type Imported, importAudit, importAuditFile, MAX_EXPORT_BYTES } from './audit.ts'
export { bindingDigest, type Projection, type Subject, subjectOf } from './binding.ts'
export type { CheckOptions } from './check.ts'
export { isReceipt, verify } from './check-any.ts'
export type { GivenSet } from './check-set.ts'
export {
  type Classifier,
  classifier,
  classifiers,
  type Field,
  IRREVERSIBILITY,
  type Irreversibility,
  type Read,
} from './classifier.ts'
export type { CloudTrailOptions } from './cloudtrail.ts'
export type { Contradiction } from './confirm.ts'
export {
  type Decision,
  LEVELS,
  type Level,
  type Observation,
  type SideEffect,
  SURFACE_SCHEMA,
  type Surface,
  type VerificationSource,
} from './decision.ts'
export { type Envelope, type Opened, open, PAYLOAD_TYPE, pae, readEnvelope, seal } from './dsse.ts'
export type { Audit, Export } from './evidence.ts'
export {
  type IssueOptions,
  type IssueRunOptions,
  issueProbe,
  issueRun,
  publishedSet,
  Receipt,
  requireIssuable,
} from './issue.ts'
export * as keys from './keys.ts'
export { appendLedger, type Ledger } from './ledger.ts'
export { PROBE_PREDICATE, type ProbePredicate } from './probe-predicate.ts'
export { type AuditRecord, type Authenticity, RECORD_SCHEMA, record } from './record.ts'
export {
  type Binding,
  type BindingStrength,
  type CallRow,
  CLAIMS_NOT_MADE,
  type Finding,
  REPORT_SCHEMA,
  type RecordRow,
  type Rejection,
  Report,
  type ReportData,
  type Weakest,
} from './report.ts'
export { type CaseRow, RUN_PREDICATE, type RunPredicate } from './run-predicate.ts'
export {
  type Descriptor,
  descriptor,
  digestOfDescriptor,
  readStatement,
  STATEMENT_TYPE,
  type Statement,
  statement,
  TEST_RESULT_TYPE,
  type TestResult,
  testResult,
} from './statement.ts'
export type { Problem, Step, Verdict } from './step.ts'
export { NON_CLAIMS, type ObservedCall, observe, requestHash, surface } from './surface.ts'
export { targetHash } from './target.ts'
export { Verification, type VerificationData } from './verification.ts'
export { type Decisions, type VerifyOptions, verifyStream, type Window } from './verify.ts'
