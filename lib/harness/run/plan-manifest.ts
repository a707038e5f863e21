/**
 * What a run is meant to be, as its manifest says it; and whether a run on disk is the same one, so
 * that it can be gone on with.
 */
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { type Digest, digestOf } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type Manifest, METHODS, methodsIn } from '../../log/index.ts'
import { shownAddress } from '../../secrets.ts'
import type { AgentSource, Configuration, ModelSource } from '../agent/model.ts'
import type { Agreement } from '../judge/measured-reader.ts'
import type { Judge } from '../judge/ready-judge.ts'
import type { Sources } from '../trial/executor.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import type { UserSources } from '../trial/user-models.ts'
import { versions } from './packages.ts'

/** The manifest of a plan. `plan.cases` are those that can run; `leftOut` names the others. */
export function manifestOf(
  plan: RunPlan,
  sources: Sources,
  leftOut: { case: string; reason: string }[],
  users: UserSources = new Map(),
  judge: Judge | null = null,
  now = new Date(),
): Manifest {
  const { limits } = plan
  return {
    schema: 'touchstone.manifest.v0',
    id: `${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z-${randomBytes(3).toString('hex')}`,
    created_at: now.toISOString(),
    set: null,
    seed: plan.seed,
    repeats: plan.repeats,
    planned: plan.cases.length * plan.configurations.length * plan.repeats,
    ...(plan.until && { until: { ...plan.until, first: plan.repeats } }),
    cases: plan.cases.map(({ id, digest, title, kind, twin, family, attack }) => ({
      id,
      digest,
      title,
      kind,
      twin,
      ...(family !== null && { family }),
      adversarial: attack !== null,
    })),
    configurations: [...sources].map(([name, { configuration, source }]) => {
      const settings =
        'agent' in source
          ? source.agent.settings
          : {
              ...settingsOf(configuration),
              ...(source.replays !== undefined && { replays: source.replays }),
            }
      return {
        name,
        digest:
          'agent' in source
            ? source.agent.digest
            : digestOf({
                model: source.id,
                settings,
                ...(source.object && { object: source.object }),
              }),
        model: source.id,
        simulated: source.simulated,
        ...(configuration.cached === false && !source.simulated && { cached: false as const }),
        settings,
      }
    }),
    ...(judge && plan.judge && { judge: judgeMember(plan.judge) }),
    left_out: leftOut,
    limits: {
      steps: limits.steps,
      calls: limits.calls,
      tokens: limits.tokens,
      trial_timeout_ms: limits.trialTimeoutMs,
      call_timeout_ms: limits.callTimeoutMs,
      attempts: limits.attempts,
      ...(plan.queue && { lost: limits.lost }),
      cost_usd: limits.costUsd,
    },
    versions: versions([
      ...packagesOf([...[...sources.values()].map(({ source }) => source), ...users.values()]),
      ...wiresOf(plan, sources),
    ]),
    methods: { claims: METHODS.claims, levels: METHODS.levels, outcomes: METHODS.outcomes },
    environment: { platform: process.platform, arch: process.arch, cpus: availableParallelism() },
  }
}

function judgeMember({ model, digest, measured }: Agreement): NonNullable<Manifest['judge']> {
  const { differs: _, ...counts } = measured
  return { model: model as string, digest: digest as Digest, ...counts }
}

/**
 * The settings that are recorded: everything but keys. Of headers, which may hold one, the names.
 * What is stated of caches changes nothing that is tested.
 */
function settingsOf({
  model: _,
  apiKey: __,
  cached: ___,
  headers,
  ...rest
}: Configuration): JsonObject {
  const told = {
    ...rest,
    ...(rest.baseURL !== undefined && { baseURL: shownAddress(rest.baseURL) }),
    ...(headers && { headers: Object.keys(headers) }),
  }
  return JSON.parse(JSON.stringify(told)) as JsonObject
}

/**
 * The packages of version 2 of the MCP SDK, where a run may need them: to speak to servers that are
 * not ours, and to agents that are not ours.
 */
function wiresOf({ cases }: RunPlan, sources: Sources): string[] {
  const foreign = cases.some(({ servers }) => servers.some(({ world }) => world === undefined))
  const own = [...sources.values()].some(({ source }) => 'agent' in source)
  return [
    ...(foreign ? ['@modelcontextprotocol/client'] : []),
    ...(own ? ['@modelcontextprotocol/server'] : []),
  ]
}

/** The packages that speak to the providers of a run's models. */
function packagesOf(sources: readonly (ModelSource | AgentSource)[]): string[] {
  const named = sources.flatMap((source) =>
    'package' in source && source.package !== null ? [source.package] : [],
  )
  return [...new Set(named)].sort()
}

/**
 * Limits that a trial's end depends on. How often it is tried and what the run may cost are not
 * among them.
 */
const SAME_LIMITS = ['steps', 'calls', 'tokens', 'trial_timeout_ms', 'call_timeout_ms'] as const
/** What models read depends on these. */
const SAME_VERSIONS = ['touchstone', 'ai', '@modelcontextprotocol/sdk'] as const

/**
 * The manifest of a run on disk, if it is the one that is wanted now; with more repeats and cases
 * where these may be added.
 *
 * @param add whether it may grow
 * @throws TouchstoneError `run_differs` naming everything that is not the same
 */
export function sameRun(
  found: Manifest,
  wanted: Manifest,
  { where, add, now = new Date() }: { where: string; add: boolean; now?: Date },
): Manifest {
  const differences: string[] = []
  const differs = (what: string, was: unknown, is: unknown) => {
    if (was !== is)
      differences.push(`${what} was ${String(was ?? 'none')}, is ${String(is ?? 'none')}`)
  }
  differs('seed', found.seed, wanted.seed)
  const inLooks = found.until !== undefined
  if (inLooks || wanted.until !== undefined)
    differs('until', JSON.stringify(found.until), JSON.stringify(wanted.until))
  else if (!add || wanted.repeats < found.repeats) differs('repeats', found.repeats, wanted.repeats)
  for (const [word, was, is] of [
    ['case', byName(found.cases, 'id'), byName(wanted.cases, 'id')],
    ['configuration', byName(found.configurations, 'name'), byName(wanted.configurations, 'name')],
  ] as const) {
    for (const name of new Set([...was.keys(), ...is.keys()])) {
      if (!is.has(name)) differences.push(`${word} ${name} is missing`)
      else if (!was.has(name)) {
        if (!add || word !== 'case') differences.push(`${word} ${name} is new`)
      } else if (was.get(name) !== is.get(name)) differences.push(`${word} ${name} has changed`)
    }
  }
  // What is stated of caches is stated before the first trial, not once its numbers are known.
  for (const { name, cached } of wanted.configurations) {
    const was = found.configurations.find((one) => one.name === name)
    if (was && cached === false) differs(`cached of ${name}`, was.cached, cached)
  }
  differs('judge', found.judge?.digest, wanted.judge?.digest)
  for (const limit of SAME_LIMITS)
    differs(`limit ${limit}`, found.limits[limit], wanted.limits[limit])
  for (const name of SAME_VERSIONS)
    differs(`version of ${name}`, found.versions[name], wanted.versions[name])
  // Records of two versions of a method would be held to one of them.
  const [was, is] = [methodsIn(found.methods), methodsIn(wanted.methods)]
  for (const name of ['claims', 'levels', 'outcomes'] as const)
    differs(`version of the method for ${name}`, was[name], is[name])
  const shown = new Map((wanted.servers ?? []).map((one) => [`${one.case} ${one.name}`, one]))
  for (const was of found.servers ?? []) {
    const is = shown.get(`${was.case} ${was.name}`)
    // What could not be asked is not known to be another.
    if (is && was.tools !== null && is.tools !== null)
      differs(`tools of ${was.name} in ${was.case}`, was.tools, is.tools)
  }
  if (differences.length > 0)
    throw new TouchstoneError(
      'run_differs',
      `expected the run that was begun, got another one: ${differences.join('; ')}`,
      { where },
    )
  const repeats = Math.max(found.repeats, wanted.repeats)
  const more = repeats > found.repeats || wanted.cases.length > found.cases.length
  if (!more) return found
  const known = new Set(found.cases.map(({ id }) => id))
  const added = (wanted.servers ?? []).filter((one) => !known.has(one.case))
  const servers = found.servers && [...found.servers, ...added]
  return grown({ ...found, ...(servers && { servers }) }, { repeats, cases: wanted.cases }, now)
}

/** A manifest with more repeats or cases, and the look at what was there before. */
export function grown(
  manifest: Manifest,
  { repeats, cases = manifest.cases }: { repeats: number; cases?: Manifest['cases'] },
  now = new Date(),
): Manifest {
  const look = {
    repeats: manifest.repeats,
    cases: manifest.cases.length,
    at: now.toISOString(),
  }
  return {
    ...manifest,
    repeats,
    planned: cases.length * manifest.configurations.length * repeats,
    cases,
    looks: [...(manifest.looks ?? []), look],
  }
}

function byName<K extends string>(
  rows: readonly ({ [key in K]: string } & { digest: string })[],
  key: K,
) {
  return new Map(rows.map((row) => [row[key], row.digest]))
}
