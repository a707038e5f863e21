/** Many comparisons at once: the more one looks, the more one finds by chance. */
import { list, share } from '../domain.ts'

/**
 * Holm's adjusted p values: each may be read against the level alone, and the chance of any false
 * alarm stays below it.
 *
 * Name one primary metric before the run and leave it out; adjust the rest.
 *
 * @param p  p values in [0, 1], in any order; NaN (undefined) stays NaN and counts as no comparison
 * @returns  in the order given
 * @throws   `argument_invalid` for a p value outside [0, 1]
 * @see      Holm 1979; R's p.adjust(method = "holm"); known answers: fixtures/stats/multiple.json
 * @example
 * holm([0.01, 0.04, 0.03]) // [0.03, 0.06, 0.06]
 */
export function holm(p: readonly number[]): number[] {
  const out = list(p, 'p values', 'p').map((value, i) =>
    Number.isNaN(value) ? NaN : share(value, `p[${i}]`),
  )
  const order = [...out.keys()]
    .filter((i) => !Number.isNaN(out[i]))
    .sort((i, j) => (out[i] as number) - (out[j] as number))
  let floor = 0
  for (const [rank, i] of order.entries()) {
    floor = Math.max(floor, Math.min(1, (out[i] as number) * (order.length - rank)))
    out[i] = floor
  }
  return out
}
