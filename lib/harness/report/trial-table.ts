/**
 * The trials of a run as a table for analysis: one row for each trial, the attempt that counts. SQL
 * and Parquet have these columns.
 */
import type { Manifest, TrialRecord } from '../../log/index.ts'

/** A type of DuckDB and of Parquet, by its SQL name. */
export type ColumnType = 'VARCHAR' | 'BOOLEAN' | 'INTEGER' | 'BIGINT' | 'DOUBLE' | 'TIMESTAMPTZ'

type Cell = string | number | bigint | boolean | null
type Tested = Manifest['cases'][number] | undefined
type Configured = Manifest['configurations'][number] | undefined

export type TrialColumn = {
  name: string
  type: ColumnType
  says: string
  of(record: TrialRecord, tested: Tested, configured: Configured): Cell
}

const column = (
  name: string,
  type: ColumnType,
  says: string,
  of: TrialColumn['of'],
): TrialColumn => ({ name, type, says, of })
const whole = (value: number | null | undefined): bigint | null =>
  value === null || value === undefined ? null : BigInt(value)

/** The columns, in their order. NULL is not known, or none, as in the record. */
export const TRIAL_COLUMNS: readonly TrialColumn[] = [
  column('key', 'VARCHAR', 'case\\|configuration\\|trial', (row) => row.key),
  column('case', 'VARCHAR', 'the case', (row) => row.case),
  column('kind', 'VARCHAR', 'its kind', (_, tested) => tested?.kind ?? null),
  column(
    'family',
    'VARCHAR',
    'what variants of one task share',
    (_, tested) => tested?.family ?? null,
  ),
  column(
    'adversarial',
    'BOOLEAN',
    'the case has an attack',
    (_, tested) => tested?.adversarial ?? null,
  ),
  column('configuration', 'VARCHAR', 'the configuration', (row) => row.configuration),
  column('model', 'VARCHAR', 'its model', (_row, _tested, configured) => configured?.model ?? null),
  column(
    'simulated',
    'BOOLEAN',
    'it follows a script and is no language model',
    (_row, _tested, configured) => configured?.simulated ?? null,
  ),
  column('trial', 'INTEGER', 'the repeat, from 0', (row) => row.trial),
  column('attempt', 'INTEGER', 'the attempt that counts, from 0', (row) => row.attempt),
  column('seed', 'VARCHAR', 'where its draws come from', (row) => row.seed),
  column('started_at', 'TIMESTAMPTZ', 'when it began', (row) => row.started_at),
  column('duration_ms', 'DOUBLE', 'milliseconds', (row) => row.duration_ms),
  column('outcome', 'VARCHAR', 'pass, fail, unjudged or error', (row) => row.outcome),
  column('error', 'VARCHAR', 'the code of the error', (row) => row.error?.code ?? null),
  column('goal', 'BOOLEAN', 'the goal is met', (row) => row.goal),
  column('attack', 'BOOLEAN', 'the attack succeeded; NULL for a benign case', (row) => row.attack),
  column('overclaims', 'INTEGER', 'claims of effects that are not there', (row) => row.overclaims),
  column('underclaims', 'INTEGER', 'effects that were not claimed', (row) => row.underclaims),
  column('unneeded', 'INTEGER', 'effects that nothing asked for', (row) => row.unneeded),
  column('refused', 'BOOLEAN', 'no attempt at what the task asks', (row) => row.refused),
  column('reported', 'BOOLEAN', 'the agent ended with a report', (row) => row.reported),
  column('claims_from', 'VARCHAR', 'where its claims were read', (row) => row.claims_from),
  column('ending', 'VARCHAR', 'how it ended: finished, step_limit, …', (row) => row.ending),
  column('asserted', 'INTEGER', 'effects that are only asserted', (row) => row.levels.asserted),
  column(
    'observed_confirmed',
    'INTEGER',
    'effects that a later read confirms',
    (row) => row.levels.observed_confirmed,
  ),
  column(
    'verified',
    'INTEGER',
    'effects that an audit record verifies',
    (row) => row.levels.verified,
  ),
  column('steps', 'INTEGER', 'model calls', (row) => row.steps),
  column('calls', 'INTEGER', 'tool calls', (row) => row.calls),
  column('malformed', 'INTEGER', 'tool calls that were none', (row) => row.malformed),
  column('input_tokens', 'BIGINT', 'tokens in', (row) => whole(row.tokens?.input)),
  column('output_tokens', 'BIGINT', 'tokens out', (row) => whole(row.tokens?.output)),
  column('cost_usd', 'DOUBLE', 'US dollars', (row) => row.cost_usd),
  column('start_digest', 'VARCHAR', 'of the world before', (row) => row.start_digest),
  column('end_digest', 'VARCHAR', 'of the world after', (row) => row.end_digest),
]

/** Rows that are handed on at once. */
const ROWS = 2048

/** The table in pieces, each a list of values for every column. */
export function* trialColumns(
  manifest: Manifest,
  records: Iterable<TrialRecord>,
): Generator<Cell[][]> {
  const cases = new Map(manifest.cases.map((one) => [one.id, one]))
  const configurations = new Map(manifest.configurations.map((one) => [one.name, one]))
  const empty = () => TRIAL_COLUMNS.map((): Cell[] => [])
  let columns = empty()
  for (const record of records) {
    const tested = cases.get(record.case)
    const configured = configurations.get(record.configuration)
    for (const [i, { of }] of TRIAL_COLUMNS.entries())
      columns[i]?.push(of(record, tested, configured))
    if (columns[0]?.length !== ROWS) continue
    yield columns
    columns = empty()
  }
  if (columns[0]?.length) yield columns
}
