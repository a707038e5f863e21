/**
 * What has no upper end (time, steps, calls, tokens, cost): what it is of one trial, and two
 * configurations compared by it.
 */
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import { compareMedians, type MeasureComparison } from '../../stats/index.ts'
import type { Manifest } from '../records.ts'
import type { Cells, StatRow } from '../rows.ts'
import { heldOver } from './look-level.ts'
import { familyOfCases } from './metrics.ts'

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

/** The trials of a configuration at a case that did not end in an error. */
export function usable(rows: Cells, caseId: string, configuration: string): StatRow[] {
  return rows.of(caseId, configuration).filter((row) => row.outcome !== 'error')
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
type MeasureRule = { label: string; unit: string; of(row: StatRow): number | null }

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
 * Does b take more than a? Paired differences of case medians with an interval of Student's t over
 * families. Trials without the measure are left out.
 *
 * @throws TouchstoneError `configuration_unknown`, `argument_invalid`
 */
export function compareMeasure(
  manifest: Manifest,
  rows: Cells,
  a: string,
  b: string,
  measure: Measure,
): MeasureComparison {
  requireConfigurations(manifest, a, b)
  const { of } = measureNamed(measure)
  const values = (id: string, name: string) =>
    usable(rows, id, name)
      .map(of)
      .filter((value) => value !== null)
  const families = familyOfCases(manifest)
  return compareMedians(
    manifest.cases.map(({ id }) => ({
      id,
      family: families.get(id) ?? id,
      a: values(id, a),
      b: values(id, b),
    })),
    { level: heldOver(manifest) },
  )
}
