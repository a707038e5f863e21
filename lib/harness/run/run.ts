/**
 * `harness.run()`: cases x configurations x repeats, said step by step. Each step gives a new plan;
 * awaiting it runs it.
 */

import { onlyMembers, requireAwaited } from '../../arguments.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { type Metric, MOST_REPEATS } from '../../log/index.ts'
import type { Target } from '../../stats/index.ts'
import type { Configuration } from '../agent/model.ts'
import type { Case } from '../case/case.ts'
import { requireCases } from '../case/twins.ts'
import { type Agreement, agreementFrom } from '../judge/measured-reader.ts'
import { type Prices, requirePrices } from '../model/cost.ts'
import { type Run, requireRun } from '../report/result.ts'
import { DEFAULT_LIMITS, type Limits } from '../trial/limits.ts'
import { MOST_AT_ONCE, type RunPlan } from '../trial/planned-run.ts'
import type { Forecast } from './forecast.ts'
import type { Lines } from './prospect.ts'
import { untilOf } from './until.ts'
import { served } from './worker-file.ts'

/** How long a worker of a queue may give no sign of life. */
const LEASE_MS = 60_000

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/**
 * A run that is being described. Immutable; `await` runs it, so a function that hands one on must
 * not be async.
 */
export class RunBuilder implements PromiseLike<Run> {
  readonly plan: RunPlan

  constructor(plan: RunPlan) {
    this.plan = plan
  }

  private with(change: Partial<RunPlan>): RunBuilder {
    return new RunBuilder({ ...this.plan, ...change })
  }

  /**
   * Add a configuration.
   *
   * @param name          letters, digits and `_.-`; at most 64; once per run
   * @param configuration the model and its settings, or an agent of one's own
   * @throws TouchstoneError `argument_invalid`
   */
  config(name: string, configuration: Configuration): RunBuilder {
    if (typeof name !== 'string' || !NAME.test(name))
      invalid('a name of letters, digits and _.- (at most 64)', name, 'config name')
    if (this.plan.configurations.some((one) => one.name === name))
      invalid('each configuration name once', name, 'config name')
    if (
      configuration === null ||
      typeof configuration !== 'object' ||
      'model' in configuration === 'agent' in configuration
    ) {
      invalid('{ model: ... } or { agent: ... }', configuration, `config ${name}`)
    }
    return this.with({ configurations: [...this.plan.configurations, { name, configuration }] })
  }

  /**
   * Trials per configuration and case: a whole number from 1 to 1,000,000. Default 5. @throws
   * TouchstoneError `argument_invalid`
   */
  repeat(n: number): RunBuilder {
    return this.with({ repeats: whole(n, 1, MOST_REPEATS, 'repeat') })
  }

  /**
   * Trials at once: a whole number from 1 to 4,096. Default 4. Trials wait for models most of their
   * time, so that one process holds thousands of them.
   *
   * @throws TouchstoneError `argument_invalid`
   */
  concurrency(n: number): RunBuilder {
    return this.with({ concurrency: whole(n, 1, MOST_AT_ONCE, 'concurrency') })
  }

  /**
   * Threads that run the trials, this one included: 1 to 256, but no more than trials at once.
   * Default: one per core for 2,000 trials or more of simulated models, else 1. The log differs in
   * times and order only (docs/scale.md).
   *
   * @throws TouchstoneError `argument_invalid`; awaiting it too, with more than 1 where all trials
   *   must stay in this thread: agents, model objects, a queue, a cassette, a judge
   */
  threads(n: number): RunBuilder {
    return this.with({ threads: whole(n, 1, 256, 'threads') })
  }

  /**
   * Where all draws come from: a whole number >= 0. Default 1. @throws TouchstoneError
   * `argument_invalid`
   */
  seed(seed: number): RunBuilder {
    return this.with({ seed: whole(seed, 0, Number.MAX_SAFE_INTEGER, 'seed') })
  }

  /**
   * Where the run is written: a new or empty folder. Default `runs/<id>`. `null`: among the
   * temporary files, until the process ends.
   */
  out(dir: string | null): RunBuilder {
    if (dir !== null && (typeof dir !== 'string' || dir === ''))
      invalid('a folder or null', dir, 'out')
    return this.with({ out: dir })
  }

  /**
   * Go on with the run in a folder: what is missing is run, and what ended in an error of the
   * machinery; nothing that is finished is run again. The plan must be the one that was begun.
   *
   * With `{ add: true }` it may have more repeats and more cases than the one that was begun. The
   * manifest then names the look at what was there, and all numbers are given at a stricter level,
   * since whoever adds trials until they please finds what pleases.
   *
   * Awaiting it throws TouchstoneError `run_unknown` when there is no run, `run_differs` naming the
   * cases, configurations, seed, repeats, limits or versions that are not the same, and
   * `run_locked` when another process writes it.
   */
  resume(dir: string, options: { add?: boolean } = {}): RunBuilder {
    onlyMembers(options, ['add'], 'options')
    if (typeof dir !== 'string' || dir === '') invalid('the folder of a run', dir, 'resume')
    return this.with({ resume: dir, add: options.add ?? false })
  }

  /**
   * Add repeats until it is known, in looks: at `repeat` trials per case first, then at half as
   * many again, up to `most`. The error is held over all looks (spent as Lan and DeMets do), so
   * that intervals and verdicts hold wherever it stops.
   *
   * @param rule            `verdict`: until each other configuration is told from the first; `{
   *   width }`: until each rate's interval is at most so wide, in (0, 1); `{ gates }`: until each
   *   gate is met or missed
   * @param options.most    repeats at most, a whole number from 1; default 40
   * @param options.metric  of verdict and width, default `goal`
   * @param options.target  `these` (default): run again, which is what repeats tell about; or `like
   *   these`
   * @throws TouchstoneError `argument_invalid`
   * @example
   * // not run: it needs cases
   * harness.run(all).config('a', { model: 'sim/naive' }).until({ width: 0.05 }, { most: 60 })
   */
  until(
    rule: 'verdict' | { width: number } | { gates: string | readonly string[] },
    options: { most?: number; metric?: Metric; target?: Target } = {},
  ): RunBuilder {
    onlyMembers(options, ['most', 'metric', 'target'], 'options')
    return this.with({ until: untilOf(rule, options) })
  }

  /**
   * Keep what models are asked and answer in a folder, a cassette, for `replay`. Keys are taken
   * out. Calls of agents of one's own do not go through this process, and are not in it.
   */
  record(dir: string): RunBuilder {
    if (typeof dir !== 'string' || dir === '') invalid('a folder', dir, 'record')
    return this.with({ record: dir })
  }

  /**
   * Answer model calls from a cassette, offline and without keys. A trial has the answers that the
   * recorded trial of the same case, configuration, number and seed had; a call that was not
   * recorded is an error of its trial. Nothing new is learnt about a model: the numbers are those
   * of the recorded trials, however often they are replayed.
   */
  replay(dir: string): RunBuilder {
    if (typeof dir !== 'string' || dir === '') invalid('the folder of a cassette', dir, 'replay')
    return this.with({ replay: dir })
  }

  /**
   * Let a model read the prose of agents that file no report and hand over no claims, for the rate
   * of overclaiming alone, which is then corrected for the judge's errors (docs/claims.md).
   *
   * @param agreement what `harness.agreement({ model })` gave, or its JSON. @throws TouchstoneError
   *   `argument_invalid`
   */
  judge(agreement: Agreement | JsonObject): RunBuilder {
    return this.with({ judge: agreementFrom(agreement) })
  }

  /**
   * Let workers on any machine run the trials: `touchstone worker` on each. This process keeps the
   * folder, and decides what is tried again, what it may cost and when to stop. `concurrency` is
   * then each worker's own.
   *
   * A case or configuration that is data travels to them; one with functions needs workers with the
   * same file, `touchstone worker my-run.ts`. Keys do not travel: a configuration names variables,
   * `$NAME`, and a worker has its own. A worker that is another (versions, code, cases) is refused
   * by name. A worker that is lost costs an attempt that is recorded (`worker_lost`); a second
   * result of an attempt is kept in `discarded.ndjson` and never counted.
   *
   * Awaiting it throws TouchstoneError `dependency_missing` without the packages bullmq and ioredis
   * or pg, `queue_unreachable`, and `run_locked` when another process coordinates the run.
   *
   * @param url             `redis://…`, `rediss://…` or `postgres://…`
   * @param options.leaseMs how long a worker may give no sign of life before its trials are lost, a
   *   whole number from 1,000; default 60,000
   * @throws TouchstoneError `argument_invalid`
   * @example
   * // not run: it needs a server
   * harness.run(all).config('a', { model: 'sim/naive' }).queue('redis://127.0.0.1:6379')
   */
  queue(url: string, options: { leaseMs?: number } = {}): RunBuilder {
    onlyMembers(options, ['leaseMs'], 'options')
    if (typeof url !== 'string' || !/^(?:rediss?|postgres(?:ql)?):\/\//.test(url))
      throw new TouchstoneError(
        'argument_invalid',
        'expected redis://..., rediss://... or postgres://..., got another text',
        { where: 'queue' },
      )
    const leaseMs = whole(options.leaseMs ?? LEASE_MS, 1000, 86_400_000, 'queue: leaseMs')
    return this.with({ queue: { url, leaseMs } })
  }

  /**
   * What tokens cost: US dollars per million, by model as a configuration names it. The cost of a
   * model that is not in the table is not known, and never zero.
   *
   * @throws TouchstoneError `argument_invalid`
   * @example
   * // not run: it needs cases
   * harness.run(all).prices({ 'groq/openai/gpt-oss-20b': { input: 0.1, output: 0.5 } })
   */
  prices(prices: Prices): RunBuilder {
    return this.with({ prices: { ...this.plan.prices, ...requirePrices(prices) } })
  }

  /**
   * What the run would do and may cost, before it does it; and how likely it is to show what it
   * will be held to, by simulation.
   *
   * @param lines.gates    as `harness.gate` takes them
   * @param lines.baseline an earlier run, for the cases of both; supposed is that nothing changed
   * @param lines.margin   the largest fall behind it that is taken, default 0.1
   * @param lines.metrics  those that the baseline holds, as `harness.against` takes them
   * @throws what running it would throw before the first trial
   */
  async forecast(lines: Lines = {}): Promise<Forecast> {
    onlyMembers(lines, ['gates', 'baseline', 'margin', 'metrics'], 'lines')
    if (lines.baseline !== undefined) requireRun(lines.baseline, 'lines.baseline')
    const [{ prepare }, { forecast }] = await Promise.all([
      import('./prepare.ts'),
      import('./forecast.ts'),
    ])
    const { plan, sources, manifest } = await prepare(this.plan)
    return forecast(plan, sources, manifest, lines)
  }

  /** Limits that differ from the default ones. @throws TouchstoneError `argument_invalid` */
  limits(limits: Partial<Limits>): RunBuilder {
    onlyMembers(limits, Object.keys(DEFAULT_LIMITS), 'limits')
    for (const [name, value] of Object.entries(limits)) {
      if (value === null && DEFAULT_LIMITS[name as keyof Limits] === null) continue
      if (name === 'costUsd') {
        if (typeof value !== 'number' || !(value > 0))
          invalid('US dollars above 0', value, 'limits.costUsd')
      } else whole(value as number, 1, name === 'tokens' ? 1e12 : 86_400_000, `limits.${name}`)
    }
    return this.with({ limits: { ...this.plan.limits, ...limits } })
  }

  /**
   * Stop when it aborts: no further trial starts, finished ones are kept, and the run says that it
   * is not complete.
   */
  signal(signal: AbortSignal): RunBuilder {
    return this.with({ signal })
  }

  /** Show no progress. */
  quiet(): RunBuilder {
    return this.with({ progress: false })
  }

  /**
   * Cases that were asked for and are not in the run, with the reason. They are named in the
   * manifest and the report.
   */
  leaving(leftOut: readonly { case: string; reason: string }[]): RunBuilder {
    return this.with({ leftOut: [...this.plan.leftOut, ...leftOut] })
  }

  /**
   * The noise floor: run the only configuration against itself, under the names `<name>` and
   * `<name>-again`, interleaved like any two. What differs between them is chance.
   *
   * @throws TouchstoneError `argument_invalid` unless there is exactly one configuration
   */
  placebo(): RunBuilder {
    const [only] = this.plan.configurations
    if (!only || this.plan.configurations.length !== 1)
      invalid('exactly one configuration', this.plan.configurations.length, 'placebo')
    return this.config(`${only.name}-again`, only.configuration)
  }

  /** Run it. A trial that fails or ends in an error is part of the result. */
  // biome-ignore lint/suspicious/noThenProperty: a plan is awaited to run it.
  then<A = Run, B = never>(
    fulfilled?: ((run: Run) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return import('./execute.ts')
      .then(({ execute }) => served(this.plan) ?? execute(this.plan))
      .then(fulfilled, rejected)
  }

  toJSON(): JsonObject {
    const { cases, configurations, repeats, seed } = this.plan
    return {
      cases: cases.map((test) => test.id),
      configurations: configurations.map(({ name }) => name),
      repeats,
      seed,
    }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const { cases, configurations, repeats } = this.plan
    const names =
      configurations.map(({ name }) => name).join(', ') ||
      'none yet: .config(name, { model }) or .config(name, { agent })'
    return `A run of ${cases.length} cases x ${configurations.length} configurations (${names}) x ${repeats} trials. await it to run it.`
  }
}

/**
 * Describe a run of cases: `.config()` once per configuration, `.repeat()`, and what else
 * `?harness.RunBuilder` lists; `await` runs it.
 *
 * @param cases what `cases.load` or `harness.case` gave: one or several
 * @throws TouchstoneError `argument_invalid`
 * @example
 * const lies = await cases.load('cases/lying_success/deploy-key.yaml')
 * const done = await run(lies).config('naive', { model: 'sim/naive' }).repeat(2).out(null).quiet()
 * done.trials.length // 4
 */
export function run(cases: Case | readonly Case[]): RunBuilder {
  const list = [cases].flat() as Case[]
  for (const [i, test] of list.entries())
    if (typeof test?.id !== 'string' || !Array.isArray(test.servers))
      invalid('a case from cases.load() or harness.case()', test, `cases[${i}]`)
  requireCases(list)
  return new RunBuilder({
    cases: list,
    configurations: [],
    repeats: 5,
    concurrency: 4,
    seed: 1,
    out: undefined,
    resume: undefined,
    add: false,
    until: undefined,
    record: undefined,
    replay: undefined,
    judge: undefined,
    queue: undefined,
    threads: undefined,
    limits: DEFAULT_LIMITS,
    prices: {},
    signal: undefined,
    progress: true,
    leftOut: [],
  })
}

function whole(value: number, low: number, high: number, where: string): number {
  if (!Number.isSafeInteger(value) || value < low || value > high)
    invalid(`a whole number from ${low} to ${high}`, value, where)
  return value
}

function invalid(expected: string, got: unknown, where: string): never {
  requireAwaited(got, expected, where)
  const shown =
    typeof got === 'object' && got !== null ? 'an object' : JSON.stringify(got)?.slice(0, 80)
  throw new TouchstoneError(
    'argument_invalid',
    `expected ${expected}, got ${shown ?? String(got)}`,
    { where },
  )
}
