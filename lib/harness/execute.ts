/** Carries out a run: finds the models, writes the manifest, runs the trials, keeps the log. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Digest, digestOf, type JsonObject } from '../canonical.ts'
import { count } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { lastAttempts, type Manifest, RunWriter, type TrialRecord } from '../log/index.ts'
import { progress } from '../progress.ts'
import { type Configuration, type ModelSource, modelSource } from './model.ts'
import { missingPackage, versions } from './packages.ts'
import { pool } from './pool.ts'
import { Run } from './result.ts'
import type { RunPlan } from './run.ts'
import { type Scheduled, schedule } from './schedule.ts'
import { runTrial, type TrialResult } from './trial.ts'

/** The signal of a prompt's line, where a prompt set one: what Ctrl-C stops. */
const PROMPT_SIGNAL = Symbol.for('touchstone.signal')

/** Run a plan. @throws TouchstoneError before anything is written when a model, setting or folder is not right */
export async function execute(plan: RunPlan): Promise<Run> {
  if (plan.configurations.length === 0) {
    throw new TouchstoneError('argument_invalid', 'expected at least one configuration: .config(name, { model })', {
      where: 'run',
    })
  }
  const sources = new Map<string, { configuration: Configuration; source: ModelSource }>()
  for (const { name, configuration } of plan.configurations) {
    sources.set(name, { configuration, source: await modelSource(name, configuration) })
  }
  const present = plan.cases.filter((test) => missingPackage(test.requires) === null)
  const leftOut = [
    ...plan.leftOut,
    ...plan.cases.flatMap((test) => {
      const missing = missingPackage(test.requires)
      return missing === null ? [] : [{ case: test.id, reason: `needs the package ${missing}` }]
    }),
  ]
  if (present.length === 0) {
    throw new TouchstoneError(
      'dependency_missing',
      `expected at least one case that can run, got: ${leftOut.map((one) => `${one.case} ${one.reason}`).join('; ')}`,
    )
  }
  const manifest = manifestOf({ ...plan, cases: present }, sources, leftOut)
  const dir =
    plan.out === undefined
      ? resolve('runs', manifest.id)
      : plan.out === null
        ? mkdtempSync(join(tmpdir(), 'touchstone-run-'))
        : resolve(plan.out)
  const writer = RunWriter.create(dir, manifest)
  const attempts: TrialRecord[] = []
  const stop =
    plan.signal ??
    ((globalThis as Record<symbol, unknown>)[PROMPT_SIGNAL] as AbortSignal | undefined) ??
    new AbortController().signal
  const starts = new Map<string, Digest>()
  const bar = plan.progress ? progress(manifest.planned, 'trials', { failures: 'errors' }) : null
  const one = async (item: Scheduled) => {
    const { configuration, source } = sources.get(item.configuration) as {
      configuration: Configuration
      source: ModelSource
    }
    bar?.label(`${item.case.id} ${item.configuration}`)
    let record: TrialRecord | null = null
    for (let attempt = 0; attempt < plan.limits.attempts; attempt++) {
      const result: TrialResult = await runTrial({ ...item, attempt }, configuration, source, plan.limits, stop, starts)
      if (result.stopped) return
      record = writer.append(result.record, result)
      attempts.push(record)
      if (record.outcome !== 'error' || stop.aborted) break
    }
    bar?.tick(record?.outcome === 'error')
  }
  try {
    await pool(
      schedule(
        present,
        plan.configurations.map(({ name }) => name),
        plan.repeats,
        plan.seed,
      ),
      plan.concurrency,
      one,
      stop,
    )
  } finally {
    bar?.stop()
    writer.close()
  }
  return new Run({ dir, manifest, trials: lastAttempts(attempts) })
}

function manifestOf(
  plan: RunPlan,
  sources: Map<string, { configuration: Configuration; source: ModelSource }>,
  leftOut: { case: string; reason: string }[],
): Manifest {
  const now = new Date()
  return {
    schema: 'touchstone.manifest.v0',
    id: `${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z-${randomBytes(3).toString('hex')}`,
    created_at: now.toISOString(),
    set: null,
    seed: plan.seed,
    repeats: plan.repeats,
    planned: plan.cases.length * plan.configurations.length * plan.repeats,
    cases: plan.cases.map(({ id, digest, title, kind, twin, attack }) => ({
      id,
      digest,
      title,
      kind,
      twin,
      adversarial: attack !== null,
    })),
    configurations: [...sources].map(([name, { configuration, source }]) => {
      const settings = settingsOf(configuration)
      return {
        name,
        digest: digestOf({ model: source.id, settings }),
        model: source.id,
        simulated: source.simulated,
        settings,
      }
    }),
    left_out: leftOut,
    limits: {
      steps: plan.limits.steps,
      trial_timeout_ms: plan.limits.trialTimeoutMs,
      call_timeout_ms: plan.limits.callTimeoutMs,
      attempts: plan.limits.attempts,
    },
    versions: versions(),
    environment: { platform: process.platform, arch: process.arch, cpus: availableParallelism() },
  }
}

/** The settings that are recorded: everything but keys. */
function settingsOf({ model: _, apiKey: __, ...rest }: Configuration): JsonObject {
  return JSON.parse(JSON.stringify(rest)) as JsonObject
}

/** What a run will do, in a line, before it does it. */
export function planLine(plan: RunPlan): string {
  const trials = plan.cases.length * plan.configurations.length * plan.repeats
  return `${count(plan.cases.length, 'case')} x ${count(plan.configurations.length, 'configuration')} x ${count(plan.repeats, 'repeat')} = ${count(trials, 'trial')}`
}
