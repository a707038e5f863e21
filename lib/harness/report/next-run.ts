/** What a run of another size could see, with an ended run as its pilot. */
import { onlyMembers } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import { type CompareChoice, pairsOf } from '../../log/index.ts'
import { type Plan, pilot, plan } from '../../stats/index.ts'
import type { Run } from './result.ts'

/** The run to come: what is not given is the pilot's. */
export type NextRun = {
  a?: string
  b?: string
  cases?: number
  repeats?: number
  metric?: CompareChoice['metric']
  difference?: number
}

/** @throws TouchstoneError `argument_invalid` for a run of one configuration */
export function planned(run: Run, options: NextRun): Plan {
  onlyMembers(options, ['a', 'b', 'cases', 'repeats', 'metric', 'difference'], 'options')
  const [a, b] = [options.a ?? run.configurations[0], options.b ?? run.configurations[1]]
  if (a === undefined || b === undefined) {
    throw new TouchstoneError('argument_invalid', 'expected a run of two configurations, got one', {
      where: 'plan',
    })
  }
  run.requireSound()
  const pairs = pairsOf(run.manifest, run.counted, a, b, options.metric ?? 'goal')
  const { between, within } = pilot(pairs)
  return plan({
    cases: options.cases ?? pairs.length,
    repeats: options.repeats ?? run.manifest.repeats,
    ...(Number.isFinite(between) && { between }),
    ...(Number.isFinite(within) && { within }),
    ...(options.difference !== undefined && { difference: options.difference }),
  })
}
