/**
 * Carries out a run: finds the models, writes the manifest or goes on with one, and looks at what
 * the coordinator brought to its end.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { TouchstoneError } from '../../errors.ts'
import {
  Columns,
  FILES,
  inspectRun,
  LogReader,
  lock,
  type Manifest,
  RunWriter,
  requirePlainFiles,
  setAside,
} from '../../log/index.ts'
import { temporaryFolder } from '../../process/temporary.ts'
import { progress } from '../../progress.ts'
import { folderCheck } from '../../receipt/attest/check-folder.ts'
import type { Problem } from '../../receipt/recompute/step.ts'
import { signalOf } from '../../signal.ts'
import { lookAt } from '../../stats/index.ts'
import { sourceOf } from '../agent/model.ts'
import { missingProgram, requireTask } from '../agent/program/command.ts'
import { plansOf } from '../case/server-plan.ts'
import { type Judge, judgeOf } from '../judge/judge.ts'
import { labelledDigest } from '../judge/labelled.ts'
import type { Agreement } from '../judge/measure.ts'
import { type Cassette, recording, replaying } from '../model/cassette.ts'
import { LIMITERS, type Limiters } from '../model/limiter.ts'
import { open } from '../report/open.ts'
import { Run } from '../report/result.ts'
import { closeChildren } from '../server/child-pool.ts'
import { inProcess, type Sources } from '../trial/executor.ts'
import type { Held } from '../trial/held.ts'
import type { RunPlan } from '../trial/plan.ts'
import { schedule } from '../trial/schedule.ts'
import { tracedRun } from '../trial/traced.ts'
import { type UserSources, userSources } from '../trial/user-models.ts'
import { Coordinator, costOfRecord } from './coordinator.ts'
import { missingPackage, ownVersion } from './packages.ts'
import { grown, manifestOf, sameRun } from './plan-manifest.ts'
import { survey } from './survey.ts'
import { settled } from './until.ts'

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
  requireSomeProgram(sources)
  const cases = plan.cases.filter((test) => missingPackage(test.requires) === null)
  for (const { source } of sources.values())
    if ('agent' in source && source.agent.how.kind === 'command')
      for (const { id, task } of cases) requireTask(source.agent.how.options, task, id)
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
  return { plan: present, sources, users, judge, manifest }
}

/** Nothing would be tested by a run whose agents are programs that are not there, each of them. */
function requireSomeProgram(sources: Sources): void {
  const missing = [...sources.values()].map(({ source }) =>
    'agent' in source && source.agent.how.kind === 'command'
      ? missingProgram(source.agent.how.options)
      : null,
  )
  if (missing.includes(null)) return
  throw new TouchstoneError(
    'dependency_missing',
    `expected a program that can be started, got none of that name: ${missing.join(', ')}`,
    { where: 'agent' },
  )
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

/**
 * Run a plan. @throws TouchstoneError before anything is written when a model, setting or folder is
 * not right
 */
export async function execute(given: RunPlan, limiters: Limiters = LIMITERS): Promise<Run> {
  const prepared = await prepare(given, limiters)
  return tracedRun(prepared.manifest, (traceparent) => carriedOut(prepared, limiters, traceparent))
}

async function carriedOut(
  prepared: Prepared,
  limiters: Limiters,
  traceparent?: string,
): Promise<Run> {
  const { plan, sources, users, judge, manifest: planned } = prepared
  const { threadsFor, Threads } = await import('./threads.ts')
  // Threads that cannot be had are told of before anything is written.
  threadsFor(prepared, planned.planned)
  const wanted = { ...planned, servers: await serversOf(plan) }
  limiters.widen(plan.concurrency)
  // A queue that cannot be used is told of before anything is written.
  const queue = plan.queue && (await reached(plan, planned))
  const { manifest: begun, ...held } = await folderOf(plan, wanted).catch(async (cause) => {
    await queue?.engine.close()
    throw cause
  })
  const { writer, columns } = held
  let manifest = begun
  const most = (manifest.planned / manifest.repeats) * (plan.until?.most ?? manifest.repeats)
  const bar = plan.progress
    ? progress(Math.max(most, manifest.planned), 'trials', {
        failures: 'errors',
        before: columns.size - columns.failures,
      })
    : null
  const here = () =>
    inProcess(sources, plan.concurrency, {
      limits: plan.limits,
      prices: plan.prices,
      // What follows starts where what is finished started, or it is not a repeat.
      starts: held.starts,
      users,
      judge,
      waits: (text, ms) => bar?.waits(text, ms),
    })
  const threads = threadsFor(prepared, manifest.planned - columns.size)
  const executor = queue
    ? await queue.executor(held, begun, bar).catch(async (cause) => {
        bar?.stop()
        await queue.engine.close()
        writer.close()
        throw cause
      })
    : threads === 1
      ? here()
      : new Threads({ prepared, manifest, starts: held.starts, here: here(), bar }, threads)
  const coordinator = new Coordinator({ plan, sources }, held, executor, {
    signal: signalOf(plan.signal),
    bar,
    traceparent,
  })
  try {
    const names = plan.configurations.map(({ name }) => name)
    while (true) {
      await coordinator.run(schedule(plan.cases, names, manifest.repeats, plan.seed))
      const next = nextLook(manifest)
      const { aborted } = coordinator.drain
      if (next === undefined || aborted || columns.size < manifest.planned) break
      if (settled(new Run({ dir: writer.dir, manifest, columns }))) break
      manifest = grown(manifest, { repeats: next })
      writer.replan(manifest)
      columns.replan(manifest)
    }
  } finally {
    bar?.stop()
    try {
      await executor.close()
    } finally {
      await closeChildren()
      writer.close()
    }
  }
  const { reasons, refused } = coordinator
  // Records that were taken out before it went on are missed by whoever reads the folder.
  const back = plan.resume === undefined ? { columns, problems: [] } : await open(writer.dir)
  return new Run({
    dir: writer.dir,
    manifest,
    columns: back.columns,
    problems: back.problems,
    halted: reasons.length > 0 ? reasons.join('; ') : null,
    refused,
  })
}

/** The server of a plan's queue, and what makes an executor of it once the folder is ours. */
async function reached(plan: RunPlan, manifest: Manifest) {
  const { reach } = await import('../queue/reach.ts')
  return reach(plan, manifest)
}

async function folderOf(plan: RunPlan, wanted: Manifest): Promise<Begun> {
  return plan.resume === undefined ? begin(plan, wanted) : goOn(plan, wanted)
}

/** How many repeats a run has at its next look; undefined where there is none. */
function nextLook({ until, repeats }: Manifest): number | undefined {
  return until && lookAt(until.first, until.most).find((at) => at > repeats)
}

/** The servers of each case, as they are before the first trial. */
async function serversOf({ cases, limits, signal }: RunPlan): Promise<Manifest['servers']> {
  const all = cases.flatMap((test) => plansOf(test).map((plan) => ({ test, plan })))
  const version = ownVersion()
  const found = await survey(
    all.map(({ plan }) => plan),
    ({ name }) => ({ name, version }),
    limits.trialTimeoutMs,
    signalOf(signal),
  )
  return all.map(({ test, plan: { name } }, i) => ({
    case: test.id,
    name,
    ...(found[i] as (typeof found)[number]),
  }))
}

function lockOptions({ signal, progress: shown }: RunPlan): Parameters<typeof lock>[1] {
  const told = (line: string) => void (shown && process.stderr.write(`${line}\n`))
  return { signal: signalOf(signal), told }
}

type Begun = Held & { manifest: Manifest }

async function begin(plan: RunPlan, manifest: Manifest): Promise<Begun> {
  const dir =
    plan.out === undefined
      ? resolve('runs', manifest.id)
      : plan.out === null
        ? temporaryFolder('run')
        : resolve(plan.out)
  return {
    writer: await RunWriter.create(dir, manifest, lockOptions(plan)),
    manifest,
    columns: new Columns(manifest),
    unrecorded: new Map(),
    starts: new Map(),
    spent: 0,
  }
}

/**
 * Go on with the run in a folder. A trial whose evidence is damaged is run again, as one that ended
 * in an error is.
 */
async function goOn(plan: RunPlan, wanted: Manifest): Promise<Begun> {
  const dir = resolve(plan.resume as string)
  if (!existsSync(join(dir, FILES.manifest)))
    throw new TouchstoneError(
      'run_unknown',
      `expected a run's folder with ${FILES.manifest}, got none`,
      { where: dir },
    )
  requirePlainFiles(dir)
  const held = await lock(dir, lockOptions(plan))
  try {
    // Everything is judged before a byte is written.
    const check = folderCheck()
    const starts: Begun['starts'] = new Map()
    let spent = 0
    const folder = await inspectRun(dir, (found, read) => {
      const { record } = read
      if (record.start_digest !== null) starts.set(record.case, record.start_digest)
      spent += costOfRecord(record) - (record.cost_usd ?? 0)
      check.see(found, read)
    })
    const { columns, damaged, unrecorded, tails } = folder
    const manifest = sameRun(folder.manifest, wanted, { where: dir, add: plan.add })
    requireSoundRecords(dir, damaged, (await check.problems(folder)).problems)
    for (const { name } of folder.manifest.configurations)
      for (const { cost_usd } of columns.rows(name)) spent += cost_usd ?? 0
    for (const record of new LogReader(dir, columns).records(damaged)) columns.fail(record)
    held.confirm()
    setAside(dir, tails)
    const writer = RunWriter.reopen(dir, held, folder.lines)
    if (manifest !== folder.manifest) {
      writer.replan(manifest)
      columns.replan(manifest)
    }
    return { writer, manifest, columns, unrecorded, starts, spent }
  } catch (cause) {
    held.release()
    throw cause
  }
}

/**
 * A damaged trial is run again. A record that contradicts itself or its evidence is somebody's
 * edit.
 */
function requireSoundRecords(dir: string, damaged: Set<string>, problems: Problem[]): void {
  const mended = (where: string) => [...damaged].some((key) => where.startsWith(`trial ${key}`))
  const [first] = problems.filter(({ where }) => where.startsWith('trial ') && !mended(where))
  if (!first) return
  throw new TouchstoneError(
    'run_invalid',
    `expected records that agree with their evidence, got ${first.code}: ${first.detail} (touchstone verify ${dir} has all)`,
    { where: first.where },
  )
}
