/** Side-effect receipts: what an agent's tool calls really did, as far as bytes at hand can show. */

export { checkFolder } from './attest/check-folder.ts'
export type { GivenSet } from './attest/check-set.ts'
export {
  type Envelope,
  type Opened,
  open,
  PAYLOAD_TYPE,
  pae,
  readEnvelope,
  seal,
} from './attest/dsse.ts'
export {
  type IssueOptions,
  type IssueRunOptions,
  issueProbe,
  issueRun,
  publishedSet,
  Receipt,
  requireIssuable,
} from './attest/issue.ts'
export * as keys from './attest/keys.ts'
export { PROBE_PREDICATE, type ProbePredicate } from './attest/probe-predicate.ts'
export { type CaseRow, RUN_PREDICATE, type RunPredicate } from './attest/run-predicate.ts'
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
} from './attest/statement.ts'
export type { Problem, Step, Verdict } from './attest/step.ts'
export { Verification, type VerificationData } from './attest/verification.ts'
export type { CheckOptions } from './attest/verify-receipt.ts'
export type { CloudTrailOptions } from './audit/cloudtrail.ts'
export type { Audit, Export } from './audit/evidence.ts'
export { type Imported, importAudit, importAuditFile, MAX_EXPORT_BYTES } from './audit/import.ts'
export { type AuditRecord, type Authenticity, RECORD_SCHEMA, record } from './audit/record.ts'
export type { Contradiction } from './ladder/confirm.ts'
export { appendLedger, type Ledger } from './ladder/ledger.ts'
export { type Decisions, type VerifyOptions, verifyStream, type Window } from './ladder/levels.ts'
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
} from './ladder/report.ts'
export { bindingDigest, type Projection, type Subject, subjectOf } from './surface/binding.ts'
export {
  type Classifier,
  classifier,
  classifiers,
  type Field,
  IRREVERSIBILITY,
  type Irreversibility,
  type Read,
} from './surface/classifier.ts'
export {
  type Decision,
  LEVELS,
  type Level,
  type Observation,
  type SideEffect,
  SURFACE_SCHEMA,
  type Surface,
  type VerificationSource,
} from './surface/decision.ts'
export { NON_CLAIMS, type ObservedCall, observe, requestHash, surface } from './surface/observe.ts'
export { targetHash } from './surface/target.ts'
export { isReceipt, verify } from './verify.ts'
