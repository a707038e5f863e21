/**
 * The runs of a project over days: one metric of each configuration, and the first run that is
 * worse beyond its noise.
 */

import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { onlyMembers, requireText } from '../../arguments.ts'
import type { Chart } from '../../chart/index.ts'
import type { Look } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import {
  FILES,
  METRICS,
  type Metric,
  metricNamed,
  runFoldersIn,
  scoresByCase,
} from '../../log/index.ts'
import { Shown } from '../../shown.ts'
import { type Interval, mean, nextRun, type RunScores, runNoise } from '../../stats/index.ts'
import { dayOf, historyText } from './history-text.ts'
import { open } from './open.ts'
import type { Run } from './result.ts'

/** Rows of a picture that fit two screens. */
const MOST_DRAWN = 30

/** One configuration in one run. */
export type HistoryPoint = {
  run: string
  dir: string
  at: string
  configuration: string
  /** Of the configuration: the same digest is the same model, settings and instructions. */
  digest: string
  /** Over the run's cases; the interval is for these cases, run again. */
  estimate: number
  again: Interval
  /**
   * The interval with each trial that was lost, is not there or was not judged counted against, and
   * with each counted for; null where there is none.
   */
  all: Interval | null
  cases: number
  trials: number
  errors: number
  /** Planned trials that are not there. */
  absent: number
  /**
   * Where this run was to land if nothing had changed, over the cases that it shares with the runs
   * before; null for a first one.
   */
  expected: (Interval & { estimate: number; cases: number }) | null
  /**
   * Against what was expected. `first`: nothing stands before it. `unknown`: no case in common, or
   * trials lost to errors or not there decide.
   */
  is: 'first' | 'as before' | 'better' | 'worse' | 'unknown'
  /** The mean of each repeat. */
  repeats: number[]
}

/** A configuration's runs, oldest first. */
export type HistorySeries = {
  configuration: string
  points: HistoryPoint[]
  /**
   * Runs of the same digest, but for those that are worse, against what their trials explain;
   * `ratio` is null where none was run twice.
   */
  noise: { ratio: number | null; df: number }
  /** The first run that is worse beyond the noise, by its id; null where there is none. */
  firstWorse: string | null
}

/** The runs of a folder over time. */
export class History extends Shown {
  readonly dir: string
  readonly metric: Metric
  readonly level: number
  readonly series: readonly HistorySeries[]
  /** Folders that are not in it, with the reason. */
  readonly skipped: readonly { dir: string; reason: string }[]

  constructor(parts: Pick<History, 'dir' | 'metric' | 'level' | 'series' | 'skipped'>) {
    super()
    this.dir = parts.dir
    this.metric = parts.metric
    this.level = parts.level
    this.series = parts.series
    this.skipped = parts.skipped
  }

  /** The first run of any configuration that is worse beyond the noise, or null. */
  get firstWorse(): HistoryPoint | null {
    const points = this.series.flatMap(({ points, firstWorse }) =>
      points.filter(({ run }) => run === firstWorse),
    )
    return points.toSorted((x, y) => (x.at < y.at ? -1 : 1))[0] ?? null
  }

  /** Draw it: each run with its interval and its repeats, oldest first; of many, the newest. */
  async plot(): Promise<Chart> {
    const chart = await import('../../chart/index.ts')
    const most = Math.max(2, Math.floor(MOST_DRAWN / Math.max(1, this.series.length)))
    const longest = Math.max(...this.series.map(({ points }) => points.length))
    const rows = this.series.flatMap(({ configuration, points }) =>
      points.slice(-most).map((point) => ({
        configuration: `${configuration}, ${dayOf(point.at)}${point.is === 'worse' ? ' (worse)' : ''}`,
        estimate: point.estimate,
        low: point.again.low,
        high: point.again.high,
        ...(point.all && { boundLow: point.all.low, boundHigh: point.all.high }),
        runs: point.repeats.map((value) => ({ value })),
      })),
    )
    const names = new Map<string, number>()
    for (const row of rows) {
      const seen = (names.get(row.configuration) ?? 0) + 1
      names.set(row.configuration, seen)
      if (seen > 1) row.configuration += ` (${seen})`
    }
    return chart.strip(rows, {
      metric: METRICS[this.metric].label,
      target: 'these cases, run again',
      title: `${METRICS[this.metric].label} over time${longest > most ? `: the newest ${most} of ${longest} runs (.text() has all)` : ''}`,
    }) as Chart
  }

  /** @param nameOf how a run's folder is named; default by its place in the folder that was read */
  text(look: Look = {}, nameOf = (dir: string): string => relative(this.dir, dir)): string {
    return historyText(this, look, nameOf)
  }

  toJSON(): JsonObject {
    const { metric, level, series, skipped } = this
    return JSON.parse(
      JSON.stringify({
        schema: 'touchstone.history.v0',
        metric,
        level,
        firstWorse: this.firstWorse?.run ?? null,
        series,
        skipped,
      }),
    ) as JsonObject
  }
}

/**
 * Read the runs of a project: each folder in `dir`, or below it, that holds a run, oldest first.
 *
 * A run is expected where the runs before it of the same configuration name landed, over the cases
 * that have not changed. How much runs differ of themselves is taken from runs of the same digest
 * (a placebo across days).
 *
 * @param dir            a folder of runs' folders, such as `runs`
 * @param options.metric default `goal`
 * @param options.level  confidence over all runs of a configuration, in (0, 1), default 0.95
 * @throws TouchstoneError `run_unknown` where there is no run, `argument_invalid`
 * @example
 * // not run: it needs runs
 * const past = await harness.history('runs')
 * past.firstWorse
 */
export async function history(
  dir: string,
  options: { metric?: Metric; level?: number } = {},
): Promise<History> {
  requireText(dir, 'a folder of runs', 'dir')
  onlyMembers(options, ['metric', 'level'], 'options')
  const { metric = 'goal', level = 0.95 } = options
  metricNamed(metric)
  if (!(level > 0 && level < 1))
    throw new TouchstoneError('argument_invalid', `expected a number in (0, 1), got ${level}`, {
      where: 'level',
    })
  const top = resolve(dir)
  const runs: Run[] = []
  const skipped: { dir: string; reason: string }[] = []
  const first = new Map<string, string>()
  for (const path of runFoldersIn(top)) {
    try {
      const run = await open(path)
      run.requireSound()
      const { id } = run.manifest
      const twin = first.get(id)
      if (run.columns.size === 0) skipped.push({ dir: path, reason: 'no trial has ended' })
      // A copy is no second fact.
      else if (twin !== undefined)
        skipped.push({ dir: path, reason: `the same run as ${relative(top, twin)}` })
      else {
        first.set(id, path)
        runs.push(run)
      }
    } catch (cause) {
      if (!(cause instanceof TouchstoneError)) throw cause
      skipped.push({ dir: path, reason: `${cause.code}: ${cause.message}` })
    }
  }
  if (runs.length === 0) {
    const [one] = skipped
    const none = existsSync(join(top, FILES.manifest))
      ? 'the folder of a run: name the folder that it stands in'
      : one
        ? `none that can be read (${relative(top, one.dir)}: ${one.reason})`
        : 'none'
    throw new TouchstoneError('run_unknown', `expected a folder with runs in it, got ${none}`, {
      where: dir,
    })
  }
  runs.sort((x, y) => (x.manifest.created_at < y.manifest.created_at ? -1 : 1))
  const names = [...new Set(runs.flatMap((run) => run.configurations))]
  const series = names.map((name) =>
    seriesOf(
      name,
      runs.filter((run) => run.configurations.includes(name)),
      metric,
      level,
    ),
  )
  return new History({ dir: top, metric, level, series, skipped })
}

type Scored = {
  run: Run
  digest: string
  cases: Map<string, number[]>
  lost: number
  absent: number
  shaken: number
}

function seriesOf(
  name: string,
  runs: readonly Run[],
  metric: Metric,
  level: number,
): HistorySeries {
  const scored = runs.map((run): Scored => {
    const digests = new Map(run.manifest.cases.map((one) => [one.id, one.digest]))
    const byCase = scoresByCase(run.counted, run.manifest, name, metric)
    return {
      run,
      digest: run.manifest.configurations.find((one) => one.name === name)?.digest ?? '',
      // A case that changed is another one.
      cases: new Map(
        byCase.flatMap(({ case: id, scores }) =>
          scores.length > 0 ? [[`${id} ${digests.get(id)}`, scores]] : [],
        ),
      ),
      lost: byCase.reduce((sum, { missing }) => sum + missing, 0),
      absent: byCase.reduce((sum, { absent }) => sum + absent, 0),
      shaken: byCase.reduce((sum, { shaken }) => sum + shaken.length, 0),
    }
  })
  const unchangedIn = (runs: readonly Scored[]) =>
    [...Map.groupBy(runs, ({ digest }) => digest).values()].map(sharedScores)
  const { better } = metricNamed(metric)
  // All runs but the first are held against what was before them: were a run part of the noise
  // that it is held against, a fall would hide itself.
  const each = 1 - (1 - level) / Math.max(1, scored.length - 1)
  const points: HistoryPoint[] = []
  const unlessWorse = (runs: readonly Scored[]) => runs.filter((_, j) => points[j]?.is !== 'worse')
  for (const [i, one] of scored.entries()) {
    const before = ofItsCases(one, unlessWorse(scored.slice(0, i)))
    const held = { better, unchanged: unchangedIn(before), level: each, shown: level }
    points.push(pointOf(name, metric, one, before, { ...held, first: i === 0 }))
  }
  const kept = unlessWorse(scored)
  const noise = runNoise(unchangedIn(ofItsCases(kept.at(-1), kept)))
  return {
    configuration: name,
    points,
    noise: { ratio: Number.isFinite(noise.ratio) ? noise.ratio : null, df: noise.df },
    firstWorse: points.find(({ is }) => is === 'worse')?.run ?? null,
  }
}

/**
 * The runs that have cases of this one. What has less than half as many of them as another, such as
 * a run that was stopped, would leave few cases that all have.
 */
function ofItsCases(one: Scored | undefined, runs: readonly Scored[]): Scored[] {
  const shared = runs.map(({ cases }) =>
    one === undefined ? 0 : [...one.cases.keys()].filter((key) => cases.has(key)).length,
  )
  const most = Math.max(1, ...shared)
  return runs.filter((_, i) => 2 * (shared[i] as number) >= most)
}

/** The scores of some runs in the cases that all of them have; no run where they share none. */
function sharedScores(runs: readonly Scored[]): RunScores[] {
  const shared = [...(runs[0]?.cases.keys() ?? [])].filter((key) =>
    runs.every(({ cases }) => cases.has(key)),
  )
  if (shared.length === 0) return []
  return runs.map(({ cases }) => shared.map((key) => cases.get(key) as number[]))
}

function pointOf(
  name: string,
  metric: Metric,
  scored: Scored,
  before: readonly Scored[],
  held: {
    better: 'higher' | 'lower'
    unchanged: RunScores[][]
    level: number
    shown: number
    first: boolean
  },
): HistoryPoint {
  const { run, digest, cases, lost, absent, shaken } = scored
  const rates = run
    .summary({ level: held.shown })
    .find(({ configuration }) => configuration === name)?.rates[metric]
  const could = rates?.lost ?? rates?.open
  const point: HistoryPoint = {
    run: run.id,
    dir: run.dir,
    at: run.manifest.created_at,
    configuration: name,
    digest,
    estimate: rates?.estimate ?? Number.NaN,
    again: rates?.again ?? { low: Number.NaN, high: Number.NaN },
    all: could ? { low: could.none.again.low, high: could.all.again.high } : null,
    cases: rates?.cases ?? 0,
    trials: rates?.trials ?? 0,
    errors: lost,
    absent,
    expected: null,
    is: held.first ? 'first' : 'unknown',
    repeats: rates?.repeats ?? [],
  }
  const shared = sharedScores([...before, scored])
  const now = shared.at(-1)
  if (before.length === 0 || now === undefined) return point
  const { expected, low, high } = nextRun(
    shared.slice(0, -1),
    now.map(({ length }) => length),
    { unchanged: held.unchanged, level: held.level },
  )
  point.expected = { estimate: expected, low, high, cases: now.length }
  // With every trial that is lost, absent or shaken for it, and every one against it.
  const gone = lost + absent
  const room = (gone + shaken) / Math.max(1, gone + [...cases.values()].flat().length)
  const landed = mean(now.map(mean))
  const side = (at: number) => (at < low ? -1 : at > high ? 1 : 0)
  const [worst, best] = [side(landed - room), side(landed + room)]
  if (worst !== best) point.is = 'unknown'
  else if (worst === 0) point.is = 'as before'
  else point.is = worst > 0 === (held.better === 'higher') ? 'better' : 'worse'
  return point
}
