/**
 * In which order the trials of a run are started: every case's configurations side by side, in an
 * order drawn from the seed.
 */
import { trialSeed } from '../../log/trial.ts'
import { rng, shuffle } from '../../stats/random.ts'
import type { Case } from '../case/case.ts'

/** One trial to be run. */
export type Scheduled = { case: Case; configuration: string; trial: number; seed: string }

/**
 * All trials of a run. Configurations are interleaved within each repeat of a case, so that a
 * provider's bad hour meets them all; their order within it is drawn anew each time.
 */
export function* schedule(
  cases: readonly Case[],
  configurations: readonly string[],
  repeats: number,
  seed: number,
): Generator<Scheduled> {
  for (const test of cases) {
    for (let trial = 0; trial < repeats; trial++) {
      const order =
        configurations.length > 1
          ? shuffle(configurations, rng(`${seed}|order|${test.id}|${trial}`))
          : configurations
      for (const configuration of order)
        yield {
          case: test,
          configuration,
          trial,
          seed: trialSeed(seed, test.id, configuration, trial),
        }
    }
  }
}
