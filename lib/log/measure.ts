/** What has no upper end (time, steps, calls, tokens, cost): what it is of one trial, and two configurations compared by it. */
import { gotWord } from '../choice.ts'
import { TouchstoneError } from '../errors.ts'
import { compareMedians, type MeasureComparison, rng } from '../stats/index.ts'
import type { Manifest, TrialRecord } from './records.ts'

export function requireConfigurations(manifest: Manifest, ...wanted: string[]): void {
  const names = manifest.configurations.map((one) => one.name)
  for (const name of wanted) {
    if (names.includes(name)) continue
    throw new TouchstoneError(
      'configuration_unknown',
      `expected one of ${names.join(', ')}, ${gotWord(name, names)}`,
      { where: 'configuration' },
    )
  }
}

/** The trials of a configuration that count, by case. */
export function usableByCase(
  rows: readonly TrialRecord[],
  configuration: string,
): Map<string, TrialRecord[]> {
  return Map.groupBy(
    rows.filter((row) => row.configuration === configuration && row.outcome !== 'error'),
    (row) => row.case,
  )
}

/** What is measured of a trial without an upper end. */
const MEASURES = {
  duration_ms: { label: 'time per trial', unit: 'ms', of: (row) => row.duration_ms },
  steps: { label: 'steps per trial', unit: 'steps', of: (row) => row.steps },
  calls: { label: 'calls per trial', unit: 'calls', of: (row) => row.calls },
  tokens: {
    label: 'tokens per trial',
    unit: 'tokens',
    of: ({ tokens }) => (tokens === null ? null : tokens.input + tokens.output),
  },
  cost_usd: { label: 'cost per trial', unit: 'USD', of: (row) => row.cost_usd },
} as const satisfies { [measure: string]: MeasureRule }

/** What a measure is called, its unit, and its value for one trial: null where it is not known. */
type MeasureRule = { label: string; unit: string; of(row: TrialRecord): number | null }

export type Measure = keyof typeof MEASURES

/** The rule of a measure. @throws TouchstoneError `argument_invalid` for another name */
export function measureNamed(measure: Measure): MeasureRule {
  if (Object.hasOwn(MEASURES, measure)) return MEASURES[measure]
  throw new TouchstoneError(
    'argument_invalid',
    `expected one of ${Object.keys(MEASURES).join(', ')}, ${gotWord(measure, Object.keys(MEASURES))}`,
    { where: 'measure' },
  )
}

/**
 * Does b take more than a? Paired differences of case medians with a bootstrap interval. Trials without the measure are left out.
 *
 * @throws TouchstoneError `configuration_unknown`, `argument_invalid`
 */
export function compareMeasure(
  manifest: Manifest,
  rows: readonly TrialRecord[],
  a: string,
  b: string,
  measure: Measure,
): MeasureComparison {
  requireConfigurations(manifest, a, b)
  const { of } = measureNamed(measure)
  const [left, right] = [usableByCase(rows, a), usableByCase(rows, b)]
  const values = (trials: TrialRecord[] = []) => trials.map(of).filter((value) => value !== null)
  return compareMedians(
    manifest.cases.map(({ id }) => ({ id, a: values(left.get(id)), b: values(right.get(id)) })),
    { rng: rng(measure) },
  )
}
