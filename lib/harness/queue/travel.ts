/**
 * A plan as it stands in a queue, and made again by a worker. Keys do not travel: a worker has its
 * own, under the same names.
 */
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { Manifest } from '../../log/index.ts'
import { redacted, shownAddress } from '../../secrets.ts'
import type { Configuration } from '../agent/model.ts'
import type { Case } from '../case/case.ts'
import { powersOf } from '../case/powers.ts'
import { type Agreement, agreementFrom } from '../judge/measured-reader.ts'
import type { Prices } from '../model/cost.ts'
import type { Task } from '../trial/executor.ts'
import type { Limits } from '../trial/limits.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import type { Identity } from './identity.ts'

/** What a worker is told of a run. */
export type PlanDocument = PlanParts & {
  schema: 'touchstone.queue.v0'
  run: string
  coordinator: Identity
  leaseMs: number
}

/** What trials are made of, as data. */
export type PlanParts = {
  seed: number
  limits: Limits
  prices: Prices
  /** `document` is null for a case that is written in TypeScript. */
  cases: { id: string; digest: Digest; document: JsonObject | null }[]
  /** `configuration` is null for one that only the run's own file can make. */
  configurations: { name: string; digest: Digest; configuration: Configuration | null }[]
  /**
   * The model that reads prose, and how it did on labelled answers; `agreement` is null for one
   * that only the run's own file can make.
   */
  judge: { digest: Digest; agreement: JsonObject | null } | null
}

/**
 * A plan for workers.
 *
 * @throws TouchstoneError `argument_invalid` for a cassette, which is a folder of this machine, and
 *   a text with a secret in it
 */
export function documentOf(
  plan: RunPlan,
  manifest: Manifest,
  coordinator: Identity,
  leaseMs: number,
): PlanDocument {
  if (plan.record !== undefined || plan.replay !== undefined)
    throw new TouchstoneError(
      'argument_invalid',
      'expected a run without a queue for a cassette, since one process writes and reads its folder, got one with a queue: leave it out, or leave the cassette out',
      { where: plan.record === undefined ? 'replay' : 'record' },
    )
  const document: PlanDocument = {
    schema: 'touchstone.queue.v0',
    run: manifest.id,
    coordinator,
    leaseMs,
    ...partsOf(plan, manifest, travels),
  }
  const text = JSON.stringify(document)
  if (redacted(text) !== text)
    throw new TouchstoneError(
      'argument_invalid',
      'expected a plan without secrets, since a queue is read by others, got one in a case or a configuration: name a variable, $NAME, in its place',
      { where: 'queue' },
    )
  return document
}

/** A task as it travels. */
export type TaskData = Pick<
  Task,
  'configuration' | 'trial' | 'seed' | 'attempt' | 'traceparent'
> & {
  case: string
  /** The start that trials of the case are held to, as far as it is known. */
  start: Digest | null
}

export function dataOf(
  { case: { id }, configuration, trial, seed, attempt, traceparent }: Task,
  starts: ReadonlyMap<string, Digest>,
): TaskData {
  const start = starts.get(id) ?? null
  return { case: id, configuration, trial, seed, attempt, start, traceparent }
}

/** The parts of a plan: what is no data, or a configuration that may not go, is null. */
export function partsOf(
  plan: RunPlan,
  manifest: Manifest,
  goes: (configuration: Configuration) => boolean,
): PlanParts {
  const digests = new Map(manifest.configurations.map(({ name, digest }) => [name, digest]))
  return {
    seed: manifest.seed,
    limits: plan.limits,
    prices: plan.prices,
    cases: plan.cases.map((test) => ({
      id: test.id,
      digest: test.digest,
      document: 'functions' in test.document ? null : test.document,
    })),
    configurations: plan.configurations.map(({ name, configuration }) => ({
      name,
      digest: digests.get(name) as Digest,
      configuration: goes(configuration) ? configuration : null,
    })),
    judge: judgeIn(plan),
  }
}

/** A judge's keys and headers are left out of its agreement. */
function judgeIn({ judge }: RunPlan): PlanParts['judge'] {
  if (judge === undefined) return null
  const { model, apiKey, headers, baseURL } = judge.settings()
  const open = apiKey === undefined && headers === undefined
  const whole = open && travels({ model, ...(baseURL !== undefined && { baseURL }) })
  return { digest: judge.digest as Digest, agreement: whole ? judge.toJSON() : null }
}

const REFERENCE = /^(?:[A-Za-z-]+ )?\$(?:[A-Z_][A-Z0-9_]*|\{[A-Z_][A-Z0-9_]*\})$/

/**
 * Whether a configuration is data without keys: what could be one is the name of a variable.
 */
function travels({ model, agent, apiKey, headers, baseURL }: Configuration): boolean {
  const named = (values: { readonly [name: string]: string } | undefined) =>
    Object.values(values ?? {}).every((value) => REFERENCE.test(value))
  if (apiKey !== undefined && !REFERENCE.test(apiKey)) return false
  if (!named(headers)) return false
  if (baseURL !== undefined && shownAddress(baseURL) !== baseURL) return false
  if (agent === undefined) return typeof model === 'string'
  if (typeof agent === 'function') return false
  const how = agent as object as JsonObject & { env?: { [name: string]: string } }
  // An agent from harness.agent() is an object of a class.
  if (Object.getPrototypeOf(agent) !== Object.prototype) return false
  const { url } = how
  return named(how.env) && (typeof url !== 'string' || shownAddress(url) === url)
}

/** Cases and configurations of a document, as a worker makes them. */
export type Made = {
  cases: Case[]
  configurations: { name: string; configuration: Configuration }[]
  judge: Agreement | undefined
}

/**
 * Make a plan's parts again.
 *
 * @throws TouchstoneError `case_unknown` or `configuration_unknown` for what cannot travel;
 *   `case_invalid`
 */
export async function madeFrom({ cases, configurations, judge }: PlanParts): Promise<Made> {
  const { readCase } = await import('../case/check.ts')
  const file = 'give the worker the file of the run: touchstone worker my-run.ts'
  return {
    cases: cases.map(({ id, document }) => {
      if (document === null)
        throw new TouchstoneError(
          'case_unknown',
          `expected a case that is data, got ${id}, which is written in TypeScript: ${file}`,
        )
      return readCase(document, (path) => [id, ...path.map(String)].join('.'))
    }),
    configurations: configurations.map(({ name, configuration }) => {
      if (configuration === null)
        throw new TouchstoneError(
          'configuration_unknown',
          `expected a configuration that is data without keys, got ${name}: ${file}, or name the variables of its keys, $NAME`,
        )
      return { name, configuration }
    }),
    judge: judge ? agreementIn(judge, file) : undefined,
  }
}

function agreementIn({ agreement }: NonNullable<PlanParts['judge']>, file: string): Agreement {
  if (agreement === null)
    throw new TouchstoneError(
      'configuration_unknown',
      `expected a judge that is data without keys and headers, got one with them: ${file}, or leave its key to the variable of its provider`,
    )
  return agreementFrom(agreement)
}

/**
 * What a plan from a queue would do on the worker's machine besides calling simulated tools and
 * asking providers at their own addresses.
 */
export function powersIn({ cases, configurations, judge }: Made): string[] {
  const judgeAt = judge?.settings().baseURL
  const says = { command: 'starts', address: 'contacts', variable: 'uses the variable' }
  return [
    ...cases.flatMap((test) =>
      powersOf(test).map(({ kind, text }) => `case ${test.id} ${says[kind]} ${text}`),
    ),
    ...configurations.flatMap(({ name, configuration }) => {
      const { agent, baseURL, apiKey, headers } = configuration
      const what = `configuration ${name}`
      return [
        ...(agent === undefined ? [] : [`${what} runs the agent ${JSON.stringify(agent)}`]),
        ...(baseURL === undefined ? [] : [`${what} contacts ${baseURL}`]),
        ...(apiKey === undefined ? [] : [`${what} uses the variable ${apiKey}`]),
        ...Object.values(headers ?? {}).map((value) => `${what} uses the variable ${value}`),
      ]
    }),
    ...(judgeAt === undefined ? [] : [`the judge contacts ${judgeAt}`]),
  ]
}
