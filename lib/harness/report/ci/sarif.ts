/**
 * Attacks that succeeded, as SARIF 2.1.0 (OASIS standard), which code scanning reads: a rule per
 * kind of attack, a result per case and configuration, pointing at the trials' lines in the run's
 * log.
 */
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onlyMembers } from '../../../arguments.ts'
import { digest } from '../../../canonical.ts'
import { count, foreign } from '../../../display.ts'
import type { JsonObject } from '../../../json.ts'
import { FILES } from '../../../log/index.ts'
import { type Run, requireRun } from '../result.ts'
import { parseGate } from './gate.ts'
import type { Held } from './step-summary.ts'

/** Result locations that one result carries at most. */
const MOST_LOCATIONS = 10

export type SarifOptions = {
  /**
   * What the run was held against: where that takes the attacks that succeeded against a
   * configuration, each is a warning. Default nothing: each is an error.
   */
  held?: Held
}

/**
 * A run as SARIF 2.1.0: a result for each case and configuration in which an attack succeeded.
 *
 * @throws TouchstoneError `file_unreadable` when the run's log is gone
 */
export async function sarif(run: Run, options: SarifOptions = {}): Promise<JsonObject> {
  requireRun(run)
  onlyMembers(options, ['held'], 'options')
  const path = join(run.dir, FILES.trials)
  const near = relative(process.cwd(), path)
  const uri = near.startsWith('..')
    ? pathToFileURL(path).href
    : near.split(/[\\/]/).map(encodeURIComponent).join('/')
  const succeeded = [...run.columns.keys((row) => row.attack === true)].map(placeOf)
  const kinds = [...new Set(succeeded.map((row) => kindOf(run, row.case)))].sort()
  const groups = Map.groupBy(succeeded, (row) => `${row.case}|${row.configuration}`)
  const results = [...groups.entries()].map(([key, rows]): JsonObject => {
    const [first] = rows as [Succeeded]
    const kind = kindOf(run, first.case)
    const title = run.manifest.cases.find(({ id }) => id === first.case)?.title ?? first.case
    const { error: _, ...ended } = run.columns.outcomes(first.case, first.configuration)
    const trials = ended.pass + ended.fail + ended.unjudged
    return {
      ruleId: ruleOf(kind),
      ruleIndex: kinds.indexOf(kind),
      level: levelOf(first.configuration, options.held),
      kind: 'fail',
      message: {
        text: `${foreign(title, 200)}: the attack succeeded against ${first.configuration} in ${rows.length} of ${count(trials, 'trial')}.`,
      },
      locations: rows.slice(0, MOST_LOCATIONS).map((row) => ({
        physicalLocation: {
          artifactLocation: { uri },
          region: { startLine: run.columns.line(row.key) || 1 },
        },
        logicalLocations: [{ fullyQualifiedName: row.key, kind: 'object' }],
      })),
      // The same finding in another run of the same case and configuration.
      partialFingerprints: { 'touchstone/v0': digest(key).slice('sha256:'.length) },
      properties: { succeeded: rows.length, trials },
    }
  })
  return {
    $schema:
      'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'touchstone',
            version: run.manifest.versions['touchstone'] ?? '0',
            rules: kinds.map((kind) => ({
              id: ruleOf(kind),
              name: kind,
              shortDescription: {
                text: `An attack of the kind ${kind.replaceAll('_', ' ')} succeeded.`,
              },
              defaultConfiguration: { level: 'error' },
            })),
          },
        },
        automationDetails: { id: `touchstone/${run.id}` },
        invocations: [{ executionSuccessful: run.complete, startTimeUtc: run.manifest.created_at }],
        results,
      },
    ],
  }
}

/** An error fails a check of code scanning: what gates and baseline decide, they alone decide. */
function levelOf(configuration: string, held?: Held): 'error' | 'warning' {
  if (!held || held.gates.length + held.baseline.length === 0) return 'error'
  const gates = held.gates.filter((one) => one.configuration === configuration)
  const baseline = held.baseline.filter((one) => one.configuration === configuration)
  const missed =
    gates.some(({ gate, state }) => state === 'missed' && parseGate(gate).metric === 'attack') ||
    baseline.some(({ worse }) => worse.includes('attack'))
  return missed ? 'error' : 'warning'
}

function kindOf(run: Run, id: string): string {
  return run.manifest.cases.find((one) => one.id === id)?.kind ?? 'unknown'
}

function ruleOf(kind: string): string {
  return `attack/${kind}`
}

/** A trial in which an attack succeeded. */
type Succeeded = { key: string; case: string; configuration: string }

/** Neither the id of a case nor the name of a configuration holds a bar. */
function placeOf(key: string): Succeeded {
  const [id = '', configuration = ''] = key.split('|')
  return { key, case: id, configuration }
}
