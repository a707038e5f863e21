/**
 * Side-effect receipts: what an agent's tool calls really did, as far as bytes at hand can show.
 */

export { checkFolder } from './attest/check-folder.ts'
export {
  type IssueOptions,
  type IssueRunOptions,
  issueProbe,
  issueRun,
  publishedSet,
  Receipt,
  requireIssuable,
} from './attest/issue.ts'
export { PROBE_PREDICATE, type ProbePredicate } from './attest/probe-predicate.ts'
export { prove, TrialProof, type TrialProofData } from './attest/prove.ts'
export { Verification, type VerificationData } from './attest/verification.ts'
export type { CheckOptions } from './attest/verify-receipt.ts'
export type { Audit, AuditOptions, Export } from './audit/evidence.ts'
export {
  type FailedEntry,
  type Imported,
  type ImportOptions,
  importAudit,
  importAuditFile,
} from './audit/import.ts'
export type { AuthenticityOptions, Importer, Reading } from './audit/importer.ts'
export type { ImporterData } from './audit/importer-data.ts'
export { importer, importers } from './audit/importers.ts'
export { type AuditRecord, type Authenticity, RECORD_SCHEMA, record } from './audit/record.ts'
export { MAX_EXPORT_BYTES } from './audit/unpack.ts'
export {
  type BesideData,
  type BesideRow,
  BundleBesideLadder,
  beside,
  type CallMatch,
} from './bundle/beside.ts'
export { type BundleAction, BundleReport, type BundleReportData } from './bundle/bundle-report.ts'
export type { ClaimName, ClaimStatus, Claims } from './bundle/claims.ts'
export { PROFILES, type Profile } from './bundle/profile.ts'
export type { BundleFinding } from './bundle/records.ts'
export { type BundleOptions, verifyBundle } from './bundle/verify-bundle.ts'
export { type WriteOptions, writeBundle as bundle } from './bundle/write.ts'
export {
  type Definitions,
  type Draft,
  definitions,
  draft,
  type ListedTool,
} from './definitions/index.ts'
export type { Contradiction } from './ladder/confirm.ts'
export type { Finding, FindingGroup, Severity } from './ladder/findings.ts'
export { appendLedger, type Ledger } from './ladder/ledger.ts'
export { type Decisions, type VerifyOptions, verifyStream, type Window } from './ladder/levels.ts'
export {
  type Binding,
  type BindingStrength,
  type CallRow,
  CLAIMS_NOT_MADE,
  REPORT_SCHEMA,
  type RecordRow,
  type Rejection,
  Report,
  type ReportData,
  type Unread,
  type Weakest,
} from './ladder/report.ts'
export type { GivenSet } from './recompute/check-set.ts'
export { type CaseRow, RUN_PREDICATE, type RunPredicate } from './recompute/run-predicate.ts'
export type { Problem, Step, Verdict } from './recompute/step.ts'
export {
  type Envelope,
  type Opened,
  open,
  PAYLOAD_TYPE,
  pae,
  readEnvelope,
  seal,
} from './seal/dsse.ts'
export * as keys from './seal/keys.ts'
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
} from './seal/statement.ts'
export { bindingDigest, type Projection, type Subject, subjectOf } from './surface/binding.ts'
export {
  type Answer,
  type Binding as BindingRule,
  type Classifier,
  type Effect,
  type Field,
  IRREVERSIBILITY,
  type Irreversibility,
  type Read,
  type Shown,
  type Whole,
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
export {
  type CallStatus,
  NON_CLAIMS,
  type ObservedCall,
  observe,
  requestHash,
  surface,
} from './surface/observe.ts'
export { classifier, classifiers } from './surface/registry.ts'
export { exactHash, targetHash } from './surface/target.ts'
export { isReceipt, verify } from './verify.ts'
