/** What a run of another size could see, with an ended run as its pilot. */
import { onlyMembers } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import { type CompareChoice, pairsOf } from '../../log/index.ts'
import { type Cost, type Plan, pilot, plan } from '../../stats/index.ts'
import type { Run } from './result.ts'

/** The run to come: what is not given is the pilot's. */
export type NextRun = {
  a?: string
  b?: string
  cases?: number
  repeats?: number
  metric?: CompareChoice['metric']
  difference?: number
  /** What may be spent: dollars, and minutes of trials one after the other. */
  budget?: Cost
}

/** @throws TouchstoneError `argument_invalid` for a run of one configuration */
export function planned(run: Run, options: NextRun): Plan {
  onlyMembers(options, ['a', 'b', 'cases', 'repeats', 'metric', 'difference', 'budget'], 'options')
  const [a, b] = [options.a ?? run.configurations[0], options.b ?? run.configurations[1]]
  if (a === undefined || b === undefined) {
    throw new TouchstoneError('argument_invalid', 'expected a run of two configurations, got one', {
      where: 'plan',
    })
  }
  run.requireSound()
  const pairs = pairsOf(run.manifest, run.counted, a, b, options.metric ?? 'goal')
  const { rate, between, betweenHigh, within } = pilot(pairs)
  const known = Number.isFinite(between) && Number.isFinite(within)
  return plan({
    cases: options.cases ?? pairs.length,
    repeats: options.repeats ?? run.manifest.repeats,
    ...(known && { rate, between, betweenHigh, within }),
    ...(options.difference !== undefined && { difference: options.difference }),
    perTrial: takenBy(run, [a, b]),
    ...(options.budget && { budget: options.budget }),
  })
}

/** What a trial of a run took on average; what is not known of one of them is not known. */
export function takenBy(
  { manifest, columns }: Run,
  configurations: readonly string[],
  concurrency = 1,
): Cost {
  const rows = manifest.cases.flatMap(({ id }) =>
    configurations.flatMap((name) => columns.of(id, name)),
  )
  const mean = (values: (number | null)[]) =>
    values.reduce<number | null>(
      (sum, value) => (sum === null || value === null ? null : sum + value / values.length),
      values.length > 0 ? 0 : null,
    )
  const [usd, took] = [
    mean(rows.map((row) => row.cost_usd)),
    mean(rows.map((row) => row.duration_ms)),
  ]
  return {
    ...(usd !== null && usd > 0 && { usd }),
    ...(took !== null && took > 0 && { minutes: took / 60_000 / concurrency }),
  }
}
