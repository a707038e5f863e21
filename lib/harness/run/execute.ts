/** Carries out a run: chooses who runs its trials, and adds looks until it is known. */

import type { Manifest } from '../../log/index.ts'
import { progress } from '../../progress.ts'
import { signalOf } from '../../signal.ts'
import { lookAt } from '../../stats/index.ts'
import { requireSettings } from '../agent/own-agent.ts'
import { plansOf } from '../case/planned-servers.ts'
import { LIMITERS, type Limiters } from '../model/limiter.ts'
import { open } from '../report/open.ts'
import { Run } from '../report/result.ts'
import { closeChildren } from '../server/child-pool.ts'
import { inProcess } from '../trial/executor.ts'
import type { RunPlan } from '../trial/planned-run.ts'
import { schedule } from '../trial/schedule.ts'
import { tracedRun } from '../trial/traced.ts'
import { Coordinator } from './coordinator.ts'
import { folderOf } from './folder.ts'
import { ownVersion } from './packages.ts'
import { grown } from './plan-manifest.ts'
import { type Prepared, prepare } from './prepare.ts'
import { survey } from './survey.ts'
import { settled } from './until.ts'

/**
 * Run a plan. @throws TouchstoneError before anything is written when a model, setting or folder is
 * not right
 */
export async function execute(given: RunPlan, limiters: Limiters = LIMITERS): Promise<Run> {
  const prepared = await prepare(given, limiters)
  // A plan that is only looked at needs no key. Workers have an environment of their own.
  if (!given.queue) for (const [name, { source }] of prepared.sources) requireSettings(name, source)
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
      // A look reads records and what agents said, which may wait to be written.
      writer.flush()
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
