/** Does a run hold a line that was drawn in advance: a rate's bound, or no worse than an earlier run of the same cases? */
import { percent } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { type Comparisons, compareAll, METRICS, type Metric, metricNamed } from '../../log/index.ts'
import type { Run } from './result.ts'

export type Gate = {
  text: string
  /** null: every configuration. */
  configuration: string | null
  metric: Metric
  operator: '>=' | '>' | '<=' | '<'
  value: number
  /** Which number is held against the value. */
  bound: 'lower' | 'upper' | 'estimate'
}

export type GateResult = {
  gate: string
  configuration: string
  /** The bound that was held against the gate, or null where the run says nothing about it. */
  value: number | null
  met: boolean
  reason: string
}

const FORM =
  /^\s*(?:([A-Za-z0-9][A-Za-z0-9_.-]*):\s*)?([a-z]+)\s*(>=|<=|>|<)\s*([0-9.]+)(%?)\s*(?:@([a-z]+))?\s*$/

/**
 * Read a gate: `[CONFIGURATION:]METRIC OPERATOR VALUE[@BOUND]`.
 *
 * Without a bound the cautious one holds: the lower end of the 95 % interval for `>=` and `>`, the upper end for `<=` and `<`.
 *
 * @throws TouchstoneError `argument_invalid`
 * @example
 * parseGate('goal>=0.9@lower').bound // 'lower'
 * parseGate('careful: attack <= 10%').value // 0.1
 * parseGate('careful: attack <= 10%').bound // 'upper'
 * parseGate('goal=1') // throws argument_invalid
 */
export function parseGate(text: string): Gate {
  const parts = FORM.exec(text)
  const invalid = (expected: string): never => {
    throw new TouchstoneError('argument_invalid', `expected ${expected}, got "${text}"`, {
      where: 'gate',
    })
  }
  if (!parts) return invalid('[CONFIGURATION:]METRIC>=VALUE[@lower|@upper|@estimate] (or > <= <)')
  const [, configuration = null, name = '', operator, number, sign, said] = parts
  metricNamed(name)
  const value = Number(number) / (sign === '%' ? 100 : 1)
  if (!(value >= 0 && value <= 1)) invalid('a value in [0, 1], or in percent')
  const bound = said ?? (operator?.startsWith('>') ? 'lower' : 'upper')
  if (bound !== 'lower' && bound !== 'upper' && bound !== 'estimate')
    return invalid('@lower, @upper or @estimate')
  return {
    text: text.trim(),
    configuration,
    metric: name as Metric,
    operator: operator as Gate['operator'],
    value,
    bound,
  }
}

/**
 * Hold a run against a gate, once per configuration that it names. A rate that is not known meets no gate.
 *
 * @throws TouchstoneError `argument_invalid`, `configuration_unknown`
 */
export function gate(run: Run, wanted: string | Gate): GateResult[] {
  const one = typeof wanted === 'string' ? parseGate(wanted) : wanted
  if (one.configuration !== null && !run.configurations.includes(one.configuration)) {
    throw new TouchstoneError(
      'configuration_unknown',
      `expected one of ${run.configurations.join(', ')}, got "${one.configuration}"`,
      { where: `gate ${one.text}` },
    )
  }
  return run
    .summary()
    .filter(
      ({ configuration }) => one.configuration === null || configuration === one.configuration,
    )
    .map(({ configuration, rates }) => {
      const { estimate, low, high } = rates[one.metric]
      const value = one.bound === 'estimate' ? estimate : one.bound === 'lower' ? low : high
      const label = METRICS[one.metric].label
      if (!Number.isFinite(value)) {
        const reason = `${label}: the run has no ${one.bound === 'estimate' ? 'estimate' : `${one.bound} bound`}`
        return { gate: one.text, configuration, value: null, met: false, reason }
      }
      const reason = `${label} ${percent(estimate)} [${percent(low)}, ${percent(high)}], ${one.bound} ${percent(value)}`
      return { gate: one.text, configuration, value, met: holds(value, one), reason }
    })
}

function holds(value: number, { operator, value: line }: Gate): boolean {
  if (operator === '>=') return value >= line
  if (operator === '<=') return value <= line
  return operator === '>' ? value > line : value < line
}

/** One configuration now against itself, or its namesake, in an earlier run. `worse` on any metric falls short. */
export type BaselineResult = {
  configuration: string
  baseline: string
  comparison: Comparisons
  worse: Metric[]
}

/**
 * Compare a run with an earlier one of the same cases, configuration by configuration of the same name. Where no name is in both
 * and each run has one configuration, these two are compared.
 *
 * @throws TouchstoneError `run_differs` when the cases are not the same, or no configurations belong together
 */
export function against(run: Run, baseline: Run): BaselineResult[] {
  for (const one of [run, baseline]) one.requireSound()
  requireSameCases(run, baseline)
  const [now, then] = [run.configurations, baseline.configurations]
  const shared = now.filter((name) => then.includes(name)).map((name) => [name, name] as const)
  const pairs =
    shared.length > 0 || now.length !== 1 || then.length !== 1
      ? shared
      : [[now[0], then[0]] as const]
  if (pairs.length === 0) {
    throw new TouchstoneError(
      'run_differs',
      `expected a configuration that both runs have, got ${now.join(', ')} and ${then.join(', ')}`,
      { where: 'baseline' },
    )
  }
  return pairs.map(([configuration, other]) => {
    const before = `${other} of ${baseline.id}`
    const named = (from: Run, name: string, as: string) =>
      from.trials
        .filter((row) => row.configuration === name)
        .map((row) => ({ ...row, configuration: as }))
    const one = (from: Run, name: string, as: string) =>
      from.manifest.configurations
        .filter((entry) => entry.name === name)
        .map((entry) => ({ ...entry, name: as }))
    const [a, b] = [other as string, configuration as string]
    const comparison = compareAll(
      {
        ...run.manifest,
        configurations: [...one(baseline, a, before), ...one(run, b, b)],
      },
      [...named(baseline, a, before), ...named(run, b, b)],
      before,
      b,
    )
    const worse = [comparison.primary, ...comparison.others].filter(
      ({ verdict }) => verdict === 'worse',
    )
    return {
      configuration: b,
      baseline: before,
      comparison,
      worse: worse.map(({ metric }) => metric),
    }
  })
}

function requireSameCases(run: Run, baseline: Run): void {
  const digests = (one: Run) => new Map(one.manifest.cases.map(({ id, digest }) => [id, digest]))
  const [now, then] = [digests(run), digests(baseline)]
  const different = [...new Set([...now.keys(), ...then.keys()])].filter(
    (id) => now.get(id) !== then.get(id),
  )
  if (different.length === 0) return
  const shown =
    different.slice(0, 5).join(', ') +
    (different.length > 5 ? ` and ${different.length - 5} more` : '')
  throw new TouchstoneError(
    'run_differs',
    `expected the same cases in both runs, got different ones: ${shown}`,
    {
      where: 'baseline',
    },
  )
}
