/**
 * Receipts of runs as earlier versions made them: with a row for every line of the trial log, and,
 * of late, the root of its tree.
 */
import type { Digest } from '../../canonical.ts'
import type { Json } from '../../json.ts'
import { changedWorld, FILES, type TrialRecord } from '../../log/index.ts'
import type { RunBytes } from './run-folder.ts'
import { logProblems } from './run-log.ts'
import { differences, type Problem } from './step.ts'
import type { LoggedLine } from './trial-log.ts'

export const RUN_PREDICATE_V0 = 'urn:touchstone:agent-run:v0'
export const RUN_SCHEMA_V0 = 'touchstone.agent_run.v0'

/**
 * What such a receipt has of a line of the trial log. One that ended in an error says with what,
 * and whether its world may have been changed before.
 */
function attemptRow(record: TrialRecord, digest: Digest) {
  const { key, attempt, outcome, error } = record
  return {
    key,
    attempt,
    digest,
    ...(outcome === 'error' && { ended: error?.code ?? 'unknown', changed: changedWorld(record) }),
  }
}

/** A line of the trial log as it is held against such a receipt. `row` is null for one unread. */
export type LoggedRow = { line: number; digest: Digest; row: ReturnType<typeof attemptRow> | null }

export function loggedRow({ line, digest, record }: LoggedLine): LoggedRow {
  return { line, digest, row: record && attemptRow(record, digest) }
}

/**
 * Where the trial log is not the one that such a receipt commits to.
 *
 * @param lines every line of the log
 */
export function logProblemsV0(
  bytes: RunBytes,
  lines: readonly LoggedRow[],
  predicate: { [name: string]: Json },
): Problem[] {
  const tree = bytes.trees.get(FILES.trials) ?? null
  return [
    ...logProblems(lines, predicate['attempts']),
    ...(predicate['log'] === undefined
      ? []
      : differences(tree, predicate['log'], 'predicate.log', 'log_root_differs')),
  ]
}
