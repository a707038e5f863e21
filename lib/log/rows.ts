/**
 * What statistics read of a trial, and where they find it: case by case and configuration by
 * configuration.
 */
import { hadActed } from './attempts.ts'
import type { TrialRecord } from './records.ts'

/** `lost_before`: an attempt before it ended in an error after its agent had acted. */
export type StatRow = { lost_before?: true } & Pick<
  TrialRecord,
  | 'trial'
  | 'attempt'
  | 'outcome'
  | 'goal'
  | 'attack'
  | 'overclaims'
  | 'underclaims'
  | 'unneeded'
  | 'refused'
  | 'levels'
  | 'duration_ms'
  | 'steps'
  | 'calls'
  | 'tokens'
  | 'cost_usd'
  | 'claims_from'
  | 'one_sided'
>

/** The trials that count. */
export type Cells = {
  /** Those of one configuration at one case: by number of the repeat, or in the order given. */
  of(caseId: string, configuration: string): readonly StatRow[]
  /** Planned trials of the cell that are not there. Without it, nothing was planned. */
  absent?(caseId: string, configuration: string): number
}

/** The trials of a run as statistics read them. */
export type Rows = Cells & {
  /** Of a configuration, those that count and ended in an error. */
  errors(configuration: string): readonly TrialRecord[]
  /** Attempts that do not count: another one of the same trial followed. */
  readonly earlier: readonly TrialRecord[]
}

/** Rows over records that are in memory: one record per trial, and the attempts before those. */
export function rowsOf(
  records: readonly TrialRecord[],
  earlier: readonly TrialRecord[] = [],
): Rows {
  const lost = new Set(earlier.filter(hadActed).map(({ key }) => key))
  const rows = records.map((row) =>
    lost.has(row.key) ? { ...row, lost_before: true as const } : row,
  )
  const cells = Map.groupBy(rows, (row) => `${row.case}|${row.configuration}`)
  return {
    of: (caseId, configuration) => cells.get(`${caseId}|${configuration}`) ?? [],
    errors: (configuration) =>
      records.filter((row) => row.configuration === configuration && row.outcome === 'error'),
    earlier,
  }
}
