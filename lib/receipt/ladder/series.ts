/** Ascending sequence numbers, each with how often it came. */
export type Series = { seqs: number[]; counts: number[] }

/** Note a number under a key. Numbers come in ascending order; the same number again is counted. */
export function add(map: Map<string, Series>, key: string, seq: number): void {
  const series = map.get(key)
  if (!series) map.set(key, { seqs: [seq], counts: [1] })
  else if (series.seqs.at(-1) === seq) series.counts[series.counts.length - 1]! += 1
  else {
    series.seqs.push(seq)
    series.counts.push(1)
  }
}

/** Index of the last number below a bound, -1 when there is none. */
export function before(sorted: readonly number[], bound: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < bound) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The first number above a bound. */
export function after(sorted: readonly number[], bound: number): number | undefined {
  return sorted[before(sorted, bound + 1) + 1]
}

/** The last number below a bound, -1 when there is none. */
export function last(series: Series | undefined, bound: number): number {
  const at = series ? before(series.seqs, bound) : -1
  return at < 0 ? -1 : (series?.seqs[at] as number)
}

/** How often a number came. */
export function countOf(series: Series | undefined, seq: number): number {
  if (!series) return 0
  const at = before(series.seqs, seq + 1)
  return at >= 0 && series.seqs[at] === seq ? (series.counts[at] as number) : 0
}
