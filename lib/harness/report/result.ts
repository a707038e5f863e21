/**
 * A run that has been run, or read back from its folder: the same object either way. Every number
 * comes from the log.
 */

import { onlyMembers, requireInstance, requireText } from '../../arguments.ts'
import type { Chart } from '../../chart/index.ts'
import { count, type Look } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import {
  type CompareChoice,
  type ConfigurationSummary,
  type Coverage,
  compareAll,
  compareMeasure,
  coverageOf,
  identicalRepeats,
  independentRows,
  type Metric,
  type Ranking,
  type Rows,
  ranking,
  summariseIndependent,
} from '../../log/index.ts'
import type { IssueRunOptions, Receipt } from '../../receipt/attest/issue.ts'
import type { Profile } from '../../receipt/bundle/profile.ts'
import type { Problem } from '../../receipt/recompute/step.ts'
import { shownAs } from '../../shown.ts'
import type { Plan } from '../../stats/index.ts'
import type { RunPage } from '../page/page.ts'
import type { PlotOptions } from './charts.ts'
import { rankingText } from './compared/comparison-text.ts'
import { RunComparison } from './compared/run-comparison.ts'
import { type NextRun, planned } from './next-run.ts'
import { PLOT_KINDS, type PlotKind } from './plot-kinds.ts'
import { runJson } from './run-json.ts'
import { type RunParts, RunTrials } from './run-trials.ts'
import type { SqlRow } from './sql.ts'
import { ratesText, runText } from './text.ts'

/**
 * A run that has ended: its trials, and what can be asked of them. `harness.open(folder)` gives it
 * back later.
 *
 * At the prompt it shows rates and comparisons. One trial that failed: `run.trials.find(({ outcome
 * }) => outcome === 'fail')` has the key that `run.transcript(key)` wants.
 */
export class Run extends RunTrials {
  /**
   * Why the run stopped of itself before its end (a limit of the day, of cost, a refused key), or
   * null.
   */
  readonly halted: string | null
  /**
   * Model calls that a limit of a provider refused, in all processes; each was made again. Null for
   * a run that was read back: its transcripts have them.
   */
  readonly refused: number | null
  /**
   * Where the folder that was read back, or gone on with, does not agree with itself. Empty for a
   * run that ran just now.
   */
  readonly problems: readonly Problem[]
  #identical: ReadonlySet<string> | undefined

  constructor(
    parts: RunParts & {
      halted?: string | null
      refused?: number | null
      problems?: readonly Problem[]
      /** Configurations whose repeats are the same; default: those that the transcripts show. */
      identical?: ReadonlySet<string>
    },
  ) {
    super(parts)
    this.problems = parts.problems ?? []
    this.halted = parts.halted ?? null
    this.refused = parts.refused ?? null
    this.#identical = parts.identical
  }

  get id(): string {
    return this.manifest.id
  }

  /**
   * Problems that leave no number to rest on. Levels are not among them: the evidence's stand in.
   */
  get unsound(): readonly Problem[] {
    return this.problems.filter(({ code }) => !code.startsWith('level_'))
  }

  /**
   * @throws TouchstoneError `run_invalid` for a run that gives no number, naming the first problem
   */
  requireSound(): void {
    const [first] = this.unsound
    if (!first) return
    throw new TouchstoneError(
      'run_invalid',
      `expected a run that agrees with itself, got ${count(this.unsound.length, 'problem')}, the first ${first.code}: ${first.detail} (run.problems has all)`,
      { where: `${this.dir}: ${first.where}` },
    )
  }

  /** Every planned trial ended, and none in an error. */
  get complete(): boolean {
    return this.columns.size === this.manifest.planned && this.errors === 0
  }

  /** Trials that ended in an error of the machinery. They are in no rate. */
  get errors(): number {
    return this.columns.failures
  }

  /**
   * Configurations of a real model whose repeats are byte for byte the same in every case, as from
   * a cache or at temperature 0, where nothing is stated of caches. Their repeats are no repeats:
   * each case counts once.
   */
  get identical(): ReadonlySet<string> {
    this.#identical ??= identicalRepeats({
      dir: this.dir,
      manifest: this.manifest,
      columns: this.columns,
      record: (key) => this.record(key),
    })
    return this.#identical
  }

  /** The trials that numbers rest on: all, but for repeats that are byte for byte the same. */
  get counted(): Rows {
    return independentRows(this.columns, this.identical)
  }

  /** Names of the configurations, in the order they were given. */
  get configurations(): string[] {
    return this.manifest.configurations.map(({ name }) => name)
  }

  /**
   * The bundle of one call that a policy decided on, as a gateway in front of the server would
   * write it.
   *
   * @param key     key of a trial
   * @param options `call`: the call's place in the trial, from 0; default: the one call that a
   *   policy decided on
   * @returns the bytes of a `.tar.gz` for `receipt.verifyBundle`. Its events carry the trial's
   *   start as their time
   * @throws TouchstoneError `argument_invalid` for another key or call, several calls and no
   *   `call`, an unknown target
   */
  async bundle(key: string, options: { profile: Profile; call?: number }): Promise<Uint8Array> {
    onlyMembers(options, ['profile', 'call'], 'options')
    const { bundleOf } = await import('./trial-bundle.ts')
    return bundleOf(this, key, options)
  }

  /** Rates with intervals over cases, levels, times, of each configuration. */
  summary(options: { level?: number } = {}): ConfigurationSummary[] {
    this.requireSound()
    onlyMembers(options, ['level'], 'options')
    const found = summariseIndependent(this.manifest, this.columns, this.identical, options)
    return shownAs(found, (look) => ratesText(this, found, look))
  }

  /**
   * Over how many trials the rates speak: judged, stated, exposed, and how trials ended. By
   * configuration.
   */
  coverage(): Coverage[] {
    this.requireSound()
    return coverageOf(this.manifest, this.records(), this.columns.earlier)
  }

  /**
   * Is b better than a? Paired by case; the verdict may be "cannot tell". Both questions are
   * answered: run again on these cases, and other cases like these.
   *
   * @param choice.metric      the one metric that the question is about, default `goal`; `pass^3`
   *   asks whether all of three trials of a case pass. The others are adjusted for each other
   * @param choice.among       what the numbers are adjusted for: `first` (each other configuration
   *   against the first; default where a is the first), `all` pairs (default else), `pair`: this
   *   one alone, named before the run, or `page`: all pairs and all metrics as one family
   * @param choice.target      whose answer `verdict` and `primary` are: `like these` (default) or
   *   `these`
   * @param choice.equivalence half-width in (0, 1] of differences that do not matter
   * @throws TouchstoneError `configuration_unknown`, `argument_invalid`
   * @see harness.against two runs on the cases of both, as `touchstone compare RUN LATER_RUN`
   */
  compare(a: string, b: string, choice: CompareChoice = {}): RunComparison {
    this.requireSound()
    for (const one of [a, b])
      requireText(one, "a configuration's name (harness.against compares two runs)", 'compare')
    onlyMembers(choice, ['metric', 'target', 'level', 'equivalence', 'among'], 'choice')
    return new RunComparison(compareAll(this.manifest, this.counted, a, b, choice), (measure) =>
      compareMeasure(this.manifest, this.counted, a, b, measure),
    )
  }

  /**
   * The configurations from best to worst by one metric, with letters: two that share a letter
   * cannot be told apart. All pairs are compared, adjusted for each other.
   *
   * @param choice.metric default `goal`
   * @throws TouchstoneError `argument_invalid`
   */
  ranking(choice: { metric?: Metric; level?: number } = {}): Ranking {
    this.requireSound()
    onlyMembers(choice, ['metric', 'level'], 'choice')
    const found = ranking(this.manifest, this.counted, choice)
    return shownAs(found, (look) => rankingText(found, look))
  }

  /**
   * What a run of another size could see, with this one as its pilot: simulated from its spread
   * with the verdict's own rule.
   *
   * @param options.cases, options.repeats default: this run's
   * @param options.difference a difference in (0, 1] that matters
   * @param options.budget     `{ usd, minutes }` at most; a trial takes what it took here
   * @throws TouchstoneError `argument_invalid` for a run of one configuration
   */
  plan(options: NextRun = {}): Plan {
    return planned(this, options)
  }

  /**
   * A receipt that an auditor can compute again offline, from this run's folder and the published
   * set. `receipt.save(run.dir)` writes it into the folder; `receipt.verify(run.dir, { key })`
   * checks it.
   *
   * @param options.key Ed25519 private key as PEM or a path; without one the receipt is unsigned
   *   and says so
   * @param options.set `id@version`; default: the newest published set that has all of the run's
   *   cases
   * @throws TouchstoneError `set_unpublished` when the cases are not those of a published set;
   *   `run_invalid` when the folder does not add up; `key_invalid`
   */
  async receipt(options: IssueRunOptions = {}): Promise<Receipt> {
    const { issueRun } = await import('../../receipt/attest/issue.ts')
    return issueRun(this.dir, options)
  }

  /**
   * Ask the trials in SQL. The table is `trials`: a row for each trial, the attempt that counts,
   * with the columns of docs/analysis.md. It needs the package `@duckdb/node-api`, which is loaded
   * when it is asked for.
   *
   * A query reads, and nothing else: no file, no address and no extension can be reached from it.
   *
   * @param query one SELECT, in DuckDB's SQL
   * @returns a row for each row of the answer. Times are ISO text, whole numbers beyond 2^53 text
   * @throws TouchstoneError `dependency_missing`, `argument_invalid` for a query that DuckDB does
   *   not answer or that does more than read, `run_invalid` for a run that gives no number; the
   *   signal's reason
   * @example
   * const [first] = await cases.load()
   * const run = await harness.run([first]).config('naive', { model: 'sim/naive' }).repeat(3).out(`${process.env.TMPDIR ?? '/tmp'}/touchstone-${crypto.randomUUID()}`).quiet()
   * await run.sql('SELECT configuration, count(*) AS trials FROM trials GROUP BY ALL') // [{ configuration: 'naive', trials: 3 }]
   */
  async sql(query: string, options: { signal?: AbortSignal } = {}): Promise<SqlRow[]> {
    const { sqlOf } = await import('./sql.ts')
    return sqlOf(this, query, options)
  }

  /**
   * Write the trials as a Parquet file, which pandas, R and DuckDB read: the columns of
   * docs/analysis.md. It needs the package `@duckdb/node-api`.
   *
   * @returns the path
   * @throws TouchstoneError `dependency_missing`, `file_exists`, `file_unwritable`, `run_invalid`
   *   for a run that gives no number; the signal's reason
   */
  async parquet(path: string, options: { signal?: AbortSignal } = {}): Promise<string> {
    const { parquetOf } = await import('./sql.ts')
    return parquetOf(this, path, options)
  }

  /**
   * Draw it. Resolves to a chart: `.spec`, `.svg()`, `.png()`, `.html()`, `.text()`, `.save(path)`.
   *
   * `activity` draws when trials were at work, by the clocks of the machines that ran them; where
   * they waited for a limit, as transcripts say; when errors came, and how long trials took.
   *
   * @param options.metric  of strip, heat, slope, forest, reliability and noise; default `goal`
   * @param options.measure of ecdf: `duration_ms` (default), `steps`, `calls`, `tokens` or
   *   `cost_usd`
   * @param options.a, options.b of slope, forest and noise: the configurations compared, default
   *   the first two
   * @throws TouchstoneError `argument_invalid`, also for an option that the kind does not take
   */
  async plot(kind: PlotKind = 'strip', options: PlotOptions = {}): Promise<Chart> {
    const { plot } = await import('./charts.ts')
    return plot(this, kind, options)
  }

  /**
   * The run as one page without a server: `await (await run.page()).save('report.html')`.
   *
   * @param options.against an earlier run: its configurations stand beside this run's, on the cases
   *   that both have
   * @throws TouchstoneError `run_differs` for a run that shares no case
   */
  async page(options: { against?: Run } = {}): Promise<RunPage> {
    onlyMembers(options, ['against'], 'options')
    const { against } = options
    if (against !== undefined) requireRun(against, 'options.against')
    const { pageOf, pageOfTwo } = await import('./run-page.ts')
    return against ? pageOfTwo(this, against) : pageOf(this)
  }

  /** The run as a person reads it in a terminal. */
  text(look: Look = {}): string {
    return runText(this, look)
  }

  /**
   * Everything but what stands in the log already, and the records, for programs. Times and ids
   * apart, the same seed gives the same. All records are in memory, about 2 kB for each trial:
   * `sql`, `parquet` and `records()` are for larger runs.
   */
  toJSON(): JsonObject {
    return runJson(this)
  }

  /** What Tab offers inside quotes: names of configurations, kinds of charts, keys of trials. */
  [Symbol.for('touchstone.completeString')](at: { method: string; option?: string }): string[] {
    const { method, option } = at
    if (option === 'a' || option === 'b') return this.configurations
    if (option === 'kind') return [...new Set(this.manifest.cases.map(({ kind }) => kind))]
    // What its type names is no matter of this run.
    if (option !== undefined) return []
    if (method === 'compare') return this.configurations
    if (method === 'plot') return [...PLOT_KINDS]
    return method === 'transcript' || method === 'bundle' ? [...this.columns.keys()] : []
  }
}

/** Refuse what is no run, such as one that was not awaited. */
export function requireRun(run: unknown, where = 'run'): void {
  requireInstance(run, Run, 'a run', where)
}
