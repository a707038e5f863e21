/**
 * A run's parts as another process or thread makes them again from what it was told, and the
 * attempts that it runs with them.
 */
import type { Digest } from '../../canonical.ts'
import type { Case } from '../case/case.ts'
import { notBegun } from '../queue/results.ts'
import type { Made, PlanParts, TaskData } from '../queue/travel.ts'
import type { Sources } from '../trial/executor.ts'
import type { TrialResult } from '../trial/judge-trial.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import { runTrial, type TrialSetting } from '../trial/run-trial.ts'
import { type Prepared, prepare } from './prepare.ts'
import { run as planOf } from './run.ts'

/** What attempts are run with. */
export type Parts = {
  cases: ReadonlyMap<string, Case>
  sources: Sources
  users: Prepared['users']
  judge: Prepared['judge']
  plan: RunPlan
  starts: Map<string, Digest>
  /** Configurations of which no trial is to start any more. */
  stop: ReadonlyMap<string, AbortController>
}

/** The plan of parts that were made again. */
export function planFrom(
  { seed, limits, prices }: PlanParts,
  { cases, configurations, judge }: Made,
): RunPlan {
  const { plan } = planOf(cases)
  return { ...plan, configurations, judge, seed, limits, prices, progress: false }
}

/**
 * Make a plan ready, and hold it against what was told.
 *
 * @returns `unlike`: the cases and configurations that are not the run's; empty: all are
 * @throws TouchstoneError what `prepare` throws
 */
export async function madeReady(
  given: RunPlan,
  told: PlanParts,
): Promise<{ parts: Parts; versions: Prepared['manifest']['versions']; unlike: string[] }> {
  const { limits, prices } = told
  const { plan, sources, users, judge, manifest } = await prepare({ ...given, limits, prices })
  const parts = {
    ...{ plan, sources, users, judge },
    cases: new Map(plan.cases.map((test) => [test.id, test])),
    starts: new Map<string, Digest>(),
    stop: new Map([...sources.keys()].map((name) => [name, new AbortController()])),
  }
  const unlike = [
    ...differing('case', idsOf(manifest.cases), idsOf(told.cases)),
    ...differing('configuration', namesOf(manifest), namesOf(told)),
    ...otherJudge(judge, told.judge),
  ]
  return { parts, versions: manifest.versions, unlike }
}

type Digests = ReadonlyMap<string, Digest>

function idsOf(cases: readonly { id: string; digest: Digest }[]): Digests {
  return new Map(cases.map(({ id, digest }) => [id, digest]))
}

function namesOf(of: { configurations: readonly { name: string; digest: Digest }[] }): Digests {
  return new Map(of.configurations.map(({ name, digest }) => [name, digest]))
}

function otherJudge(mine: { digest: Digest } | null, run: { digest: Digest } | null): string[] {
  const [is, wanted] = [mine, run].map((one) => one?.digest ?? 'none')
  return is === wanted ? [] : [`the judge of prose is ${is}, the run has ${wanted}`]
}

function differing(word: string, mine: Digests, wanted: Digests): string[] {
  return [...wanted].flatMap(([one, digest]) =>
    mine.get(one) === digest
      ? []
      : [`${word} ${one} is ${mine.get(one) ?? 'not here'}, the run has ${digest}`],
  )
}

/**
 * Run one attempt. @throws Error for a case or configuration that the parts do not have
 */
export async function attemptWith(
  { cases, sources, users, judge, plan, starts, stop }: Parts,
  { case: id, configuration, trial, seed, attempt, start, traceparent }: TaskData,
  waits?: TrialSetting['waits'],
): Promise<TrialResult> {
  const test = cases.get(id)
  const source = sources.get(configuration)
  const drain = stop.get(configuration)?.signal
  if (!test || !source || !drain)
    throw new Error(`no such case or configuration: ${id}, ${configuration}`)
  if (start !== null) starts.set(id, start)
  const key = { case: test, configuration, trial, seed, attempt, traceparent }
  if (drain.aborted) return notBegun(key)
  const { limits, prices } = plan
  return runTrial(key, source.configuration, source.source, {
    ...{ limits, prices, starts, users, judge, drain },
    ...(waits && { waits }),
  })
}
