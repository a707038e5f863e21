/** What a case that was changed between two runs may hide: where it did worse, or may have. */
import {
  type Cells,
  type ComparedMetric,
  compareMetric,
  heldOver,
  type Manifest,
  type Metric,
  pairsOf,
} from '../../../log/index.ts'
import { type Loss, lossOf } from './margin.ts'

/** A case of both runs; of one whose attack only one of them has, attacks are not compared. */
export function inBoth(
  id: string,
  now: Manifest,
  then: Manifest,
): Manifest['cases'][number] | undefined {
  const [is, was] = [now, then].map(({ cases }) => cases.find((one) => one.id === id))
  return is && was && { ...is, adversarial: is.adversarial && was.adversarial }
}

/**
 * Where one case, for itself, did worse in b than in a, or may have, by more than the margin.
 *
 * @param compared the metrics that say something of the other cases. A metric that says nothing of
 *   those, nor of this one, is not held, as if it had not changed
 */
export function lossesOf(
  { manifest, cells, a, b }: { manifest: Manifest; cells: Cells; a: string; b: string },
  {
    metrics,
    compared,
    margin,
  }: { metrics: readonly Metric[]; compared: readonly ComparedMetric[]; margin: number },
): Loss[] {
  const choice = { target: 'these', level: heldOver(manifest) } as const
  return metrics.flatMap((metric) => {
    const speaks =
      compared.includes(metric) ||
      pairsOf(manifest, cells, a, b, metric).some((pair) => pair.a.length + pair.b.length > 0)
    const loss =
      speaks && lossOf(compareMetric(manifest, cells, a, b, { ...choice, metric }), margin)
    return loss ? [loss] : []
  })
}
