/**
 * Until when repeats are added: the rule as it is asked for, and whether a run has come to its end
 * by it.
 *
 * Every case gets the same number. To add them where the trials so far vary most (Neyman) lets the
 * results choose their own number of repeats: simulated, that narrows an interval by a twentieth,
 * moves the mean by up to 0.6 points, and comes to a verdict no sooner (test/bench/README.md).
 */

import { TouchstoneError } from '../../errors.ts'
import { type Metric, metricNamed } from '../../log/index.ts'
import type { Target } from '../../stats/index.ts'
import { gate, parseGate } from '../report/ci/gate.ts'
import type { Run } from '../report/result.ts'
import type { Until } from '../trial/planned-run.ts'

const DEFAULT_MOST = 40

/** Read a rule. @throws TouchstoneError `argument_invalid` */
export function untilOf(
  rule: 'verdict' | { width: number } | { gates: string | readonly string[] },
  {
    most = DEFAULT_MOST,
    metric = 'goal',
    target = 'these',
  }: { most?: number; metric?: Metric; target?: Target } = {},
): Until {
  const invalid = (expected: string, got: unknown, where: string): never => {
    throw new TouchstoneError(
      'argument_invalid',
      `expected ${expected}, got ${JSON.stringify(got) ?? String(got)}`,
      { where },
    )
  }
  if (!Number.isSafeInteger(most) || most < 1 || most > 1_000_000)
    invalid('a whole number from 1 to 1000000', most, 'until.most')
  if (target !== 'these' && target !== 'like these')
    invalid('these or like these', target, 'until.target')
  metricNamed(metric)
  if (rule === 'verdict') return { rule, most, metric, target }
  if (rule !== null && typeof rule === 'object' && 'width' in rule) {
    const { width } = rule
    if (!(width > 0 && width < 1)) invalid('a width in (0, 1)', width, 'until.width')
    return { rule: 'width', most, metric, target, width }
  }
  if (rule !== null && typeof rule === 'object' && 'gates' in rule) {
    const gates = [rule.gates].flat()
    if (gates.length === 0) invalid('at least one gate', gates, 'until.gates')
    for (const text of gates) parseGate(text)
    return { rule: 'gates', most, metric, target, gates }
  }
  return invalid("'verdict', { width } or { gates }", rule, 'until')
}

/**
 * Whether a run has come to its end: it is known well enough by its rule, or the repeats of each
 * configuration that is open are the same, so that more of them tell nothing new. Its numbers are
 * given at the level of this look.
 */
export function settled(run: Run): boolean {
  const { until } = run.manifest
  return until === undefined || openBy(run, until).every((name) => run.identical.has(name))
}

/** The configurations that are not known well enough. */
function openBy(run: Run, { rule, metric: of, target, width = 0, gates = [] }: Until): string[] {
  const metric = of as Metric
  if (rule === 'gates')
    return gates.flatMap((text) =>
      gate(run, text).flatMap((one) => (one.state === 'undecided' ? one.configuration : [])),
    )
  if (rule === 'width')
    return run.summary().flatMap(({ configuration, rates }) => {
      const { low, high, again } = rates[metric]
      const found = target === 'these' ? again.high - again.low : high - low
      return found <= width ? [] : configuration
    })
  const [first = '', ...others] = run.configurations
  return others.flatMap((b) =>
    run.compare(first, b, { metric, target }).verdict === 'cannot tell' ? [first, b] : [],
  )
}
