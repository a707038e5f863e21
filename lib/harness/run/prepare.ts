/**
 * Finds what the plan of a run names: models, agents, packages, the judge. Nothing is written, and
 * nothing is started.
 */
import { resolve } from 'node:path'
import { TouchstoneError } from '../../errors.ts'
import type { Manifest } from '../../log/index.ts'
import { requireTemporary } from '../../process/temporary.ts'
import { sourceOf } from '../agent/model.ts'
import { missingProgram, requireTask } from '../agent/program/command.ts'
import { plansOf } from '../case/planned-servers.ts'
import { labelledDigest } from '../judge/labelled.ts'
import type { Agreement } from '../judge/measured-reader.ts'
import { type Judge, judgeOf } from '../judge/ready-judge.ts'
import { type Cassette, recording, replaying } from '../model/cassette.ts'
import { LIMITERS, type Limiters } from '../model/limiter.ts'
import { parseGate, requireDecidable } from '../report/ci/gate.ts'
import type { Sources } from '../trial/executor.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import { type UserSources, userSources } from '../trial/user-models.ts'
import { missingPackage } from './packages.ts'
import { manifestOf } from './plan-manifest.ts'

/** A run's plan with everything that it names found. */
export type Prepared = {
  /** The plan with those of its cases that can run here. */
  plan: RunPlan
  sources: Sources
  /** The models that play the users of its cases. */
  users: UserSources
  judge: Judge | null
  manifest: Manifest
}

/**
 * Find what a plan names. Nothing is written. @throws TouchstoneError when a model, setting, price
 * or package is not right
 */
export async function prepare(plan: RunPlan, limiters: Limiters = LIMITERS): Promise<Prepared> {
  if (plan.configurations.length === 0) {
    throw new TouchstoneError(
      'argument_invalid',
      'expected at least one configuration: .config(name, { model }) or { agent }',
      {
        where: 'run',
      },
    )
  }
  if (plan.until && plan.until.most < plan.repeats)
    throw new TouchstoneError(
      'argument_invalid',
      `expected at least the ${plan.repeats} repeats of the first look, got ${plan.until.most}`,
      { where: 'until.most' },
    )
  const sources: Sources = new Map()
  const cassette = cassetteOf(plan)
  for (const { name, configuration } of plan.configurations) {
    const source = await sourceOf(name, configuration, limiters, cassette)
    sources.set(name, { configuration, source })
  }
  if (!plan.queue) requirePrograms(sources)
  const cases = plan.cases.filter((test) => missingPackage(test.requires) === null)
  for (const { source } of sources.values())
    if ('agent' in source && source.agent.how.kind === 'command')
      for (const { id, task } of cases) requireTask(source.agent.how.options, task, id)
  requireFolders(plan, sources, cases)
  const users = await userSources(cases, limiters, cassette)
  const judge = plan.judge ? await measuredJudge(plan.judge, limiters, cassette) : null
  if (
    cassette &&
    users.size === 0 &&
    judge === null &&
    [...sources.values()].every(({ source }) => 'agent' in source || source.simulated)
  )
    throw new TouchstoneError(
      'argument_invalid',
      'expected a configuration whose model calls go through this process, got none',
      { where: plan.record === undefined ? 'replay' : 'record' },
    )
  const leftOut = [
    ...plan.leftOut,
    ...plan.cases.flatMap((test) => {
      const missing = missingPackage(test.requires)
      return missing === null ? [] : [{ case: test.id, reason: `needs the package ${missing}` }]
    }),
  ]
  if (cases.length === 0) {
    throw new TouchstoneError(
      'dependency_missing',
      `expected at least one case that can run, got: ${leftOut.map((one) => `${one.case} ${one.reason}`).join('; ')}`,
    )
  }
  if (plan.limits.costUsd !== null) requireKnownPrices(plan, sources, users, judge)
  const present = { ...plan, cases }
  const manifest = manifestOf(present, sources, leftOut, users, judge)
  requireDecidable((plan.until?.gates ?? []).map(parseGate), manifest.cases)
  return { plan: present, sources, users, judge, manifest }
}

/** Of an agent whose program is not there, here, no trial could say anything. */
function requirePrograms(sources: Sources): void {
  const missing = [...sources.values()].flatMap(({ source }) =>
    'agent' in source && source.agent.how.kind === 'command'
      ? (missingProgram(source.agent.how.options) ?? [])
      : [],
  )
  if (missing.length === 0) return
  throw new TouchstoneError(
    'dependency_missing',
    `expected a program that can be started, got none of that name: ${missing.join(', ')}`,
    { where: 'agent' },
  )
}

/** Without a folder of its own no trial of such an agent or server can begin, here. */
function requireFolders({ queue }: RunPlan, sources: Sources, cases: RunPlan['cases']): void {
  const own = [...sources.values()].some(
    ({ source }) => 'agent' in source && source.agent.how.kind === 'command',
  )
  const filled = () => cases.some((test) => plansOf(test).some(({ files }) => files))
  if (!queue && (own || filled())) requireTemporary()
}

function cassetteOf({ record, replay }: RunPlan): Cassette | null {
  if (record !== undefined && replay !== undefined)
    throw new TouchstoneError('argument_invalid', 'expected record or replay, got both', {
      where: 'run',
    })
  if (record !== undefined) return recording(resolve(record))
  return replay === undefined ? null : replaying(resolve(replay))
}

/** The judge of a plan, if it still is the one that was measured, by the answers that ship. */
async function measuredJudge(
  agreement: Agreement,
  limiters: Limiters,
  cassette: Cassette | null,
): Promise<Judge> {
  const judge = await judgeOf(agreement.settings(), limiters, cassette)
  const differs =
    judge.digest !== agreement.digest
      ? `another judge (${agreement.model}, its settings or what it is told)`
      : agreement.measured.set !== labelledDigest()
        ? 'other labelled answers'
        : null
  if (differs === null) return judge
  throw new TouchstoneError(
    'argument_invalid',
    `expected an agreement of this judge with the labelled answers that ship, got one of ${differs}`,
    { where: 'judge' },
  )
}

/** A cap on what is not counted would be no cap. */
function requireKnownPrices(
  plan: RunPlan,
  sources: Sources,
  users: UserSources,
  judge: Judge | null,
): void {
  const all = [
    ...[...sources.values()].map(({ source }) => source),
    ...users.values(),
    ...(judge ? [judge.source] : []),
  ]
  for (const source of all) {
    if (source.simulated || Object.hasOwn(plan.prices, source.id)) continue
    throw new TouchstoneError(
      'setting_missing',
      `expected a price for ${source.id}, since the run's cost has a limit`,
      {
        where: 'limits.costUsd',
      },
    )
  }
}
