/** Configurations from best to worst, and which of them cannot be told apart. */
import { holm, jointSignFlip, letters, mean, type Target } from '../../stats/index.ts'
import type { Manifest } from '../records.ts'
import type { Cells } from '../rows.ts'
import { adjusted, type MetricComparison, meansTable } from './among.ts'
import { compareMetric } from './comparison.ts'
import { heldOver } from './look-level.ts'
import { type Metric, metricNamed, scoresByCase } from './metrics.ts'

/** Letters of one question: two configurations that share a letter cannot be told apart. */
type Standing = { letters: string /** Not told apart from the best one. */; first: boolean }

export type Ranking = {
  metric: Metric
  level: number
  /** How many pairs were compared and adjusted for each other, per question. */
  comparisons: number
  /** Best first; those without an estimate last. */
  rows: {
    configuration: string
    estimate: number
    /** Run again: these cases. */
    these: Standing
    /** Other cases like these. */
    'like these': Standing
  }[]
}

/**
 * Rank the configurations of a run by one metric. Every pair is compared, and the p values are
 * adjusted for all pairs: by Holm's rule over exact tests for these cases, jointly by sign flips
 * for others.
 *
 * @throws TouchstoneError `argument_invalid` for an unknown metric
 */
export function ranking(
  manifest: Manifest,
  rows: Cells,
  { metric = 'goal', level: wanted }: { metric?: Metric; level?: number } = {},
): Ranking {
  const { better } = metricNamed(metric)
  const level = heldOver(manifest, wanted)
  const order = manifest.configurations
    .map(({ name }) => {
      const cases = scoresByCase(rows, manifest, name, metric).filter(
        ({ scores }) => scores.length > 0,
      )
      return { name, estimate: mean(cases.map(({ scores }) => mean(scores))) }
    })
    .sort((x, y) => {
      if (Number.isNaN(x.estimate) || Number.isNaN(y.estimate))
        return Number(Number.isNaN(x.estimate)) - Number(Number.isNaN(y.estimate))
      return better === 'higher' ? y.estimate - x.estimate : x.estimate - y.estimate
    })
  const pairs = order.flatMap((_, i) =>
    order.slice(i + 1).map((_, j) => [i, i + 1 + j] as [number, number]),
  )
  const nameOf = (i: number) => order[i]?.name as string
  const table = meansTable(manifest, rows)
  const standing = (target: Target) => {
    const compared = pairs.map(([i, j]) =>
      compareMetric(manifest, rows, nameOf(i), nameOf(j), { metric, target, level }),
    )
    const p =
      target === 'these'
        ? holm(compared.map((one) => one.pDecisive))
        : jointSignFlip(
            pairs.map(([i, j]) => table.byFamily(table.differences(nameOf(i), nameOf(j), metric))),
          )
    const apart = pairs.filter(([i, j], k) => {
      const alone = compared[k] as MetricComparison
      if (alone.verdict !== 'better' && alone.verdict !== 'worse') return false
      const together = compareMetric(manifest, rows, nameOf(i), nameOf(j), {
        metric,
        target,
        level: 1 - (1 - level) / pairs.length,
      })
      const said = adjusted(alone, together, p[k] as number, pairs.length).verdict
      return said === 'better' || said === 'worse'
    })
    const text = letters(order.length, apart)
    // Of what has no estimate nothing is known, not even that it is level.
    return text.map((own, i) => {
      const known = Number.isFinite(order[i]?.estimate)
      const first = known && !apart.some(([x, y]) => x === 0 && y === i)
      return { letters: known ? own : '', first }
    })
  }
  const [these, like] = [standing('these'), standing('like these')]
  return {
    metric,
    level,
    comparisons: pairs.length,
    rows: order.map(({ name, estimate }, i) => ({
      configuration: name,
      estimate,
      these: these[i] as Standing,
      'like these': like[i] as Standing,
    })),
  }
}
